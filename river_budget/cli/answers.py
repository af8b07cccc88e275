"""Runs that answer with one model."""

from __future__ import annotations

import dataclasses
from typing import Any

from river_budget.cli import options, schema
from river_budget.cli.alerts import Alerts, Costs
from river_budget.cli.app import CommandError, notes
from river_budget.cli.files import Reader, Row
from river_budget.cli.runs import Run
from river_budget.cli.tally import Tally


@dataclasses.dataclass
class Answering(Run):
    """Answers with one model, counts what was right, and gives alerts if that is asked."""

    strict: options.Strict = False
    proba: options.Proba = False
    alert: options.Alert = None
    above: options.Above = None
    only_alerts: options.OnlyAlerts = False
    cost_miss: options.CostMiss = None
    cost_alarm: options.CostAlarm = None

    def __post_init__(self) -> None:
        super().__post_init__()
        costs = self._costs()
        if self.alert is None and (self.only_alerts or costs or self.above is not None):
            raise CommandError("give --alert LABEL, too: it says which label the alerts are about")
        if self.above is None:
            self.above = costs.alarm / costs.miss if costs else 0.5
        self.prepare({})

    def prepare(self, record: dict[str, Any]) -> None:
        """Go on with the counts of an earlier run, or with none."""
        self.tally = Tally(record)
        self.alerts: Alerts | None = None
        if self.alert is not None and self.above is not None:
            kept = record.get("alerts", {})
            self.alerts = Alerts(self.alert, self.above, self._costs(), kept)
        # Prediction, label and probability of an alert of the row in progress.
        self._asked: tuple[Any, Any, float] = None, None, 0.0

    def check_names(self, record: dict[str, Any], reader: Reader) -> None:
        """Warn if an input has other columns than the model knows. Raises ValueError if that is asked."""
        text = schema.difference(record.get("feature_names", []), reader)
        if text and self.strict:
            raise ValueError(text)
        if text:
            notes.warning(text)

    def answer(self, row: Row) -> dict[str, Any] | None:
        answer = self._chain.ask_safely(row.x)
        fields = {
            "example": self.tally.n_seen + 1,
            "prediction": answer.label,
            "margin": answer.margin if self._has_margin else None,
            "label": row.label,
            "accuracy": self.tally.accuracy_with(answer.label, row.label),
        }
        self._asked = answer.label, row.label, 0.0
        if self.proba:
            fields["probabilities"] = _as_keys(answer.probabilities)
        if self.alerts is not None:
            p = self.alerts.probability(answer.probabilities)
            self._asked = answer.label, row.label, p
            fields["alert"] = self.alerts.is_due(p)
            if self.only_alerts and not fields["alert"]:
                return None
        return fields

    def finish(self, row: Row | None) -> None:
        if row is None:
            return
        prediction, label, p = self._asked
        self.tally.add(prediction, label)
        if self.alerts is not None:
            self.alerts.add(p, label)

    def finding(self) -> str:
        accuracy = self.tally.accuracy
        return "no label" if accuracy is None else f"accuracy {accuracy:.4f}"

    def summary(self) -> list[str]:
        texts = self.tally.summary()
        if self.alerts is not None:
            texts.append(self.alerts.summary(self.tally.labels))
        return texts

    @property
    def record(self) -> dict[str, Any]:
        """The counts, for a later run."""
        return self.tally.record | ({"alerts": self.alerts.record} if self.alerts else {})

    @property
    def _has_margin(self) -> bool:
        return hasattr(self._chain.source, "scores_one")

    def _costs(self) -> Costs | None:
        """Return the costs that are given. Raises CommandError if one is missing, or no alert pays."""
        miss, alarm = self.cost_miss, self.cost_alarm
        if miss is None and alarm is None:
            return None
        if miss is None or alarm is None:
            raise CommandError("give both --cost-miss and --cost-alarm")
        if alarm >= miss:
            raise CommandError("--cost-miss must be above --cost-alarm: otherwise no alert pays")
        return Costs(miss, alarm)


def _as_keys(probabilities: dict[Any, float]) -> dict[Any, float]:
    """Return probabilities by labels that JSON takes as keys."""
    return {y if isinstance(y, str | int | float) else str(y): p for y, p in probabilities.items()}
