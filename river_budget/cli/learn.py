from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.status import Status
from river import compose, metrics
from river.stream.utils import open_filepath

from river_budget.base import classifier_of
from river_budget.cli import files, models, options
from river_budget.cli.app import app

__all__ = ["learn"]


@app.command()
def learn(
    file: Annotated[
        str,
        typer.Argument(help="csv, libsvm or JSON lines, compressed or not; - is standard input."),
    ] = "-",
    target: options.Target = None,
    model: Annotated[str, typer.Option(help="Name of the algorithm.")] = "mnemotron",
    budget: options.Budget = 100,
    gamma: options.Gamma = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help="csv, libsvm or jsonl. [default: as the name or the first line tells]"
        ),
    ] = None,
    seed: options.Seed = 42,
) -> None:
    """Predict, then learn, line by line, and write each prediction as a line of JSON.

    A line without a label is predicted and not learned. Features of csv and JSON lines are scaled
    to zero mean and unit variance as they come. Each answer has the number of the example, the
    prediction, the margin (positive for the positive class), the label, and the share of right
    predictions so far.

    """
    if form not in (None, *files.FORMATS):
        raise typer.BadParameter(f"no format is called {form!r}: give {', '.join(files.FORMATS)}")
    chosen = models.algorithms(model)
    if len(chosen) != 1:
        raise typer.BadParameter(f"--model takes one algorithm, got {model!r}")
    (algorithm,) = chosen.values()
    kernel = models.rbf(gamma)
    try:
        with _opened(file) as lines, _status() as show:
            form = form or files.format_of(file)
            if form is None:
                form, lines = files.recognized(lines, target)
            learner = models.build(algorithm, kernel, budget, seed, scale=form != "libsvm")
            for answer in _answers(files.examples(lines, form, target), learner):
                print(json.dumps(answer), flush=True)
                show(f"{answer['example']:,} examples, accuracy {answer['accuracy']:.4f}")
    except BrokenPipeError:
        raise
    except files.UNREADABLE as error:
        raise typer.BadParameter(f"{file}: {error}") from None


def _answers(lines: Iterator[files.Line], learner: Any) -> Iterator[dict[str, Any]]:
    """Predict and learn line by line."""
    pipeline = learner if isinstance(learner, compose.Pipeline) else compose.Pipeline(learner)
    accuracy = metrics.Accuracy()
    for example, (line, x, y) in enumerate(lines, 1):
        try:
            margin = classifier_of(pipeline).decision_function_one(pipeline.transform_one(x))
            prediction = pipeline.predict_one(x)
            if y is not None:
                accuracy.update(y, prediction)
                pipeline.learn_one(x, y)
        except ValueError as error:
            raise ValueError(f"line {line}: {error}") from None
        yield {
            "example": example, "prediction": prediction, "margin": margin, "label": y,
            "accuracy": accuracy.get(),
        }  # fmt: skip


def _opened(file: str) -> Any:
    return contextlib.nullcontext(sys.stdin) if file == "-" else open_filepath(file, "infer")


@contextlib.contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """Show a line on a terminal whose output goes elsewhere, and nothing otherwise."""
    if sys.stdout.isatty() or not sys.stderr.isatty():
        yield lambda text: None
        return
    with Status("waiting for examples", console=Console(stderr=True)) as status:
        yield status.update
