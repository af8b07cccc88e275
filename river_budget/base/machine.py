"""The base class of all classifiers of the package, and helpers for pipelines."""

from __future__ import annotations

import abc
import copy
import inspect
import operator
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from river import base
from river.compose import Pipeline

from river_budget._arrays import Floats, Ints
from river_budget._checks import check_dtype
from river_budget._state import Count, Learned, Part, State, bytes_of, require
from river_budget.base.frames import frame_like, frame_of, holds_arrays, labels_of, series_like
from river_budget.base.labels import Labels
from river_budget.base.weights import ClassWeight, ClassWeights, Weights, weight_of, weights_of
from river_budget.kernels import Features, Kernel
from river_budget.support import ArrayFoundError, Query, Scales, VectorStore
from river_budget.support._compiled import is_flat
from river_budget.support.scales import LAST_UPDATE, next_update

if TYPE_CHECKING:
    from narwhals.stable.v2.typing import IntoDataFrame, IntoSeries


def classifier_of(model: Any) -> Any:
    """Return the last step of a pipeline, or the model itself."""
    return model.steps[next(reversed(model.steps))] if isinstance(model, Pipeline) else model


def memory_of(model: Any) -> int:
    """Return the memory of a model's classifier in bytes, as reported by itself or by River."""
    classifier = classifier_of(model)
    if hasattr(classifier, "memory_bytes"):
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


# Kernel values that are all below or all above these tell nothing about the data. A warning is given
# after so many examples in a row.
LOW, HIGH = 0.01, 0.99
N_FLAT_ROWS = 100

# The kernel rows of all examples are checked up to this number, one in 16 up to 1,024, and then one
# in 32 up to 8,192.
N_CHECKED_ALL, N_DENSE, LAST_CHECKED = 128, 1024, 8192
SMALL_STRIDE, LARGE_STRIDE = 16, 32

# No number of examples.
NEVER = 2**62


class Machine(Learned, base.MiniBatchClassifier):
    """A classifier with a support set.

    The base class handles labels, counts, predictions and mini-batches. A subclass holds the
    hypothesis: it evaluates and learns single examples and blocks of rows.
    """

    _labels = Part[Labels]()
    _feature_scales = Part[Scales | None]()
    _n_rounds = Count()
    _n_mistakes = Count()
    _class_weights = Part[ClassWeights | None](restore=["_n_rounds", "_labels"], key="class_counts")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, parameter in list(inspect.signature(cls.__init__).parameters.items())[1:]:
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                setattr(cls, name, _parameter(name))

    def __init__(
        self,
        labels: Labels,
        kernels: Sequence[Kernel],
        class_weight: ClassWeight | None,
        dtype: str,
    ) -> None:
        check_dtype(dtype)
        self._labels = labels
        self.class_weight = class_weight
        self.dtype = dtype
        self._class_weights = None if class_weight is None else ClassWeights(class_weight)
        self._feature_scales = Scales() if any(kernel.learns_scales for kernel in kernels) else None
        # The numbers of the next examples that are observed, and whose kernel row is checked. Scales
        # are only updated after an example that is checked.
        self._observed_at = self._checked_at = NEVER
        if any(kernel.is_radial for kernel in kernels):
            self._observed_at = self._checked_at = 1
        self._n_flat_rows = 0
        # The model of the last prediction with arrays, if this one has learned numbers only.
        self._twin: Any = None

    def __copy__(self) -> Any:
        """Return a deep copy: a shallow one would share the arrays of the hypothesis."""
        return copy.deepcopy(self)

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """Return a new model with the same parameters.

        Parameters
        ----------
        new_params
            Other values of some parameters, by name.
        include_attributes
            Whether the new model knows what this one has learned.

        Raises
        ------
        ValueError
            If a value is out of range; or if both are given, as what was learned belongs to the
            parameters.
        """
        if not include_attributes:
            return super().clone(new_params)
        if new_params:
            raise ValueError("give new_params or include_attributes, not both")
        return copy.deepcopy(self)

    @property
    def classes(self) -> list[Any]:
        """The labels seen so far: the negative one, the positive one, others as they appeared."""
        return self._labels.seen

    @abc.abstractmethod
    def learn_one(self, x: Features, y: base.typing.ClfTarget, w: float = 1.0) -> None:
        """Learn an example.

        Parameters
        ----------
        x
            A dictionary of features.
        y
            A label.
        w
            Weight of the example, which multiplies its update. With 0, nothing is learned.

        Raises
        ------
        ValueError
            If a value, the label or the weight is refused. The model does not change.
        """

    @abc.abstractmethod
    def scores_one(self, x: Features) -> dict[Any, float]:
        """Return the score g_c(x) of each label c; with two labels, -f(x) and f(x).

        The label with the largest score is predicted, the first in the order of `classes` among
        ties.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number, or is too large for the kernel.
        """

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
            If there are more than two labels, or a value is not a finite number or is too large for
            the kernel.
        """

    def novelty_one(self, x: Features) -> float:
        """Return how far x is from the support set: 0 in its span, 1 if it is orthogonal to it.

        It is the squared distance of x from the span of the support vectors, as a share of k(x, x);
        for an algorithm that does not keep the span, from that of the nearest support vector alone.
        For a mixture, it is the mean over the kernels, by the weights of their experts.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number, or is too large for the kernel.
        """
        try:
            return self._novelty(x)
        except ArrayFoundError:
            return self._asked_with_arrays("_novelty", x)

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
        """Coefficients of the support vectors, oldest first.

        Signed (n_support,) with two labels; a column for each of the `classes` with more
        (n_support, n_classes).
        """

    @property
    @abc.abstractmethod
    def norm(self) -> float:
        """Norm of f in the kernel's Hilbert space, computed from n_support kernel rows.

        With more than two labels, its square is half the sum of the squared norms of all g_c.
        """

    @property
    def memory_bytes(self) -> int:
        """Memory of the model in bytes: arrays, feature index, names and the last query."""
        twin = 0 if self._twin is None else self._twin.memory_bytes
        return sys.getsizeof(self) + bytes_of(self) + twin

    @property
    def n_mistakes(self) -> int:
        """Number of rounds with a margin of at most 0: with two labels, y f(x) <= 0."""
        return self._n_mistakes

    @property
    def n_rounds(self) -> int:
        """Number of examples learned, without those with a weight of 0."""
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
            If it is one label too many, missing or unhashable.
        """
        self._labels.check(y)

    def learn_many(self, X: IntoDataFrame, y: IntoSeries, w: Weights | None = None) -> None:
        """Learn the rows of a frame in order.

        The result is the same as with `learn_one` on each row. If a row is refused, none is
        learned.

        Parameters
        ----------
        X
            A frame of features, or a dict of arrays: the values of a feature (rows,), or arrays (rows,
            elements). A frame may have columns of arrays.
        y
            A series of labels.
        w
            A series or sequence of weights, or one weight for all rows; all 1 by default.

        Raises
        ------
        ValueError
            If a value, a label or a weight is refused, or `X`, `y` and `w` differ in length. The
            error names the row, counted from 0.
        """
        frame, labels = frame_of(X), labels_of(y)
        if self._needs_arrays(frame):
            self._learn_with_arrays("learn_many", X, y, w)
            return
        if len(frame) != len(labels):
            raise ValueError(f"X has {len(frame)} rows, but y has {len(labels)} labels")
        weights = None if w is None else weights_of(w, len(labels))
        block = self._block(frame)
        columns = self._labels.columns(labels, weights)
        if weights is not None and not weights.all():
            learned = weights > 0
            block = self._block(frame.filter(learned.tolist()))
            columns, weights = columns[learned], weights[learned]
        self._learn_block(block, columns, self._weighted(columns, weights))

    def scores_many(self, X: IntoDataFrame) -> IntoDataFrame:
        """Return the scores of each row of a frame, as a frame with a column for each label.

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
        frame = frame_of(X)
        return self._frame_by_label(self._known_scores(frame), frame)

    def decision_function_many(self, X: IntoDataFrame) -> IntoSeries:
        """Return f(x) for each row of a frame, as a series of the same library.

        Parameters
        ----------
        X
            A frame of features.

        Raises
        ------
        ValueError
            If there are more than two labels, or a value is not a finite number or is too large for
            the kernel. The error names the row.
        """
        frame = frame_of(X)
        scores = self._score_frame(frame)
        self._labels.require_two("scores_one or scores_many")
        return series_like(scores[:, 1], frame)

    def predict_many(self, X: IntoDataFrame) -> IntoSeries:
        frame = frame_of(X)
        best, names = self._score_frame(frame).argmax(axis=1), self._labels.names
        predictions = [names[column] for column in best.tolist()]
        return series_like(predictions, frame)

    def predict_proba_many(self, X: IntoDataFrame) -> IntoDataFrame:
        frame = frame_of(X)
        return self._frame_by_label(self._probabilities(self._known_scores(frame)), frame)

    def numerical_errors(self) -> dict[str, float]:
        """Return the numerical errors of the incrementally updated quantities.

        Returns
        -------
        The largest absolute difference of each quantity from its value computed from scratch, by
        name; empty if no quantity is updated incrementally.
        """
        return {}

    def _check_restored(self) -> None:
        super()._check_restored()
        require(self._n_mistakes <= self._n_rounds, "there are more mistakes than rounds")
        if self._checked_at < NEVER:
            self._schedule()

    @property
    @abc.abstractmethod
    def _takes_arrays(self) -> bool:
        """Whether the values of an example may be arrays."""

    @abc.abstractmethod
    def _take_arrays(self) -> None:
        """Let the values of examples be arrays from now on. The model has learned nothing."""

    @abc.abstractmethod
    def _novelty(self, x: Features) -> float:
        """Return the novelty of x. Raises ArrayFoundError if only a model of arrays could take x."""

    @abc.abstractmethod
    def _block(self, frame: Any) -> Any:
        """Return the rows of a frame as a block. Raises ValueError if one of them is invalid."""

    @abc.abstractmethod
    def _score_block(self, block: Any) -> Floats:
        """Return the scores at each row of a block (rows, labels)."""

    @abc.abstractmethod
    def _learn_block(self, block: Any, columns: Ints, weights: Floats | None) -> None:
        """Learn the rows of a block in order; the weights are None if all are 1."""

    @abc.abstractmethod
    def _probabilities(self, scores: Floats) -> Floats:
        """Return the probabilities of the known labels for rows of their scores (rows, labels)."""

    def _checked_weight(self, w: Any, y: Any) -> float:
        """Return the weight of an example as a float; if it is 0, its label is checked, too."""
        weight = weight_of(w)
        if not weight:
            self._labels.check(y)
        return weight

    def _weighted(self, columns: Ints, weights: Floats | None) -> Floats | None:
        """Return the weights of rows times those of their classes (rows,); None if all are 1."""
        if self._class_weights is None:
            return weights
        labels, following = self._labels, self._class_weights.next
        of_classes = np.array([following(column, labels) for column in columns.tolist()])
        return of_classes if weights is None else weights * of_classes

    def _score_frame(self, frame: Any) -> Floats:
        model = self._with_arrays() if self._needs_arrays(frame) else self
        return model._score_block(model._block(frame))  # noqa: SLF001 (of the same class)

    def _needs_arrays(self, frame: Any) -> bool:
        return not self._takes_arrays and holds_arrays(frame)

    def _with_arrays(self) -> Any:
        """Return an equal model that takes arrays as values: the twin, if nothing was learned since."""
        twin = self._twin
        if twin is None or twin.n_rounds != self._n_rounds:
            twin = self.clone()
            twin._take_arrays()  # noqa: SLF001 (of the same class)
            twin.restore(self._state_for_arrays())
        return twin

    def _asked_with_arrays(self, method: str, x: Features) -> Any:
        """Return what a method of the twin says of an example, which is kept if it takes it."""
        twin = self._with_arrays()
        answer = getattr(twin, method)(x)
        self._twin = twin
        return answer

    def _state_for_arrays(self) -> State:
        return self.state()

    def _learn_with_arrays(self, method: str, *examples: Any) -> None:
        """Learn by a method, and take arrays from now on; if nothing is learned, nothing changes."""
        model, self._twin = self._with_arrays(), None
        getattr(model, method)(*examples)
        if model.n_rounds > self._n_rounds:
            vars(self).update(vars(model))

    def _known_scores(self, frame: Any) -> Floats:
        return self._score_frame(frame)[:, list(self._labels.known.values())]

    def _frame_by_label(self, values: Floats, frame: Any) -> Any:
        by_label = dict(zip(self._labels.known, values.T, strict=True))
        return frame_like(by_label, frame)

    @property
    @abc.abstractmethod
    def _examples(self) -> VectorStore:
        """The store whose queries and blocks are observed."""

    @abc.abstractmethod
    def _rescale(self, scales: Scales) -> None:
        """Change scales and width to those that were learned."""

    def _observe(self, query: Query) -> None:
        """Learn scales from an example after its round, and check the width of the kernel."""
        if self._feature_scales is not None:
            self._examples.observe(query, self._feature_scales.sums)
        if self._n_rounds >= self._checked_at:
            self._check(query)

    def _observe_rows(self, block: Any, start: int, stop: int) -> None:
        """Learn scales from rows of a block, during whose rounds no name was new."""
        if self._feature_scales is not None and self._n_rounds <= LAST_UPDATE:
            self._examples.observe_rows(block, start, stop, self._feature_scales.sums)

    def _check(self, query: Query) -> None:
        """Check the width of the kernel, and update scales if that is due."""
        n, scales = self._n_rounds, self._feature_scales
        self._check_width(query.row)
        self._schedule()
        if scales is None or next_update(n - 1) != n:
            return
        if scales.update(n, self._examples.names):
            self._rescale(scales)

    def _schedule(self) -> None:
        """Set which examples are observed and checked next."""
        n = self._n_rounds
        stride = 1 if n < N_CHECKED_ALL else SMALL_STRIDE if n < N_DENSE else LARGE_STRIDE
        following = (n // stride + 1) * stride
        self._checked_at = following if following <= LAST_CHECKED else NEVER
        self._observed_at = n + 1 if self._learns_scales else self._checked_at

    @property
    def _learns_scales(self) -> bool:
        return self._feature_scales is not None and self._n_rounds < LAST_UPDATE

    @property
    def _n_unobserved(self) -> int:
        """Number of rows of a block that may be learned before they are observed."""
        n = self._n_rounds
        if self._learns_scales:
            return next_update(n) - n
        # An interrupt may have left out the next one.
        return max(1, self._observed_at - n)

    def _check_width(self, row: Floats) -> None:
        self._n_flat_rows = self._n_flat_rows + 1 if is_flat(row, LOW, HIGH) else 0
        if self._n_flat_rows == N_FLAT_ROWS:
            warnings.warn(
                f"all kernel values of {N_FLAT_ROWS} examples in a row were above {HIGH}, or below "
                f"{LOW}: the width of the kernel does not suit the data. Leave out gamma, so that "
                "it is learned, or scale the features first, for example with "
                "preprocessing.StandardScaler",
                stacklevel=5,
            )
