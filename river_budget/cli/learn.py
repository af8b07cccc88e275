from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from river_budget.cli import files, models, notes, opening, options, output, resume
from river_budget.cli.app import app
from river_budget.cli.learning import Learning, restored

__all__ = ["learn"]


@app.command()
def learn(
    file: options.File = "-",
    target: options.Target = None,
    model: Annotated[str, typer.Option(help="Name of the algorithm.")] = "mnemotron",
    budget: options.Budget = 100,
    gamma: options.Gamma = None,
    form: options.Form = None,
    delimiter: options.Delimiter = ",",
    encoding: options.Encoding = "utf-8-sig",
    seed: options.Seed = 42,
    checkpoint_file: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint", help="Save the model here, and go on from here if there is one already."
        ),
    ] = None,
    every: Annotated[
        int, typer.Option(min=1, help="Number of lines from one checkpoint to the next.")
    ] = 1000,
    on_error: options.OnErrorOption = options.OnError.STOP,
    quiet: options.Quiet = False,
) -> None:
    """Predict, then learn, line by line, and write each prediction as a line of JSON.

    A line without a label (empty, NA or null) is predicted and not learned, and so are all lines of
    a file without the target column. Features of csv and JSON lines are scaled to zero mean and unit
    variance as they are learned. Each answer has the number of the example, the prediction (null
    before the first label), the margin (positive for the positive class; with more than two labels,
    half the lead of the largest score over the second), the label, and the share of right predictions
    so far. A new label may come at any time. A summary ends the run, on standard error.

    With --checkpoint, the model goes on learning from whatever input comes. If it is the input of
    the last run, by its name and the lines seen of it, those are passed over: so a run goes on after
    a crash. Standard error tells where it begins. A checkpoint is saved every so many lines, and when
    the run ends: with its input, by a bad line, by Ctrl-C or SIGTERM, or because nobody reads on.

    """
    notes.set_quiet(quiet)
    files.check_format(form)
    output.check_directories(checkpoint_file)
    kernel, algorithm = models.rbf(gamma), models.algorithm(model)
    name = Path(file).name
    with files.blaming(file), opening.opened(file, encoding) as lines:
        found, lines = files.recognized(lines, file, form, target)
        if found != "libsvm" and target is None:
            raise ValueError(f"{found} needs --target, the name of the label")
        new = models.build(algorithm, kernel, budget, seed, scale=found != "libsvm")
        saved = restored(checkpoint_file, new)
        lines, n_rows = resume.placed(lines, name, saved.extra)
        recorded = resume.Lines(lines, name)
        table = files.table(recorded, found, target, delimiter)
        files.note_missing(target, table.header, file)
        run = Learning(saved.model, found, on_error, recorded)
        run.go_on(saved.extra or {}, table.rows, n_rows)
        if checkpoint_file is not None:
            run.save_to(checkpoint_file, every)
        run.through(table.rows)
