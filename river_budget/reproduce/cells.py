"""Our figures beside the published ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from river_budget.reproduce.published import Published

__all__ = ["Cell", "Table", "verdict"]

N_STANDARD_DEVIATIONS = 2.0


def verdict(
    values: Sequence[float], published: Published, *, bigger_is_better: bool = False
) -> str:
    """Return whether the mean of our repeats is 'within' the spread of the published one.

    It is if the two differ by at most two standard deviations, the larger of the paper's and ours.
    Otherwise ours is 'better' or 'worse'.

    Parameters
    ----------
    values
        Our repeats.
    published
        The paper's figure.
    bigger_is_better
        Whether a larger value is better.

    """
    difference = float(np.mean(values)) - published.mean
    if abs(difference) <= N_STANDARD_DEVIATIONS * max(published.sd, sample_sd(values)):
        return "within"
    return "better" if (difference > 0) == bigger_is_better else "worse"


def sample_sd(values: Sequence[float]) -> float:
    """Return the sample standard deviation; 0 for a single value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


@dataclasses.dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes
    ----------
    row, column
        Its position.
    values
        Our repeats.
    published
        The paper's figure, or None.
    bigger_is_better
        Whether a larger value is better.

    """

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
        theirs = f"{self.published.mean:.2f} ± {self.published.sd:.2f}"
        return f"{ours} ({theirs}) {self.verdict}"


@dataclasses.dataclass(frozen=True)
class Table:
    """Cells by row and column, with a title."""

    title: str
    cells: tuple[Cell, ...]

    def __str__(self) -> str:
        return "\n".join([f"### {self.title}", "", *self._lines()])

    def _lines(self) -> list[str]:
        """Return the table in Markdown."""
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
