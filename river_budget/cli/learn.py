"""Commands that answer an input line by line: learn, predict and keyed."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from river_budget import checkpoint, kernels
from river_budget._state import require
from river_budget.base import Chain, OnlineClassifier
from river_budget.calibration import Calibrated
from river_budget.checkpoint.codec import check_storable
from river_budget.cli import files, formats, harm, options, records, schema
from river_budget.cli.answers import Answering
from river_budget.cli.app import CommandError, app, counted
from river_budget.cli.labels import NumbersAmongLabels
from river_budget.cli.runs import Run
from river_budget.cli.why import reasons
from river_budget.keyed import Event, KeyedLearner, ModelCache


@dataclasses.dataclass
class Learning(Run):
    """A run that makes models, and learns."""

    algorithm: options.Model = "mnemotron"
    budget: options.Budget = 100
    gamma: options.Gamma = None
    seed: options.Seed = 42

    def maker(self) -> Callable[[], OnlineClassifier]:
        """Return a function that makes models."""
        algorithm = options.algorithm(self.algorithm)
        if self.gamma is not None and not algorithm.takes("kernel"):
            raise CommandError(f"{algorithm.name} learns its widths: leave out --gamma")
        kernel = kernels.RBF(self.gamma)
        return functools.partial(algorithm.build, kernel, budget=self.budget, seed=self.seed)


@app.command()
@dataclasses.dataclass
class Learn(Learning, Answering):
    """Predict, then learn, line by line, and write lines of JSON.

    A line without a label is only predicted. A label or cell is missing if it is empty, NA, NaN or
    null. A csv column holds texts if most of its first cells are texts. In any other column, a text
    makes the line a bad one; in any column, a date does. Each answer has the number of the example, the
    prediction (null before the first label), the margin (positive for the positive class; with more
    than two labels, half the lead of the largest score over the second), the label, and the share of
    right predictions so far. --proba adds the probability of each label. The log, on standard error,
    ends with the figures of each label.

    --alert LABEL adds whether that label has a probability above a threshold: --above, else the ratio
    of --cost-alarm to --cost-miss, else 0.5. The log says how many alerts were right, what they and the
    misses have cost, and which threshold would have been cheapest so far. The probabilities are
    frequencies if the model is --calibrated.

    With --checkpoint, the model goes on learning from whatever input comes, with the columns of the last
    run unless others are given. A run skips the lines that the model has seen of an input of the same
    name, so it goes on after a crash. The model is saved every so many lines, and however the run ends.
    """

    path: Annotated[
        Path | None, typer.Option("--checkpoint", help="Save the model here, and go on from it.")
    ] = None
    every: Annotated[int, typer.Option(min=1, help="Number of lines between checkpoints.")] = 1000
    calibrated: options.Calibrated = False

    def run(self) -> None:
        model, record = self._model_and_record()
        self._saver = self.path and checkpoint.Checkpointer(model, self.path, self.every)
        self._chain = Chain(model)
        self.prepare(record)
        self._numbers = NumbersAmongLabels(self.tally.labels)

        columns = records.completed(self.columns, record)
        with self.opened(self.file, columns, self.encoding) as (reader, lines):
            has_labels = not reader.no_labels or (columns.target and record)
            require(has_labels, reader.no_labels)
            self.check_names(record, reader)
            self._names = reader.names or record.get("feature_names", [])
            self._lines = records.continued(lines, record) if record else lines
            self._columns = columns._replace(has_texts=reader.has_texts)
            n_seen, rows = self._lines.place["n_lines"], reader.rows(self._lines)
            rows = rows if record else harm.watched(rows, columns.ignored)

            # If no checkpoint can be saved, the run ends before any work.
            self._save(checkpoint.Checkpointer.save)
            try:
                self.answer_all(itertools.dropwhile(lambda row: row.line <= n_seen, rows))
            finally:
                self._save(checkpoint.Checkpointer.save)

    def _model_and_record(self) -> tuple[Any, dict[str, Any]]:
        """Return the model of the checkpoint with the record of its last run, or a new one with none."""
        new: Any = self.maker()()
        new = Calibrated(new) if self.calibrated else new
        if self.path is None or not self.path.exists():
            return new, {}
        if not self.path.is_file():
            raise CommandError(f"{self.path} is not a regular file: no checkpoint can be there")
        model, record = records.restored(self.path)
        if repr(model) != repr(new):
            error = f"{self.path} holds another model than the options ask for"
            raise CommandError(f"{error}: give those of its first run, or another file")
        return model, record

    def answer(self, row: files.Row) -> dict[str, Any] | None:
        if row.label is not None:
            self._numbers.see(row.label)
            self._chain.check_label(row.label)
            check_storable("the label", row.label)
        return super().answer(row)

    def finish(self, row: files.Row | None) -> None:
        if row is not None and row.label is not None:
            self._chain.learn(row.x, row.label)
        super().finish(row)
        self._lines.done()
        self._save(checkpoint.Checkpointer.step)

    def _save(self, save: Callable[..., None]) -> None:
        """Save by `Checkpointer.save`, or count by `Checkpointer.step`, with a record of the run."""
        if self._saver is not None:
            record = self.record | self._lines.place | self._columns._asdict()
            record["feature_names"] = self._names
            names = [name for name in records.RECORD if record.get(name) is not None]
            kept = {name: record[name] for name in names}
            try:
                save(self._saver, {"run": kept})
            except (checkpoint.CheckpointError, OSError) as error:
                raise CommandError(f"no checkpoint can be saved: {error}") from None


@app.command()
@dataclasses.dataclass(kw_only=True)
class Predict(Answering):
    """Predict line by line with a saved model, and learn nothing.

    The answers, the alerts and the log are those of `learn`, and so are the columns unless others are given.
    If the file has the target column, the predictions are compared with its labels. With --why, each alert,
    or each answer if there are no alerts, has the three features with the largest effects on its log odds.
    """

    path: Annotated[
        Path, typer.Option("--checkpoint", "--model-file", help="What `learn` or `save` has saved.")
    ]
    why: options.Why = False

    def run(self) -> None:
        model, record = records.restored(self.path)
        self._chain = Chain(model)
        self._check_alert()
        columns = records.completed(self.columns, record)
        with self.opened(self.file, columns, self.encoding) as (reader, lines):
            self.check_names(record, reader)
            self.answer_all(reader.rows(lines))

    def answer(self, row: files.Row) -> dict[str, Any] | None:
        fields = super().answer(row)
        if self.why and fields is not None and fields.get("alert", True):
            fields["why"] = reasons(self._chain, row.x, self.alerts)
        return fields

    def _check_alert(self) -> None:
        """Raise CommandError if the model does not know the label of the alerts."""
        labels = getattr(self._chain.classifier, "classes", None)
        if self.alerts is None or labels is None or any(map(self.alerts.is_about, labels)):
            return
        there = schema.listed([*map(str, labels)])
        raise CommandError(f"the model knows no label {self.alert}: there are {there}")


@app.command()
@dataclasses.dataclass
class Keyed(Learning):
    """Predict, then learn, line by line, with a model for each key.

    With --seq, a line that comes twice is learned once. A label can come later than its line: as a line
    with the key, the number and the label, and no features. A number that jumps too far is refused, as it
    would freeze its key. Each answer has the key, the number, the prediction and the margin, how many lines
    of the key there were, and the share of right predictions among them.
    """

    target: options.Target = "y"
    budget: options.Budget = 50
    key: Annotated[str, typer.Option(help="Column with the key.")] = "key"
    seq: Annotated[str | None, typer.Option(help="Column that numbers the lines of a key.")] = None
    max_jump: Annotated[int, typer.Option(min=1, help="Largest step of these numbers.")] = 10**9

    def run(self) -> None:
        columns = self.columns._replace(others=tuple(filter(None, (self.key, self.seq))))
        learner = KeyedLearner(self.maker(), max_jump=self.max_jump)
        self._states: dict[Any, bytes] = {}
        self._n_of_key: collections.Counter[Any] = collections.Counter()
        self._cache = ModelCache(learner, self._states.get, self._states.__setitem__)
        with self.opened(self.file, columns, self.encoding) as (reader, lines):
            self.answer_all(harm.watched(reader.rows(lines), self.ignore))

    def answer(self, row: files.Row) -> dict[str, Any]:
        key = row.others[self.key]
        is_key = isinstance(key, str | int) and key != ""
        require(is_key, f"no text or whole number in column {self.key!r}")
        event = Event(key, self._n_of_key[key], row.x, row.label)
        if self.seq is not None:
            is_late = all(value is None for value in row.x.values())
            number = formats.parsed(str(row.others[self.seq]))
            event = event._replace(seq=number, x=None if is_late else row.x)
        fields = self._cache.advance(event)._asdict()
        self._n_of_key[key] += 1
        return {name.replace("y_pred", "prediction"): fields[name] for name in fields}

    def finding(self) -> str:
        return counted(len(self._n_of_key), "key")

    def memory(self) -> int:
        self._cache.flush()
        return sum(map(len, self._states.values()))
