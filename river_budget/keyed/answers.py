"""What a classifier predicts, and which examples and labels it takes.

A pipeline learns part by part, so features and labels are checked before the first part learns.
"""

from __future__ import annotations

import copy
from typing import Any

from river.compose import Pipeline, TransformerUnion

from river_budget._checks import shown
from river_budget._features import is_unknown
from river_budget._state import require
from river_budget.base import innermost_of
from river_budget.base.labels import check_class
from river_budget.checkpoint.codec import written
from river_budget.kernels import LARGEST, RBF, Kernel
from river_budget.perceptrons.kernel_perceptron import KernelPerceptron

# A model with this kernel, which learns no scales, takes no unknown values.
KNOWN = RBF(gamma=1.0)

NUMBERS = (bool, int, float)
IMMUTABLE = (*NUMBERS, str)

# Of the transformers that learn any number, and a text, too, at first. Their import is slow.
SCALERS = ("StandardScaler", "MinMaxScaler", "Normalizer")


def predict(model: Any, x: Any) -> tuple[float | None, Any]:
    """Return the margin and the prediction of a model. Raises ValueError if it cannot take x."""
    *transformers, classifier = model.steps.values() if type(model) is Pipeline else [model]
    try:
        if transformers:
            check_given(x, KNOWN)  # A scaler would learn NaN, and never forget it.
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
    except (TypeError, LookupError, AttributeError, ArithmeticError) as error:  # of transformers
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


def check_given(x: Any, kernel: Kernel | None = None) -> None:
    """Raise ValueError unless x maps names to texts, lists of them, and what a model with a kernel takes."""
    if isinstance(x, dict):
        x = {name: value for name, value in x.items() if not (_is_plain(value) or _is_text(value))}
    if x != {}:
        KernelPerceptron(kernel, dtype="float64").predict_one(x)


def _check_numbers(x: dict[Any, Any]) -> None:
    """Raise ValueError unless x maps names to arrays and valid numbers."""
    check_given(x, KNOWN)
    for name, value in x.items():
        if _is_text(value):
            raise ValueError(
                f"feature {shown(name)} has the value {shown(value):.100}, which is not a number: leave out "
                "the scaler, or encode texts first, for example with preprocessing.OneHotEncoder"
            )


def check_label(model: Any, y: Any) -> None:
    """Raise ValueError if a model cannot learn a label, or no checkpoint can store it."""
    classifier = innermost_of(model)
    if hasattr(classifier, "check_label"):
        classifier.check_label(y)
    else:
        check_class(y)
        takes_others = classifier._multiclass  # noqa: SLF001 (River has no public name for it)
        require(
            takes_others or y in (False, True),
            f"the label {shown(y)} is neither False nor True, and {type(classifier).__name__} learns no "
            "others: use multiclass.OneVsRestClassifier",
        )
    check_stored("the label", y)


def stored(x: Any) -> dict[Any, Any]:
    """Return a copy of features. Raises ValueError if no checkpoint can store them."""
    if all(type(name) is str and type(value) in IMMUTABLE for name, value in x.items()):
        return dict(x)
    check_stored("the features", x)
    return copy.deepcopy(x)


def check_stored(what: str, value: Any) -> None:
    """Raise ValueError, which says what the value is, if no checkpoint can store it."""
    try:
        written(value, {})
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what}: {error}") from None


def _is_plain(value: Any) -> bool:
    return type(value) in NUMBERS and value * value <= LARGEST


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    )
