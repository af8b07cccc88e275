from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import river_budget as rb
from river_budget._core.store import Store
from river_budget._core.sums import Sums
from river_budget.base.scales import LAST_UPDATE, Scales, next_update


def observe(sums, examples, names):
    """Add examples to sums, which are kept for the given names: those of a vector."""
    store = Store([rb.RBF(gamma=1.0)])
    store.evaluate(dict.fromkeys(names, 1.0))
    store.put(0)
    for x in examples:
        store.evaluate(x)
        sums.add(store)


def learned(examples, names=("a", "b", "c", "w")):
    scales = Scales()
    observe(scales.sums, examples, names)
    scales.update(names)
    return scales, scales.gamma


def test_standard_deviations_by_hand():
    """Values 0, 8 have the deviation 4, and 1e6 +- 1 the deviation 1, which leaves gamma 1/2."""
    stream = [{"a": 8.0 * (i % 2), "b": 1e6 + (-1) ** (i // 2)} for i in range(4096)]
    scales, gamma = learned(stream)
    assert scales.factors == {"a": 0.25, "b": 1.0}
    assert scales.pooled == 0.5  # 2 is the geometric mean of 4 and 1
    assert gamma == 0.5


def test_a_feature_alone_has_the_nearest_power_of_two():
    for deviation, scale in [(1.4, 1.0), (1.5, 2.0), (0.72, 1.0), (0.7, 0.5), (3e-5, 2.0**-15)]:
        scales, gamma = learned([{"a": deviation * (-1) ** i} for i in range(8)])
        assert scales.factors == {"a": 1 / scale}
        assert gamma == pytest.approx((scale / deviation) ** 2)


def test_other_features_have_the_nearest_scales_with_a_short_inverse():
    """The mean of the logarithms is 0. Two standard errors of the deviation are 2 %."""
    for inverse, rounded in [(1.2, 1.25), (1.3, 1.375), (1.72, 1.75), (1.85, 1.875)]:
        deviation = 64 / inverse
        scales, _ = learned(alternating(deviation, 1 / deviation, 4096))
        assert scales.factors["a"] == rounded / 64


@given(st.integers(-(2**48), 2**48), st.sampled_from(range(8, 16)), st.integers(-60, 60))
def test_short_values_are_scaled_and_restored_without_rounding(value, mantissa, exponent):
    factor = math.ldexp(mantissa, exponent)
    assert value * factor / factor == value
    assert Fraction(value * factor) == value * Fraction(factor)


def alternating(a, b, n):
    return [{"a": a * (-1) ** i, "b": b * (-1) ** i} for i in range(n)]


def test_features_of_one_unit_share_a_scale_until_the_data_contradict():
    """Eight examples cannot tell deviations of 4 and 8 apart, and 4,096 can."""
    few, _ = learned(alternating(4.0, 8.0, 8))
    assert few.factors["a"] == few.factors["b"]
    many, _ = learned(alternating(4.0, 8.0, 4096))
    assert many.factors["a"] == pytest.approx(2 * many.factors["b"], rel=0.1)


def test_scales_on_both_sides_of_a_border_between_powers_of_two_are_equal():
    """The nearest powers of two of 2.82 and 2.84 are 2 and 4."""
    scales, gamma = learned(alternating(2.82, 2.84, 4096))
    assert scales.factors["a"] == scales.factors["b"]
    assert gamma == pytest.approx(1 / (2 * (2.83 * scales.pooled) ** 2), rel=1e-3)


def test_a_scale_is_kept_while_it_is_nearly_as_near():
    """The deviation of a grows from 1 to 1.10; without two standard errors, it is 1.05."""
    names = ("a", *range(20))
    rest = dict.fromkeys(range(20), 1.0)
    signs = [(-1) ** i for i in range(512)]
    examples = [
        {name: value * sign for name, value in {"a": deviation, **rest}.items()}
        for deviation in (1.0, 1.2)
        for sign in signs
    ]
    fresh, _ = learned(examples, names)
    continued, _ = learned(examples[:512], names)
    observe(continued.sums, examples[512:], names)
    continued.update(names)
    assert (fresh.factors["a"], continued.factors["a"]) == (15 / 16, 1.0)


def test_a_rare_feature_has_the_root_mean_square_of_its_values_other_than_0():
    """A word in one text of eight has the scale 4 of its count, not that of its deviation.

    The deviation of a is 1.98.

    """
    texts = [{"w": 4.0, "a": 1.0}, *({"a": float(i)} for i in range(7))]
    scales, gamma = learned(1024 * texts)
    own = scales.factors
    assert own["a"] == 2 * own["w"]
    variances = np.var([4.0] + 7 * [0.0]), np.var([1.0, *range(7)])
    assert gamma == pytest.approx(1 / (variances[0] * own["w"] ** 2 + variances[1] * own["a"] ** 2))


def test_a_constant_takes_the_pooled_scale():
    scales, _ = learned([{"a": 16.0 * (i % 2), "b": 3.0} for i in range(8)])
    assert scales.factors == {"a": 1 / 8}
    assert scales.pooled == 1 / 8


def test_there_is_no_width_without_a_variance():
    scales, gamma = learned([{"a": 3.0}, {"a": 3.0}])
    assert (scales.factors, scales.pooled, gamma) == ({}, 1.0, 0.0)


def test_there_are_sums_only_for_the_given_names():
    scales = Scales()
    for i in range(1000):
        names = ["a", f"new-{i}"]
        observe(scales.sums, [{f"new-{i}": 1.0, "a": float(i % 2)}], names)
        if i % 64 == 63:
            scales.update(names)
    assert len(scales.state()["sums"]["names"]) < 100
    assert "a" in scales.state()["sums"]["names"]


def test_the_examples_after_which_scales_are_updated():
    updates, n = [], 0
    while n < LAST_UPDATE:
        updates.append(n := next_update(n))
    powers = [2, 4, 8, 16, 32, 64, 128]
    assert updates == [*powers, *range(256, 1025, 256), *range(1536, LAST_UPDATE + 1, 512)]


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.booleans()), min_size=2, max_size=40))
def test_the_variance_of_any_values(rows):
    """A missing value is 0, from the first example with the feature on."""
    examples = [{"a": value} if present else {} for value, present in rows]
    first = next((i for i, x in enumerate(examples) if x), None)
    if first is None:
        assert learned(examples)[1] == 0.0
        return
    values = [x.get("a", 0.0) for x in examples[first:]]
    variance, size = np.var(values), max(map(abs, values))
    sums = Sums()
    observe(sums, examples, ["a"])
    assert sums.measures()[1] == pytest.approx(variance, rel=1e-6, abs=1e-12 * size**2 + 1e-300)


def test_a_state_goes_on_exactly():
    rng = np.random.default_rng(0)
    examples = [{"a": v, "b": 100 * v} for v in rng.normal(size=40).tolist()]
    scales, _ = learned(examples[:20])
    other = Scales()
    other.restore(scales.state())
    observe(scales.sums, examples[20:], "ab")
    observe(other.sums, examples[20:], "ab")
    assert scales.update("ab") == other.update("ab")
    assert (scales.factors, scales.gamma) == (other.factors, other.gamma)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("pooled", 0.0), ("pooled", 1e30), ("factors", {"a": 1e30}), ("factors", {"a": -1.0}),
        ("offset", math.nan),
    ],
)  # fmt: skip
def test_impossible_states_are_refused(key, value):
    scales, _ = learned([{"a": 1.0}, {"a": -1.0}])
    with pytest.raises(ValueError, match=r"between|finite"):
        Scales().restore({**scales.state(), key: value})


def test_a_small_change_of_the_width_changes_nothing():
    """A variance of 1.04 leaves gamma at 1, and one of 1.23 does not."""
    scales, gamma = learned([{"a": (-1.0) ** i} for i in range(64)])
    for n, value in [(4, 1.4), (20, 1.4)]:
        before = scales.gamma
        observe(scales.sums, [{"a": value * (-1.0) ** i} for i in range(n)], "a")
        assert scales.update("a") == (n == 20)
        assert (scales.gamma == before) == (n == 4)
    assert gamma == 1.0


def test_there_are_no_sums_after_the_last_update():
    model = rb.Forgetron(budget=5)
    for i in range(LAST_UPDATE + 1):
        model.learn_one({"a": 3.0 * (i % 2), "b": float(i % 5)}, i % 3 == 0)
        if i + 2 == LAST_UPDATE:
            assert model.state()["feature_scales"]["sums"]["names"] == ("a", "b")
    assert model.state()["feature_scales"]["sums"]["names"] == ()
