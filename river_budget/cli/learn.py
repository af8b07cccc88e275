from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from river_budget import checkpoint
from river_budget.base import predict_with_margin
from river_budget.cli import files, models, options, output
from river_budget.cli.app import app

__all__ = ["learn"]

COUNTERS = ("n_seen", "n_labelled", "n_right")


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
    checkpoint_file: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint", help="Save the model here, and go on from here if there is one already."
        ),
    ] = None,
    every: Annotated[
        int, typer.Option(min=1, help="Number of examples from one checkpoint to the next.")
    ] = 1000,
) -> None:
    """Predict, then learn, line by line, and write each prediction as a line of JSON.

    A line without a label is predicted and not learned. Features of csv and JSON lines are scaled
    to zero mean and unit variance as they come. Each answer has the number of the example, the
    prediction, the margin (positive for the positive class), the label, and the share of right
    predictions so far.

    With a checkpoint, a run on the same input goes on after a crash: the examples that the checkpoint has
    seen are passed over, and the first one that is not is told on standard error. The last checkpoint is
    made at the end of the input.

    """
    if form not in (None, *files.FORMATS):
        raise typer.BadParameter(f"no format is called {form!r}: give {', '.join(files.FORMATS)}")
    output.check_folders(checkpoint_file)
    kernel = models.rbf(gamma)
    algorithm = models.algorithm(model)
    with files.read(file, form, target) as (found, lines), output.status() as show:
        learner = models.build(algorithm, kernel, budget, seed, scale=found != "libsvm")
        life = _Life(learner, checkpoint_file, every)
        for answer in life.answers(files.examples(lines, found, target)):
            print(json.dumps(answer), flush=True)
            show(f"{answer['example']:,} examples, accuracy {answer['accuracy']:.4f}")


class _Life:
    """A model that predicts and learns line by line, and may go on from a checkpoint."""

    def __init__(self, learner: Any, path: Path | None, every: int) -> None:
        self._learner = learner
        self._n_seen = self._n_labelled = self._n_right = 0
        self._checkpointer: Any = None
        if path is not None:
            self._resume(path, every)

    def _resume(self, path: Path, every: int) -> None:
        if path.exists():
            saved, extra = checkpoint.restore(path)
            if repr(saved) != repr(self._learner):
                raise ValueError(f"{path} holds another model than the options ask for")
            if not set(COUNTERS) <= set(extra):
                raise ValueError(f"{path} does not tell which examples it has seen")
            self._learner = saved
            self._n_seen, self._n_labelled, self._n_right = (extra[name] for name in COUNTERS)
            print(f"river-budget: going on from example {self._n_seen + 1}", file=sys.stderr)
        self._checkpointer = checkpoint.Checkpointer(self._learner, path, every)

    def answers(self, lines: Iterator[files.Line]) -> Iterator[dict[str, Any]]:
        """Yield an answer to each line that was not seen before."""
        for line, x, y in itertools.islice(lines, self._n_seen, None):
            try:
                margin, prediction = predict_with_margin(self._learner, x)
                if y is not None:
                    self._learner.learn_one(x, y)
            except ValueError as error:
                raise ValueError(f"line {line}: {error}") from None
            self._n_seen += 1
            self._n_labelled += y is not None
            self._n_right += y is not None and prediction == y
            yield {
                "example": self._n_seen, "prediction": prediction, "margin": margin, "label": y,
                "accuracy": self._n_right / self._n_labelled if self._n_labelled else 0.0,
            }  # fmt: skip
            if self._checkpointer is not None:
                self._checkpointer.step(self._counts)
        if self._checkpointer is not None:
            self._checkpointer.save(self._counts)

    @property
    def _counts(self) -> dict[str, int]:
        counts = (self._n_seen, self._n_labelled, self._n_right)
        return dict(zip(COUNTERS, counts, strict=True))
