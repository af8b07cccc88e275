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

    __slots__ = ("_forecast", "_is_used", "_kind", "_labels", "_model", "label", "n_rounds", "x")

    def __init__(
        self, model: OnlineClassifier, x: Mapping[Any, Any], label: Any, forecast: list[float]
    ) -> None:
        self.x: Features = {
            name: value if type(value) in IMMUTABLE else copy.deepcopy(value)
            for name, value in x.items()
        }
        self.label, self.n_rounds = label, model.n_rounds
        self._model: Callable[[], OnlineClassifier | None] = weakref.ref(model)
        self._kind = type(model)
        # What the model computed for each of its columns, and the columns of the known labels.
        self._forecast, self._labels = forecast, dict(model._labels.column)  # noqa: SLF001
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
        return model.novelty_one(self.x)  # type: ignore[union-attr]

    def check(self, model: OnlineClassifier) -> None:
        """Raise ValueError unless a model may learn this answer."""
        require(not self._is_used, "the answer was learned before: ask again")
        own = self._model()
        is_own = own is model or (own is None and type(model) is self._kind)
        is_own = is_own and self.n_rounds <= model.n_rounds
        require(is_own, "the answer is that of another model")

    def use(self) -> None:
        """Note that the answer was learned."""
        self._is_used = True

    def _by_label(self, values: list[float]) -> dict[Any, float]:
        return {label: values[column] for label, column in self._labels.items()}

    def __repr__(self) -> str:
        return f"Answer(label={self.label!r}, n_rounds={self.n_rounds})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "_model"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._model = _no_model


def _no_model() -> None:
    """Return the model of an answer that was pickled: it is not known any more."""
