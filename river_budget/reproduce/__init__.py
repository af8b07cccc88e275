"""The papers' tables and figures, with our figures beside theirs.

`published` reads the papers' figures, a module for each paper produces ours, and `papers` lists those
modules. Only they need the packages of the extra `reproduce`.
"""

from __future__ import annotations

from river_budget.reproduce.cells import Cell, Table, verdict
from river_budget.reproduce.runner import Experiment, Task, run

__all__ = ["Cell", "Experiment", "Table", "Task", "run", "verdict"]
