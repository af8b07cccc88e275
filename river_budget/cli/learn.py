"""Commands that learn from an input, or predict it, and where in its input a run goes on."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from river_budget import checkpoint
from river_budget._state import count, require
from river_budget.base import OnlineClassifier, classifier_of
from river_budget.calibration import ClassifierWrapper
from river_budget.cli import files, options
from river_budget.cli.app import CommandError, app, notes
from river_budget.cli.runs import Counts, Run
from river_budget.keyed.answers import check_label

# What a checkpoint keeps of a run beside its model: counts, the place in the input, and columns.
KEPT: dict[str, Any] = {"target": str, "features": list, "ignored": list, "has_texts": dict}
PLACE = {"n_rows": int, "n_lines": int, "name": str, "digests": list}
RECORD = dict.fromkeys(Counts._fields, int) | PLACE | KEPT


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
        columns = _completed(self.columns, record)
        with files.opened(self.file, columns, self.encoding) as (reader, lines):
            if is_new or columns.target is None:
                reader.require_labels()
            name, n_rows = Path(self.file).name, 0
            if not is_new:
                lines, n_rows = _placed(lines, name, record)
            self._lines = Lines(lines, name)
            rows = reader.rows(self._lines)
            self._lines.done(sum(1 for _ in itertools.islice(rows, n_rows)))
            self._saver = checkpoint.Checkpointer(self._model, path, self.every) if path else None
            self._kept = {name: getattr(reader.columns, name) for name in KEPT}
            self._kept["ignored"] = reader.columns.ignored or list(reader.columns.others) or None
            self.counts = Counts(*(record.get(name, 0) for name in Counts._fields))
            try:
                self.through(rows)
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
        self._lines.done()
        self._save(checkpoint.Checkpointer.step)

    def _save(self, save: Callable[..., None]) -> None:
        if self._saver is not None:
            try:
                save(self._saver, {"run": self.counts._asdict() | self._lines.place | self._kept})
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
    try:
        require(type(record) is dict, f"the run is {record!r}")
        for name, kind in RECORD.items():
            value = record.get(name, kind())
            require(value is None or type(value) is kind, f"{name} is {value!r}")
            if kind is int:
                count(value)
            elif kind is not str:
                require(all(type(n) is str for n in value or ()), f"{name} has no names")
        has_texts = record.get("has_texts") or {}
        require(all(type(kind) is bool for kind in has_texts.values()), "has_texts has no kinds")
    except ValueError as error:
        raise CommandError(f"{path} keeps no record of a run beside its model: {error}") from None
    return model, record


def _completed(columns: files.Columns, record: dict[str, Any]) -> files.Columns:
    """Return columns, in which those of the last run take the places of those that are not given.

    What it ignored may be absent now.
    """
    absent = [name for name in KEPT if getattr(columns, name) in (None, "")]
    taken: dict[str, Any] = {name: record.get(name) for name in absent}
    again = columns.features or ()
    others = tuple(name for name in taken.pop("ignored", None) or () if name not in again)
    return columns._replace(**taken, others=others)


class Lines:
    """The lines of an input with a name, and the place of the last one whose row is done.

    The place has digests of the first 1, 2, 4, 8, ... lines and of all: other input differs early.
    """

    def __init__(self, lines: Iterable[str], name: str) -> None:
        self.digests: list[str] = []
        self._lines = lines
        self._name = name
        self._hash = hashlib.sha256()
        self._n_lines = self._n_rows = 0
        self.done(0)

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            # The last line of a file may still lack its end.
            self._hash.update(line.rstrip("\r\n").encode("utf-8", "surrogateescape") + b"\n")
            self._n_lines += 1
            if self._n_lines.bit_count() == 1:
                self.digests.append(self._hash.hexdigest())
            yield line

    def done(self, n_rows: int = 1) -> None:
        """Take note that more rows are done, with all lines that were read for them."""
        self._n_rows += n_rows
        self.place = {
            "name": self._name, "n_rows": self._n_rows, "n_lines": self._n_lines,
            "digests": [*self.digests, self._hash.hexdigest()],
        }  # fmt: skip


def _placed(lines: Iterator[str], name: str, record: Any) -> tuple[Iterator[str], int]:
    """Return all lines of an input with a name, and how many of its rows a run has seen.

    Reads no more lines than tell whether they are those that it has seen.
    """
    n, digests = record.get("n_lines", 0), record.get("digests") or []
    begin = Lines(itertools.islice(lines, n if record.get("name") == name else 0), name)
    # It is on disk if it is longer than 16 million characters, and is closed with the process.
    spool = tempfile.SpooledTemporaryFile(  # noqa: SIM115
        2**24, "w+", encoding="utf-8", errors="surrogateescape", newline=""
    )
    for line in begin:
        spool.write(line)
        if begin.digests != digests[: len(begin.digests)]:
            break
    spool.seek(0)
    lines = itertools.chain(spool, lines)
    begin.done(record.get("n_rows", 0))
    if not begin.place.items() <= record.items():
        notes.info("the checkpoint has seen other input than this: learning from line 1")
        return lines, 0
    notes.info(f"the checkpoint has seen {n:,} lines of this input: going on at line {n + 1:,}")
    return lines, record["n_rows"]
