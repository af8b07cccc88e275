from __future__ import annotations

import copy
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import evaluate, linear_model, utils
from river import metrics as river_metrics

import river_budget as rb
from river_budget import metrics, synth

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30)


def fed(metric, pairs):
    for y_true, y_pred in pairs:
        metric.update(y_true, y_pred)
    return metric


@given(PAIRS)
def test_mistakes_are_counted(pairs):
    metric = fed(metrics.Mistakes(), pairs)
    assert metric.get() == sum(y_true != y_pred for y_true, y_pred in pairs)


@given(PAIRS, PAIRS)
def test_a_reverted_mistake_is_not_counted(pairs, others):
    metric = fed(metrics.Mistakes(), pairs + others)
    for y_true, y_pred in pairs:
        metric.revert(y_true, y_pred)
    assert metric.get() == fed(metrics.Mistakes(), others).get()


def test_mistakes_are_printed_with_all_digits():
    assert repr(fed(metrics.Mistakes(), 1200 * [(True, False)])) == "Mistakes: 1,200"


@given(PAIRS, st.floats(0.1, 1.0))
def test_a_fading_error_is_the_weighted_share_of_mistakes(pairs, factor):
    metric = fed(metrics.FadingError(factor), pairs)
    weights = [factor**age for age in reversed(range(len(pairs)))]
    wrong = math.fsum(w for w, (a, b) in zip(weights, pairs, strict=True) if a != b)
    assert metric.get() == pytest.approx(wrong / math.fsum(weights) if pairs else 0.0)


def test_without_fading_it_is_the_error():
    pairs = [(True, False), (True, True), (False, False), (False, True)]
    assert fed(metrics.FadingError(factor=1), pairs).get() == 0.5


def test_a_fading_error_follows_a_drift():
    metric = fed(metrics.FadingError(factor=0.9), 1000 * [(True, True)] + 50 * [(True, False)])
    assert metric.get() > 0.99


@pytest.mark.parametrize("factor", [0, -0.1, 1.1, None, "a"])
def test_fading_factors_out_of_range(factor):
    with pytest.raises(ValueError, match="factor"):
        metrics.FadingError(factor)


def test_hinge_loss_by_hand():
    metric = metrics.HingeLoss()
    metric.update(True, 3.0)
    assert metric.get() == 0.0
    metric.update(False, 3.0)
    assert metric.get() == 2.0
    metric.revert(True, 3.0)
    assert metric.get() == 4.0


@given(st.floats(-30, 30), st.booleans())
def test_probabilities_are_mapped_back_to_margins(margin, y):
    from_margin, from_probability = metrics.HingeLoss(), metrics.HingeLoss()
    p = 1 / (1 + math.exp(-margin))
    from_margin.update(y, margin)
    from_probability.update(y, {True: p, False: 1 - p})
    assert from_probability.get() == pytest.approx(from_margin.get(), abs=0.01)


def test_another_positive_class():
    metric = metrics.HingeLoss(pos_val="good")
    metric.update("good", 0.25)
    metric.update("bad", {"good": 0.5, "bad": 0.5})
    assert metric.get() == pytest.approx((0.75 + 1.0) / 2)


def test_progressive_validation_gives_the_mean_hinge_loss():
    first, *stream = synth.TwoGaussians(200, seed=1)
    second = next(i for i, (_, y) in enumerate(stream, 1) if y != first[1])
    model, by_hand = rb.Projectron(rb.RBF(gamma=1.0)), 0.0
    # Before the second label comes, the first one has probability 1.
    for x, y in [first, *stream[:second]]:
        model.learn_one(x, y)
    stream, before = stream[second:], copy.deepcopy(model)
    for x, y in stream:
        by_hand += max(0.0, 1.0 - (1 if y else -1) * model.decision_function_one(x))
        model.learn_one(x, y)
    metric = evaluate.progressive_val_score(stream, before, metrics.HingeLoss())
    assert metric.get() == pytest.approx(by_hand / len(stream))


@pytest.mark.parametrize("y_pred", [{}, {"ham": 1.0}, {"ham": 0.1, "spam": 0.9}])
@pytest.mark.parametrize("y_true", [True, "ham", "spam"])
def test_the_hinge_loss_without_the_positive_label_is_that_of_a_margin_of_0(y_true, y_pred):
    metric = metrics.HingeLoss()
    metric.update(y_true, y_pred)
    assert metric.get() == 1.0


def test_a_calibration_error_by_hand():
    metric = metrics.CalibrationError(n_bins=2)
    for y_true, p in [(True, 0.9), (False, 0.7), (False, 0.2), (True, 1.0)]:
        metric.update(y_true, {True: p, False: 1 - p})
    low, high = metric.bins
    assert low == pytest.approx((0.2, 0.0, 1.0))
    assert high == pytest.approx((2.6 / 3, 2 / 3, 3.0))
    assert metric.get() == pytest.approx((0.2 + 0.6) / 4)


def test_with_two_labels_the_calibration_error_is_that_of_the_positive_one():
    metric, other = metrics.CalibrationError(), metrics.CalibrationError(pos_val="b")
    metric.update(False, {True: 0.3, False: 0.7})
    other.update("a", {"b": 0.3, "a": 0.7})
    (found,), (of_other,) = metric.bins, other.bins
    assert found == of_other == pytest.approx((0.3, 0.0, 1.0))


@pytest.mark.parametrize(
    "y_pred",
    [{"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 0.5, "b": 0.5}, {"a": 0.5, True: 0.3, "c": 0.2}],
)
def test_otherwise_the_calibration_error_is_that_of_the_most_probable_label(y_pred):
    metric = metrics.CalibrationError()
    metric.update("a", y_pred)
    metric.update("c", y_pred)
    assert metric.bins == [(0.5, 0.5, 2.0)]


FORECASTS = st.lists(
    st.tuples(st.booleans(), st.floats(0, 1), st.integers(1, 3)).map(
        lambda f: (f[0], {True: f[1], False: 1 - f[1]}, f[2])
    ),
    max_size=30,
)


@given(FORECASTS, FORECASTS)
def test_a_reverted_forecast_does_not_count(forecasts, others):
    metric, expected = metrics.CalibrationError(), metrics.CalibrationError()
    for forecast in forecasts + others:
        metric.update(*forecast)
    for forecast in forecasts:
        metric.revert(*forecast)
    for forecast in others:
        expected.update(*forecast)
    assert metric.get() == pytest.approx(expected.get(), abs=1e-9)
    assert [b.weight for b in metric.bins] == [b.weight for b in expected.bins]


@given(FORECASTS)
def test_a_weight_is_a_number_of_repetitions(forecasts):
    weighted, repeated = metrics.CalibrationError(), metrics.CalibrationError()
    for y_true, y_pred, w in forecasts:
        weighted.update(y_true, y_pred, w)
        for _ in range(w):
            repeated.update(y_true, y_pred)
    assert weighted.get() == pytest.approx(repeated.get())
    assert 0.0 <= weighted.get() <= 1.0


def test_a_model_without_probabilities_yet_adds_nothing_to_the_calibration_error():
    metric = metrics.CalibrationError()
    metric.update(True, {})
    assert metric.get() == 0.0
    assert metric.bins == []


@pytest.mark.parametrize("n_bins", [0, -1, 1.5, "10"])
def test_numbers_of_bins_out_of_range(n_bins):
    with pytest.raises(ValueError, match="n_bins"):
        metrics.CalibrationError(n_bins)


ALL = [metrics.Mistakes, metrics.FadingError, metrics.HingeLoss, metrics.CalibrationError]


@pytest.mark.parametrize("make", ALL)
def test_metrics_follow_rivers_protocol(make):
    metric = make()
    assert metric.works_with(rb.Forgetron())
    assert not metric.works_with(linear_model.LinearRegression())
    assert not metric.bigger_is_better
    worse = make()
    worse.update(True, {True: 0.2, False: 0.8} if not metric.requires_labels else False)
    assert metric.is_better_than(worse)
    assert worse.clone().get() == 0.0
    together = river_metrics.Accuracy() + make()
    evaluate.progressive_val_score(synth.TwoGaussians(50, seed=1), rb.Forgetron(), together)
    assert together[1].get() > 0


@pytest.mark.parametrize("make", [metrics.Mistakes, metrics.HingeLoss])
def test_rolling(make):
    rolling, last = utils.Rolling(make, window_size=3), make()
    values = [True, False, False, True, False] if make is metrics.Mistakes else [3, -1, 2, 0.5, -2]
    for y_pred in values:
        rolling.update(True, y_pred)
    for y_pred in values[-3:]:
        last.update(True, y_pred)
    assert rolling.get() == pytest.approx(last.get())


SETS = [("a", {"a", "b"}), ("b", {"a"}), ("a", set()), ("c", {"a", "c", "b"})]


def test_coverage_and_size_of_sets_by_hand():
    coverage, size = fed(metrics.SetCoverage(), SETS), fed(metrics.SetSize(), SETS)
    assert (coverage.get(), size.get()) == (2 / 4, 6 / 4)
    coverage.update("a", {"a"}, w=4.0)
    size.update("a", {"a"}, w=4.0)
    assert (coverage.get(), size.get()) == (6 / 8, 10 / 8)


@pytest.mark.parametrize("make", [metrics.SetCoverage, metrics.SetSize])
def test_metrics_of_sets_follow_rivers_protocol(make):
    metric = fed(make(), SETS)
    assert metric.works_with(rb.Forgetron())
    assert metric.clone().get() == 0.0
    metric.revert(*SETS[0])
    assert metric.get() == pytest.approx(fed(make(), SETS[1:]).get())
    rolling = utils.Rolling(make, window_size=2)
    for y_true, y_set in SETS:
        rolling.update(y_true, y_set)
    assert rolling.get() == pytest.approx(fed(make(), SETS[2:]).get())


def test_more_coverage_and_smaller_sets_are_better():
    assert metrics.SetCoverage().bigger_is_better
    assert not metrics.SetSize().bigger_is_better


def test_a_fading_error_does_not_roll():
    rolling = utils.Rolling(metrics.FadingError, window_size=1)
    rolling.update(True, True)
    with pytest.raises(NotImplementedError, match="cannot be reverted"):
        rolling.update(True, True)
