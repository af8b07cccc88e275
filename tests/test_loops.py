from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from river_budget import loops


@given(st.floats(-707.9, 0.0))
def test_exp_is_accurate(x):
    assert abs(loops.exp(x) / np.exp(x) - 1.0) < 5e-16 * 2


def test_exp_at_the_ends():
    assert loops.exp(0.0) == 1.0
    assert loops.exp(-1e300) == 0.0
    assert loops.exp(-np.inf) == 0.0


def test_oldest_is_the_first_of_the_taken_slots():
    born = np.array([5, 3, 4, 0])
    assert loops.oldest(born, 3) == 1
    assert loops.oldest(born, 4) == 3


def test_the_oldest_of_the_largest_scores_goes_and_a_newcomer_is_the_youngest():
    born = np.array([5, 3, 4])
    assert loops.oldest_largest(np.array([1.0, 0.0, 2.0]), born) == 2
    assert loops.oldest_largest(np.array([1.0, 1.0, 1.0]), born) == 1
    assert loops.oldest_largest(np.array([1.0, 0.0, 1.0, 1.0]), born) == 2
    assert loops.oldest_largest(np.array([1.0, 0.0, 1.0, 2.0]), born) == 3
    assert loops.oldest_largest(np.array([-np.inf, 0.0]), born[:1]) == 1
