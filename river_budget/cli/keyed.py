"""The command with a model for each key."""

from __future__ import annotations

import collections
import dataclasses
from typing import Annotated, Any

import typer

from river_budget.cli import files, options
from river_budget.cli.app import app, counted
from river_budget.cli.runs import Counts, Run
from river_budget.keyed import Event, KeyedLearner, KeyedModel, ModelCache, Prediction


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
        columns = self.columns._replace(others=(self.key, self.seq))
        with files.opened(self.file, columns, self.encoding) as (reader, lines):
            self._states: dict[Any, bytes] = {}
            self._n_of_key: collections.Counter[Any] = collections.Counter()
            self._learner = _Learner(make, max_jump=self.max_jump)
            self._cache = ModelCache(self._learner, self._states.get, self._states.__setitem__)
            self.through(reader.rows(lines))

    def answer(self, row: files.Row) -> dict[str, Any]:
        key = _column(row, self.key)
        event = Event(key, self._n_of_key[key], row.x, row.label)
        if self.seq is not None:
            given = _column(row, self.seq)
            number = files.parsed(str(given))
            if type(number) is not int:
                raise ValueError(f"the number {given!r} is not a whole one")
            is_late = all(value is None for value in row.x.values())
            event = event._replace(seq=number, x=None if is_late else row.x)
        fields = self._cache.advance(event)._asdict()
        self._n_of_key[key] += 1
        self._next = Counts(self._n_lines, self._learner.n_labelled, self._learner.n_right)
        return {("prediction" if name == "y_pred" else name): fields[name] for name in fields}

    def memory(self) -> str:
        self._cache.flush()
        n_bytes = sum(map(len, self._states.values()))
        return f"{counted(len(self._states), 'key')}, {n_bytes:,} bytes"


class _Learner(KeyedLearner):
    """A learner that counts labels and correct predictions for all keys."""

    n_labelled = n_right = 0

    def advance(self, keyed: KeyedModel, event: Event) -> Prediction:
        n_labelled, n_right = keyed.n_labelled, keyed.n_right
        prediction = super().advance(keyed, event)
        self.n_labelled += keyed.n_labelled - n_labelled
        self.n_right += keyed.n_right - n_right
        return prediction


def _column(row: files.Row, name: str) -> Any:
    """Return the text or whole number that a row has in a column."""
    value = row.others[name]
    if not isinstance(value, str | int) or value == "":
        raise ValueError(f"no text or whole number in column {name!r}")
    return value
