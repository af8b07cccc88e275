"""Kernel learning on a memory budget, for River."""

from __future__ import annotations

import importlib
from typing import Any

from river_budget import kernels
from river_budget.calibration import Calibrated
from river_budget.kernel_lda import KernelLDA
from river_budget.kernels import (
    RBF,
    AdditiveRationalQuadratic,
    Cosine,
    FunctionKernel,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    RationalQuadratic,
)
from river_budget.mnemotron import Mnemotron
from river_budget.perceptrons.ahpatron import Ahpatron
from river_budget.perceptrons.budget_passive_aggressive import BudgetPassiveAggressive
from river_budget.perceptrons.budgeted_ogd import BudgetedOGD
from river_budget.perceptrons.budgeted_sgd import BudgetedSGD
from river_budget.perceptrons.fixed_budget import FixedBudgetPerceptron
from river_budget.perceptrons.forgetron import Forgetron
from river_budget.perceptrons.kernel_pa import KernelPAClassifier
from river_budget.perceptrons.kernel_perceptron import KernelPerceptron
from river_budget.perceptrons.modified_randomized_budget import ModifiedRandomizedBudgetPerceptron
from river_budget.perceptrons.projected_gradient import ProjectedGradient
from river_budget.perceptrons.projectron import Projectron
from river_budget.perceptrons.projectron_plus_plus import ProjectronPlusPlus
from river_budget.perceptrons.randomized_budget import RandomizedBudgetPerceptron
from river_budget.perceptrons.remove_oldest import RemoveOldestPerceptron
from river_budget.perceptrons.simplified_forgetron import SimplifiedForgetron
from river_budget.perceptrons.stoptron import Stoptron
from river_budget.perceptrons.tighter import TighterPerceptron
from river_budget.perceptrons.tightest import TightestPerceptron
from river_budget.rejection import Reject

__all__ = [
    "RBF", "AdditiveRationalQuadratic", "Ahpatron", "BudgetPassiveAggressive", "BudgetedOGD",
    "BudgetedSGD", "Calibrated", "Cosine", "FixedBudgetPerceptron", "Forgetron",
    "FunctionKernel", "KernelLDA", "KernelPAClassifier", "KernelPerceptron", "Laplacian",
    "Linear", "Mnemotron", "ModifiedRandomizedBudgetPerceptron", "Normalized", "Polynomial",
    "ProjectedGradient", "Projectron", "ProjectronPlusPlus", "RandomizedBudgetPerceptron",
    "RationalQuadratic", "Reject", "RemoveOldestPerceptron", "SimplifiedForgetron", "Stoptron",
    "TighterPerceptron", "TightestPerceptron", "kernels",
]  # fmt: skip

__version__ = "0.1.0"

# Subpackages imported on first use: some are slow to import or need an extra.
SUBPACKAGES = frozenset([
    "active", "bandit", "checkpoint", "datasets", "evaluate", "keyed", "metrics", "plots",
    "preprocessing", "synth", "theory",
])  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in SUBPACKAGES:
        return importlib.import_module(f"river_budget.{name}")
    raise AttributeError(f"module 'river_budget' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *SUBPACKAGES, "__version__"})
