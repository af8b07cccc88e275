"""The base classes of all classifiers of the package: of any, and of those with support vectors."""

from __future__ import annotations

import abc
import copy
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np
from narwhals.stable.v2.typing import IntoDataFrame, IntoDataFrameT, IntoSeries
from numpy.typing import NDArray
from river import base

from river_budget._arrays import Floats, Ints
from river_budget._checks import Parametrized, check_count, one_of, parameter, warn
from river_budget._core.engine import SCALES, Engine, Rounds
from river_budget._features import as_given
from river_budget._state import Field, Learned, bytes_of, require
from river_budget.base.frames import (
    Batch,
    Columns,
    Frame,
    LabelSeries,
    frame_like,
    frame_of,
    labels_of,
    series_like,
)
from river_budget.base.labels import ClassWeight, Labels, class_weights_of, weights_of
from river_budget.base.scales import LAST_UPDATE, Scales, next_update
from river_budget.kernels import Features, Kernel

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


# Kernel values that are all below or all above these tell nothing about the data. A warning is given
# after so many such examples in a row, among the first ones.
LOW, HIGH, N_FLAT_ROWS, N_CHECKED_ROWS = 0.01, 0.99, 100, 128

# Larger than any count: never due.
NEVER = 2**62


class Copied(base.Base):
    """An estimator whose trained clones are deep copies, as River copies attribute by attribute."""

    def clone(self, new_params: Any = None, include_attributes: bool = False) -> Self:
        """Return an untrained model with the same parameters but `new_params`, or a copy of this one."""
        require(not (new_params and include_attributes), "give new_params or include_attributes")
        return copy.deepcopy(self) if include_attributes else super().clone(new_params)


class OnlineClassifier(Copied, Parametrized, Learned, Rounds, base.MiniBatchClassifier):
    """The River face of an `Engine` f, which a subclass makes: labels, weights and frames."""

    class_weight: ClassWeight | None = parameter(default=None, kw_only=True)
    max_classes: int = parameter(default=1000, check=check_count, kw_only=True)
    dtype: str = parameter(default="float32", check=one_of("float32", "float64"), kw_only=True)

    # What to give instead of a keyword that other classifiers take, by its name.
    _instead: ClassVar[Mapping[str, str]] = {}

    _multiclass = True
    # An example is an update if its margin is at most this.
    _threshold = 0.0
    # Scales are updated for the last time after so many examples.
    _last_update = LAST_UPDATE

    _labels = Field[Labels](given=["_f"])
    _feature_scales = Field[Scales | None]()
    _f = Field[Engine](key="hypothesis")

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        for name in kwargs:
            if name in cls._instead:
                raise TypeError(f"{cls.__name__} takes no {name}: {cls._instead[name]}")
        return super().__new__(cls, *args, **kwargs)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._labels = Labels(self.max_classes)
        self._f = engine = self._new_engine()

        self._given_weights = class_weights_of(self.class_weight)
        engine.is_balanced = self.class_weight == "balanced"

        learns_scales = any(kernel.learns_scales for kernel in engine.store.kernels)
        self._feature_scales = Scales() if learns_scales else None
        engine.store.means = self._feature_scales.sums if self._feature_scales else None
        self._schedule()

    def __copy__(self) -> Any:
        # A shallow copy would share the arrays of the hypothesis.
        return copy.deepcopy(self)

    @property
    def classes(self) -> list[Any]:
        """The labels seen so far: the negative one, the positive one, then others as they appeared.

        The label that comes first is the negative one, unless it is True or 1.
        """
        return list(self._labels.column)

    def decision_function_one(self, x: Features) -> float:
        """Return f(x), positive for the positive class.

        Raises ValueError if there are more than two labels, or a value of the dict x is refused.
        """
        self._labels.require_two("scores_one or scores_many")
        return self._f.scores(x)[1]

    @property
    def memory_bytes(self) -> int:
        """Memory of the model in bytes: arrays, feature index, names and the last example."""
        return sys.getsizeof(self) + bytes_of(self)

    @property
    def n_mistakes(self) -> int:
        """Number of rounds with a margin of at most 0: with two labels, y f(x) <= 0."""
        return self._f.n_mistakes

    def check_label(self, y: base.typing.ClfTarget) -> None:
        """Raise ValueError if `learn_one` would refuse a label. The model does not change."""
        self._labels.check(y)

    def learn_many(
        self,
        X: Batch,
        y: LabelSeries,
        w: float | Iterable[float] | None = None,
    ) -> None:
        """Learn the rows of a frame in order, with the same result as `learn_one` on each row.

        Raises ValueError, with the number of the row, if a value, a label or a weight is refused.
        Then no row is learned.

        Parameters
        ----------
        X
            A frame of features, which may have columns of arrays; or a dict of columns, as arrays
            (rows,) of values or (rows, elements).
        y
            A series of labels.
        w
            A series or sequence of weights, or one weight for all rows; all 1 by default.
        """
        frame = frame_of(X)
        labels = labels_of(y, len(frame.rows))
        weights = np.ones(len(labels)) if w is None else weights_of(w, len(labels))
        block = self._f.block(frame.columns, frame.rows)
        self._f.claim()
        try:
            columns = self._labels.columns(labels, weights)
            if self._given_weights:
                weights *= self._labels.weights(columns, self._given_weights)
            block.begin(columns, weights)
            self._learn_block(block)
        except BaseException:
            self._recover()
            raise
        finally:
            self._f.release()

    @overload
    def scores_many(self, X: Columns) -> dict[Any, Floats]: ...
    @overload
    def scores_many(self, X: IntoDataFrameT) -> IntoDataFrameT: ...
    def scores_many(self, X: Any) -> Any:
        """Return a frame with the scores of each label. Raises ValueError if a value is refused."""
        frame, scores = self._scored(X)
        return frame_like(self._by_label(scores.T), frame)

    @overload
    def decision_function_many(self, X: Columns) -> Floats: ...
    @overload
    def decision_function_many(self, X: pl.DataFrame) -> pl.Series: ...
    @overload
    def decision_function_many(self, X: pd.DataFrame) -> pd.Series: ...
    @overload
    def decision_function_many(self, X: IntoDataFrame) -> IntoSeries: ...
    def decision_function_many(self, X: Any) -> Any:
        """Return f(x) for each row of a frame, as a series of its library.

        Raises ValueError if there are more than two labels, or if a value is refused.
        """
        frame, scores = self._scored(X)
        self._labels.require_two("scores_one or scores_many")
        return series_like(scores[:, 1], frame)

    @overload
    def predict_many(self, X: Columns) -> NDArray[Any]: ...
    @overload
    def predict_many(self, X: pl.DataFrame) -> pl.Series: ...
    @overload
    def predict_many(self, X: pd.DataFrame) -> pd.Series: ...
    @overload
    def predict_many(self, X: IntoDataFrame) -> IntoSeries: ...
    def predict_many(self, X: Any) -> Any:
        frame, scores = self._scored(X)
        best = scores.argmax(axis=1).tolist()
        return series_like([self._labels.names[column] for column in best], frame)

    @overload
    def predict_proba_many(self, X: Columns) -> dict[Any, Floats]: ...
    @overload
    def predict_proba_many(self, X: IntoDataFrameT) -> IntoDataFrameT: ...
    def predict_proba_many(self, X: Any) -> Any:
        frame, scores = self._scored(X)
        column_of = self._labels.column
        probabilities = self._probabilities(scores[:, list(column_of.values())])
        return frame_like(dict(zip(column_of, probabilities.T, strict=True)), frame)

    def numerical_errors(self) -> dict[str, float]:
        """Return the largest errors of the quantities that are updated incrementally, by name."""
        return {}

    def _check_restored(self) -> None:
        super()._check_restored()
        self._schedule()

    def _probabilities(self, scores: Floats) -> Floats:
        """Return the probabilities of the known labels for rows of their scores (rows, labels)."""
        odds = np.exp(0.5 * (scores - scores.max(axis=1, keepdims=True, initial=-np.inf)))
        return odds / odds.sum(axis=1, keepdims=True)

    def _scored(self, X: Batch) -> tuple[Frame, Floats]:
        """Return a frame, and the scores of its rows (rows, labels)."""
        frame = frame_of(X)
        return frame, self._f.score_block(self._f.block(frame.columns, frame.rows))

    def _by_label(self, values: Any) -> dict[Any, Any]:
        """Return the values of columns as those of the known labels."""
        return {label: values[column] for label, column in self._labels.column.items()}

    def _follow(self, due: int) -> None:
        """Do what is due after a round: 1 for an update, `SCALES` for scales, or the sum for both."""
        if due >= SCALES:
            self._learn_scales()

    def _recover(self) -> None:
        """Complete what an error or an interrupt cut short, or take it back: whole examples remain."""
        f, n_labels = self._f, self._f.n_labels
        is_rolled_back = f.roll_back()
        f.widen(len(self._labels.names))
        if is_rolled_back or f.n_labels > n_labels:
            self._derive()

    def _derive(self) -> None:
        """Recompute everything that follows from the engine and the kernels."""

    @abc.abstractmethod
    def _new_engine(self) -> Engine:
        """Return an engine for the parameters. Raises ValueError if one is invalid."""

    @abc.abstractmethod
    def _learn_scales(self) -> None:
        """Update scales and width if that is due, and call `_schedule`."""

    def _schedule(self) -> None:
        """Set which examples are observed, and when scales are due next."""
        f, scales = self._f, self._feature_scales
        is_learning = scales is not None and f.n_rounds < self._last_update
        f.sums = scales.sums if scales is not None and is_learning else None
        f.scales_due_at = next_update(f.n_rounds) if is_learning else NEVER


class Machine(OnlineClassifier):
    """A kernel machine: a classifier with a support set, which learns scales and width of its kernels."""

    # So many examples in a row had kernel values that tell nothing.
    _n_flat_rows = 0

    def _check_restored(self) -> None:
        super()._check_restored()
        if self._feature_scales is not None:
            self._set_scales(self._f.store.kernels, self._feature_scales)

    def novelty_one(self, x: Features) -> float:
        """Return how far x is from the support set: 0 in its span, 1 if it is orthogonal to it.

        It is the squared distance from the span of the support vectors, or from the nearest one if
        the algorithm does not keep the span, as a share of k(x, x); for a mixture, the weighted
        mean over the kernels. Raises ValueError if a value of the dict x is refused.
        """
        self._f.claim()
        try:
            return self._novelty(x)
        finally:
            self._f.release()

    @property
    def n_support(self) -> int:
        """Number of support vectors."""
        return self._f.store.n

    @property
    def support_vectors(self) -> list[Features]:
        """The support vectors as dicts, oldest first."""
        store = self._f.store
        return [as_given(store.vector(slot)) for slot in store.by_age]

    @property
    @abc.abstractmethod
    def coefficients(self) -> Floats:
        """Coefficients of the support vectors, oldest first.

        Signed (n_support,) with two labels, else a column for each label (n_support, n_classes).
        """

    @abc.abstractmethod
    def _novelty(self, x: Features) -> float:
        """See `novelty_one`."""

    def _attributed(self, x: Features, label: Any) -> list[tuple[Features, Any, float]]:
        """Return each support vector, its label, and what it adds to the score of a label at x.

        They are sorted as `support_vectors`.
        """
        column, names = self._labels.column[label], self._labels.names
        self._f.claim()
        try:
            contributions = self._contributions(x)[:, column].tolist()
            labels = [names[owner] for owner in self._owners().tolist()]
            return list(zip(self.support_vectors, labels, contributions, strict=True))
        finally:
            self._f.release()

    @abc.abstractmethod
    def _contributions(self, x: Features) -> Floats:
        """Return what the support vectors add to the scores at x (n_support, n_labels), oldest first."""

    @abc.abstractmethod
    def _owners(self) -> Ints:
        """Return the columns of the labels of the support vectors (n_support,), oldest first."""

    def _set_scales(self, kernels: Sequence[Kernel], scales: Scales) -> None:
        """Give the store its kernels, and the scales of features."""
        self._f.store.rescale(kernels, scales.factors, scales.pooled)

    @abc.abstractmethod
    def _rescale(self, scales: Scales) -> None:
        """Change scales and width to those that were learned. A second time changes nothing."""

    def _learn_scales(self) -> None:
        n, scales = self._f.n_rounds, self._feature_scales
        self._schedule()
        if n <= N_CHECKED_ROWS:
            self._check_width()
        is_due = n <= LAST_UPDATE and next_update(n - 1) == n
        if scales is None or not is_due:
            return
        try:
            if scales.update(self._f.store.names):
                self._rescale(scales)
        except BaseException:
            # Also completes what an interrupt cut short.
            scales.update(self._f.store.names)
            self._rescale(scales)
            raise
        if n == LAST_UPDATE:
            scales.sums.clear()

    def _schedule(self) -> None:
        super()._schedule()
        f = self._f
        if f.n_rounds < N_CHECKED_ROWS and any(kernel.is_radial for kernel in f.store.kernels):
            f.scales_due_at = f.n_rounds + 1

    def _check_width(self) -> None:
        """Warn once if kernel values tell nothing about the data."""
        is_flat = self._f.store.is_flat(LOW, HIGH)
        self._n_flat_rows = self._n_flat_rows + 1 if is_flat else 0
        if self._n_flat_rows == N_FLAT_ROWS:
            warn(
                f"all kernel values of {N_FLAT_ROWS} examples in a row were above {HIGH}, or below "
                f"{LOW}, so the model can only guess: leave out gamma, or scale the features first"
            )
