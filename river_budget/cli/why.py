"""Why an answer is what it is, in short."""

from __future__ import annotations

from typing import Any

from river_budget.base import Chain
from river_budget.cli.alerts import Alerts
from river_budget.explanation import explain
from river_budget.kernels import Features

# Number of features that an answer gives.
N_FEATURES = 3


def reasons(chain: Chain, x: Features, alerts: Alerts | None) -> list[dict[str, Any]]:
    """Return the features with the largest effects, each with its name, its value and its effect.

    They are those on the label of the alerts, or on the predicted label if no alerts are given.
    """
    label = None
    if alerts is not None:
        label = next(filter(alerts.is_about, chain.ask(x).probabilities))
    return explain(chain.model, x, label).to_dict()["features"][:N_FEATURES]
