"""Commands that learn from an input, or predict it."""

from __future__ import annotations

import dataclasses
import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from river_budget import checkpoint
from river_budget.base import OnlineClassifier, classifier_of
from river_budget.calibration import ClassifierWrapper
from river_budget.cli import files, options
from river_budget.cli.app import CommandError, app, notes
from river_budget.cli.runs import Counts, Run
from river_budget.keyed.answers import check_label

# What a checkpoint keeps of a run beside its model: counts, the place in the input, and columns.
COLUMNS = {"target": str, "features": list, "ignored": list, "has_texts": dict}
PLACE = {"name": str, "n_lines": int, "digests": list}
RECORD: dict[str, Any] = dict.fromkeys(Counts._fields, int) | PLACE | COLUMNS


@app.command()
@dataclasses.dataclass
class Learn(Run):
    """Predict, then learn, line by line, and write lines of JSON.

    A line without a label is only predicted. Columns are numbers or texts, which are categories. A label
    or cell is missing if it is empty, NA, NaN or null; a missing cell counts as the mean so far. A csv
    column is one of texts if most of its first cells are texts, in 1,000 lines of a file or one of a
    pipe; in others, a text is a bad line. So is a date: ignore or convert it. Each answer has the number
    of the example, the prediction (null before the first label), the margin (positive for the positive
    class; with more than two labels, half the lead of the largest score over the second), the label, and
    the share of right predictions so far.

    With --checkpoint, the model goes on learning from whatever input comes, with the columns of the last
    run unless others are given. It passes over what it has seen of the same input, known by its name and
    its lines: so a run goes on after a crash. A checkpoint is saved every so many lines, and at the end,
    also if a signal or a bad line ends the run.
    """

    algorithm: options.Model = options.DEFAULT_MODEL
    budget: options.Budget = 100
    gamma: options.Gamma = None
    seed: options.Seed = 42
    path: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint", callback=options.writable, help="Save here, and go on from here."
        ),
    ] = None
    every: Annotated[int, typer.Option(min=1, help="Number of lines between checkpoints.")] = 1000

    def run(self) -> None:
        path, record = self.path, dict[str, Any]()
        self._model = new = options.maker(self.algorithm, self.budget, self.gamma, self.seed)()
        is_new = path is None or not path.exists()
        if path is not None and not is_new:
            self._model, record = _restored(path)
            if repr(self._model) != repr(new):
                raise CommandError(f"{path} holds another model than the options ask for")
        columns, self._name = _completed(self.columns, record), Path(self.file).name
        with files.opened(self.file, columns, self.encoding) as (reader, lines):
            if is_new or columns.target is None:
                reader.require_labels()
            self._lines, self._place = lines, lines.place(self._name)
            if not is_new:
                self._lines, self._place = _placed(lines, self._name, record)
            n_seen, rows = self._place["n_lines"], reader.rows(self._lines)
            self._saver = checkpoint.Checkpointer(self._model, path, self.every) if path else None
            self._columns = columns._replace(has_texts=reader.has_texts)
            self.counts = Counts(*(record.get(name, 0) for name in Counts._fields))
            try:
                self.through(itertools.dropwhile(lambda row: row.line <= n_seen, rows))
            finally:
                self._save(checkpoint.Checkpointer.save)

    def answer(self, row: files.Row) -> dict[str, Any]:
        if row.label is not None:
            check_label(self._model, row.label)
        return super().answer(row)

    def finish(self, row: files.Row | None) -> None:
        if row is not None and row.label is not None:
            self._model.learn_one(row.x, row.label)
        super().finish(row)
        self._place = self._lines.place(self._name)
        self._save(checkpoint.Checkpointer.step)

    def _save(self, save: Callable[..., None]) -> None:
        if self._saver is not None:
            record = self.counts._asdict() | self._place | self._columns._asdict()
            kept = {name: record[name] for name in RECORD if record[name] is not None}
            try:
                save(self._saver, {"run": kept})
            except (checkpoint.CheckpointError, OSError) as error:
                raise CommandError(f"no checkpoint can be saved: {error}") from None


@app.command()
@dataclasses.dataclass(kw_only=True)
class Predict(Run):
    """Predict line by line with a saved model, and learn nothing.

    The answers are those of `learn`, and so are the columns unless others are given. If the file has the
    target column, the predictions are compared with its labels.
    """

    model_file: Annotated[
        Path, typer.Option("--model-file", help="The model: a checkpoint of `learn` or `save`.")
    ]

    def run(self) -> None:
        self._model, record = _restored(self.model_file)
        if not isinstance(classifier_of(self._model), OnlineClassifier | ClassifierWrapper):
            raise CommandError(f"{self.model_file} holds no classifier of river_budget")
        columns = _completed(self.columns, record)
        with files.opened(self.file, columns, self.encoding) as (reader, lines):
            self.through(reader.rows(lines))


def _restored(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the model of a checkpoint, and what a run has kept beside it."""
    model, extra = checkpoint.restore(path)
    record = extra.get("run", {})
    if type(record) is not dict or any(
        type(record.get(n, kind())) is not kind for n, kind in RECORD.items()
    ):
        raise CommandError(f"{path} keeps no record of a run beside its model")
    return model, record


def _completed(columns: files.Columns, record: dict[str, Any]) -> files.Columns:
    """Return columns, in which those of the last run take the places of those that are not given."""
    taken: dict[str, Any] = {
        name: record.get(name) for name in COLUMNS if not getattr(columns, name)
    }
    if columns.features:
        taken["ignored"] = columns.ignored
    return columns._replace(**taken)


def _placed(
    lines: files.Lines, name: str, record: dict[str, Any]
) -> tuple[files.Lines, dict[str, Any]]:
    """Return all lines of an input with a name, and the place where a run goes on.

    Reads no more lines than tell whether they are those that the run has seen.
    """
    n, digests = record.get("n_lines", 0), record.get("digests", [])
    begin = files.Lines(itertools.islice(lines, n if record.get("name") == name else 0))
    read = tempfile.TemporaryFile("w+", encoding="utf-8", newline="")  # noqa: SIM115
    for line in begin:
        read.write(line)
        if begin.digests != digests[: len(begin.digests)]:
            break
    read.seek(0)
    again, place = files.Lines(itertools.chain(read, lines)), begin.place(name)
    if not place.items() <= record.items():
        notes.info("the checkpoint has seen other input than this: learning from line 1")
        return again, again.place(name)
    notes.info(f"the checkpoint has seen {n:,} lines of this input: going on at line {n + 1:,}")
    return again, place
