"""What the tests of all algorithms with a support set run over: rows of the catalog, on a small budget."""

from __future__ import annotations

import functools

import pytest

import river_budget as rb
from river_budget.base import Perceptron
from river_budget.catalog import ALGORITHMS as CATALOG

BUDGET = 5
SEED = 7


def row_name(algorithm, variant):
    return f"{algorithm.name}-{variant}" if variant else algorithm.name


# Each makes a model of a kernel, on a budget of `BUDGET` at most where it has one.
PERCEPTRONS = {
    row_name(algorithm, variant): functools.partial(
        algorithm.build, budget=BUDGET, seed=SEED, variant=variant
    )
    for algorithm in CATALOG.values()
    for variant in algorithm.variants
    if issubclass(algorithm.model, Perceptron)
}


def mnemotron(kernel, budget=BUDGET):
    if isinstance(kernel, rb.kernels.Kernel) and not kernel.has_unit_norm:
        kernel = rb.Normalized(kernel)
    return rb.Mnemotron(budget=budget, kernels=None if kernel is None else (kernel,))


ALGORITHMS = {**PERCEPTRONS, "Mnemotron": mnemotron}
UNBOUNDED = {
    row_name(algorithm, variant)
    for algorithm in CATALOG.values()
    for variant in algorithm.unbounded
}


def parameters_of(name, budget=BUDGET):
    """Return the class of a row, and its parameters beside the kernel."""
    model, _, variant = name.partition("-")
    row, arguments = CATALOG[model], {"budget": budget, "seed": SEED}
    taken = {key: value for key, value in arguments.items() if row.takes(key)}
    return model, {**taken, **row.variants[variant]}


def reference(name, module, kernel, budget=BUDGET):
    """Return the plain implementation of a row in a module of them."""
    model, parameters = parameters_of(name, budget)
    return getattr(module, model)(kernel, **parameters)


# The first row of each class. What a class can break on its own, but none of its parameters, is tested
# on these.
CLASSES = {
    name: make
    for name, make in ALGORITHMS.items()
    if name == row_name(row := CATALOG[name.partition("-")[0]], next(iter(row.variants)))
}

# One class for each path through the code that classes share. What that code decides is tested on
# these: kernels, kinds of labels, of numbers and of frames. What a class can break on its own is
# tested on all.
PATHS = {
    name: ALGORITHMS[name]
    for name in [
        "Forgetron",  # native rounds and blocks
        "ProjectronPlusPlus",  # grows, averages and projects
        "TighterPerceptron-A",  # has a second store, of examples for validation
        "TightestPerceptron",  # counts labels
        "BudgetedSGD",  # changes vectors, in Python
        "Mnemotron",  # several kernels, and no perceptron
    ]
}


def each(models):
    return pytest.mark.parametrize("make", models.values(), ids=models)


each_algorithm = each(ALGORITHMS)
each_perceptron = each(PERCEPTRONS)
each_budgeted = each({name: make for name, make in ALGORITHMS.items() if name not in UNBOUNDED})
each_class = each(CLASSES)
each_perceptron_class = each({name: make for name, make in CLASSES.items() if name in PERCEPTRONS})
each_budgeted_class = each({name: make for name, make in CLASSES.items() if name not in UNBOUNDED})
each_path = each(PATHS)
each_perceptron_path = each({name: make for name, make in PATHS.items() if name in PERCEPTRONS})

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
