"""The validation sets of Tighter and Tightest under a kernel that raises."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from states import content

import river_budget as rb
from river_budget._features import as_given


class FlakyKernel:
    """A Gaussian kernel that raises after a number of calls."""

    def __init__(self):
        self.calls_left = math.inf

    def __call__(self, x, z):
        self.calls_left -= 1
        if self.calls_left < 0:
            raise OSError("no answer")
        return math.exp(-((x["u"] - z["u"]) ** 2) - (x["v"] - z["v"]) ** 2)


MODELS = [
    lambda kernel: rb.TightestPerceptron(kernel, budget=5),
    lambda kernel: rb.TighterPerceptron(kernel, budget=5),
    lambda kernel: rb.TighterPerceptron(kernel, budget=5, validation=8, seed=1),
    lambda kernel: rb.TighterPerceptron(kernel, budget=5, validation="all"),
]
NAMES = ["tightest", "support", "reservoir", "all"]


def examples_of(model):
    store = model._validation.store
    return [as_given(store.vector(i)) for i in range(store.n)]


def counts_of(table):
    return table.counts_of(slice(table.n)) if hasattr(table, "counts_of") else None


def learned_state(model):
    """Return what was learned, and what is computed from it."""
    f, table = model._f, model._validation
    values = table.scores_of_examples.copy(), table.kernel_values.copy(), counts_of(table)
    labels = np.array(table.example_labels)[: table.m]
    learned = model.support_vectors, f.coefficients, f.n_rounds, f.n_mistakes
    return content([*learned, *values, labels, examples_of(model)])


@pytest.mark.parametrize("make", MODELS, ids=NAMES)
@pytest.mark.parametrize("n_labels", [2, 3])
def test_an_update_that_fails_changes_nothing(make, n_labels):
    rng = np.random.default_rng(2)
    flaky = FlakyKernel()
    model, n_failures = make(rb.FunctionKernel(flaky)), 0
    for t in range(24):
        x = dict(zip("uv", rng.normal(size=2).tolist(), strict=True))
        y = t if t < n_labels else int(rng.integers(n_labels))
        for n_calls in itertools.count():
            before = learned_state(model)
            model._f.best({"u": 9.0, "v": 9.0})  # no kernel row is remembered
            flaky.calls_left = n_calls
            try:
                model.learn_one(x, y)
                break
            except OSError:
                n_failures += 1
            finally:
                flaky.calls_left = math.inf
            if t >= n_labels:
                assert learned_state(model) == before
        assert max(model.numerical_errors().values()) < 1e-12
    assert model.n_support == 5
    assert n_failures > 80
