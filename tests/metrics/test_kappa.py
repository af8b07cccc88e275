"""Accuracy beside that of a baseline."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import dummy, linear_model, utils

import river_budget as rb
from river_budget import metrics

KAPPAS = [metrics.KappaM, metrics.KappaT]
PAIRS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=30)


def fed(metric, pairs):
    for y_true, y_pred in pairs:
        metric.update(y_true, y_pred)
    return metric


def test_kappa_m_by_hand():
    labels, predicted = "abbcbbb", "abccbab"  # right 4 of 6 after the first
    metric = fed(metrics.KappaM(), zip(labels, predicted, strict=True))
    # The majority is a, a, then b four times: right in the last three rounds.
    assert metric.get() == pytest.approx((4 / 6 - 3 / 6) / (1 - 3 / 6))


def test_kappa_t_by_hand():
    labels, predicted = "aabbbca", "aaabbbb"  # right 3 of 6 after the first
    metric = fed(metrics.KappaT(), zip(labels, predicted, strict=True))
    # The last label is right in rounds 2, 4 and 5.
    assert metric.get() == pytest.approx((3 / 6 - 3 / 6) / (1 - 3 / 6))
    metric.update("b", "b")
    assert metric.get() == pytest.approx((4 / 7 - 3 / 7) / (1 - 3 / 7))


def test_worse_than_the_baseline_is_negative():
    labels, predicted = "aaaab", "bbbbb"  # right 1 of 4, the baselines 3 of 4
    for make in KAPPAS:
        metric = fed(make(), zip(labels, predicted, strict=True))
        assert metric.get() == pytest.approx((1 / 4 - 3 / 4) / (1 - 3 / 4))


def test_a_weight_is_a_number_of_votes():
    metric = metrics.KappaM()
    for y_true, w in [("a", 1.0), ("b", 3.0), ("a", 1.0), ("a", 1.0)]:
        metric.update(y_true, "a", w)
    # Mistakes weigh 3; the majority is a, then b twice, so that its mistakes weigh 3 + 1 + 1.
    assert metric.get() == pytest.approx(1 - 3 / 5)


@pytest.mark.parametrize(
    ("make", "baseline"),
    [(metrics.KappaM, dummy.PriorClassifier), (metrics.KappaT, dummy.NoChangeClassifier)],
)
@given(labels=st.lists(st.sampled_from("abc"), max_size=30))
def test_a_baseline_has_kappa_zero(make, baseline, labels):
    metric, model = make(), baseline()
    for y in labels:
        metric.update(y, model.predict_one({}))
        model.learn_one({}, y)
    assert metric.get() == 0.0


@pytest.mark.parametrize("make", KAPPAS)
@given(labels=st.lists(st.sampled_from("abc"), max_size=30))
def test_all_right_is_one_unless_the_baseline_is_right_too(make, labels):
    metric = fed(make(), zip(labels, labels, strict=True))
    assert metric.get() == (1.0 if len(set(labels)) > 1 else 0.0)


@pytest.mark.parametrize("make", KAPPAS)
def test_kappas_follow_rivers_protocol(make):
    metric = fed(make(), [("a", "a"), ("b", "b"), ("a", "a")])
    assert metric.bigger_is_better
    assert metric.works_with(rb.Forgetron())
    assert not metric.works_with(linear_model.LinearRegression())
    assert metric.is_better_than(fed(make(), [("a", "a"), ("b", "c"), ("a", "c")]))
    assert metric.clone().get() == 0.0


@pytest.mark.parametrize("make", KAPPAS)
def test_kappas_do_not_roll(make):
    rolling = utils.Rolling(make, window_size=1)
    rolling.update("a", "a")
    with pytest.raises(NotImplementedError, match="cannot be reverted"):
        rolling.update("a", "a")
