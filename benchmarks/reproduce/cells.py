"""Our figures beside the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.reproduce.published import Published

N_STANDARD_DEVIATIONS = 2.0


def verdict(
    values: Sequence[float], published: Published, *, bigger_is_better: bool = False
) -> str:
    """Return whether the mean of our repeats is 'within' the spread of the published one.

    It is if the two differ by at most two standard deviations, the larger of the paper's and ours.
    Otherwise ours is 'better' or 'worse'.

    """
    difference = float(np.mean(values)) - published.mean
    if abs(difference) <= N_STANDARD_DEVIATIONS * max(published.sd, sample_sd(values)):
        return "within"
    return "better" if (difference > 0) == bigger_is_better else "worse"


def sample_sd(values: Sequence[float]) -> float:
    """Return the sample standard deviation; 0 for a single value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


class Cell(NamedTuple):
    """One cell of a table: its position, our repeats, and the paper's figure if there is one."""

    row: str
    column: str
    values: tuple[float, ...]
    published: Published | None
    bigger_is_better: bool

    @property
    def verdict(self) -> str:
        """How our mean compares with the paper's; empty if there is none."""
        if self.published is None:
            return ""
        return verdict(self.values, self.published, bigger_is_better=self.bigger_is_better)

    def __str__(self) -> str:
        ours = f"{np.mean(self.values):.2f} ± {sample_sd(self.values):.2f}"
        if self.published is None:
            return ours
        return f"{ours} ({self.published.mean:.2f} ± {self.published.sd:.2f}) {self.verdict}"


class Table(NamedTuple):
    """Cells by row and column, with a title."""

    title: str
    cells: tuple[Cell, ...]

    def __str__(self) -> str:
        """Return the table in Markdown."""
        columns = list(dict.fromkeys(cell.column for cell in self.cells))
        rows = {cell.row: [cell.row, *("" for _ in columns)] for cell in self.cells}
        for cell in self.cells:
            rows[cell.row][1 + columns.index(cell.column)] = str(cell)
        lines = [["", *columns], *rows.values()]
        widths = [max(map(len, texts)) for texts in zip(*lines, strict=True)]
        heading, *others = (f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)
        rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
        return "\n".join([f"### {self.title}", "", heading, rule, *others])
