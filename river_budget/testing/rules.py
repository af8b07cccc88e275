"""Checks of rules that each model keeps: predictions, labels, budget and memory."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

from river_budget.testing.comparison import (
    ROUNDING,
    PromiseError,
    expect,
    expect_exact,
    expect_same,
)
from river_budget.testing.streams import Line, of_new_names
from river_budget.testing.subject import Subject, as_check, learned


@as_check
def check_predictions(subject: Subject) -> None:
    """Scores are finite, probabilities sum to 1, and the label with the largest score is predicted.

    To mend it, leave predictions to the base class, or keep these rules in your own.
    """
    model = subject.new()
    for x, y, w in subject.lines():
        scores, probabilities = model.scores_one(x), model.predict_proba_one(x)
        predicted = model.predict_one(x)
        told = f"the scores {scores} and the probabilities {probabilities}"
        expect(
            set(scores) == set(probabilities) == set(model.classes),
            f"The labels {model.classes} were learned, but a model has {told}.",
        )
        is_finite = all(map(math.isfinite, [*scores.values(), *probabilities.values()]))
        expect(is_finite, f"A model has {told}.")
        is_one = math.isclose(math.fsum(probabilities.values()), 1.0, rel_tol=ROUNDING)
        expect(is_one or not probabilities, f"A model has {told}.")
        best = max(scores, key=scores.__getitem__, default=None)
        expect(predicted == best, f"A model has {told}, but predicts {predicted!r}.")

        model.learn_one(x, y, w)
        expect_exact(model)


@as_check
def check_labels(subject: Subject) -> None:
    """Any label may come at any time, and is unknown before.

    To mend it, let arrays grow with `f.n_labels`, and never assume two labels.
    """
    model, lines, known = subject.new(), subject.lines(), []
    x = lines[0][0]
    predicted, probabilities = model.predict_one(x), model.predict_proba_one(x)
    expect(
        predicted is None and probabilities == {},
        "A model that has learned nothing should predict None and no probabilities, got "
        f"{predicted!r} and {probabilities}.",
    )
    # Each label comes after examples of the former ones alone.
    for label in dict.fromkeys(y for _, y, _ in lines):
        learned(model, [line for line in lines if line[1] in known][:20])
        model.learn_one(x, label)
        known.append(label)
        expect(
            set(model.classes) == set(known),
            f"The labels {known} were learned, but `classes` are {model.classes}.",
        )
        if len(known) == 1:
            found = model.predict_proba_one(x)
            expect(found == {label: 1.0}, f"The only label should be certain, got {found}.")
        expect_same(subject.saved(model), model, f"With the labels {known}, a loaded model")


@as_check
def check_budget(subject: Subject) -> None:
    """There are never more support vectors than the budget allows, each with a coefficient.

    To mend it, call `f.replace` or `f.remove` where `f.n` is the budget.
    """
    model = subject.new()
    for x, y, w in subject.lines():
        try:
            model.learn_one(x, y, w)
        except ValueError as error:
            raise PromiseError(f"A model should go on, but {error}.") from None
        sizes = len(model.support_vectors), len(model.coefficients), model.n_support
        expect(
            len(set(sizes)) == 1 and model.n_support <= model.budget,
            f"The budget is {model.budget}, and there are {sizes[0]} support vectors and {sizes[1]} "
            f"coefficients, while `n_support` is {sizes[2]}.",
        )


@as_check
def check_memory(subject: Subject) -> None:
    """Once the budget is full, memory does not grow, whatever names of features come and go.

    To mend it, keep nothing for each example, label or name that was ever seen, and declare what is
    kept.
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
        f"200 more examples have raised `memory_bytes` from {before:,} to {after:,}.",
    )
