"""The River face that every classifier shares, and the perceptron's template.

`KernelClassifier` knows labels, validation, predictions and mini-batches, and no particular
algorithm. `Perceptron` runs the rounds: an algorithm adds the step that its paper changes.

"""

from __future__ import annotations

import abc
import copy
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from river import base
from river.compose import Pipeline
from river.utils import dataframe

from river_budget import kernels
from river_budget.checks import check_count
from river_budget.loops import LARGEST
from river_budget.support import Floats, lengthened, support_set

if TYPE_CHECKING:
    from narwhals.stable.v2.typing import IntoDataFrame, IntoSeries

__all__ = [
    "BudgetPerceptron",
    "GrowingPerceptron",
    "KernelClassifier",
    "Perceptron",
    "check_features",
    "classifier_of",
    "forecast",
    "lines_of",
]

NEGATIVE, POSITIVE = -1.0, 1.0
USUAL_SIGNS: dict[Any, float] = {False: NEGATIVE, -1: NEGATIVE, True: POSITIVE}


def lines_of(frame: Any) -> NDArray[Any]:
    """Return the values of a frame (rows, columns), of any type; pandas hands its own out faster."""
    return frame.to_native().to_numpy() if frame.implementation.is_pandas() else frame.to_numpy()


def classifier_of(model: Any) -> Any:
    """Return the classifier that a pipeline ends in, or the model itself."""
    return model.steps[next(reversed(model.steps))] if isinstance(model, Pipeline) else model


def forecast(model: Any, x: Any) -> tuple[float, Any]:
    """Return f(x) and the prediction of a classifier, or of the pipeline that ends in one.

    Raises
    ------
    ValueError
        If x is refused; see `check_features`.

    """
    check_features(x)
    classifier = classifier_of(model)
    seen = x if classifier is model else model.transform_one(x)
    return classifier.decision_function_one(seen), classifier.predict_one(seen)


def check_features(x: Any) -> None:
    """Raise ValueError unless x is a dict of finite numbers that a scaler can square.

    A pipeline asks this of raw features: a scaler takes what a classifier refuses, and keeps it.

    """
    if not isinstance(x, dict):
        raise ValueError(f"x must be a dict of features, got {x!r}")
    for name, value in x.items():
        try:
            fits = not isinstance(value, str | bytes) and abs(value) <= LARGEST
        except (TypeError, OverflowError):
            fits = False
        if not fits:
            raise ValueError(
                f"feature {name!r} has the value {value!r}: expected a finite number of at most "
                f"{LARGEST:g} in size"
            )


class Labels:
    """The two labels of a binary problem, and their signs.

    False, 0 and -1 are negative, True and 1 are positive. Of other labels the first one seen is
    negative and the second one positive.

    Attributes
    ----------
    negative, positive
        The labels to predict. As long as only one label is known, and the other one does not
        follow from it, both are that one.

    """

    __slots__ = ("_signs", "negative", "positive")

    def __init__(self) -> None:
        self._signs: dict[Any, float] = {}
        self.negative: Any = False
        self.positive: Any = True

    def sign(self, y: Any) -> float:
        """Return -1 or +1 for a label, which becomes known.

        Raises
        ------
        ValueError
            If it is a third label, or none at all.

        """
        try:
            return self._signs[y]
        except (KeyError, TypeError):
            return self._admit(y)

    def signs(self, y: Sequence[Any]) -> Floats:
        """Return the signs of many labels, which all become known unless one is refused."""
        trial = copy.copy(self)
        try:
            signs = [self._signs[label] for label in y]
        except (KeyError, TypeError):
            signs = [trial.sign(label) for label in y]
        self._signs, self.negative, self.positive = trial._signs, trial.negative, trial.positive
        return np.array(signs, dtype=np.float64)

    def _admit(self, y: Any) -> float:
        label = y.item() if isinstance(y, np.generic) else y
        if label is None or label != label or not _is_hashable(label):
            raise ValueError(f"the label is {y!r}: expected one of two classes")
        if len(self._signs) == 2:
            raise ValueError(
                f"the label {y!r} is a third class beside {self.negative!r} and "
                f"{self.positive!r}: use multiclass.OneVsRestClassifier"
            )
        taken = next(iter(self._signs.values()), POSITIVE)
        sign = USUAL_SIGNS.get(label, -taken)
        if self._signs and sign == taken:
            sign = -taken
        other = next(iter(self._signs), _implied(label))
        self.negative, self.positive = (label, other) if sign == NEGATIVE else (other, label)
        self._signs = {**self._signs, label: sign}
        return sign


def _is_hashable(label: Any) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def _implied(label: Any) -> Any:
    """Return the other label of a problem of which this one is known."""
    if isinstance(label, bool):
        return not label
    return type(label)(1) if label in (0, -1) else label


class KernelClassifier(base.MiniBatchClassifier):
    """A binary classifier whose hypothesis is a kernel expansion over a support set.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.

    """

    def __init__(self, kernel: kernels.Kernel | None = None) -> None:
        if kernel is not None:
            kernels.check_kernel(kernel)
        self.kernel = kernel
        self._support = support_set(kernels.RBF() if kernel is None else kernel)
        self._labels = Labels()
        self._n_rounds = 0
        self._n_mistakes = 0

    @property
    def resolved_kernel(self) -> kernels.Kernel:
        """The kernel, with what it takes from the first example that was stored."""
        return self._support.kernel

    def decision_function_one(self, x: kernels.Features) -> float:
        """Return f(x), positive for the positive class.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number that the kernel can take.

        """
        return self._support.decide(x)

    def predict_one(self, x: kernels.Features, **kwargs: Any) -> Any:
        labels = self._labels
        return labels.positive if self.decision_function_one(x) > 0 else labels.negative

    def predict_proba_one(self, x: kernels.Features, **kwargs: Any) -> dict[Any, float]:
        p = float(self._chance(self.decision_function_one(x)))
        return self._probabilities(1.0 - p, p)

    def learn_many(self, X: IntoDataFrame, y: IntoSeries) -> None:
        """Learn the rows of a frame, one after the other.

        The model becomes the one that `learn_one` makes of the same rows. If a row is refused, none
        is learned.

        Parameters
        ----------
        X
            A frame of features.
        y
            A series of labels.

        Raises
        ------
        ValueError
            If a value or a label is refused, or `X` and `y` differ in length.

        """
        frame = dataframe.into_frame(X)
        labels = dataframe.into_series(y).to_list()
        if len(frame) != len(labels):
            raise ValueError(f"X has {len(frame)} rows, but y has {len(labels)} labels")
        block = self._block(frame)
        self._learn_block(block, self._labels.signs(labels))

    def decision_function_many(self, X: IntoDataFrame) -> IntoSeries:
        """Return f(x) for each row of a frame, as a series of the same kind.

        Parameters
        ----------
        X
            A frame of features.

        Raises
        ------
        ValueError
            If a value is not a finite number that the kernel can take.

        """
        frame = dataframe.into_frame(X)
        return dataframe.to_native_series(self._decide_many(frame), name=None, like=frame)

    def predict_many(self, X: IntoDataFrame) -> IntoSeries:
        frame = dataframe.into_frame(X)
        f = self._decide_many(frame)
        labels = [
            self._labels.positive if positive else self._labels.negative for positive in f > 0
        ]
        return dataframe.to_native_series(labels, name=None, like=frame)

    def predict_proba_many(self, X: IntoDataFrame) -> IntoDataFrame:
        frame = dataframe.into_frame(X)
        p = self._chance(self._decide_many(frame))
        return dataframe.to_native_frame(self._probabilities(1.0 - p, p), like=frame)

    @property
    def n_support(self) -> int:
        """Number of support vectors."""
        return self._support.n

    @property
    def n_mistakes(self) -> int:
        """Number of rounds with y f(x) <= 0."""
        return self._n_mistakes

    @property
    def n_rounds(self) -> int:
        """Number of examples learned."""
        return self._n_rounds

    @property
    def support_vectors(self) -> list[kernels.Features]:
        """The support vectors as dicts, oldest first."""
        return [self._support.vector(slot) for slot in self._support.by_age]

    @property
    def coefficients(self) -> Floats:
        """Signed coefficients of the support vectors, oldest first (n_support,)."""
        return self._support.coefficients[self._support.by_age]

    @property
    def norm(self) -> float:
        """Norm of f in the kernel's Hilbert space. It takes n_support kernel rows."""
        return self._support.norm

    @property
    def memory_bytes(self) -> int:
        """Bytes that the model holds: arrays, feature index, names and caches."""
        return sys.getsizeof(self) + self._support.nbytes

    @abc.abstractmethod
    def _learn_block(self, block: Any, signs: Floats) -> None:
        """Learn the lines of a block that was found fit, in order."""

    def _chance(self, f: Any) -> Any:
        """Return the probability of the positive class: the logistic function of f."""
        return 0.5 + 0.5 * np.tanh(0.5 * f)

    def _block(self, frame: Any) -> Any:
        """Return a frame's lines, all of them found fit."""
        return self._support.block(frame.columns, lines_of(frame))

    def _decide_many(self, frame: Any) -> Floats:
        return self._support.decide_block(self._block(frame))

    def _probabilities(self, negative: Any, positive: Any) -> dict[Any, Any]:
        labels = self._labels
        if labels.negative == labels.positive:
            return {labels.negative: negative + positive}
        return {labels.negative: negative, labels.positive: positive}


class Perceptron(KernelClassifier):
    """The kernel perceptron's rounds: predict, and update on a mistake.

    An algorithm is one subclass with one method, `_update`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.

    """

    # An update is made where y f(x) is at most this.
    _threshold = 0.0

    def learn_one(self, x: kernels.Features, y: base.typing.ClfTarget) -> None:
        f = self._support.decide(x)
        sign = self._labels.sign(y)
        self._n_rounds += 1
        if sign * f <= self._threshold:
            self._n_mistakes += sign * f <= 0.0
            self._update(sign, f)

    def _learn_block(self, block: Any, signs: Floats) -> None:
        start, labels = 0, signs.tolist()
        while start < len(labels):
            line, f = self._support.scan(block, signs, start, self._threshold)
            if line == len(labels):
                break
            self._n_mistakes += labels[line] * f <= 0.0
            self._n_rounds += line + 1 - start
            self._update(labels[line], f)
            start = line + 1
        self._n_rounds += len(labels) - start

    @abc.abstractmethod
    def _update(self, y: float, f: float) -> None:
        """Change the hypothesis after a round that asks for it.

        Parameters
        ----------
        y
            The label's sign.
        f
            The hypothesis at the support set's current example.

        """


class BudgetPerceptron(Perceptron):
    """A perceptron with at most `budget` support vectors.

    An algorithm is one subclass that says what happens once the budget is full, `_update_full`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Largest number of support vectors.

    """

    def __init__(self, kernel: kernels.Kernel | None = None, budget: int = 100) -> None:
        check_count("budget", budget)
        super().__init__(kernel)
        self.budget = budget

    def _update(self, y: float, f: float) -> None:
        if self._support.n < self.budget:
            self._support.add(y)
        else:
            self._update_full(y, f)

    @abc.abstractmethod
    def _update_full(self, y: float, f: float) -> None:
        """Change the hypothesis after a mistake with the budget full; see `_update`."""


class GrowingPerceptron(Perceptron):
    """A perceptron whose support set only grows, so that its hypotheses can be averaged.

    An algorithm is one subclass that changes the hypothesis with `_add` and `_shift` alone.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.

    """

    def __init__(self, kernel: kernels.Kernel | None = None) -> None:
        super().__init__(kernel)
        # The sum over updates of the round times the change of each coefficient, by slots. The
        # hypotheses after rounds 1 to T add up to (T + 1) times the last one less this.
        self._moments: Floats = np.zeros(0)

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + self._moments.nbytes

    def averaged_decision_function_one(self, x: kernels.Features) -> float:
        """Return the mean of f_1(x), ..., f_T(x), the hypotheses after each round so far.

        This is the online-to-batch conversion of [^1]: on examples that are drawn independently, the
        average generalizes better than the last hypothesis. It takes one more kernel row, and no
        hypothesis is stored.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number that the kernel can take.

        References
        ----------
        [^1]: [Cesa-Bianchi, N., Conconi, A. and Gentile, C., 2004. On the generalization ability of on-line learning algorithms. IEEE Transactions on Information Theory, 50(9), pp.2050-2057.](https://doi.org/10.1109/TIT.2004.833339)

        """
        _, f, *_ = example = self._support.look(x)
        if not self._n_rounds:
            return f
        row = self._support.row_of(example)
        moment = float(np.dot(self._moments[: len(row)], row))
        return ((self._n_rounds + 1) * f - moment) / self._n_rounds

    def _add(self, coefficient: float) -> None:
        """Store the current example as one more support vector."""
        n = self._support.n
        if n == len(self._moments):
            self._moments = lengthened(self._moments, max(8, 2 * n))
        self._moments[n] = self._n_rounds * coefficient
        self._support.add(coefficient)

    def _shift(self, change: Floats) -> None:
        """Add to the coefficients (n_support,)."""
        self._moments[: len(change)] += self._n_rounds * change
        self._support.shift(change)
