"""Checks of what must leave whole examples: bad input, weights of 0, and interrupts."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable
from typing import Any

from river_budget import checkpoint
from river_budget._core.engine import Engine
from river_budget.kernels import Features
from river_budget.testing.comparison import (
    ROUNDING,
    TICKETS,
    PromiseError,
    expect,
    expect_same,
    is_near,
)
from river_budget.testing.moments import interrupted
from river_budget.testing.streams import Line
from river_budget.testing.subject import N_LEARNED, Subject, as_bytes, as_check, learned


@as_check
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
    limited = subject.new(max_classes=1)
    limited.learn_one(x, y)
    _refuses(limited, "one class too many", limited.learn_one, x, "another")


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
    """Raise PromiseError unless a call raises ValueError, which names the input, and changes nothing."""
    before, call = copy.deepcopy(model), f"`{act.__name__}` with bad input"
    try:
        act(*args)
    except ValueError as error:
        message = str(error)
    else:
        raise PromiseError(f"{call} raises no ValueError.")
    expect(named in message, f"The error of {call} should say {named!r}, got {message!r}.")
    expect_same(model, before, f"After {call}, a model")


@as_check
def check_weights(subject: Subject) -> None:
    """An example with a weight of 0 changes nothing.

    To mend it, learn in `_update`, which is not called for them, and not in `learn_one`.
    """
    model, lines = subject.trained(), subject.steady_lines()
    before = copy.deepcopy(model)
    for x, y, _ in lines[:20]:
        model.learn_one(x, y, 0.0)
        model.learn_many({name: [value] for name, value in x.items()}, [y], [0.0])
    expect_same(model, before, "After such examples, a model")


@as_check
def check_interrupts(subject: Subject) -> None:
    """An interrupt at any moment leaves a model that has learned whole examples only, and goes on.

    To mend it, replace declared arrays in `_update` instead of changing their elements: the former
    values of all attributes return, but not those of elements. Compute in `_derive` what is kept in
    other objects.
    """
    lines = subject.lines()
    model = learned(subject.new(), itertools.islice(itertools.cycle(lines), N_LEARNED))
    whole, examples = _followed(model, lines)
    x, y = examples[0]
    few = [example for example, _, _ in lines[:3]]
    scores = [list(map(each.scores_one, few)) for each in whole]

    # Objects that the model keeps may hold what is derived, in a way that depends on the past.
    without = [TICKETS, *(name for name, value in vars(model).items() if _is_object(value))]
    stored: set[bytes] = set()
    for found in interrupted(lambda: copy.deepcopy(model), lambda made: made.learn_one(x, y)):
        n = found.n_rounds - model.n_rounds
        expect(n in (0, 1), f"An interrupted example was learned {n} times.")
        told = list(map(found.scores_one, few))
        expect(
            all(map(is_near, told, scores[n])),
            f"After an interrupt, a model has the scores {told} in the place of {scores[n]}.",
        )

        going_on = [found]
        if not subject.is_function and (data := as_bytes(found)) not in stored:
            stored.add(data)
            going_on.append(checkpoint.loads(data))
        for each in going_on:
            each.learn_one(*examples[n])
            expect_same(
                each,
                whole[n + 1],
                "When it goes on after an interrupt, a model",
                tolerance=ROUNDING,
                without=without,
            )


def _is_object(value: Any) -> bool:
    """Return whether an attribute is an object with a state of its own, but not the hypothesis."""
    return hasattr(value, "state") and not isinstance(value, Engine)


def _followed(model: Any, lines: list[Line]) -> tuple[list[Any], list[tuple[Features, Any]]]:
    """Return a model, copies after one and two more examples that update it, and these examples."""
    models, examples = [model], []
    for _ in range(2):
        examples.append(_worst(models[-1], lines))
        models.append(copy.deepcopy(models[-1]))
        models[-1].learn_one(*examples[-1])
    return models, examples


def _worst(model: Any, lines: list[Line]) -> tuple[Features, Any]:
    """Return an example with a label that the model is surest to be wrong: it updates the model."""
    scored = [
        (x, label, score) for x, _, _ in lines for label, score in model.scores_one(x).items()
    ]
    x, label, _ = min(scored, key=lambda line: line[2])
    return x, label
