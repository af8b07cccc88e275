"""What `compare` sorts models by."""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import Any

from river import metrics
from river.metrics import base

from river_budget.cli.app import CommandError
from river_budget.cli.options import Score

# Where the rarest label has a smaller share than this, accuracy says little about it.
RARE = 0.1


class OfLabel(base.MultiClassMetric):
    """A binary metric of River for one label against all others.

    River's own F1 is 0 for any label but True.

    Parameters
    ----------
    label
        The label.
    metric
        The metric, which sees True and False.
    """

    def __init__(self, label: Any, metric: base.BinaryMetric) -> None:
        super().__init__()
        self.label, self.metric = label, metric

    @property
    def requires_labels(self) -> bool:
        return self.metric.requires_labels

    @property
    def bigger_is_better(self) -> bool:
        return self.metric.bigger_is_better

    def update(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        own = y_pred == self.label if self.requires_labels else y_pred.get(self.label, 0.0)
        self.metric.update(y_true == self.label, own)

    def get(self) -> float:
        return self.metric.get()


def metrics_for(score: Score | None, labels: Iterable[Any]) -> dict[str, Any]:
    """Return the metric, by its name, that sorts models beside their mistakes; none for the accuracy.

    Parameters
    ----------
    score
        What was asked for. By default, it is the accuracy, or the balanced one if a label is rare.
    labels
        The labels of all examples.
    """
    counts = collections.Counter(labels)
    rarest, n_rarest = min(counts.items(), key=lambda item: item[1])
    if score is None:
        is_rare = n_rarest < RARE * counts.total()
        score = Score.BALANCED if is_rare else Score.ACCURACY
    if score is Score.BALANCED:
        return {"balanced accuracy": metrics.BalancedAccuracy()}
    if score is Score.F1:
        if len(counts) > 2:
            return {"mean F1 of labels": metrics.MacroF1()}
        return {f"F1 of {rarest}": OfLabel(rarest, metrics.F1())}
    if score is Score.LOGLOSS:
        return {"log loss": metrics.CrossEntropy()}
    if score is Score.AUC:
        if len(counts) != 2:
            error = f"--metric auc needs two labels, this stream has {len(counts):,}"
            raise CommandError(f"{error}: take balanced, f1 or logloss")
        return {f"ROC AUC of {rarest}": OfLabel(rarest, metrics.RollingROCAUC(counts.total()))}
    return {}
