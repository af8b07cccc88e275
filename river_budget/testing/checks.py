"""The checks: what is promised of every classifier, and how to mend a class that breaks a promise.

Each takes a model, which it leaves as it is, and raises AssertionError if the promise does not hold.
"""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import random
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from river_budget.kernels import Features
from river_budget.testing.moments import interrupted
from river_budget.testing.streams import Line, blocks, of_new_names, shuffled
from river_budget.testing.subject import (
    N_LEARNED,
    TICKETS,
    Subject,
    expect,
    learned,
    require_same,
    saved,
)

ROUNDING = 1e-6


class Check(Protocol):
    """A function that checks a promise."""

    __name__: str

    def __call__(
        self, model: Any, *, seed: int = 0, examples: Iterable[tuple[Features, Any]] | None = None
    ) -> None: ...


def _check(body: Callable[[Subject], None]) -> Check:
    """Return a check of a model, given that of a subject."""

    def check(
        model: Any, *, seed: int = 0, examples: Iterable[tuple[Features, Any]] | None = None
    ) -> None:
        subject = Subject(model, seed, examples)
        try:
            with warnings.catch_warnings():
                # They tell of the examples.
                warnings.simplefilter("ignore", UserWarning)
                body(subject)
        except AssertionError:
            raise
        except Exception as error:
            advice = "see the error above; it comes from your class, or from your kernel"
            if subject.is_function and subject.given is None:
                advice += ", which may need examples of your own: give them as `examples`"
            raise AssertionError(f"A call that is valid raised {error!r}: {advice}.") from error

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(check, name, getattr(body, name))
    return check


@_check
def check_repeatability(subject: Subject) -> None:
    """Models with equal parameters learn the same from the same examples.

    To mend it, draw with the seed of a `RandomPerceptron`, and never from the generators that all of
    Python and NumPy share.
    """
    models: list[Any] = []
    states = random.getstate(), np.random.get_state()
    try:
        for seed in (1, 2):
            random.seed(seed)
            np.random.seed(seed)
            models.append(learned(subject.new(), subject.lines()))
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
    require_same(
        models[0],
        models[1],
        "Two models with the same seed learn the same from the same examples: draw from the seed of "
        "the model, as a RandomPerceptron does, and not from `random` or `numpy.random`.",
    )


@_check
def check_predictions(subject: Subject) -> None:
    """Scores are finite, probabilities sum to 1, and the label with the largest score is predicted.

    To mend it, leave predictions to the base class, or keep these rules in your own.
    """
    model = subject.new()
    for x, y, w in subject.lines():
        scores, probabilities = model.scores_one(x), model.predict_proba_one(x)
        predicted = model.predict_one(x)
        finite = all(map(math.isfinite, [*scores.values(), *probabilities.values()]))
        expect(finite, f"Scores and probabilities are finite, got {scores} and {probabilities}.")
        total = math.fsum(probabilities.values())
        is_one = math.isclose(total, 1.0, rel_tol=ROUNDING) or not probabilities
        expect(is_one, f"The probabilities of all labels sum to 1, got {probabilities}.")
        expect(
            set(scores) == set(probabilities) == set(model.classes),
            f"Scores and probabilities are those of the labels that were learned, {model.classes}, "
            f"got {scores} and {probabilities}.",
        )
        best = max(scores, key=scores.__getitem__, default=None)
        expect(
            predicted == best,
            f"The label with the largest score is predicted, {best!r}, got {predicted!r}.",
        )
        model.learn_one(x, y, w)
        _expect_exact(model)


def _expect_exact(model: Any) -> None:
    """Raise AssertionError unless what a model updates step by step is what it would compute anew."""
    errors = {
        name: error for name, error in model.numerical_errors().items() if not error < ROUNDING
    }
    expect(
        not errors,
        f"What is updated step by step stays exact, but it has the errors {errors}: compute it anew "
        "from time to time, and in `_derive`.",
    )


@_check
def check_labels(subject: Subject) -> None:
    """Any label may come at any time, is unknown before, and `max_classes` limits them.

    To mend it, let arrays grow with `f.n_labels`, and never assume two labels.
    """
    model, lines = subject.new(), subject.lines()
    (x, first, _), labels = lines[0], list(dict.fromkeys(y for _, y, _ in lines))
    expect(model.predict_one(x) is None, "A model that has learned nothing predicts None.")
    expect(model.predict_proba_one(x) == {}, "A model that has learned nothing knows no label.")
    # Each label comes after examples of the former ones alone.
    known: list[Any] = []
    for label in labels:
        known.append(label)
        for z, y, w in [line for line in lines if line[1] in known][: 10 * len(known)]:
            model.learn_one(z, y if y != label else first, w)
        model.learn_one(x, label)
        expect(
            set(model.classes) == set(known),
            f"`classes` are the labels that were learned, {known}, got {model.classes}.",
        )
        if len(known) == 1:
            found = model.predict_proba_one(x)
            expect(found == {label: 1.0}, f"The only label has the probability 1, got {found}.")
        copied = subject.saved(model)
        require_same(copied, model, "A model is saved with all labels that it has learned.")
    limited = subject.new(max_classes=1)
    limited.learn_one(x, first)
    _refuses(limited, "one class too many", limited.learn_one, x, "another")


@_check
def check_refusals(subject: Subject) -> None:
    """What is refused raises ValueError, and changes nothing: bad values, labels, weights and rows.

    To mend it, leave the checks to the base class, which makes them before anything is learned, and
    change nothing before you call it.
    """
    x, y, _ = subject.steady_lines()[0]
    for model in (subject.new(), subject.trained()):
        for z, named in _bad_examples(subject, x):
            for call in (model.predict_one, model.predict_proba_one, model.scores_one, model.ask):
                _refuses(model, named, call, z)
            _refuses(model, named, model.learn_one, z, y)
        for label in (None, math.nan, [1], {"a"}, ("a", math.nan)):
            _refuses(model, "the label", model.learn_one, x, label)
        for w in (-1.0, math.nan, math.inf, "1", None):
            _refuses(model, "w must", model.learn_one, x, y, w)
        X = {name: [value, value] for name, value in x.items()}
        _refuses(model, "row 1: the label", model.learn_many, X, [y, None])
        _refuses(model, "row 1: w must", model.learn_many, X, [y, y], [1.0, -1.0])
        if not subject.is_function:
            name = next(iter(X))
            X[name][1] = math.inf
            _refuses(model, f"row 1: feature {name!r}", model.learn_many, X, [y, y])


def _bad_examples(subject: Subject, x: Features) -> list[tuple[Any, str]]:
    """Return what is no example, and examples with a bad value, with what an error must name.

    A function as a kernel takes any values.
    """
    bad: list[tuple[Any, str]] = [(None, "x must be a dict"), (7, "x must be a dict")]
    if subject.is_function:
        return bad
    name, unknown = next(iter(x)), [] if subject.takes(None) else [None, math.nan]
    values = [math.inf, -math.inf, b"red", [1.0], 1j, 10**400, 1e300, *unknown]
    return bad + [({**x, name: value}, f"feature {name!r}") for value in values]


def _refuses(model: Any, named: str, act: Callable[..., Any], *args: Any) -> None:
    """Raise AssertionError unless a call raises ValueError, which names the input, and changes nothing."""
    before, call = copy.deepcopy(model), f"{act.__name__} with bad input"
    try:
        act(*args)
    except ValueError as error:
        message = str(error)
    else:
        raise AssertionError(f"{call} raises ValueError: let the base class check what is given.")
    expect(named in message, f"The error of {call} says {named!r}, got {message!r}.")
    promise = f"{call} is refused and changes nothing: check first, then change."
    require_same(model, before, promise)


@_check
def check_weights(subject: Subject) -> None:
    """An example with a weight of 0 changes nothing.

    To mend it, learn in `_update` and not in `learn_one`.
    """
    model, lines = subject.trained(), subject.steady_lines()
    before = copy.deepcopy(model)
    for x, y, _ in lines[:20]:
        model.learn_one(x, y, 0.0)
        model.learn_many({name: [value] for name, value in x.items()}, [y], [0.0])
    require_same(
        model,
        before,
        "Examples with a weight of 0 change nothing: learn in `_update`, which is not called for them.",
    )


@_check
def check_budget(subject: Subject) -> None:
    """There are never more support vectors than the budget allows.

    To mend it, replace or remove a vector where `f.n` is the budget.
    """
    model = subject.new()
    for x, y, w in subject.lines():
        try:
            model.learn_one(x, y, w)
        except ValueError as error:
            reason = str(error)
            raise AssertionError(
                f"A model goes on where its budget is full, but {reason}."
            ) from None
        n = len(model.support_vectors)
        advice = f"but there are {n}: call `f.replace` or `f.remove` where `f.n` is the budget"
        expect(
            n == len(model.coefficients) == model.n_support <= model.budget,
            f"There are at most {model.budget} support vectors, each with a coefficient, {advice}.",
        )


@_check
def check_memory(subject: Subject) -> None:
    """Once the budget is full, memory does not grow, whatever names of features come and go.

    To mend it, keep nothing for each example or name that was ever seen, and declare what is kept.
    """
    lines: Iterable[Line] = of_new_names(500)
    if subject.given is not None or subject.is_function:
        lines = itertools.islice(itertools.cycle(subject.steady_lines()), 500)
    model, sizes = subject.new(), []
    for x, y, w in lines:
        model.learn_one(x, y, w)
        sizes.append(model.memory_bytes)
    before, after = max(sizes[:300]), max(sizes[300:])
    expect(
        after < 1.05 * before,
        f"Memory stays where it was once the budget is full, but 200 more examples have raised "
        f"`memory_bytes` from {before:,} to {after:,}: keep nothing for each example, label or name "
        "that was ever seen.",
    )


@_check
def check_saving(subject: Subject) -> None:
    """A model that is saved and loaded at any moment continues bit for bit like one that was not.

    To mend it, register the class, and declare each attribute that it learns, as a `Count`, `Number`,
    `Array` or another one.
    """
    promise = (
        "A model that was saved and loaded continues bit for bit: declare all that it learns as "
        "class attributes, such as `Count()` or `Number()`, so that it is saved."
    )
    for share_of_arrays in (0.05, 0.5):
        model, undisturbed = subject.new(), subject.new()
        rng = random.Random(subject.seed)
        for x, y, w in subject.lines(share_of_arrays):
            for each in (model, undisturbed):
                each.predict_one(x)
            if rng.random() < 0.2:
                loaded = saved(model)
                require_same(loaded, model, promise)
                model = loaded
            for each in (model, undisturbed):
                each.learn_one(x, y, w)
            _expect_exact(model)
        require_same(model, undisturbed, promise)


@_check
def check_copies(subject: Subject) -> None:
    """Copies and pickles continue like the model, and change nothing of it.

    To mend it, keep all that a model learns in declared attributes, and share nothing between models.
    """
    lines = subject.lines()
    half = len(lines) // 2
    model, undisturbed = (learned(subject.new(), lines[:half]) for _ in range(2))
    expected = learned(copy.deepcopy(undisturbed), lines[half:])
    for way, other in subject.copies(model):
        require_same(other, model, f"What {way} makes is equal to the model.")
        learned(other, lines[half:])
        require_same(
            model,
            undisturbed,
            f"A copy of {way} that learns changes nothing of the model: share no lists, dicts or "
            "arrays between models, such as those of the class.",
        )
        require_same(other, expected, f"A copy of {way} continues like the model.")


@_check
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
        require_same(
            many,
            one,
            "`learn_many` makes the model that `learn_one` makes of the same rows: learn in "
            "`_update`, which both call.",
        )


@_check
def check_answers(subject: Subject) -> None:
    """`ask` tells what the predictions tell, and `learn` makes the model of `learn_one`.

    To mend it, leave both to the base class, and override none of its predictions alone.
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
            advice = "override no prediction of the base class without the one that it comes from"
            expect(
                found == expected,
                f"The {name} of an answer is that of the model, {expected!r}, got {found!r}: {advice}.",
            )
        if subject.is_importable and not subject.is_function:
            answer = pickle.loads(pickle.dumps(answer))
        model.learn_one(x, y, w)
        other.learn(answer, y, w)
    require_same(
        other,
        model,
        "`learn` makes the model that `learn_one` makes of the same examples: learn in `_update`, "
        "which both call.",
    )


@_check
def check_disturbances(subject: Subject) -> None:
    """Questions, copies and saves between two examples leave no trace in what is learned.

    To mend it, keep nothing in a prediction that learning reads.
    """
    for lines in (subject.lines(), subject.steady_lines()):
        model, undisturbed = subject.new(), subject.new()
        rng, half = random.Random(subject.seed), len(lines) // 2
        for x, y, w in lines[:half]:
            for each in (model, undisturbed):
                each.predict_one(x)
            model = _disturbed(subject, model, rng.choice(lines[half:])[0], rng)
            for each in (model, undisturbed):
                each.learn_one(x, y, w)
        require_same(
            model,
            undisturbed,
            "What is learned follows from the learned examples alone, not from questions, copies or "
            "saves: keep nothing in a prediction that learning reads.",
            without=[TICKETS],
        )


def _disturbed(subject: Subject, model: Any, x: Features, rng: random.Random) -> Any:
    """Return a model, or a copy of it, after questions about another example, and perhaps a save."""
    model.predict_one(x)
    model.predict_proba_one(x)
    model.ask(x)
    if hasattr(model, "novelty_one"):
        model.novelty_one(x)
    if rng.random() < 0.7:
        return model
    copies = [copied for _, copied in subject.copies(model)]
    return rng.choice([*copies, subject.saved(model)])


@_check
def check_order_of_features(subject: Subject) -> None:
    """The order of the features of an example does not matter, up to rounding.

    To mend it, read features by their names.
    """
    model, other = subject.new(), subject.new()
    shuffle = random.Random(subject.seed).shuffle
    for x, y, w in subject.lines():
        z = shuffled(x, shuffle)
        found, expected = other.scores_one(z), model.scores_one(x)
        expect(
            _is_near(found, expected),
            f"The order of features does not matter, but the scores of {x} are {expected}, and in "
            f"another order {found}: read features by their names.",
        )
        model.learn_one(x, y, w)
        other.learn_one(z, y, w)


@_check
def check_interrupts(subject: Subject) -> None:
    """An interrupt at any moment leaves whole examples: the last one was learned, or it was not.

    The model then goes on, is saved and is loaded. To mend it, replace a declared array in `_update`
    instead of changing its elements: the former values of all attributes return, but not those of
    elements. What is neither an attribute nor in `f` is computed anew in `_derive`.
    """
    lines = subject.lines()
    model = learned(subject.new(), itertools.islice(itertools.cycle(lines), N_LEARNED))
    x, y = _worst(model, lines)
    after = copy.deepcopy(model)
    after.learn_one(x, y)
    # Twice, so that what is derived when it is needed is there.
    z, label = _worst(after, lines)
    last = copy.deepcopy(after)
    last.learn_one(z, label)
    promise = (
        "After an interrupt, a model has learned whole examples only, and goes on: in `_update`, replace "
        "declared arrays instead of changing their elements, and compute in `_derive` what is kept in "
        "other objects."
    )
    for found in interrupted(lambda: copy.deepcopy(model), lambda made: made.learn_one(x, y)):
        n = found.n_rounds - model.n_rounds
        expect(n in (0, 1), f"An interrupted example is learned once or not at all, got {n} times.")
        expected = after if n else model
        for each, _, _ in lines[:3]:
            expect(_is_near(found.scores_one(each), expected.scores_one(each)), promise)
        going_on = subject.saved(found)
        if n == 0:
            going_on.learn_one(x, y)
        going_on.learn_one(z, label)
        require_same(going_on, last, promise, tolerance=ROUNDING, without=[TICKETS])


def _is_near(found: dict[Any, float], expected: dict[Any, float]) -> bool:
    """Return whether the scores of the same labels are equal, up to rounding."""
    return found.keys() == expected.keys() and all(
        math.isclose(found[label], score, rel_tol=ROUNDING, abs_tol=ROUNDING)
        for label, score in expected.items()
    )


def _worst(model: Any, lines: list[Line]) -> tuple[Features, Any]:
    """Return an example with a label that the model is surest to be wrong: it updates the model."""
    scored = [
        (x, label, score) for x, _, _ in lines for label, score in model.scores_one(x).items()
    ]
    x, label, _ = min(scored, key=lambda line: line[2])
    return x, label


ALL = (
    check_repeatability, check_predictions, check_labels, check_refusals, check_weights,
    check_budget, check_memory, check_saving, check_copies, check_blocks, check_answers,
    check_disturbances, check_order_of_features, check_interrupts,
)  # fmt: skip
