from __future__ import annotations

from river import metrics


class Mistakes(metrics.base.MultiClassMetric):
    """Number of wrong predictions.

    A model's `n_mistakes` can be slightly larger: it counts every margin of 0 as a mistake, even
    where the predicted label is right.

    Parameters
    ----------
    cm
        This parameter allows sharing the same confusion matrix between multiple metrics.

    Examples
    --------

    >>> from river_budget import metrics

    >>> metric = metrics.Mistakes()
    >>> for y_true, y_pred in [(True, True), (False, True), (True, False)]:
    ...     metric.update(y_true, y_pred)

    >>> metric
    Mistakes: 2

    It works with River's `+` and `utils.Rolling`:

    >>> from river import metrics as river_metrics
    >>> from river import utils

    >>> river_metrics.Accuracy() + metrics.Mistakes()
    Accuracy: 0.00%
    Mistakes: 0

    >>> recent = utils.Rolling(metrics.Mistakes, window_size=2)
    >>> for y_true, y_pred in [(True, False), (False, True), (True, True)]:
    ...     recent.update(y_true, y_pred)
    >>> recent
    Mistakes: 1
    """

    bigger_is_better = False

    def get(self) -> float:
        return self.cm.total_weight - self.cm.total_true_positives

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.get():,g}"
