"""Checks that two ways lead to the same model."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np

from river_budget.kernels import Features
from river_budget.testing.comparison import TICKETS, expect, expect_exact, expect_same, is_near
from river_budget.testing.streams import blocks
from river_budget.testing.subject import Subject, as_check, learned, saved


@as_check
def check_repeatability(subject: Subject) -> None:
    """Models with equal parameters learn the same from the same examples.

    To mend it, draw with the seed of the model, as a `RandomPerceptron` does, and never from the
    generators that all of Python and NumPy share.
    """
    models = []
    states = random.getstate(), np.random.get_state()
    try:
        for seed in (1, 2):
            random.seed(seed)
            np.random.seed(seed)
            models.append(learned(subject.new(), subject.lines()))
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
    first, second = models
    expect_same(second, first, "A second model")


@as_check
def check_blocks(subject: Subject) -> None:
    """`learn_many` makes exactly the model that `learn_one` makes of the same rows.

    To mend it, learn in `_update`, which both call, and change no `learn_one` or `learn_many` alone.
    """
    rng = random.Random(subject.seed)
    for lines in (subject.lines(), subject.steady_lines()):
        lines = [line for line in lines if line[0]]  # Without columns, there are no rows.
        one, many = learned(subject.new(), lines), subject.new()
        for X, y, w in blocks(lines, rng):
            many.learn_many(X, y, w)
        expect_same(many, one, "The model of `learn_many`")


@as_check
def check_answers(subject: Subject) -> None:
    """`ask` tells what the predictions tell, and `learn` makes the model of `learn_one`.

    To mend it, learn in `_update`, which both call, and override no prediction of the base class
    without the one that it comes from.
    """
    model, other = subject.new(), subject.new()
    for x, y, w in subject.lines():
        answer = other.ask(x)
        told = {
            "label": model.predict_one(x),
            "scores": model.scores_one(x),
            "probabilities": model.predict_proba_one(x),
            "n_rounds": model.n_rounds,
        }
        if hasattr(model, "novelty_one"):
            told["novelty"] = model.novelty_one(x)
        for name, expected in told.items():
            found = getattr(answer, name)
            expect(
                found == expected,
                f"The {name} of an answer should be {expected!r}, as the model says, got {found!r}.",
            )

        if subject.is_importable and not subject.is_function:
            answer = pickle.loads(pickle.dumps(answer))
        model.learn_one(x, y, w)
        other.learn(answer, y, w)
    expect_same(other, model, "The model of `learn`")


@as_check
def check_order_of_features(subject: Subject) -> None:
    """The order of the features of an example does not matter, up to rounding.

    To mend it, read features by their names.
    """
    model, other = subject.new(), subject.new()
    rng = random.Random(subject.seed)
    for x, y, w in subject.lines():
        shuffled = {name: x[name] for name in rng.sample(list(x), len(x))}
        found, expected = other.scores_one(shuffled), model.scores_one(x)
        expect(
            is_near(found, expected),
            f"The scores of {x} are {expected}, and in another order they are {found}.",
        )
        model.learn_one(x, y, w)
        other.learn_one(shuffled, y, w)


@as_check
def check_copies(subject: Subject) -> None:
    """Copies and pickles continue like the model, and change nothing of it.

    To mend it, keep all that a model learns in declared attributes, and share no lists, dicts or
    arrays between models, such as those of the class.
    """
    lines = subject.lines()
    half = len(lines) // 2
    model, undisturbed = (learned(subject.new(), lines[:half]) for _ in range(2))
    expected = learned(copy.deepcopy(undisturbed), lines[half:])
    for way, copied in subject.ways_to_copy().items():
        other = copied(model)
        expect_same(other, model, f"A copy by {way}")
        learned(other, lines[half:])
        expect_same(model, undisturbed, f"After a copy by {way} has learned, the model")
        expect_same(other, expected, f"When it has learned more, a copy by {way}")


@as_check
def check_saving(subject: Subject) -> None:
    """A model that is saved and loaded at any moment continues bit for bit like one that was not.

    To mend it, register the class, and declare each attribute that it learns, as a `Count`, `Number`,
    `Array` or another one.
    """
    for share_of_arrays in (0.05, 0.5):
        model, undisturbed = subject.new(), subject.new()
        rng = random.Random(subject.seed)
        for x, y, w in subject.lines(share_of_arrays):
            for each in (model, undisturbed):
                each.predict_one(x)
            if rng.random() < 0.2:
                loaded = saved(model)
                expect_same(loaded, model, "A loaded model")
                model = loaded
            for each in (model, undisturbed):
                each.learn_one(x, y, w)
            expect_exact(model)
        expect_same(model, undisturbed, "When it has learned more, a loaded model")


@as_check
def check_disturbances(subject: Subject) -> None:
    """Questions, copies and saves between two examples leave no trace in what is learned.

    To mend it, keep nothing in a prediction that learning reads.
    """
    steady = subject.steady_lines()
    for lines in (subject.lines(), steady):
        model, undisturbed = subject.new(), subject.new()
        rng, half = random.Random(subject.seed), len(lines) // 2
        for x, y, w in lines[:half]:
            for each in (model, undisturbed):
                each.predict_one(x)
            # It is no example that is learned, also if the kernel reads only some names.
            other = {**rng.choice(steady)[0], **rng.choice(lines[half:])[0]}
            model = _disturbed(subject, model, other, rng)
            for each in (model, undisturbed):
                each.learn_one(x, y, w)
        expect_same(model, undisturbed, "A disturbed model", without=[TICKETS])


def _disturbed(subject: Subject, model: Any, x: Features, rng: random.Random) -> Any:
    """Return a model, or a copy of it, after questions about another example, and perhaps a save."""
    model.predict_one(x)
    model.predict_proba_one(x)
    model.ask(x)
    if hasattr(model, "novelty_one"):
        model.novelty_one(x)
    if rng.random() < 0.7:
        return model
    return rng.choice([*subject.ways_to_copy().values(), subject.saved])(model)
