"""The calibration maps and their mixture."""

from __future__ import annotations

import copy
import math
import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from states import content

from river_budget.calibration import Calibrator

PRIOR = 0.25

GAPS = st.one_of(st.just(0.0), st.floats(1e-150, 1e150), st.floats(0.0, 40.0))


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def two(f):
    """Return the gaps of two labels with the logit f of True."""
    return {False: max(f, 0.0), True: max(-f, 0.0)}


def log_loss(p):
    return -math.log(max(p, 1e-300))


def test_it_begins_as_the_identity():
    calibrator = Calibrator()
    assert calibrator.probabilities(two(1.5)) == pytest.approx(
        {False: sigmoid(-1.5), True: sigmoid(1.5)}
    )
    assert calibrator.probabilities({"a": 0.0}) == {"a": 1.0}
    assert calibrator.probabilities({}) == {}


def test_a_newton_step_by_hand():
    calibrator = Calibrator()
    calibrator.learn({"a": 0.0, "b": 0.0}, "b")
    # The gradient of b's bias is p - 1 = -1/2, its curvature p = 1/2 and that of the prior 1/4.
    step = 0.5 / 0.75
    assert calibrator.state()["biases"][:, 0, 0] == pytest.approx([-step, step])
    # Model and maps gave the label the same probability, so that they keep their weights.
    assert calibrator.weights == pytest.approx([1 / 2, 1 / 6, 1 / 6, 1 / 6])
    p = calibrator.probabilities({"a": 0.0, "b": 0.0})
    assert p["b"] == pytest.approx(0.5 * 0.5 + 0.5 * sigmoid(2 * step))


def dense_steps(examples, factor):
    """Return slopes and biases after Newton steps with whole matrices, without any cap."""
    n = len(examples[0][0])
    theta, hessian = np.array([1.0, 0.0] + n * [0.0]), np.zeros((n + 2, n + 2))
    squares = []
    for gaps, y in examples:
        derivatives = np.column_stack((-np.array(gaps), -np.sqrt(gaps), np.eye(n)))
        odds = np.exp(derivatives @ theta)
        p = odds / odds.sum()
        squares.append(max(gaps) ** 2)
        width = math.sqrt(np.mean(squares))
        centred = derivatives - np.append(p @ derivatives[:, :2], np.zeros(n))
        hessian = factor * hessian + centred.T @ (p[:, None] * centred)
        regularized = hessian + PRIOR * np.diag([width**2, width] + n * [1.0])
        theta = theta - np.linalg.solve(regularized, (p - np.eye(n)[y]) @ derivatives)
    return theta


@pytest.mark.parametrize("n_labels", [2, 3, 7])
@pytest.mark.parametrize(("place", "factor"), [(0, 1.0), (1, 0.998), (2, 0.99)])
def test_newton_steps_solve_the_whole_system(n_labels, place, factor):
    rng = np.random.default_rng(n_labels)
    calibrator, examples = Calibrator(), []
    for _ in range(40):
        logits = rng.normal(size=n_labels)
        examples.append(((logits.max() - logits).tolist(), int(rng.integers(n_labels))))
        calibrator.learn(dict(enumerate(examples[-1][0])), examples[-1][1])
    state = calibrator.state()
    found = np.append(state["maps"][place, :2], state["biases"][:, place, 0])
    assert found == pytest.approx(dense_steps(examples, factor), rel=1e-8, abs=1e-10)


def test_two_labels_without_gaps_end_at_their_frequency():
    calibrator, rng = Calibrator(), random.Random(1)
    for _ in range(3000):
        calibrator.learn(two(0.0), rng.random() < 0.2)
    assert calibrator.probabilities(two(0.0))[True] == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1.0, 1e3, 1e40])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_scorer_in_other_units_is_mended(scale, sign):
    """The true logit is the score divided by its scale, which may be opposed to the labels."""
    calibrator, rng = Calibrator(), random.Random(1)
    differences = []
    for t in range(4000):
        z = rng.gauss(0, 2)
        if t >= 3000:
            p = calibrator.probabilities(two(sign * scale * z))[True]
            differences.append(abs(p - sigmoid(z)))
        calibrator.learn(two(sign * scale * z), rng.random() < sigmoid(z))
    assert sum(differences) / 1000 < 0.04


def test_a_scorer_that_is_already_calibrated_keeps_its_probabilities():
    calibrator, rng = Calibrator(), random.Random(1)
    for _ in range(3000):
        z = rng.gauss(0, 2)
        calibrator.learn(two(z), rng.random() < sigmoid(z))
    for z in (-3.0, -1.0, 0.0, 0.5, 2.0):
        assert calibrator.probabilities(two(z))[True] == pytest.approx(sigmoid(z), abs=0.05)


def test_it_follows_a_drift():
    """Scores change their sign, after long enough that the sum over all rounds is heavy."""
    calibrator, rng, losses = Calibrator(), random.Random(1), []
    for t in range(6000):
        z = rng.gauss(0, 2)
        y = rng.random() < sigmoid(z if t < 5000 else -z)
        if t >= 5500:
            losses.append(log_loss(calibrator.probabilities(two(z))[y]))
        calibrator.learn(two(z), y)
    assert sum(losses) / len(losses) < 0.55  # that of the true probabilities is 0.46, of 1/2 0.69
    raw, *maps = calibrator.weights
    assert maps[-1] > 0.5
    assert raw < 0.01


def test_several_labels_with_a_wrong_temperature_and_a_bias():
    rng = np.random.default_rng(1)
    calibrator, bias = Calibrator(), np.array([0.0, 1.0, -1.0, 0.5])
    errors = []
    for t in range(5000):
        logits = rng.normal(size=4)
        true = np.exp(3 * logits + bias)
        true /= true.sum()
        gaps = dict(enumerate((logits.max() - logits).tolist()))
        if t >= 4000:
            found = list(calibrator.probabilities(gaps).values())
            errors.append(np.abs(found - true).max())
        calibrator.learn(gaps, int(rng.choice(4, p=true)))
    assert np.mean(errors) < 0.05


def test_a_late_label_is_learned():
    calibrator, rng = Calibrator(), random.Random(1)
    for _ in range(500):
        calibrator.learn({"a": 0.0, "b": 1.0}, rng.choice("ab"))
    before = calibrator.state()["biases"]
    calibrator.learn({"a": 0.0, "b": 1.0}, "c")
    assert (calibrator.state()["biases"] == before).all()
    gaps = {"a": 0.0, "b": 1.0, "c": 1.0}
    assert sum(calibrator.probabilities(gaps).values()) == pytest.approx(1.0)
    assert calibrator.state()["columns"] == {"a": 0, "b": 1}
    for _ in range(1000):
        calibrator.learn(gaps, rng.choice("acccc"))
    assert calibrator.probabilities(gaps)["c"] == pytest.approx(0.8, abs=0.1)


def test_the_order_of_labels_does_not_matter():
    one, other, rng = Calibrator(), Calibrator(), random.Random(1)
    for _ in range(100):
        gaps = {label: abs(rng.gauss(0, 1)) for label in "abc"}
        y = rng.choice("abc")
        one.learn(gaps, y)
        other.learn(dict(sorted(gaps.items(), key=lambda _: rng.random())), y)
    gaps = {"a": 0.3, "b": 0.0, "c": 2.0}
    assert other.probabilities(gaps) == pytest.approx(one.probabilities(gaps))


@given(st.lists(st.tuples(GAPS, st.booleans(), st.booleans()), max_size=60))
def test_probabilities_are_finite_whatever_the_scores(examples):
    calibrator = Calibrator()
    for gap, y, top in examples:
        gaps = {top: 0.0, (not top): min(gap, 1e50)}
        calibrator.learn(gaps, y)
        p = calibrator.probabilities(gaps)
        assert all(0.0 <= value <= 1.0 for value in p.values())
        assert sum(p.values()) == pytest.approx(1.0)
        assert all(w > 0.0 for w in calibrator.weights)


@given(st.lists(st.tuples(st.floats(-30, 30), st.booleans()), min_size=1, max_size=100))
def test_the_log_loss_is_never_far_above_that_of_the_model(examples):
    calibrator, raw, calibrated = Calibrator(), 0.0, 0.0
    for f, y in examples:
        raw += log_loss(sigmoid(f if y else -f))
        calibrated += log_loss(calibrator.probabilities(two(f))[y])
        calibrator.learn(two(f), y)
    assert calibrated <= raw + math.log(2) + 0.00011 * len(examples)


def test_long_streaks_of_one_label_leave_it_able_to_learn():
    calibrator = Calibrator()
    for _ in range(20_000):
        calibrator.learn(two(1.0), True)
    assert calibrator.probabilities(two(1.0))[True] > 0.99
    for _ in range(50):
        calibrator.learn(two(1.0), False)
    assert calibrator.probabilities(two(1.0))[True] < 0.1


def test_an_outlier_does_not_spoil_it():
    one, other, rng = Calibrator(), Calibrator(), random.Random(1)
    for t in range(1000):
        z = rng.gauss(0, 2)
        y = rng.random() < sigmoid(z)
        one.learn(two(z), y)
        other.learn(two(1e50 if t == 500 else z), y)
    for z in (-2.0, 0.5, 3.0):
        assert other.probabilities(two(z))[True] == pytest.approx(
            one.probabilities(two(z))[True], abs=0.05
        )


def test_a_restored_calibrator_goes_on_bit_for_bit():
    calibrator, restored, rng = Calibrator(), Calibrator(), random.Random(1)
    examples = [(two(rng.gauss(0, 2)), rng.random() < 0.4) for _ in range(60)]
    for gaps, y in examples[:30]:
        calibrator.learn(gaps, y)
    restored.restore(calibrator.state())
    for gaps, y in examples[30:]:
        assert restored.probabilities(gaps) == calibrator.probabilities(gaps)
        calibrator.learn(gaps, y)
        restored.learn(gaps, y)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_a_copy_goes_on_alone(copied):
    calibrator, rng = Calibrator(), random.Random(1)
    for _ in range(20):
        calibrator.learn({label: abs(rng.gauss(0, 2)) for label in "abc"}, rng.choice("abc"))
    gaps, before = {"a": 0.0, "b": 1.0, "c": 2.0}, content(calibrator.state())
    other = copied(calibrator)
    assert content(other.state()) == before
    assert other.nbytes == calibrator.nbytes
    other.learn(gaps, "b")
    assert content(calibrator.state()) == before
    calibrator.learn(gaps, "b")
    assert content(calibrator.state()) == content(other.state())


def test_a_gap_that_is_no_number_changes_nothing():
    calibrator = Calibrator()
    calibrator.learn(two(1.0), True)
    before = content(calibrator.state())
    with pytest.raises(TypeError):
        calibrator.learn({True: 0.0, False: None}, True)
    assert content(calibrator.state()) == before
    calibrator.learn(two(1.0), False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights", np.array([1.0, 0.0, 0.0, 0.0])),
        ("maps", -np.ones((3, 5))),
        ("maps", np.full((3, 5), np.nan)),
        ("biases", -np.ones((2, 3, 4))),
        ("biases", np.zeros((3, 3, 4))),
        ("columns", {False: 0, True: 2}),
        ("square", -1.0),
        ("n_gaps", -1),
    ],
)
def test_an_invalid_state_is_refused(name, value):
    calibrator = Calibrator()
    calibrator.learn(two(1.0), True)
    with pytest.raises(ValueError):  # noqa: PT011 (one message for each)
        Calibrator().restore({**calibrator.state(), name: value})
