"""What the tests of all algorithms run over: the rows of the catalog, on a small budget."""

from __future__ import annotations

import functools

import pytest

import river_budget as rb
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
    if algorithm.model is not rb.Mnemotron
}


def mnemotron(kernel, budget=BUDGET):
    if isinstance(kernel, rb.kernels.Kernel) and not kernel.has_unit_norm:
        kernel = rb.Normalized(kernel)
    return rb.Mnemotron(budget=budget, kernels=None if kernel is None else (kernel,))


ALGORITHMS = {**PERCEPTRONS, "Mnemotron": mnemotron}
UNBOUNDED = {
    row_name(algorithm, name)
    for algorithm in CATALOG.values()
    for name, variant in algorithm.variants.items()
    if not variant.is_bounded
}

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
