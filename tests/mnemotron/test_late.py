"""Labels that come late: what the model keeps of predictions, and what it learns from it."""

from __future__ import annotations

import copy
import itertools
import pickle
import random

import numpy as np
import pytest
from plain_mnemotron import Plain, worth
from refusals import refuses
from states import content
from test_mnemotron import KERNELS, MEMORIES, drifting, in_tasks

import river_budget as rb
from river_budget import checkpoint

LABELS = "abcde"


def late_turns(examples, seed=1, prompt=40):
    """Return (number, whether it is learned): labels are late by up to 12, out of order, doubled or missing.

    The first ones come at once, and some are learned without a prediction.
    """
    rng, due, turns = random.Random(seed), [], []
    for number in range(len(examples)):
        if number < prompt:
            turns += [(number, False), (number, True)]
            continue
        if rng.random() < 0.9:
            turns += [(number, False)] * rng.choice([1, 1, 1, 2])
        copies = rng.choices([0, 1, 2], [0.1, 0.8, 0.1])[0]
        due += [(number + rng.choice([0, 0, 1, 3, 12]), number)] * copies
        for item in sorted(item for item in due if item[0] <= number):
            due.remove(item)
            turns.append((item[1], True))
    return turns


def switch_of(model):
    return model._f.own_state()["weights"]


def accuracy_with_late_labels(model, examples, delay):
    """Return the share of right predictions of a model whose labels come late."""
    hits = 0
    for number, x, y in rb.evaluate.Delays(delay).turns(examples):
        if y is None:
            hits += model.predict_one(x) == examples[number][1]
        else:
            model.learn_one(x, y)
    return hits / len(examples)


@pytest.mark.parametrize(
    ("kernels", "examples"),
    [
        (slice(0, 2), drifting(2, 200)),
        (slice(1, 3), drifting(5, 200)),
        (slice(1, 2), in_tasks(5, 400)),
    ],
    ids=["2 labels", "5 labels", "tasks"],
)
def test_against_a_plain_implementation(kernels, examples):
    model = rb.Mnemotron(12, KERNELS[kernels], MEMORIES)
    plain = Plain(KERNELS[kernels], MEMORIES, 12)
    largest = 0.0
    for number, is_learned in late_turns(examples):
        x, y = examples[number]
        if is_learned:
            model.learn_one(x, LABELS[y])
            plain.learn(x, y)
            assert model.support_vectors == plain.vectors
        elif len(model.classes) < 2:
            model.predict_one(x)
            plain.predict(x)
        else:
            expected = plain.predict(x).tolist()
            assert list(model.predict_proba_one(x).values()) == pytest.approx(expected, abs=1e-8)
            largest = max(largest, model.late_weight)
    assert largest > 0.02


class OnlyThen(Plain):
    """Learns late weights from what was said alone."""

    def steps_of_late(self, y, ticket, balance):
        steps, worths = super().steps_of_late(y, ticket, balance)
        return steps if ticket is None else [
            2 * s - n for s, n in zip(steps, self.late.steps(self.p, y, balance), strict=True)
        ], worths


class FullCounts(Plain):
    """Counts a late label after the last one like a prompt one."""

    def __init__(self, *args):
        super().__init__(*args)
        count = self.repeats.count
        self.repeats.count = lambda place, label, _: count(place, label, 1.0)


class JudgedNow(Plain):
    """Judges both mixtures, for the switch, by what they say now."""

    def steps_of_late(self, y, ticket, balance):
        steps, worths = super().steps_of_late(y, ticket, balance)
        return steps, worths if ticket is None else balance * worth(self.both(self.p)[:, y])


@pytest.mark.parametrize("fault", [OnlyThen, FullCounts, JudgedNow])
def test_a_fault_is_found(fault):
    examples = drifting(5, 120)
    model = rb.Mnemotron(12, KERNELS[1:3], MEMORIES)
    plain, gap = fault(KERNELS[1:3], MEMORIES, 12), 0.0
    for number, is_learned in late_turns(examples):
        x, y = examples[number]
        if is_learned:
            model.learn_one(x, LABELS[y])
            plain.learn(x, y)
        elif len(model.classes) > 1:
            p = list(model.predict_proba_one(x).values())
            gap = max(gap, np.abs(plain.predict(x) - p).max())
        else:
            model.predict_one(x)
            plain.predict(x)
    assert gap > 1e-5


def test_labels_that_come_at_once_leave_nothing():
    """The forecast is that of the prompt mixture, and the late one sleeps."""
    model = rb.Mnemotron(budget=20)
    size = model.memory_bytes
    for x, y in drifting(2, 200):
        model.predict_one(x)
        model.learn_one(x, y)
    assert model.late_weight == 0.0
    assert not switch_of(model)["is_awake"]
    assert model.n_pending == 0
    assert model._f.tickets.nbytes == 0
    assert size > 0


@pytest.mark.parametrize("regions", [1, 4])
def test_answers_and_predictions_make_the_same_model(regions):
    """Whether the model keeps the tickets, or the answers do."""
    by_answers, by_predictions = (
        rb.Mnemotron(20, regions=regions, region_budget=10) for _ in range(2)
    )
    examples, answers = drifting(5, 600), {}
    for number, x, y in rb.evaluate.Delays(15, "uniform", seed=1).turns(examples):
        if y is None:
            answers[number] = by_answers.ask(x)
            assert by_predictions.predict_one(x) == answers[number].label
        else:
            by_answers.learn(answers.pop(number), y)
            by_predictions.learn_one(x, y)
    assert switch_of(by_predictions)["is_awake"]
    assert content(by_answers.state()) == content(by_predictions.state())
    assert (regions > 1) == (len(by_answers.regions_) > 1)


@pytest.mark.parametrize("regions", [1, 4])
@pytest.mark.parametrize(
    "saved",
    [
        copy.deepcopy,
        lambda m: pickle.loads(pickle.dumps(m)),
        lambda m: checkpoint.loads(checkpoint.dumps(m)),
    ],
    ids=["deepcopy", "pickle", "checkpoint"],
)
def test_a_model_that_is_restored_with_labels_outstanding_goes_on_exactly(saved, regions):
    model, restored = (rb.Mnemotron(20, regions=regions, region_budget=10) for _ in range(2))
    for number, x, y in rb.evaluate.Delays(15, "exponential", seed=1).turns(drifting(3, 400)):
        if number % 40 == 39:
            assert restored.n_pending > 0
            restored = saved(restored)
        if y is None:
            assert restored.predict_proba_one(x) == model.predict_proba_one(x)
        else:
            model.learn_one(x, y)
            restored.learn_one(x, y)
    assert content(restored.state()) == content(model.state())


def test_keyed_events_and_a_model_of_its_own_learn_the_same():
    """Also if the state is stored after each event, and labels come out of order."""
    learner = rb.keyed.KeyedLearner(lambda: rb.Mnemotron(20))
    alone, state = rb.Mnemotron(20), None
    for number, x, y in rb.evaluate.Delays(8, "exponential", seed=1).turns(drifting(3, 200)):
        state, prediction = learner.step(
            state, rb.keyed.Event("ann", number, x if y is None else None, y)
        )
        if y is None:
            assert prediction.y_pred == alone.predict_one(x)
        else:
            alone.learn_one(x, y)
    assert content(learner.deserialize(state).model.state()) == content(alone.state())


def test_a_calibrated_model_learns_from_the_scores_of_prediction_time():
    examples = drifting(2, 200)
    calibrated, calibrator = rb.Calibrated(rb.Forgetron(budget=10)), rb.calibration.Calibrator()
    answers = {}
    for number, x, y in rb.evaluate.Delays(10).turns(examples):
        if y is None:
            answers[number] = calibrated.ask(x)
        else:
            calibrator.learn(answers[number].gaps, y)
            calibrated.learn(answers[number], y)
    assert content(calibrated.calibrator.state()) == content(calibrator.state())


def test_a_nested_calibrated_model_has_gaps_of_its_own():
    model = rb.Calibrated(rb.Calibrated(rb.Forgetron(budget=10)))
    for x, y in drifting(2, 50):
        model.learn(model.ask(x), y)
    inner, outer = model.model.calibrator, model.calibrator
    assert content(inner.state()) != content(outer.state())


def test_a_label_that_was_unknown_when_it_was_predicted_judges_no_mixture():
    model = rb.Mnemotron(budget=10)
    for x, y in drifting(2, 60):
        model.learn_one(x, y)
    asked = [{"a": 0.1, "b": float(i)} for i in range(3)]
    answers = [model.ask(x) for x in asked]
    model.learn_one({"a": 0.0}, 0)
    model.learn(answers[0], 0)
    before = switch_of(model)["switch"]
    model.learn(answers[1], "new")
    after = switch_of(model)["switch"]
    assert before.any()
    assert after == pytest.approx(0.999 * before, rel=1e-12)


def test_max_pending():
    """The oldest ticket makes room; from then on, a label without one is late by an unknown time."""
    model = rb.Mnemotron(budget=10, max_pending=3)
    for t in range(4):
        model.predict_one({"u": float(t)})
    assert model.n_pending == 3
    model = checkpoint.loads(checkpoint.dumps(model))
    model.learn_one({"u": 3.0}, "a")
    model.learn_one({"u": 0.0}, "b")
    repeats = model._f.own_state()["repeats"]
    assert repeats["counts"].sum() == 0.0
    assert repeats["last"] == 1
    with pytest.raises(ValueError, match="max_pending"):
        rb.Mnemotron(max_pending=0)


def test_an_answer_of_another_model_is_refused():
    answer = rb.Mnemotron(kernels=(rb.RationalQuadratic(),)).ask({"a": 1.0})
    model = rb.Mnemotron(budget=10)
    stranger = pickle.loads(pickle.dumps(answer))
    refuses("another model", model.learn, stranger, "a")


def test_memory_grows_only_while_labels_are_late():
    examples = drifting(2, 400)
    model = rb.Mnemotron(budget=20, max_pending=100)
    for x, y in examples[:200]:
        model.learn_one(x, y)
    size, sizes = model.memory_bytes, []
    for _, x, y in rb.evaluate.Delays(150).turns(examples[200:]):
        if y is None:
            model.predict_one(x)
        else:
            model.learn_one(x, y)
        sizes.append(model.memory_bytes)
    ticket = 4 * 2 * (13 + 5)
    assert max(sizes) - size == pytest.approx(100 * (ticket + 88), rel=0.1)
    for x, y in itertools.islice(examples, 100, 200):
        model.learn_one(x, y)
    assert model.n_pending <= 100


def test_a_late_label_wakes_what_a_refused_one_does_not():
    model = rb.Mnemotron(budget=10)
    answer = model.ask({"a": 1.0})
    model.learn_one({"a": 0.0}, 0)
    refuses("expected a class", model.learn, answer, [])
    assert not switch_of(model)["is_awake"]
    model.learn(answer, 1)
    assert switch_of(model)["is_awake"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda t: {**t, "said": t["said"][:-1]}, "shape"),
        (lambda t: {**t, "said": np.full_like(t["said"], 2.0)}, "too large"),
        (lambda t: {**t, "said": -t["said"]}, "no probabilities"),
        (lambda t: {**t, "tickets": t["tickets"] + [[0, 0, 9, 0, 0]]}, "ticket of a prediction"),
        (lambda t: {**t, "tickets": t["tickets"] + [[0, 0, 0, 99, 0]]}, "ticket of a prediction"),
        (lambda t: {**t, "tickets": t["tickets"] + [[0, 99, 0, 0, 0]]}, "tickets of predictions"),
        (lambda t: {**t, "tickets": t["tickets"] + [[0, 0, 0, 0, 9]]}, "tickets of predictions"),
    ],
)
def test_a_forged_ticket_is_refused(spoil, message):
    model = rb.Mnemotron(budget=10)
    model.learn_one({"a": 1.0}, 0)
    model.predict_one({"a": 2.0})
    state = model.state()
    state["hypothesis"]["tickets"] = spoil(state["hypothesis"]["tickets"])
    with pytest.raises(ValueError, match=message):
        rb.Mnemotron(budget=10).restore(state)


def test_repeats_that_are_known_late_help_less_the_later_they_are():
    """A label of a run of 50 is known from one that is a little late."""
    labels = np.repeat(np.random.default_rng(1).integers(0, 2, 40), 50).tolist()
    rng = random.Random(1)
    examples = [({"u": rng.random()}, y) for y in labels]

    at_once, soon, late = (
        accuracy_with_late_labels(rb.Mnemotron(budget=10, max_pending=1000), examples, delay)
        for delay in (0, 10, 400)
    )
    assert at_once > soon > late
    assert soon > 0.75
