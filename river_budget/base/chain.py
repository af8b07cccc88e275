"""A model as a chain: transformers, wrappers and the classifier inside, resolved once.

Whatever is around a model asks and teaches it through its chain, so that a pipeline transforms an
example once for an answer. River's transformers learn as in its own `Pipeline`.
"""

from __future__ import annotations

import sys
from typing import Any

from river import base
from river.compose import Pipeline, TransformerUnion

from river_budget._checks import shown
from river_budget._core.answer import Answer, Asked
from river_budget._core.store import Store
from river_budget._core.sums import Sums
from river_budget._features import is_unknown
from river_budget._state import require
from river_budget.base.labels import check_class
from river_budget.kernels import LARGEST, RBF, Features

# Plain numbers up to `LARGEST` are valid everywhere.
NUMBERS = (bool, int, float)

# What transformers raise for features that they cannot take.
ERRORS_OF_TRANSFORMERS = (TypeError, LookupError, AttributeError, ArithmeticError)


class _End(base.Classifier):
    """The end of a pipeline, which keeps what the transformers before it make of an example."""

    x: Features | None = None

    def learn_one(self, x: Features, y: Any) -> None:
        self.x = x

    def predict_one(self, x: Features, **kwargs: Any) -> None:
        """Predict nothing."""


class Chain:
    """A pipeline, a wrapper, a classifier, or any nesting of them.

    Parameters
    ----------
    model
        The model. Steps that are added to a pipeline later are not seen.

    Attributes
    ----------
    last
        The last step of a pipeline, or the model itself.
    inside
        The chain of the model inside of `last`, if that is a wrapper of this package or a pipeline; else
        None.
    source
        The model inside of all of these, from which answers come.
    classifier
        The classifier inside of everything, also of River's wrappers.
    asks, has_scores, has_novelty
        Whether `last` can be asked and taught by answers, and has scores; and whether the source tells
        how novel an example is.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.last, self._front = model, None
        self._transformers: list[Any] = []
        if isinstance(model, Pipeline):
            *before, (_, self.last) = model.steps.items()
            self._end = _End()
            self._transformers = [step for _, step in before]
            self._front = Pipeline(*before, self._end) if before else None
        self.asks = hasattr(self.last, "ask") and hasattr(self.last, "_learn_asked")
        self.has_scores = hasattr(self.last, "scores_one")
        self.inside: Chain | None = getattr(self.last, "_chain", None)
        if isinstance(self.last, Pipeline):
            self.inside = Chain(self.last)
        self.source: Any = self.last if self.inside is None else self.inside.source
        inner = getattr(self.source, "model", None)
        self.classifier: Any = self.source if inner is None else Chain(inner).classifier
        self.has_novelty = hasattr(self.source, "novelty_one")
        self._is_plain = self._front is None and self.source is self.last and self.asks
        self._checks_labels = hasattr(self.classifier, "check_label")

    @property
    def is_classifier(self) -> bool:
        """Whether the model predicts labels."""
        return isinstance(self.last, base.Classifier)

    @property
    def n_rounds(self) -> int | None:
        """Number of examples that the classifier inside has learned; None if it does not tell."""
        return getattr(self.classifier, "n_rounds", None)

    @property
    def memory_bytes(self) -> int:
        """Memory of the last step in bytes, as reported by itself or by River."""
        # River has no public name for it.
        return getattr(self.last, "memory_bytes", None) or self.last._raw_memory_usage  # noqa: SLF001

    def features(self, x: Features) -> Features:
        """Return what the transformers make of an example for the last step."""
        # A copy, as some transformers change what they get.
        return x if self._front is None else self._front.transform_one(dict(x))

    def ask(self, x: Features) -> Answer:
        """Return what the model says of an example. Nothing changes.

        Raises ValueError if a classifier of this package refuses x, and what River's parts raise.
        """
        return self._answer(x, self.features(x))

    def novelty(self, x: Features) -> float:
        """Return how far an example is from the support set of the source."""
        features = self.features(x)
        if self.inside is not None:
            return self.inside.novelty(features)
        return self.last.novelty_one(features)

    def ask_safely(self, x: Any) -> Answer:
        """Return the same, or raise ValueError if any part cannot take x, or would learn it badly.

        Parts of a pipeline learn one after the other, so all is checked before the first one learns.
        """
        if self._is_plain:
            return self.last.ask(x)
        try:
            features = x if self._front is None else self._checked_features(x)
            self._check_last(features)
            return self._answer(x, features)
        except ERRORS_OF_TRANSFORMERS as error:
            raise ValueError(f"the model cannot take these features: {error!r}") from None

    def learn(self, x: Features, y: Any, asked: Asked | None = None, **kwargs: Any) -> None:
        """Learn an example, given what its answer has `asked`, or None if there was none.

        Keyword arguments, such as the weight `w`, go to all steps that take them. Raises as `learn_one`.
        """
        if asked is None or not self.asks:
            self.model.learn_one(x, y, **kwargs)
            return
        if self._front is not None:
            self._end.x = None
            self._front.learn_one(dict(x), y, **kwargs)
            if self._end.x is None:  # A filter keeps the example from the last step.
                return
            x = self._end.x
        self.last._learn_asked(x, y, asked, kwargs.get("w", 1.0))  # noqa: SLF001

    def note_prediction(self) -> None:
        """Note that the example of the last answer was predicted, so that a late label is known as such."""
        if self.asks:
            self.last._note_prediction()  # noqa: SLF001

    def check_label(self, y: Any) -> None:
        """Raise ValueError if the classifier inside cannot learn a label."""
        if self._checks_labels:
            self.classifier.check_label(y)
            return
        check_class(y)
        takes_others = self.classifier._multiclass  # noqa: SLF001 (River has no public name for it)
        require(
            takes_others or y in (False, True),
            f"the label {shown(y)} is neither False nor True, and {type(self.classifier).__name__} "
            "learns no others: use multiclass.OneVsRestClassifier",
        )

    def _answer(self, x: Features, features: Features) -> Answer:
        """Return what the last step says of the features of an example."""
        if self.asks:
            answer = self.last.ask(features)
        else:
            answer = Answer(self.last, features, self.last.predict_one(features))
        if features is not x:
            answer.x = x
        return answer

    def _checked_features(self, x: Any) -> Features:
        """Return what the transformers make of an example, if all of them can take it."""
        check_values(x, takes_unknown=False)  # A scaler would learn NaN, and never forget it.
        for transformer in self._transformers:
            x = _transformed(transformer, x)
        # A MinMaxScaler makes NaN of a feature that it has not seen.
        return {name: value for name, value in x.items() if not is_unknown(value)}

    def _check_last(self, x: Features) -> None:
        """Raise ValueError if the last step cannot take features; a classifier of ours says so itself."""
        if self.inside is not None:
            if self.inside._front is not None:  # noqa: SLF001
                x = self.inside._checked_features(x)  # noqa: SLF001
            self.inside._check_last(x)  # noqa: SLF001
        elif not self.asks:
            # River's name for the model in a wrapper: it, or its clone for a new class, must take x.
            inner = getattr(self.last, "_wrapped_model", None)
            if inner is None:
                _check_numbers(x)
            else:
                Chain(inner).ask_safely(x)


def outline(model: Any) -> str:
    """Return the names of the classes that a model consists of.

    Parameters
    ----------
    model
        A classifier, a wrapper, or a pipeline.

    Returns
    -------
    A text such as `StandardScaler | Calibrated(Forgetron)`.
    """
    if isinstance(model, Pipeline):
        return " | ".join(map(outline, model.steps.values()))
    if isinstance(model, TransformerUnion):
        return f"({' + '.join(map(outline, model.transformers.values()))})"
    name = type(model).__name__
    # River's name for the model inside a wrapper.
    inner = getattr(model, "_wrapped_model", None)
    return name if inner is None else f"{name}({outline(inner)})"


def check_values(x: Any, takes_unknown: bool) -> None:
    """Raise ValueError unless x maps names to texts, lists of them, and what a classifier takes."""
    if isinstance(x, dict):
        x = {name: value for name, value in x.items() if not (_is_plain(value) or _is_text(value))}
    if x != {}:
        validator = Store([RBF(gamma=1.0)], "float64")
        validator.means = Sums() if takes_unknown else None
        validator.evaluate(x)


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
    if isinstance(part, _scalers()):
        _check_numbers(x)
    return part.transform_one(x)


def _scalers() -> tuple[Any, ...]:
    """Return the transformers that learn any number, and a text, too, at first."""
    # Their import is slow. Who has made one has imported them.
    rivers = sys.modules.get("river.preprocessing")
    if rivers is None:
        return ()
    return rivers.StandardScaler, rivers.MinMaxScaler, rivers.Normalizer


def _check_numbers(x: Features) -> None:
    """Raise ValueError unless x maps names to arrays and valid numbers."""
    check_values(x, takes_unknown=False)
    for name, value in x.items():
        if _is_text(value):
            raise ValueError(
                f"feature {shown(name)} has the value {shown(value):.100}, which is not a number: leave out "
                "the scaler, or encode texts first, for example with preprocessing.OneHotEncoder"
            )


def _is_plain(value: Any) -> bool:
    return type(value) in NUMBERS and value * value <= LARGEST


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    )
