"""Checks of rules that each model keeps: predictions, labels, budget and memory."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

from river_budget.testing.comparison import ROUNDING, expect, expect_exact, require_same
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
        expect_exact(model)


@as_check
def check_labels(subject: Subject) -> None:
    """Any label may come at any time, and is unknown before.

    To mend it, let arrays grow with `f.n_labels`, and never assume two labels.
    """
    model, lines, known = subject.new(), subject.lines(), []
    x = lines[0][0]
    expect(model.predict_one(x) is None, "A model that has learned nothing predicts None.")
    expect(model.predict_proba_one(x) == {}, "A model that has learned nothing knows no label.")
    # Each label comes after examples of the former ones alone.
    for label in dict.fromkeys(y for _, y, _ in lines):
        learned(model, [line for line in lines if line[1] in known][:20])
        model.learn_one(x, label)
        known.append(label)
        expect(
            set(model.classes) == set(known),
            f"`classes` are the labels that were learned, {known}, got {model.classes}.",
        )
        if len(known) == 1:
            found = model.predict_proba_one(x)
            expect(found == {label: 1.0}, f"The only label has the probability 1, got {found}.")
        copied = subject.saved(model)
        require_same(copied, model, "A model is saved with all labels that it has learned.")


@as_check
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


@as_check
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
