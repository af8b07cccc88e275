"""Arrays as values of the events of keyed models."""

from __future__ import annotations

import numpy as np
import pytest

import river_budget as rb
from river_budget import keyed


def learner():
    return keyed.KeyedLearner(lambda: rb.RemoveOldestPerceptron(rb.RBF(gamma=0.1), budget=5))


def test_arrays_wait_for_their_label_in_a_stored_model():
    rng, states = np.random.default_rng(0), {}
    events = [keyed.Event("a", t, {"e": rng.normal(size=4), "h": 1.0}) for t in range(6)]
    labels = [keyed.Event("a", t, None, t % 2 == 0) for t in range(6)]
    for event in events + labels:
        (stored,) = keyed.run_local([event], learner(), states)
    (expected, *_) = [*keyed.run_local(events + labels, learner())][::-1]
    assert stored == expected
    (last,) = keyed.run_local([keyed.Event("a", 9, events[0].x)], learner(), states)
    assert last.y_pred is True


@pytest.mark.parametrize("array", [np.zeros((2, 2)), np.array([np.nan, 0.0]), np.array(["a", "b"])])
def test_invalid_arrays_are_refused_by_name(array):
    with pytest.raises(ValueError, match="'e'"):
        list(keyed.run_local([keyed.Event("a", 0, {"e": array})], learner()))
