"""Arrays as values of the events of keyed models."""

from __future__ import annotations

import numpy as np
import pytest

import river_budget as rb
from river_budget import keyed


def learner(dtype="float32"):
    kernel = rb.RBF(gamma=0.1)
    return keyed.KeyedLearner(lambda: rb.RemoveOldestPerceptron(kernel, budget=5, dtype=dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_wait_for_their_label_in_a_stored_model(dtype):
    rng, states = np.random.default_rng(0), {}
    events = [keyed.Event("a", t, {"e": rng.normal(size=4), "h": 1.0}) for t in range(6)]
    labels = [keyed.Event("a", t, None, t % 2 == 0) for t in range(6)]
    for event in events + labels:
        (stored,) = keyed.run_local([event], learner(dtype), states)
    (expected, *_) = [*keyed.run_local(events + labels, learner(dtype))][::-1]
    assert stored == expected
    (last,) = keyed.run_local([keyed.Event("a", 9, events[0].x)], learner(dtype), states)
    assert last.y_pred is True


@pytest.mark.parametrize("array", [np.zeros((2, 2)), np.array([np.nan, 0.0]), np.array(["a", "b"])])
def test_invalid_arrays_are_refused_by_name(array):
    with pytest.raises(ValueError, match="'e'"):
        list(keyed.run_local([keyed.Event("a", 0, {"e": array})], learner()))
