from __future__ import annotations

import numpy as np

from river_budget.support import _compiled


def test_oldest_is_the_slot_that_was_filled_first():
    inserted = np.array([5, 3, 4, 0])
    assert _compiled.oldest(inserted, 3) == 1
    assert _compiled.oldest(inserted, 4) == 3


def test_ties_go_to_the_oldest_and_an_incoming_example_is_the_youngest():
    inserted = np.array([5, 3, 4])
    assert _compiled.oldest_largest(np.array([1.0, 0.0, 2.0]), inserted) == 2
    assert _compiled.oldest_largest(np.array([1.0, 1.0, 1.0]), inserted) == 1
    assert _compiled.oldest_largest(np.array([1.0, 0.0, 1.0, 1.0]), inserted) == 2
    assert _compiled.oldest_largest(np.array([1.0, 0.0, 1.0, 2.0]), inserted) == 3
    assert _compiled.oldest_largest(np.array([-np.inf, 0.0]), inserted[:1]) == 1


def test_vectors_without_coefficients_add_nothing_to_the_scores():
    """The store has more vectors than the matrix has rows if learning was interrupted."""
    scores = np.empty(3)
    _compiled.score(np.array([[1.0, -1.0, 0.0]]), 2.0, np.array([0.5, 1.0, 1.0]), scores)
    assert scores.tolist() == [1.0, -1.0, 0.0]
