"""Metrics for online classification that River lacks."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from river.metrics import base

from river_budget._checks import check_count, check_probability
from river_budget._state import require

__all__ = [
    "Bin", "CalibrationError", "FadingError", "HingeLoss", "Mistakes", "SetCoverage", "SetSize",
]  # fmt: skip


class Bin(NamedTuple):
    """The predictions whose probabilities are in one interval.

    Attributes
    ----------
    probability
        The mean of the probabilities.
    frequency
        How often the predictions were right, from 0 to 1.
    weight
        The sum of the weights of the predictions.
    """

    probability: float
    frequency: float
    weight: float


class CalibrationError(base.MultiClassMetric):
    """Expected calibration error: how far predicted probabilities are from frequencies.

    Predictions are put into bins of equal width by their probability. In each bin, the mean probability
    is compared with the frequency of the label. The error is the mean of the absolute differences,
    weighted by the bins' weights
    ([Guo, Pleiss, Sun & Weinberger 2017](https://arxiv.org/abs/1706.04599)). The label in question is
    `pos_val` if there are two labels and it is one of them, and the most probable label otherwise.

    Parameters
    ----------
    n_bins
        Number of bins.
    pos_val
        The label of the positive class.

    Attributes
    ----------
    bins
        The bins that are not empty.

    Examples
    --------
    >>> from river_budget import metrics
    >>> metric = metrics.CalibrationError(n_bins=2)
    >>> for y_true, p in [(True, 0.9), (False, 0.7), (False, 0.2)]:
    ...     metric.update(y_true, {True: p, False: 1 - p})
    >>> metric
    CalibrationError: 0.266667
    >>> for b in metric.bins:
    ...     print(f"{b.probability:.2f} {b.frequency:.2f} {b.weight:.0f}")
    0.20 0.00 1
    0.80 0.50 2
    """

    _fmt = ",.6f"
    bigger_is_better = False
    requires_labels = False

    def __init__(self, n_bins: int = 10, pos_val: Any = True) -> None:
        check_count("n_bins", n_bins)
        super().__init__()
        self.n_bins = n_bins
        self.pos_val = pos_val
        # For each bin the sum of the weights, of the probabilities, and of the weights of right ones.
        self._sums = np.zeros((n_bins, 3))

    @property
    def bins(self) -> list[Bin]:
        return [Bin(p / w, hits / w, w) for w, p, hits in self._sums.tolist() if w > 0.0]

    def update(self, y_true: Any, y_pred: dict[Any, float], w: float = 1.0) -> None:
        """Take a prediction into account.

        Parameters
        ----------
        y_true
            The label.
        y_pred
            The predicted probability of each label. An empty dict, as of a new model, is passed over.
        w
            Weight of the prediction.
        """
        if not y_pred:
            return
        is_binary = len(y_pred) == 2 and self.pos_val in y_pred
        label = self.pos_val if is_binary else max(y_pred, key=y_pred.__getitem__)
        p = y_pred[label]
        row = min(int(p * self.n_bins), self.n_bins - 1)
        self._sums[row] += w, w * p, w * (y_true == label)

    def revert(self, y_true: Any, y_pred: dict[Any, float], w: float = 1.0) -> None:
        self.update(y_true, y_pred, -w)

    def get(self) -> float:
        weights, probabilities, hits = self._sums.T
        total = weights.sum()
        return float(np.abs(probabilities - hits).sum() / total) if total > 0.0 else 0.0


class FadingError(base.MultiClassMetric):
    """Prequential error with a fading factor: the share of wrong predictions, weighted by recency.

    Use it to follow concept drift, like an error over a sliding window, but in constant time and memory
    ([Gama, Sebastião & Rodrigues 2013](https://doi.org/10.1007/s10994-012-5320-9)). The last
    prediction has the weight 1, the one before it `factor`, then `factor ** 2`, and so on. It does not
    work with `utils.Rolling`.

    Parameters
    ----------
    factor
        The fading factor, above 0 and at most 1. About the last `1 / (1 - factor)` predictions
        count; with 1, all count alike.

    Examples
    --------
    >>> from river_budget import metrics
    >>> metric = metrics.FadingError(factor=0.5)
    >>> for y_true, y_pred in [(True, False), (True, True), (True, True)]:
    ...     metric.update(y_true, y_pred)
    ...     print(metric)
    FadingError: 100.00%
    FadingError: 33.33%
    FadingError: 14.29%
    """

    bigger_is_better = False

    def __init__(self, factor: float = 0.99) -> None:
        check_probability("factor", factor)
        require(factor, "factor must be above 0, got 0")
        super().__init__()
        self.factor = factor
        self._wrong = self._total = 0.0

    def update(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        self._wrong = w * (y_true != y_pred) + self.factor * self._wrong
        self._total = w + self.factor * self._total

    def revert(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        raise NotImplementedError("a fading error cannot be reverted")

    def get(self) -> float:
        return self._wrong / self._total if self._total else 0.0


class HingeLoss(base.MeanMetric, base.BinaryMetric):
    """Mean hinge loss, `max(0, 1 - y f(x))`, the loss in mistake bounds.

    Predictions are either margins f(x), as `decision_function_one` returns them, or dicts of
    probabilities. The inverse of the logistic link turns the probability of the positive label into a
    margin of at most about 34.5 in absolute value. If there is none, the margin is 0.

    Parameters
    ----------
    pos_val
        The label of the positive class; all other labels are negative.

    Examples
    --------
    >>> from river import datasets, evaluate
    >>> import river_budget as rb
    >>> model = rb.ProjectronPlusPlus(rb.RBF(gamma=1.0), budget=100)
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, rb.metrics.HingeLoss())
    HingeLoss: 0.303063
    """

    _fmt = ",.6f"
    bigger_is_better = False
    requires_labels = False

    def __init__(self, pos_val: Any = True) -> None:
        base.BinaryMetric.__init__(self, pos_val=pos_val)
        base.MeanMetric.__init__(self)

    def _eval(self, y_true: Any, y_pred: Any) -> float:
        margin = y_pred
        if isinstance(y_pred, dict):
            p = self._clamp_proba(y_pred.get(self.pos_val, 0.5))
            margin = math.log(p / (1.0 - p))
        return max(0.0, 1.0 - margin if y_true == self.pos_val else 1.0 + margin)


class Mistakes(base.MultiClassMetric):
    """Number of wrong predictions.

    A model's `n_mistakes` can be slightly larger: it counts every margin of 0 as a mistake, even
    where the predicted label is right.

    Parameters
    ----------
    cm
        A confusion matrix to share with other metrics.

    Examples
    --------
    >>> from river import metrics as river_metrics
    >>> from river_budget import metrics
    >>> river_metrics.Accuracy() + metrics.Mistakes()
    Accuracy: 0.00%
    Mistakes: 0
    """

    bigger_is_better = False

    def get(self) -> float:
        return self.cm.total_weight - self.cm.total_true_positives

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.get():,g}"


class SetCoverage(base.MeanMetric, base.MultiClassMetric):
    """Share of the predicted sets of labels that contain the true one.

    Examples
    --------
    >>> from river_budget import metrics
    >>> metric = metrics.SetCoverage()
    >>> for y_true, y_set in [("a", {"a", "b"}), ("b", {"a"}), ("c", {"c"})]:
    ...     metric.update(y_true, y_set)
    >>> metric
    SetCoverage: 66.67%
    """

    def __init__(self) -> None:
        base.MultiClassMetric.__init__(self)
        base.MeanMetric.__init__(self)

    def _eval(self, y_true: Any, y_pred: Any) -> float:
        return float(y_true in y_pred)


class SetSize(base.MeanMetric, base.MultiClassMetric):
    """Mean number of labels in the predicted sets.

    Examples
    --------
    >>> from river_budget import metrics
    >>> metric = metrics.SetSize()
    >>> for y_true, y_set in [("a", {"a", "b"}), ("b", {"c"})]:
    ...     metric.update(y_true, y_set)
    >>> metric
    SetSize: 1.5
    """

    _fmt = ",.3f"
    bigger_is_better = False

    def __init__(self) -> None:
        base.MultiClassMetric.__init__(self)
        base.MeanMetric.__init__(self)

    def _eval(self, y_true: Any, y_pred: Any) -> float:
        return float(len(y_pred))
