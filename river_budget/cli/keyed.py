"""The command with a model for each key."""

from __future__ import annotations

import collections
import dataclasses
from typing import Annotated, Any

import typer

from river_budget._state import require
from river_budget.cli import files, options
from river_budget.cli.app import app, counted
from river_budget.cli.runs import Run
from river_budget.keyed import Event, KeyedLearner, ModelCache


@app.command()
@dataclasses.dataclass
class Keyed(Run):
    """Predict, then learn, line by line, with a model for each key.

    With --seq, a line that comes twice is learned once, and a label can come later than its line: as a
    line with the key, the number and the label, and no features; a number that jumps too far, which
    would freeze its key, is refused. Columns are read as `learn` reads them.
    Each answer has the key, the number, the prediction and the margin as `learn` tells them, how many
    lines of the key there were, and the share of right predictions among them. Each key has labels of its
    own. A summary ends the run, on standard error. With --on-error skip, a bad line stops no key.
    """

    key: Annotated[str, typer.Option(help="Name of the column with the key.")] = "key"
    target: options.Target = "y"
    seq: Annotated[
        str | None, typer.Option(help="Name of the column that numbers the lines of a key.")
    ] = None
    max_jump: Annotated[
        int,
        typer.Option(
            min=1, help="Largest step from one such number to the next, and from -1 to the first."
        ),
    ] = 10**9
    algorithm: options.Model = options.DEFAULT_MODEL
    budget: options.Budget = 50
    gamma: options.Gamma = None
    seed: options.Seed = 42

    def run(self) -> None:
        make = options.maker(self.algorithm, self.budget, self.gamma, self.seed)
        columns = self.columns._replace(others=tuple(filter(None, (self.key, self.seq))))
        learner, self._states = KeyedLearner(make, max_jump=self.max_jump), dict[Any, bytes]()
        self._n_of_key: collections.Counter[Any] = collections.Counter()
        self._cache = ModelCache(learner, self._states.get, self._states.__setitem__)
        with files.opened(self.file, columns, self.encoding) as (reader, lines):
            self.through(reader.rows(lines))

    def answer(self, row: files.Row) -> dict[str, Any]:
        key = row.others[self.key]
        is_key = isinstance(key, str | int) and key != ""
        require(is_key, f"no text or whole number in column {self.key!r}")
        event = Event(key, self._n_of_key[key], row.x, row.label)
        if self.seq is not None:
            is_late = all(value is None for value in row.x.values())
            number = files.parsed(str(row.others[self.seq]))
            event = event._replace(seq=number, x=None if is_late else row.x)
        fields = self._cache.advance(event)._asdict()
        self._n_of_key[key] += 1
        return {name.replace("y_pred", "prediction"): fields[name] for name in fields}

    def finding(self) -> str:
        return counted(len(self._n_of_key), "key")

    def memory(self) -> int:
        self._cache.flush()
        return sum(map(len, self._states.values()))
