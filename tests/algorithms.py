"""What the tests of all algorithms run over: a new algorithm adds one row here."""

from __future__ import annotations

import pytest

import river_budget as rb

BUDGET = 5

# Each row makes a model of a kernel, on a budget of `BUDGET` at most where it has one.
PERCEPTRONS = {
    "KernelPerceptron": rb.KernelPerceptron,
    "Stoptron": lambda kernel: rb.Stoptron(kernel, budget=BUDGET),
    "RemoveOldestPerceptron": lambda kernel: rb.RemoveOldestPerceptron(kernel, budget=BUDGET),
    "RandomizedBudgetPerceptron": lambda kernel: rb.RandomizedBudgetPerceptron(
        kernel, budget=BUDGET, seed=7
    ),
    "FixedBudgetPerceptron": lambda kernel: rb.FixedBudgetPerceptron(kernel, budget=BUDGET),
    "Forgetron": lambda kernel: rb.Forgetron(kernel, budget=BUDGET),
    "SimplifiedForgetron": lambda kernel: rb.SimplifiedForgetron(kernel, budget=BUDGET),
    "ModifiedRandomizedBudgetPerceptron": lambda kernel: rb.ModifiedRandomizedBudgetPerceptron(
        kernel, budget=BUDGET, seed=7
    ),
    "Projectron": lambda kernel: rb.Projectron(kernel, budget=BUDGET),
    "ProjectronPlusPlus": lambda kernel: rb.ProjectronPlusPlus(
        kernel, norm_bound=2.0, budget=BUDGET
    ),
    "TighterPerceptron-0": lambda kernel: rb.TighterPerceptron(kernel, budget=BUDGET),
    "TighterPerceptron-A": lambda kernel: rb.TighterPerceptron(
        kernel, budget=BUDGET, validation=9, seed=7
    ),
    "TighterPerceptron-Full": lambda kernel: rb.TighterPerceptron(
        kernel, budget=BUDGET, validation="all"
    ),
    "TightestPerceptron": lambda kernel: rb.TightestPerceptron(kernel, budget=BUDGET),
    "KernelPAClassifier": rb.KernelPAClassifier,
}


def mnemotron(kernel):
    if isinstance(kernel, rb.kernels.Kernel) and not kernel.has_unit_norm:
        kernel = rb.Normalized(kernel)
    return rb.Mnemotron(budget=BUDGET, kernels=None if kernel is None else (kernel,))


ALGORITHMS = {**PERCEPTRONS, "Mnemotron": mnemotron}
UNBOUNDED = {"KernelPerceptron", "KernelPAClassifier", "TighterPerceptron-Full"}

each_algorithm = pytest.mark.parametrize("make", ALGORITHMS.values(), ids=ALGORITHMS)
each_perceptron = pytest.mark.parametrize("make", PERCEPTRONS.values(), ids=PERCEPTRONS)
each_budgeted = pytest.mark.parametrize(
    "make",
    [make for name, make in ALGORITHMS.items() if name not in UNBOUNDED],
    ids=[name for name in ALGORITHMS if name not in UNBOUNDED],
)

KERNELS = [
    rb.RBF(gamma=0.7),
    rb.Laplacian(gamma=0.4),
    rb.RationalQuadratic(gamma=0.7),
    rb.AdditiveRationalQuadratic(gamma=0.7, names=(0, 1, 2, 4, "a", "b", "c", None, ("f", 1))),
    rb.Linear(),
    rb.Polynomial(degree=3, gamma=0.5, coef0=1.0),
    rb.Normalized(rb.Polynomial(degree=2)),
    rb.FunctionKernel(rb.RBF(gamma=0.7)),
]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)
