"""Alerts: examples in which the probability of one label is above a threshold."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from river_budget.cli.app import counted
from river_budget.cli.schema import listed

# The probabilities of examples with a known label are counted by their log odds, from -LARGEST to LARGEST,
# in steps of 1 / N_STEPS. (The thresholds of River's ROCAUC are equally far from each other. Most
# probabilities of a rare label are below the first.)
LARGEST, N_STEPS = 30, 20
N_BINS = 2 * LARGEST * N_STEPS


class Costs(NamedTuple):
    """What one miss costs, and one alert, right or false."""

    miss: float
    alarm: float


class Alerts:
    """Gives alerts, and counts what they were worth.

    Parameters
    ----------
    label
        The text of the label, as on the command line.
    above
        The threshold.
    costs
        The costs, if they are known.
    record
        The `record` of an earlier run. It goes on if the label and the threshold are the same.
    """

    def __init__(
        self, label: str, above: float, costs: Costs | None, record: Mapping[str, Any]
    ) -> None:
        self.label, self.above, self.costs = label, above, costs
        is_same = (record.get("label"), record.get("above")) == (label, above)
        kept = record if is_same and len(record["bins"]) == N_BINS else {}
        self.n = kept.get("n", 0)  # Number of alerts.
        self.n_right = kept.get("n_right", 0)
        self.n_false = kept.get("n_false", 0)
        # In each bin, how many examples have another label, and how many have this one.
        self._bins = kept.get("bins", np.zeros((N_BINS, 2), np.int64))

    @property
    def record(self) -> dict[str, Any]:
        """The counts, for a later run."""
        return {
            "label": self.label, "above": self.above, "n": self.n, "n_right": self.n_right,
            "n_false": self.n_false, "bins": self._bins,
        }  # fmt: skip

    def is_about(self, label: Any) -> bool:
        """Return whether a label is the one of the alerts; it may be written as in JSON."""
        if isinstance(label, bool):
            return self.label in (str(label), json.dumps(label))
        return str(label) == self.label

    def probability(self, probabilities: Mapping[Any, float]) -> float:
        """Return the probability of the label; 0 if it is not known yet."""
        return sum(p for label, p in probabilities.items() if self.is_about(label))

    def is_due(self, p: float) -> bool:
        """Return whether a probability of the label makes an alert."""
        return p > self.above

    def add(self, p: float, label: Any) -> None:
        """Count an example; its label is None if it is not known."""
        is_due = self.is_due(p)
        self.n += is_due
        if label is None:
            return
        is_positive = self.is_about(label)
        self.n_right += is_due and is_positive
        self.n_false += is_due and not is_positive
        self._bins[_bin_of(p), int(is_positive)] += 1

    def summary(self, labels: Collection[Any]) -> str:
        """Return a text: the number of alerts, how good they were, and what they have cost.

        Parameters
        ----------
        labels
            The labels that have come.
        """
        title = f"{counted(self.n, 'alert')} for {self.label}, above {self.above:g}"
        n_negative, n_positive = self._bins.sum(axis=0).tolist()
        if not labels:
            return title
        if not n_positive:
            is_known = any(map(self.is_about, labels))
            only = "" if is_known else f", only {listed([*map(str, labels)])}"
            return f"{title}; no line had the label {self.label}{only}"
        first = f"{title}: ROC AUC {self.roc_auc():.4f}" if n_negative else title
        return "\n".join([first, *self._quality_lines(n_positive), *self._cost_lines(n_positive)])

    def roc_auc(self) -> float:
        """Return how often an example of the label has the larger probability than another one."""
        n_others, n_own = self._bins.T
        n_below = np.cumsum(n_others) - n_others / 2  # One in the same bin counts as half.
        return float(n_own @ n_below / (n_own.sum() * n_others.sum()))

    def cheapest(self, costs: Costs) -> tuple[str, float]:
        """Return which alerts would have cost least, as a text, and that cost."""
        n_others, n_own = self._bins.T
        n_missed = np.concatenate([[0], np.cumsum(n_own)])
        n_alerts = self._bins.sum() - np.concatenate([[0], np.cumsum(n_others + n_own)])
        all_costs = costs.miss * n_missed + costs.alarm * n_alerts
        best = np.flatnonzero(all_costs == all_costs.min())
        middle = int(best[len(best) // 2])
        if n_alerts[middle] == 0:
            text = "no alert at all"
        else:
            text = f"alerts above {_p_of(middle / N_STEPS - LARGEST):.3g}"
        return text, float(all_costs[middle])

    def _quality_lines(self, n_positive: int) -> list[str]:
        """Return how many alerts were right, and how many were missed."""
        n_known = self.n_right + self.n_false
        precision = f"{self.n_right / n_known:.4f}" if n_known else "unknown"
        n_unknown = self.n - n_known
        unknown = f", {n_unknown:,} without a label" if n_unknown else ""
        return [
            f"{self.n_right:,} right, {self.n_false:,} false{unknown}: precision {precision}",
            f"{n_positive - self.n_right:,} missed: recall {self.n_right / n_positive:.4f}",
        ]

    def _cost_lines(self, n_positive: int) -> list[str]:
        """Return what alerts and misses have cost, and what would have been cheapest, if costs are known."""
        if self.costs is None:
            return []
        n_alerts, n_missed = self.n_right + self.n_false, n_positive - self.n_right
        cost = self.costs.miss * n_missed + self.costs.alarm * n_alerts
        best, least = self.cheapest(self.costs)
        misses = f"{counted(n_missed, 'miss', 'misses')} x {self.costs.miss:.10g}"
        alerts = f"{counted(n_alerts, 'alert')} x {self.costs.alarm:.10g}"
        return [
            f"cost {cost:,.10g}: {misses} + {alerts}",
            f"cheapest so far: {best}, cost {least:,.10g}",
        ]


def _bin_of(p: float) -> int:
    """Return the bin of a probability."""
    odds = math.log(p / (1.0 - p)) if 0.0 < p < 1.0 else math.inf * (p - 0.5)
    return int((min(max(odds, -LARGEST), LARGEST - 1 / N_STEPS) + LARGEST) * N_STEPS)


def _p_of(odds: float) -> float:
    """Return the probability that has some log odds."""
    return 1.0 / (1.0 + math.exp(-odds))
