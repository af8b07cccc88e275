"""What a model said of an example, to be learned with its label later."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from river_budget._state import require
from river_budget.kernels import Features

if TYPE_CHECKING:
    from river_budget.base.machine import OnlineClassifier


# Values of these types need no copy.
IMMUTABLE = frozenset([bool, int, float, str, type(None)])


class Answer:
    """What a classifier said of an example, from `ask`. `learn` takes it with the label, once.

    It keeps the example as it was, and may be pickled: an agent acts on it now, and learns when the
    outcome is known, without a table of features that wait.

    Attributes
    ----------
    x
        The features, a copy of the dict.
    label
        The predicted label; None before the model has learned one.
    n_rounds
        Number of examples that the model had learned.
    """

    __slots__ = (
        "_features", "_forecast", "_is_used", "_kind", "_labels", "_model", "label", "n_rounds", "x",
    )  # fmt: skip

    def __init__(
        self, model: OnlineClassifier, x: Features, label: Any, forecast: list[float]
    ) -> None:
        # What the classifier was asked about; in a pipeline, x is what the first step gets.
        self._features = self.x = kept(x)
        self.label, self.n_rounds = label, model.n_rounds
        self._model: Callable[[], OnlineClassifier | None] = weakref.ref(model)
        self._kind = type(model)
        # What the model computed for each of its columns, and the columns of the known labels, a dict that
        # a new label replaces.
        self._forecast, self._labels = forecast, model._labels.column  # noqa: SLF001
        self._is_used = False

    @property
    def scores(self) -> dict[Any, float]:
        """The score of each label, as `scores_one` returns them."""
        return self._by_label(self._kind._scores_of(self._forecast))  # noqa: SLF001

    @property
    def probabilities(self) -> dict[Any, float]:
        """The probability of each label, as `predict_proba_one` returns them."""
        if len(self._labels) == 1:
            return dict.fromkeys(self._labels, 1.0)
        return self._by_label(self._kind._probabilities_of(self._forecast))  # noqa: SLF001

    @property
    def margin(self) -> float:
        """With two labels, f(x); with more, half the difference between the two largest scores."""
        scores = self._kind._scores_of(self._forecast)  # noqa: SLF001
        if len(scores) == 2:
            return scores[1]
        second, first = sorted(scores)[-2:]
        return 0.5 * (first - second)

    @property
    def novelty(self) -> float:
        """How far the example was from the support set, as `novelty_one` returns it.

        It is computed when it is read. Raises ValueError if the model has learned since then.
        """
        model = self._model()
        is_current = model is not None and model.n_rounds == self.n_rounds
        require(is_current, "the novelty of an answer is read before its model learns or goes")
        return model.novelty_one(self._features)  # type: ignore[union-attr]

    def keep(self, x: Features) -> None:
        """Keep the example as it was before transformers."""
        self.x = kept(x)

    def check(self, model: Any) -> None:
        """Raise ValueError unless a model may learn this answer."""
        require(not self._is_used, "the answer was learned before: ask again")
        own = self._model()
        is_own = own is model or (own is None and type(model) is self._kind)
        is_own = is_own and self.n_rounds <= getattr(model, "n_rounds", 0)
        require(is_own, "the answer is that of another model")

    def use(self) -> None:
        """Note that the answer was learned."""
        self._is_used = True

    def _by_label(self, values: list[float]) -> dict[Any, float]:
        return {label: values[column] for label, column in self._labels.items()}

    def __repr__(self) -> str:
        return f"Answer(label={self.label!r}, n_rounds={self.n_rounds})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Answer.__slots__ if name != "_model"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._model = _no_model


class ForeignAnswer(Answer):
    """What a classifier of another library said of an example."""

    __slots__ = ("_probabilities",)

    def __init__(self, model: Any, x: Features, features: Features) -> None:
        self.x, self._features = kept(x), features
        self.label, self.n_rounds, self._is_used = model.predict_one(features), 0, False
        self._model: Callable[[], Any] = weakref.ref(model)
        self._kind = type(model)
        self._probabilities: dict[Any, float] | None = None

    @property
    def probabilities(self) -> dict[Any, float]:
        """The probability of each label, computed when it is first read."""
        found = self._probabilities
        if found is None:
            found = self._probabilities = self._model().predict_proba_one(self._features)
        return found

    @property
    def scores(self) -> Any:
        """Raise ValueError: there are none, nor what follows from them."""
        raise ValueError(f"{self._kind.__name__} has no scores, but probabilities")

    margin = novelty = scores

    def __getstate__(self) -> dict[str, Any]:
        kept_names = ("_features", "_is_used", "_kind", "label", "n_rounds", "x")
        state = {name: getattr(self, name) for name in kept_names}
        return state | {"_probabilities": self.probabilities}


class WrappedAnswer:
    """What a wrapper makes of an answer of the model inside.

    Attributes
    ----------
    inner
        The answer of the model inside.
    label
        The predicted label; None where the wrapper does not answer.
    """

    __slots__ = ("_probabilities", "gaps", "inner", "label")

    def __init__(
        self,
        inner: Any,
        label: Any,
        probabilities: dict[Any, float] | None = None,
        gaps: Any = None,
    ) -> None:
        self.inner, self.label, self._probabilities, self.gaps = inner, label, probabilities, gaps

    @property
    def probabilities(self) -> dict[Any, float]:
        """The probability of each label, of the wrapper if it changes them."""
        return self.inner.probabilities if self._probabilities is None else self._probabilities

    def __getattr__(self, name: str) -> Any:
        if name in WrappedAnswer.__slots__:
            raise AttributeError(name)
        return getattr(self.inner, name)


def kept(x: Mapping[Any, Any]) -> Features:
    """Return a copy of features that later changes of them do not reach."""
    if IMMUTABLE.issuperset(map(type, x.values())):
        return dict(x)
    return {
        name: value if type(value) in IMMUTABLE else copy.deepcopy(value)
        for name, value in x.items()
    }


def _no_model() -> None:
    """Return the model of an answer that was pickled: it is not known any more."""
