"""The papers' tables and figures, with our figures beside theirs."""

from __future__ import annotations

from .cells import Cell, Table
from .runner import Experiment, Task, run

from . import forgetron, projectron, tightest  # isort: skip

__all__ = ["EXPERIMENTS", "Cell", "Experiment", "Table", "Task", "run"]

EXPERIMENTS: dict[str, Experiment] = {
    "projectron": projectron.EXPERIMENT,
    "tightest": tightest.EXPERIMENT,
    "forgetron": forgetron.EXPERIMENT,
}
