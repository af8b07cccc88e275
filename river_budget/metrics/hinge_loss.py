from __future__ import annotations

import math
from typing import Any

from river import metrics


class HingeLoss(metrics.base.MeanMetric, metrics.base.BinaryMetric):
    """Mean hinge loss, `max(0, 1 - y f(x))`, the loss in mistake bounds.

    Predictions are margins f(x), as `decision_function_one` returns them, or probabilities, as
    `predict_proba_one` does. Probabilities are mapped back to margins by the inverse of the
    logistic link, which clips margins at about 34.5 in absolute value. Without one of the positive
    label, the margin is unknown and counts as 0, so the loss is 1: a loss of 1 on a whole stream tells
    that `pos_val` is none of its labels.

    Parameters
    ----------
    pos_val
        The label of the positive class. All other labels are negative.

    Examples
    --------

    >>> from river_budget import metrics

    >>> metric = metrics.HingeLoss()
    >>> for y_true, margin in [(True, 2.0), (True, 0.5), (False, 0.5)]:
    ...     metric.update(y_true, margin)
    ...     print(metric.get())
    0.0
    0.25
    0.666666...

    >>> from river import datasets
    >>> from river import evaluate
    >>> import river_budget as rb

    >>> model = rb.ProjectronPlusPlus(rb.RBF(gamma=1.0), budget=100)
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.HingeLoss())
    HingeLoss: 0.303063
    """

    _fmt = ",.6f"
    bigger_is_better = False
    requires_labels = False

    def __init__(self, pos_val: Any = True) -> None:
        metrics.base.BinaryMetric.__init__(self, pos_val=pos_val)
        metrics.base.MeanMetric.__init__(self)

    def _eval(self, y_true: Any, y_pred: Any) -> float:
        margin = self._margin(y_pred) if isinstance(y_pred, dict) else y_pred
        return max(0.0, 1.0 - margin if y_true == self.pos_val else 1.0 + margin)

    def _margin(self, probabilities: dict[Any, float]) -> float:
        if self.pos_val not in probabilities:
            return 0.0
        p = self._clamp_proba(probabilities[self.pos_val])
        return math.log(p / (1.0 - p))
