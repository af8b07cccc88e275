from __future__ import annotations

from collections import Counter
from typing import Any

from river import metrics


class _Kappa(metrics.base.MultiClassMetric):
    """How much of a baseline's error a model avoids, from the labels in the order of the stream."""

    def __init__(self) -> None:
        super().__init__()
        # What the baseline predicts; None before the first label.
        self._baseline: Any = None
        self._wrong = 0.0
        self._wrong_of_baseline = 0.0

    def _learn(self, y_true: Any, w: float) -> None:
        """Set the next prediction of the baseline."""
        raise NotImplementedError

    def update(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        if self._baseline is not None:
            self._wrong += w * (y_true != y_pred)
            self._wrong_of_baseline += w * (y_true != self._baseline)
        self._learn(y_true, w)

    def revert(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        raise NotImplementedError(f"{type(self).__name__} cannot be reverted")

    def get(self) -> float:
        return 1.0 - self._wrong / self._wrong_of_baseline if self._wrong_of_baseline else 0.0


class KappaM(_Kappa):
    """Kappa M: accuracy compared with that of the majority class.

    The baseline predicts the most frequent label so far, the first one among ties. The value is
    `(p - p_m) / (1 - p_m)`, where `p` is the accuracy of the model and `p_m` that of the baseline
    [^1]: 1 if all predictions are right, 0 if the model is as good as the baseline, negative if it
    is worse. It is 0 while the baseline has no mistake.

    The first example, for which the baseline has no prediction, is not scored. The order of the
    examples matters, so it cannot be reverted and does not work with `utils.Rolling`.

    Examples
    --------

    >>> from river_budget import metrics

    >>> metric = metrics.KappaM()
    >>> for y_true, y_pred in zip("aabab", "aaabb"):
    ...     metric.update(y_true, y_pred)
    >>> metric  # 2 mistakes, and 2 of the baseline
    KappaM: 0.00%
    >>> metric.update("b", "b")
    >>> metric
    KappaM: 33.33%

    References
    ----------
    [^1]: [Bifet, A., de Francisci Morales, G., Read, J., Holmes, G. and Pfahringer, B., 2015. Efficient online evaluation of big data stream classifiers. KDD, pp.59-68.](https://doi.org/10.1145/2783258.2783372)
    """

    def __init__(self) -> None:
        super().__init__()
        self._counts: Counter[Any] = Counter()

    def _learn(self, y_true: Any, w: float) -> None:
        self._counts[y_true] += w  # type: ignore[assignment]
        self._baseline = max(self._counts, key=self._counts.__getitem__)


class KappaT(_Kappa):
    """Kappa T, the temporal kappa: accuracy compared with that of the last label.

    The baseline predicts the label of the example before [^1]. Everything else is as in `KappaM`.

    Examples
    --------

    >>> from river_budget import metrics

    >>> metric = metrics.KappaT()
    >>> for y_true, y_pred in zip("aabbb", "aaabb"):
    ...     metric.update(y_true, y_pred)
    >>> metric  # 1 mistake, and 1 of the baseline
    KappaT: 0.00%
    >>> metric.update("a", "a")
    >>> metric
    KappaT: 50.00%

    References
    ----------
    [^1]: [Žliobaitė, I., Bifet, A., Read, J., Pfahringer, B. and Holmes, G., 2015. Evaluation methods and decision theory for classification of streaming data with temporal dependence. Machine Learning, 98(3), pp.455-482.](https://doi.org/10.1007/s10994-014-5441-4)
    """

    def _learn(self, y_true: Any, w: float) -> None:
        self._baseline = y_true
