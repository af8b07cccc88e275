"""The papers' tables and figures, with our figures beside theirs.

`published` reads the papers' figures, and a module for each paper produces ours. Such a module has

- `TITLE`, the paper;
- `tasks(directory, quick, n_splits)`: the tasks whose data set is in the directory or downloaded, and a
  note for each data set that is not;
- `tables(results)`: the tables;
- `draw(results, directory)`: draws the figures into a directory and returns their file names by title.

"""

from __future__ import annotations

from benchmarks.reproduce.cells import Cell, Table, verdict
from benchmarks.reproduce.runner import Task, run

__all__ = ["Cell", "Table", "Task", "run", "verdict"]
