from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from river import metrics

from river_budget._checks import check_count


class Bin(NamedTuple):
    """The predictions with probabilities in one interval.

    Attributes
    ----------
    probability
        Their mean probability.
    frequency
        How often the label was the one that they gave this probability.
    weight
        Their total weight.
    """

    probability: float
    frequency: float
    weight: float


class CalibrationError(metrics.base.MultiClassMetric):
    """Expected calibration error: how far probabilities are from frequencies.

    Probabilities are counted in bins of equal width. In each bin, the mean probability is compared
    with the frequency of the label. The error is the mean absolute difference, weighted by the
    counts [^1].

    With two labels, the probability is that of the positive one. With any other number of labels,
    or if neither of the two is `pos_val`, it is that of the most probable label.

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

    Raises
    ------
    ValueError
        If the number of bins is not a positive whole number.

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

    References
    ----------
    [^1]: [Guo, C., Pleiss, G., Sun, Y. and Weinberger, K.Q., 2017. On calibration of modern neural networks. ICML.](https://arxiv.org/abs/1706.04599)
    """

    _fmt = ",.6f"
    bigger_is_better = False
    requires_labels = False

    def __init__(self, n_bins: int = 10, pos_val: Any = True) -> None:
        check_count("n_bins", n_bins)
        super().__init__()
        self.n_bins = n_bins
        self.pos_val = pos_val
        # For each bin, the sums of weights, of probabilities and of frequencies.
        self._sums = np.zeros((n_bins, 3))

    @property
    def bins(self) -> list[Bin]:
        """The bins that are not empty."""
        return [Bin(p / w, hits / w, w) for w, p, hits in self._sums.tolist() if w > 0.0]

    def update(self, y_true: Any, y_pred: dict[Any, float], w: float = 1.0) -> None:
        if not y_pred:
            return
        is_binary = len(y_pred) == 2 and self.pos_val in y_pred
        label = self.pos_val if is_binary else max(y_pred, key=lambda c: y_pred[c])
        p = y_pred[label]
        row = min(int(p * self.n_bins), self.n_bins - 1)
        self._sums[row] += w, w * p, w * (y_true == label)

    def revert(self, y_true: Any, y_pred: dict[Any, float], w: float = 1.0) -> None:
        self.update(y_true, y_pred, -w)

    def get(self) -> float:
        total = self._sums[:, 0].sum()
        difference = np.abs(self._sums[:, 1] - self._sums[:, 2]).sum()
        return float(difference / total) if total > 0.0 else 0.0
