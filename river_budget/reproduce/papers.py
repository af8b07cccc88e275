"""The papers by name."""

from __future__ import annotations

from river_budget.reproduce import bsgd, forgetron, projectron, tightest
from river_budget.reproduce.runner import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: dict[str, Experiment] = {
    "projectron": projectron.EXPERIMENT,
    "tightest": tightest.EXPERIMENT,
    "forgetron": forgetron.EXPERIMENT,
    "bsgd": bsgd.EXPERIMENT,
}
