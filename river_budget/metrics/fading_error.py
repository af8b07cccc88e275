from __future__ import annotations

from typing import Any

from river import metrics

from river_budget._checks import check_probability


class FadingError(metrics.base.MultiClassMetric):
    """Prequential error with a fading factor.

    The share of wrong predictions, weighted by recency: the last prediction has weight 1, the one
    before it `factor`, then `factor ** 2`, and so on. It follows concept drift like an error over a
    sliding window, in constant time and memory [^1]. It cannot be reverted, so it does not work
    with `utils.Rolling`.

    Parameters
    ----------
    factor
        The fading factor, above 0 and at most 1. About the last `1 / (1 - factor)` predictions
        count; with 1, all count alike.

    Raises
    ------
    ValueError
        If the factor is out of range.

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

    References
    ----------
    [^1]: [Gama, J., Sebastião, R. and Rodrigues, P.P., 2013. On evaluating stream learning algorithms. Machine Learning, 90(3), pp.317-346.](https://doi.org/10.1007/s10994-012-5320-9)
    """

    bigger_is_better = False

    def __init__(self, factor: float = 0.99) -> None:
        check_probability("factor", factor)
        if factor == 0:
            raise ValueError("factor must be above 0, got 0")
        super().__init__()
        self.factor = factor
        self._wrong = 0.0
        self._total = 0.0

    def update(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        self._wrong = w * (y_true != y_pred) + self.factor * self._wrong
        self._total = w + self.factor * self._total

    def revert(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        raise NotImplementedError("a fading error cannot be reverted")

    def get(self) -> float:
        return self._wrong / self._total if self._total else 0.0
