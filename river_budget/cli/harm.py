"""Columns that tell a model little, and spoil distances: ids, times, and texts that hardly repeat."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from river_budget.cli.app import notes
from river_budget.cli.files import Row

# So many rows are looked at before columns are named.
N_ROWS = 1000

# A column is named for what it holds only if it has so many values.
N_LEAST = 100

# So many different texts are too many for a category, and such a share of them is nearly unique.
N_CATEGORIES, UNIQUE = 100, 0.9

CLOCK = re.compile(r"\d\d?:\d\d(:\d\d(\.\d+)?)?( ?[AaPp][Mm])?")


@dataclasses.dataclass
class Column:
    """What the first values of a column were like."""

    n: int = 0  # Number of values; missing ones do not count.
    n_rises: int = 0
    n_clocks: int = 0
    falls: bool = False
    last: float | None = None
    texts: set[str] = dataclasses.field(default_factory=set)

    def add(self, value: Any) -> None:
        """Take a value into account."""
        self.n += 1
        if isinstance(value, str):
            self.texts.add(value)
            self.n_clocks += CLOCK.fullmatch(value.strip()) is not None
        elif isinstance(value, int | float):
            if self.last is not None:
                self.n_rises += value > self.last
                self.falls |= value < self.last
            self.last = value

    def harm(self) -> str:
        """Return why the column may harm, or an empty text."""
        n_texts = len(self.texts)
        if self.n < N_LEAST:
            return ""
        if self.n_clocks > self.n / 2:
            return "clock times: convert them to numbers, such as the hour"
        if n_texts > UNIQUE * self.n:
            return f"{n_texts:,} different texts in {self.n:,} lines"
        if n_texts > N_CATEGORIES:
            return f"{n_texts:,} categories in {self.n:,} lines"
        if self.n_rises > self.n / 2 and not self.falls:
            return "only grows, as an id or a time does"
        return ""


def watched(rows: Iterable[Row], ignored: Iterable[str] | None) -> Iterator[Row]:
    """Yield rows; with the last of the first ones, name the columns that may harm in the log.

    The option that leaves them out has those that are ignored already, too.
    """
    columns: dict[Any, Column] = {}
    for n, row in enumerate(rows, 1):
        if n <= N_ROWS:
            for name, value in row.x.items():
                if value is not None:
                    columns.setdefault(name, Column()).add(value)
        if n == N_ROWS:
            harms = {name: column.harm() for name, column in columns.items()}
            _warn({name: harm for name, harm in harms.items() if harm}, [*(ignored or ())])
            columns.clear()
        yield row


def _warn(harms: dict[Any, str], ignored: list[str]) -> None:
    """Log why columns may harm, and the option that leaves them out."""
    if not harms:
        return
    option = shlex.quote(",".join(map(str, [*ignored, *harms])))
    why = "".join(f"\n  {name}: {harm}" for name, harm in harms.items())
    notes.warning(f"columns that may harm; try --ignore {option}{why}")
