"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.cells import Found


def markdown(rows: Mapping[str, Mapping[str, str]]) -> str:
    """Return cells by row and column as a table; a row without a column has an empty cell there."""
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    lines = [["", *columns]]
    lines += [[name, *(row.get(column, "") for column in columns)] for name, row in rows.items()]
    first, *others = (max(map(len, cells)) for cells in zip(*lines, strict=True))
    heading, *rest = (
        f"| {name:<{first}} | "
        + " | ".join(f"{cell:>{width}}" for cell, width in zip(cells, others, strict=True))
        + " |"
        for name, *cells in lines
    )
    rule = f"|{'-' * (first + 2)}|{'|'.join('-' * (width + 1) + ':' for width in others)}|"
    return "\n".join([heading, rule, *rest])


def table(found: Found, shown: Callable[[Any], str]) -> str:
    """Return a table of what each cell of a section shows."""
    return markdown({
        row: {column: shown(figures) for column, figures in cells.items()}
        for row, cells in found.items()
    })  # fmt: skip


def columns(found: Found) -> list[str]:
    """Return the columns of a section, in the order in which they come."""
    return list(dict.fromkeys(column for cells in found.values() for column in cells))


def complete(found: Found, names: Iterable[str]) -> Found:
    """Return the rows that have all of these columns, and only those."""
    names = list(names)
    return {
        row: {name: cells[name] for name in names}
        for row, cells in found.items()
        if all(name in cells for name in names)
    }


def mean(found: Found, column: str, figure: str | None = None) -> float:
    """Return the mean of a column, or of a figure in it, over the rows that have it."""
    values = (cells[column] for cells in found.values() if column in cells)
    return fmean(value if figure is None else value[figure] for value in values)


def means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each figure."""
    return {name: round(fmean(row[name] for row in rows), 5) for name in rows[0]}


def median_if_known(values: Sequence[int | None]) -> float | None:
    """Return the median, or None if one of the values is unknown."""
    return None if None in values else median(values)


def ranks(found: Found, models: Sequence[str]) -> dict[str, float]:
    """Return the mean rank of each model by accuracy, over the rows that all have; ties share their mean rank."""
    rows = complete(found, models).values()
    by_row = [rankdata([-row[model]["accuracy"] for model in models]) for row in rows]
    return dict(zip(models, np.mean(by_row, axis=0).tolist(), strict=True))


def short(value: float) -> str:
    """Return a number, with a decimal if it is below 100."""
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
