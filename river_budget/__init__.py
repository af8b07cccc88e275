"""Kernel learning on a memory budget, for River."""

from __future__ import annotations

from river_budget import kernels
from river_budget.fixed_budget import FixedBudgetPerceptron
from river_budget.forgetron import Forgetron
from river_budget.kernel_pa import KernelPAClassifier
from river_budget.kernel_perceptron import KernelPerceptron
from river_budget.kernels import (
    RBF,
    AdditiveRationalQuadratic,
    FunctionKernel,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    RationalQuadratic,
)
from river_budget.mnemotron import Mnemotron
from river_budget.modified_randomized_budget import ModifiedRandomizedBudgetPerceptron
from river_budget.projectron import Projectron
from river_budget.projectron_plus_plus import ProjectronPlusPlus
from river_budget.randomized_budget import RandomizedBudgetPerceptron
from river_budget.remove_oldest import RemoveOldestPerceptron
from river_budget.simplified_forgetron import SimplifiedForgetron
from river_budget.stoptron import Stoptron
from river_budget.tighter import TighterPerceptron
from river_budget.tightest import TightestPerceptron

__all__ = [
    "RBF",
    "AdditiveRationalQuadratic",
    "FixedBudgetPerceptron",
    "Forgetron",
    "FunctionKernel",
    "KernelPAClassifier",
    "KernelPerceptron",
    "Laplacian",
    "Linear",
    "Mnemotron",
    "ModifiedRandomizedBudgetPerceptron",
    "Normalized",
    "Polynomial",
    "Projectron",
    "ProjectronPlusPlus",
    "RandomizedBudgetPerceptron",
    "RationalQuadratic",
    "RemoveOldestPerceptron",
    "SimplifiedForgetron",
    "Stoptron",
    "TighterPerceptron",
    "TightestPerceptron",
    "kernels",
]

__version__ = "0.1.0"
