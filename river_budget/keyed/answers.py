"""What a classifier predicts, and which examples and labels it takes.

A pipeline learns part by part, so features and labels are checked before the first part learns.
"""

from __future__ import annotations

import copy
import threading
from typing import Any

from river.compose import Pipeline, TransformerUnion

from river_budget._features import is_array, is_unknown
from river_budget.base import innermost_of
from river_budget.base.labels import is_class
from river_budget.checkpoint.codec import written
from river_budget.perceptrons.kernel_perceptron import KernelPerceptron

# Errors of River's transformers for features that they cannot take.
REFUSALS = (TypeError, LookupError, AttributeError, ArithmeticError)


class Checks(threading.local):
    """Models that learn nothing, for each thread: a fork finds those of its thread at rest."""

    def __init__(self) -> None:
        self.any_model = KernelPerceptron(dtype="float64")
        # It takes no unknown values.
        self.any_scaler = KernelPerceptron(gamma=1.0, dtype="float64")


# They refuse what no model, or no scaler, takes.
CHECKS = Checks()

# Of the transformers that learn any number, and a text, too, at first. Their import is slow.
SCALERS = ("StandardScaler", "MinMaxScaler", "Normalizer")


def predict(model: Any, x: Any) -> tuple[float | None, Any]:
    """Return the margin and the prediction of a model. Raises ValueError if it cannot take x."""
    *transformers, classifier = model.steps.values() if type(model) is Pipeline else [model]
    if transformers:
        check_given(x, CHECKS.any_scaler)  # It would learn NaN, and never forget it.
    try:
        if transformers:
            for transformer in transformers:
                x = _transformed(transformer, x)
            # A MinMaxScaler makes NaN of a feature that it has not seen.
            x = {name: value for name, value in x.items() if not is_unknown(value)}
        if hasattr(classifier, "scores_one"):
            scores = sorted(classifier.scores_one(x).values())
            if len(scores) <= 2:
                return classifier.decision_function_one(x), classifier.predict_one(x)
            return 0.5 * (scores[-1] - scores[-2]), classifier.predict_one(x)
        # River's name for the model in a wrapper: it, or its clone for a new class, must take x.
        inner = getattr(classifier, "_wrapped_model", None)
        if inner is None:
            _check_numbers(x)
        else:
            predict(inner, x)
        return None, classifier.predict_one(x)
    except REFUSALS as error:
        raise ValueError(f"the model cannot take these features: {error!r}") from None


def _transformed(part: Any, x: Any) -> Any:
    """Return what a transformer makes of x, as its `transform_one` would; no scaler gets a text."""
    if type(part) is Pipeline:
        for step in part.steps.values():
            x = _transformed(step, x)
        return x
    if type(part) is TransformerUnion:
        merged: dict[Any, Any] = {}
        for transformer in reversed(part.transformers.values()):
            merged.update(_transformed(transformer, x))
        return merged
    if type(part).__name__ in SCALERS:
        _check_numbers(x)
    return part.transform_one(x)


def check_given(x: Any, by: KernelPerceptron | None = None) -> None:
    """Raise ValueError unless x maps names to texts, lists of them, and what a model takes."""
    if isinstance(x, dict):
        x = {name: value for name, value in x.items() if not _is_text(value)}
    (by or CHECKS.any_model).predict_one(x)


def _check_numbers(x: dict[Any, Any]) -> None:
    """Raise ValueError unless x maps names to arrays and valid numbers."""
    check_given(x, CHECKS.any_scaler)
    for name, value in x.items():
        if _is_text(value):
            raise ValueError(
                f"feature {name!r} has the value {value!r:.100}, which is not a number: leave out "
                "the scaler, or encode texts first, for example with preprocessing.OneHotEncoder"
            )


def check_label(model: Any, y: Any) -> None:
    """Raise ValueError if a model cannot learn a label, or no checkpoint can store it."""
    classifier = innermost_of(model)
    takes_others = classifier._multiclass  # noqa: SLF001 (River has no public name for it)
    if hasattr(classifier, "check_label"):
        classifier.check_label(y)
    elif not is_class(y):
        raise ValueError(f"the label is {y!r}: expected a class")
    elif not takes_others and y not in (False, True):
        raise ValueError(
            f"the label {y!r} is neither False nor True, and {type(classifier).__name__} learns "
            "no others: use multiclass.OneVsRestClassifier"
        )
    check_stored("the label", y)


def stored(x: Any) -> dict[Any, Any]:
    """Return a copy of valid features that a checkpoint can keep; raise ValueError if none can."""
    if all(type(name) is str and type(value) in (bool, int, float) for name, value in x.items()):
        return dict(x)
    kept: dict[Any, Any] = {}
    for name, value in x.items():
        if type(value) in (bool, int, float) or is_array(value) or _is_text(value):
            kept[name] = copy.copy(value)
        else:
            kept[name] = None if is_unknown(value) else float(value)
    check_stored("the features", kept)
    return kept


def check_stored(what: str, value: Any) -> None:
    """Raise ValueError, which says what the value is, if no checkpoint can store it."""
    try:
        written(value, {})
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None


def _is_text(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str)
