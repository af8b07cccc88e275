"""Commands that learn from an input, or predict it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from river_budget import checkpoint
from river_budget.base import OnlineClassifier, classifier_of
from river_budget.calibration import ClassifierWrapper
from river_budget.cli import files, named, notes, options, resume
from river_budget.cli.app import CommandError, app
from river_budget.cli.options import OnError
from river_budget.cli.runs import Counts, Predicting
from river_budget.keyed.answers import check_label

# What a checkpoint keeps of `files.Columns`.
KEPT = ("target", "features", "ignored", "has_texts")


@app.command()
def learn(
    file: options.File = "-",
    target: options.Target = None,
    model: options.Model = options.DEFAULT_MODEL,
    budget: options.Budget = 100,
    gamma: options.Gamma = None,
    features: options.Features = None,
    ignored: options.Ignored = None,
    form: options.Form = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = "utf-8-sig",
    seed: options.Seed = 42,
    checkpoint_file: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            callback=options.replaceable,
            help="Save the model here, and go on from here if there is one already.",
        ),
    ] = None,
    every: Annotated[
        int, typer.Option(min=1, help="Number of lines from one checkpoint to the next.")
    ] = 1000,
    on_error: options.OnErrorOption = options.OnError.STOP,
    quiet: options.Quiet = False,
) -> None:
    """Predict, then learn, line by line, and write lines of JSON.

    A line without a label is predicted and not learned, and so are all lines of a file without the
    target column. Columns are numbers or texts, which are categories; a missing cell counts as the mean
    so far. A label or cell is missing if it is empty, NA, NaN or null. A csv column is one of texts if
    most of its first cells are texts, in 1,000 lines of a file or one of a pipe; in others, a text is a
    bad line. So is a date: ignore or convert it. Each answer has the number of the example, the
    prediction (null before the first label), the margin (positive for the positive class; with more
    than two labels, half the lead of the largest score over the second), the label, and the share of
    right predictions so far. A new label may come at any time. A summary ends the run, on standard error.

    With --checkpoint, the model goes on learning from whatever input comes, with the target, features
    and ignored columns of the last run unless others are given; columns of texts stay what they are. If
    it is the input of the last run, by its name and the lines seen of it, those are passed over: so a
    run goes on after a crash. Standard error tells where it begins. A checkpoint is saved every so many
    lines, and when the run ends: with its input, by a bad line, by Ctrl-C or SIGTERM, or because nobody
    reads on.
    """
    notes.set_quiet(quiet)
    make = named.maker(model, budget, gamma, seed)
    learner: Any = make()
    extra: dict[str, Any] | None = None
    if checkpoint_file is not None and checkpoint_file.exists():
        learner, extra = _restored(checkpoint_file)
        if repr(learner) != repr(make()):
            raise CommandError(f"{checkpoint_file} holds another model than the options ask for")
    columns = _completed(files.Columns(target, features, ignored, delimiter), extra)
    with files.opened(file, columns, form, encoding) as (reader, lines):
        if reader.form != files.Format.LIBSVM and columns.target is None:
            raise ValueError(f"{reader.form} needs --target, the name of the label")
        if extra is None:
            reader.require_target()
        name = Path(file).name
        lines, n_rows = resume.placed(lines, name, extra)
        recorded = resume.Lines(lines, name)
        rows = reader.rows(recorded)
        for _ in itertools.islice(rows, n_rows):
            recorded.done()
        run = _Learning(learner, on_error, recorded, reader.columns, extra or {})
        if checkpoint_file is not None:
            run.checkpointer = checkpoint.Checkpointer(learner, checkpoint_file, every)
        run.through(rows)


@app.command()
def predict(
    model_file: Annotated[
        Path, typer.Option("--model-file", help="The model: a checkpoint of `learn` or `save`.")
    ],
    file: options.File = "-",
    target: options.Target = None,
    features: options.Features = None,
    ignored: options.Ignored = None,
    form: options.Form = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = "utf-8-sig",
    on_error: options.OnErrorOption = options.OnError.STOP,
    quiet: options.Quiet = False,
) -> None:
    """Predict line by line with a saved model, and learn nothing.

    The answers are those of `learn`, and so are the columns of texts, and the target, the features and
    the ignored columns unless others are given. If the file has the target column, the predictions are
    compared with its labels.
    """
    notes.set_quiet(quiet)
    model, extra = _restored(model_file)
    if not isinstance(classifier_of(model), OnlineClassifier | ClassifierWrapper):
        raise CommandError(f"{model_file} holds no classifier of river_budget")
    columns = _completed(files.Columns(target, features, ignored, delimiter), extra)
    with files.opened(file, columns, form, encoding) as (reader, lines):
        Predicting(model, on_error).through(reader.rows(lines))


def _restored(path: Path) -> tuple[Any, dict[str, Any]]:
    try:
        model, extra = checkpoint.restore(path)
    except (checkpoint.CheckpointError, OSError) as error:
        raise CommandError(str(error)) from None
    try:
        resume.check(extra)
    except ValueError as error:
        raise CommandError(f"{path} keeps no record of a run beside its model: {error}") from None
    return model, extra


def _completed(columns: files.Columns, extra: dict[str, Any] | None) -> files.Columns:
    """Return columns, in which those of the last run take the places of those that are not given.

    What it ignored may be absent now.
    """
    kept: dict[str, Any] = (extra or {}).get("columns") or {}
    absent = [name for name in KEPT if getattr(columns, name) in (None, "")]
    taken: dict[str, Any] = {name: kept.get(name) for name in absent}
    again = columns.features or ()
    others = tuple(name for name in taken.pop("ignored", None) or () if name not in again)
    return columns._replace(**taken, others=others)


class _Learning(Predicting):
    """Predicts each row, and then learns it if it has a label; records which lines it has seen."""

    def __init__(
        self,
        model: Any,
        on_error: OnError,
        lines: resume.Lines,
        columns: files.Columns,
        extra: dict[str, Any],
    ) -> None:
        super().__init__(model, on_error)
        self.counts = Counts(*(extra.get(name, 0) for name in Counts._fields))
        self._lines = lines
        self._columns = {name: getattr(columns, name) for name in KEPT}
        self._columns["ignored"] = columns.ignored or columns.others or None
        self.checkpointer: checkpoint.Checkpointer | None = None

    def answer(self, row: files.Row) -> dict[str, Any]:
        if row.label is not None:
            check_label(self._model, row.label)
        return super().answer(row)

    def learn(self, row: files.Row) -> None:
        if row.label is not None:
            self._model.learn_one(row.x, row.label)
        super().learn(row)

    def settle(self) -> None:
        self._lines.done()
        if self.checkpointer is not None:
            self._saved(self.checkpointer.step)

    def close(self) -> None:
        if self.checkpointer is not None:
            self._saved(self.checkpointer.save)

    def _saved(self, save: Callable[[dict[str, Any]], None]) -> None:
        record = {"place": self._lines.place, "columns": self._columns}
        extra = self.counts._asdict() | record
        try:
            save(extra)
        except (checkpoint.CheckpointError, OSError) as error:
            raise CommandError(f"no checkpoint can be saved: {error}") from None
