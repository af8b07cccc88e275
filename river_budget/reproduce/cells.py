"""A figure of ours beside the published one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

__all__ = ["Cell", "Table"]

# A mean lies within the spread if it is no further from the paper's than so many deviations, the larger
# of theirs and ours.
DEVIATIONS = 2.0


@dataclasses.dataclass(frozen=True)
class Cell:
    """One figure of a table: its repeats, and what was published.

    Attributes
    ----------
    row, column
        Where it stands.
    values
        Our repeats.
    published
        Mean and deviation of the paper, or None.
    bigger_is_better
        Whether a larger value is a better one.

    """

    row: str
    column: str
    values: tuple[float, ...]
    published: tuple[float, float] | None
    bigger_is_better: bool

    @property
    def mean(self) -> float:
        """Mean of our repeats."""
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float:
        """Their sample standard deviation; 0 of a single one."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0

    @property
    def verdict(self) -> str:
        """'within' the spread of the paper's figure and ours, or 'better' or 'worse' than it."""
        if self.published is None:
            return ""
        theirs, spread = self.published
        if abs(self.mean - theirs) <= DEVIATIONS * max(spread, self.deviation):
            return "within"
        return "better" if (self.mean > theirs) == self.bigger_is_better else "worse"

    def __str__(self) -> str:
        ours = f"{self.mean:.2f} ± {self.deviation:.2f}"
        if self.published is None:
            return ours
        theirs, spread = self.published
        return f"{ours} ({theirs:.2f} ± {spread:.2f}) {self.verdict}"


@dataclasses.dataclass(frozen=True)
class Table:
    """Cells by row and column, under a title."""

    title: str
    cells: tuple[Cell, ...]

    def __str__(self) -> str:
        return "\n".join([f"### {self.title}", "", *self._lines()])

    def _lines(self) -> list[str]:
        """Return a table in Markdown."""
        rows = list(dict.fromkeys(cell.row for cell in self.cells))
        columns = list(dict.fromkeys(cell.column for cell in self.cells))
        texts = {(cell.row, cell.column): str(cell) for cell in self.cells}
        lines = [
            ["", *columns],
            *([row, *(texts.get((row, c), "") for c in columns)] for row in rows),
        ]
        widths = [max(len(line[i]) for line in lines) for i in range(len(columns) + 1)]
        heading, *others = (
            f"| {' | '.join(t.ljust(w) for t, w in zip(line, widths, strict=True))} |"
            for line in lines
        )
        return [heading, _rule(widths), *others]


def _rule(widths: Sequence[int]) -> str:
    return f"|{'|'.join('-' * (width + 2) for width in widths)}|"
