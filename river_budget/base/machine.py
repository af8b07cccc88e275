"""The base class of all classifiers of the package, and helpers for pipelines."""

from __future__ import annotations

import abc
import copy
import inspect
import operator
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from river import base
from river.compose import Pipeline
from river.utils import dataframe

from river_budget._arrays import Floats
from river_budget._state import State, count, require
from river_budget.base.labels import Labels
from river_budget.kernels import Features

if TYPE_CHECKING:
    from narwhals.stable.v2.typing import IntoDataFrame, IntoSeries

__all__ = ["Machine", "classifier_of", "memory_of", "rows_of"]


def rows_of(frame: Any) -> NDArray[Any]:
    """Return the values of a frame as an array (rows, columns), of any type."""
    # For pandas, its own conversion is faster than that of narwhals.
    return frame.to_native().to_numpy() if frame.implementation.is_pandas() else frame.to_numpy()


def classifier_of(model: Any) -> Any:
    """Return the last step of a pipeline, or the model itself."""
    return model.steps[next(reversed(model.steps))] if isinstance(model, Pipeline) else model


def memory_of(model: Any) -> int:
    """Return the memory of a model's classifier in bytes, as reported by itself or by River."""
    classifier = classifier_of(model)
    if isinstance(classifier, Machine):
        return classifier.memory_bytes
    return classifier._raw_memory_usage  # noqa: SLF001 (River has no public name for it)


def _parameter(name: str) -> property:
    """Return a property for a parameter that can only be set once, by the constructor."""
    key = f"_given_{name}"

    def set_once(model: Any, value: Any) -> None:
        if hasattr(model, key):
            raise AttributeError(
                f"{name} cannot be changed: make a new model with clone({{{name!r}: {value!r}}})"
            )
        setattr(model, key, value)

    return property(operator.attrgetter(key), set_once)


class Machine(base.MiniBatchClassifier):
    """A binary classifier with a support set.

    The base class handles labels, counts, predictions and mini-batches. A subclass holds the
    hypothesis: it evaluates and learns single examples and blocks of rows.

    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in list(inspect.signature(cls.__init__).parameters)[1:]:
            setattr(cls, name, _parameter(name))

    def __init__(self) -> None:
        self._labels = Labels()
        self._n_rounds = 0
        self._n_mistakes = 0

    def __copy__(self) -> Any:
        """Return a deep copy: a shallow one would share the arrays of the hypothesis."""
        return copy.deepcopy(self)

    @abc.abstractmethod
    def decision_function_one(self, x: Features) -> float:
        """Return f(x), positive for the positive class.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number, or is too large for the kernel.

        """

    @property
    @abc.abstractmethod
    def n_support(self) -> int:
        """Number of support vectors."""

    @property
    @abc.abstractmethod
    def support_vectors(self) -> list[Features]:
        """The support vectors as dicts, oldest first."""

    @property
    @abc.abstractmethod
    def coefficients(self) -> Floats:
        """Signed coefficients of the support vectors, oldest first (n_support,)."""

    @property
    @abc.abstractmethod
    def norm(self) -> float:
        """Norm of f in the kernel's Hilbert space, computed from n_support kernel rows."""

    @property
    def memory_bytes(self) -> int:
        """Memory of the model in bytes: arrays, feature index, names and the last query."""
        return sys.getsizeof(self)

    @property
    def n_mistakes(self) -> int:
        """Number of rounds with y f(x) <= 0."""
        return self._n_mistakes

    @property
    def n_rounds(self) -> int:
        """Number of examples learned."""
        return self._n_rounds

    def check_label(self, y: base.typing.ClfTarget) -> None:
        """Raise ValueError if `learn_one` would refuse a label. The model does not change.

        Parameters
        ----------
        y
            The label.

        Raises
        ------
        ValueError
            If it is a third label, missing or unhashable.

        """
        self._labels.check(y)

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        labels = self._labels
        return labels.positive if self.decision_function_one(x) > 0 else labels.negative

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        p = float(self._probability(self.decision_function_one(x)))
        return self._by_label(1.0 - p, p)

    def learn_many(self, X: IntoDataFrame, y: IntoSeries) -> None:
        """Learn the rows of a frame in order.

        The result is the same as with `learn_one` on each row. If a row is refused, none is
        learned.

        Parameters
        ----------
        X
            A frame of features.
        y
            A series of labels.

        Raises
        ------
        ValueError
            If a value or a label is refused, or `X` and `y` differ in length. The error names the
            row, counted from 0.

        """
        frame = dataframe.into_frame(X)
        labels = dataframe.into_series(y).to_list()
        if len(frame) != len(labels):
            raise ValueError(f"X has {len(frame)} rows, but y has {len(labels)} labels")
        block = self._block(frame)
        self._learn_block(block, self._labels.signs(labels))

    def decision_function_many(self, X: IntoDataFrame) -> IntoSeries:
        """Return f(x) for each row of a frame, as a series of the same library.

        Parameters
        ----------
        X
            A frame of features.

        Raises
        ------
        ValueError
            If a value is not a finite number, or is too large for the kernel. The error names the
            row.

        """
        frame = dataframe.into_frame(X)
        return dataframe.to_native_series(self._evaluate_many(frame), name=None, like=frame)

    def predict_many(self, X: IntoDataFrame) -> IntoSeries:
        frame = dataframe.into_frame(X)
        f, labels = self._evaluate_many(frame), self._labels
        predictions = [labels.positive if positive else labels.negative for positive in f > 0]
        return dataframe.to_native_series(predictions, name=None, like=frame)

    def predict_proba_many(self, X: IntoDataFrame) -> IntoDataFrame:
        frame = dataframe.into_frame(X)
        p = self._probability(self._evaluate_many(frame))
        return dataframe.to_native_frame(self._by_label(1.0 - p, p), like=frame)

    def numerical_errors(self) -> dict[str, float]:
        """Return the numerical errors of the incrementally updated quantities.

        Returns
        -------
        The largest absolute difference of each quantity from its value computed from scratch, by
        name; empty if no quantity is updated incrementally.

        """
        return {}

    def state(self) -> State:
        """Return the learned state as plain values and arrays; see `checkpoint`."""
        return {
            "labels": self._labels.state(),
            "n_rounds": self._n_rounds,
            "n_mistakes": self._n_mistakes,
        }

    def restore(self, state: State) -> None:
        """Restore a new model from the state of a model with the same parameters.

        Parameters
        ----------
        state
            The state.

        Raises
        ------
        ValueError
            If the state is invalid for this model. A malformed state may raise other errors.

        """
        self._labels.restore(state["labels"])
        self._n_rounds = count(state["n_rounds"])
        self._n_mistakes = count(state["n_mistakes"])
        require(self._n_mistakes <= self._n_rounds, "there are more mistakes than rounds")

    @abc.abstractmethod
    def _block(self, frame: Any) -> Any:
        """Return the rows of a frame as a block. Raises ValueError if one of them is invalid."""

    @abc.abstractmethod
    def _evaluate_block(self, block: Any) -> Floats:
        """Return f at each row of a block (rows,)."""

    @abc.abstractmethod
    def _learn_block(self, block: Any, signs: Floats) -> None:
        """Learn the rows of a block in order."""

    def _evaluate_many(self, frame: Any) -> Floats:
        return self._evaluate_block(self._block(frame))

    def _probability(self, f: Any) -> Any:
        """Return the probability of the positive class: the logistic function of f."""
        return 0.5 + 0.5 * np.tanh(0.5 * f)

    def _by_label(self, negative: Any, positive: Any) -> dict[Any, Any]:
        labels = self._labels
        if labels.negative == labels.positive:
            return {labels.negative: negative + positive}
        return {labels.negative: negative, labels.positive: positive}
