from __future__ import annotations

import numpy as np
import pytest

import river_budget as rb
from river_budget import checkpoint
from river_budget.preprocessing import UnitNorm


def test_arrays_have_norm_one_and_the_rest_is_left_alone():
    x = {"e": np.array([3, 4]), "f": np.array([0.0, 0.0], np.float32), "h": 13, "g": np.ones(2)}
    z = UnitNorm("e", "f", "missing").transform_one(x)
    np.testing.assert_allclose(z["e"], [0.6, 0.8])
    assert z["f"].dtype == np.float32
    assert not z["f"].any()
    assert z["h"] == 13
    assert z["g"] is x["g"]
    assert x["e"].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("largest", "dtype"),
    [(6e4, np.float16), (3e38, np.float32), (3e200, np.float64), (5e-324, np.float64)],
)
def test_extreme_arrays_have_norm_one(largest, dtype):
    values = np.array([largest, 0.0, -largest, largest, largest], dtype)
    unit = UnitNorm("e").transform_one({"e": values})["e"]
    assert unit.dtype == dtype
    assert unit.tolist() == [0.5, 0.0, -0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    "value", [1.0, np.zeros((2, 2)), np.zeros(0), [1.0, 2.0], np.array(["a", "b"])]
)
def test_other_values_are_refused_by_name(value):
    with pytest.raises(ValueError, match="feature 'e' is not an array of numbers"):
        UnitNorm("e").transform_one({"e": value})


def test_it_can_be_stored():
    loaded = checkpoint.loads(checkpoint.dumps(UnitNorm("e") | rb.Forgetron()))
    assert loaded["UnitNorm"].names == ("e",)
