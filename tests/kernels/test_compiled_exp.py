from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from river_budget.kernels._compiled import exp


@given(st.floats(-707.9, 0.0))
def test_exp_is_accurate(x):
    assert abs(exp(x) / np.exp(x) - 1.0) < 5e-16 * 2


def test_exp_at_the_ends():
    assert exp(0.0) == 1.0
    assert exp(-1e300) == 0.0
    assert exp(-np.inf) == 0.0
