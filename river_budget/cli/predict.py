from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from river_budget import checkpoint
from river_budget.base import Machine, classifier_of
from river_budget.cli import files, notes, opening, options
from river_budget.cli.app import CommandError, app
from river_budget.cli.runs import Predicting

__all__ = ["predict"]


@app.command()
def predict(
    model_file: Annotated[
        Path, typer.Option("--model-file", help="The model: a checkpoint of `learn` or `save`.")
    ],
    file: options.File = "-",
    target: options.Target = None,
    form: options.Form = None,
    delimiter: options.Delimiter = ",",
    encoding: options.Encoding = "utf-8-sig",
    on_error: options.OnErrorOption = options.OnError.STOP,
    quiet: options.Quiet = False,
) -> None:
    """Predict line by line with a saved model, and learn nothing.

    The answers are those of `learn`. With --target, the column is no feature, and the predictions are
    compared with its labels.

    """
    notes.set_quiet(quiet)
    files.check_format(form)
    model = _loaded(model_file)
    with files.blaming(file), opening.opened(file, encoding) as lines:
        found, lines = files.recognized(lines, file, form, target)
        table = files.table(lines, found, target, delimiter)
        Predicting(model, found, on_error).through(table.rows)


def _loaded(path: Path) -> Any:
    try:
        model = checkpoint.load(path)
    except (checkpoint.CheckpointError, OSError) as error:
        raise CommandError(str(error)) from None
    if not isinstance(classifier_of(model), Machine):
        raise CommandError(f"{path} holds no classifier of river_budget")
    return model
