"""Compiled code releases every array that it allocates."""

from __future__ import annotations

import random

import pytest
from numba.core.runtime import _nrt_python, rtsys

from tests.algorithms import each_algorithm

N = 60


@pytest.fixture
def live():
    """Return a function that counts the live allocations of compiled code."""
    _nrt_python.memsys_enable_stats()

    def count():
        stats = rtsys.get_allocation_stats()
        return stats.alloc - stats.free

    yield count
    _nrt_python.memsys_disable_stats()


def examples(n, n_labels, n_names, seed):
    rng = random.Random(seed)
    for _ in range(n):
        names = rng.sample(range(3 * n_names), n_names) if n_names > 2 else range(n_names)
        yield {name: rng.gauss(0, 1) for name in names}, rng.randrange(n_labels)


@each_algorithm
@pytest.mark.parametrize(("n_labels", "n_names"), [(2, 4), (3, 2)])
def test_nothing_is_left_behind(make, n_labels, n_names, live):
    model = make(None)
    for x, y in examples(N, n_labels, n_names, seed=1):
        model.learn_one(x, y)
    before = live()
    for x, y in examples(N, n_labels, n_names, seed=2):
        model.predict_one(x)
        model.learn_one(x, y)
    # The last query, and arrays of the model that grow.
    assert live() - before < N / 4
