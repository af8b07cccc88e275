"""Kernel learning on a memory budget, for River."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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
from river_budget.merging import merge
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
from river_budget.prediction_sets import PredictionSets
from river_budget.rejection import Reject

__all__ = [
    "RBF", "AdditiveRationalQuadratic", "Ahpatron", "ArmClassifiers", "BudgetPassiveAggressive",
    "BudgetedOGD", "BudgetedSGD", "Calibrated", "Cosine", "Explanation", "FixedBudgetPerceptron", "Forgetron",
    "FunctionKernel", "KernelLDA", "KernelPAClassifier", "KernelPerceptron", "Laplacian",
    "Linear", "Mnemotron", "ModifiedRandomizedBudgetPerceptron", "Normalized", "Polynomial",
    "PredictionSets", "ProjectedGradient", "Projectron", "ProjectronPlusPlus", "Query",
    "RandomizedBudgetPerceptron", "RationalQuadratic", "Reject", "RemoveOldestPerceptron",
    "SimplifiedForgetron", "Stoptron", "TighterPerceptron", "TightestPerceptron", "explain", "kernels", "merge",
]  # fmt: skip

__version__ = "0.1.0"

# Imported on first use: some subpackages are slow to import, need an extra, or import slow modules of River.
SUBPACKAGES = frozenset([
    "active", "bandit", "checkpoint", "datasets", "evaluate", "explanation", "keyed", "metrics", "plots",
    "preprocessing", "synth", "testing", "theory",
])  # fmt: skip
NAMES = {
    "ArmClassifiers": "bandit", "Explanation": "explanation", "Query": "active", "explain": "explanation",
}  # fmt: skip

if TYPE_CHECKING:
    # Type checkers see what there is, so that a misspelt name is an error.
    from . import active as active
    from . import bandit as bandit
    from . import checkpoint as checkpoint
    from . import datasets as datasets
    from . import evaluate as evaluate
    from . import explanation as explanation
    from . import keyed as keyed
    from . import metrics as metrics
    from . import plots as plots
    from . import preprocessing as preprocessing
    from . import synth as synth
    from . import testing as testing
    from . import theory as theory
    from .active import Query
    from .bandit import ArmClassifiers
    from .explanation import Explanation, explain
else:

    def __getattr__(name: str) -> Any:
        if name in SUBPACKAGES:
            return importlib.import_module(f"river_budget.{name}")
        if name in NAMES:
            return getattr(importlib.import_module(f"river_budget.{NAMES[name]}"), name)
        raise AttributeError(f"module 'river_budget' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *SUBPACKAGES, "__version__"})
