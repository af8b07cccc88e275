"""Commands that compare algorithms on whole streams."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from numbers import Number
from typing import Annotated, Any

import numpy as np
import typer

from river_budget import evaluate, kernels, theory
from river_budget._state import require
from river_budget.base.chain import check_values
from river_budget.catalog import ALGORITHMS, Algorithm
from river_budget.cli import files, harm, options
from river_budget.cli.app import app, progress
from river_budget.cli.labels import NumbersAmongLabels
from river_budget.cli.runs import Command
from river_budget.evaluate.comparison import text_table
from river_budget.theory import bounds

Example = tuple[dict[Any, Any], Any]

# The name of the first row of `compare`.
BASELINE = "most frequent label"

# What is said if models are no better, and also if a width was given.
POOR = "Such a model may have kept mislabelled examples, as FixedBudgetPerceptron does."
POOR_WIDTH = "Or the width does not suit the data: leave out --gamma."

# The columns of the table of `lifelong`, and what formats them.
CONTINUAL = {
    "error": ("prequential_error", ".1%"),
    "final acc.": ("accuracy_final", ".1%"),
    "seen acc.": ("accuracy_seen_avg", ".1%"),
    "backward": ("backward_transfer", "+.3f"),
    "forward": ("forward_transfer", "+.3f"),
    "forgetting": ("forgetting", "+.3f"),
    "recovery": ("mean_recovery_time", ",.0f"),
    "bytes": ("memory_bytes", ","),
}


@dataclasses.dataclass
class Study(Command):
    """A command that shows algorithms on whole streams."""

    stream: options.Stream = "gaussians"
    budget: options.Budget = 100
    gamma: options.Gamma = None
    seed: options.Seed = 42
    json_file: options.JsonFile = None
    plot_file: options.PlotFile = None

    def __post_init__(self) -> None:
        """Fail before any work if matplotlib is absent, or a file cannot be written."""
        if self.plot_file:
            importlib.import_module("river_budget.plots")
        for path in filter(None, (self.json_file, self.plot_file)):
            is_new = not (path.exists() or path.is_symlink())
            path.touch()
            if is_new:  # An empty file would look like a result if the work fails.
                path.unlink()

    def streams(self, limit: int | None, are_tasks: bool = False) -> tuple[list[Any], Any]:
        """Return tasks, or a single stream, as lists of their first examples, and the kernel for them."""
        from river import datasets  # slow to import, as `synth` is, and many commands need neither

        from river_budget import synth

        seed = self.seed
        # Streams by name, and the gamma that was published for them, if any.
        known: dict[str, tuple[Sequence[Iterable[Example]], float | None]] = {
            "gaussians": ([synth.TwoGaussians(seed=seed)], 1.0),
            "checkerboard": ([synth.NoisyCheckerboard(seed=seed)], 60.0),
            "bananas": ([datasets.Bananas()], None),
            "phishing": ([datasets.Phishing()], None),
        }
        if are_tasks:
            angles = [i * math.pi / 4 for i in range(4)]
            turned = [synth.RotatingGaussians(speed=0, start=angle, seed=seed) for angle in angles]
            board = functools.partial(synth.ShiftingCheckerboard, squares=2, shift=0, seed=seed)
            known |= {
                "rotating-gaussians": (turned, 1.0),
                "checkerboards": ([board(start=offset) for offset in (0.0, 0.5, 1.0)], 5.0),
                "class-incremental": (synth.ClassIncremental(seed=seed).tasks, 0.5),
            }

        # Any other name is that of a file.
        names = self.stream.split(",") if are_tasks else [self.stream]
        found = [known.get(name) or ([self._labelled(name)], None) for name in names]
        tasks = [[*itertools.islice(stream, limit)] for streams, _ in found for stream in streams]
        _, published_gamma = found[0]
        return tasks, kernels.RBF(published_gamma if self.gamma is None else self.gamma)

    def _labelled(self, name: str) -> Iterator[Example]:
        """Yield the examples of a file. Raises ValueError at a line that is bad or has no label."""
        with self.opened(name, self.columns) as (reader, lines):
            require(not reader.no_labels, reader.no_labels)
            numbers = NumbersAmongLabels()
            for row in harm.watched(reader.rows(lines), self.ignore):
                require(not row.error, f"line {row.line}: {row.error}")
                require(row.label is not None, f"line {row.line}: no label: leave out such lines")
                numbers.see(row.label)
                check_values(row.x, takes_unknown=True)
                yield row.x, row.label

    def report(
        self, what: str, widths: str, table: str, figures: Any, draw: str, results: Any
    ) -> None:
        """Print a title and a table. Write figures, and draw by the named function, if that is asked."""
        title = f"{self.stream}: {what}, budget {self.budget}, {widths}"
        print(f"{title}\n{table}")
        if self.json_file:
            content = {"title": title, "models": figures}
            self.json_file.write_text(json.dumps(content, indent=1) + "\n")
        if self.plot_file:
            plots = importlib.import_module("river_budget.plots")
            figure = getattr(plots, draw)(results, title)
            ending = self.plot_file.suffix[1:] or "png"
            figure.savefig(self.plot_file, format=ending, dpi=plots.DOTS_PER_INCH)


def widths(kernel: Any, chosen: Iterable[Algorithm]) -> str:
    """Return a text that says which width algorithms have."""
    algorithms = [*chosen]
    learning = [row.name for row in algorithms if not row.takes("kernel")]
    if kernel.gamma is None or len(learning) == len(algorithms):
        return "widths are learned"
    others = f" (learned by {', '.join(learning)})" if learning else ""
    return f"gamma {kernel.gamma}{others}"


def late(delay: int) -> str:
    """Return a text that says how late labels are, if they are."""
    return f", labels late by {delay:,}" if delay else ""


@app.command()
@dataclasses.dataclass
class Compare(Study):
    """Run every algorithm on one stream, and print the best first.

    Validation is progressive: each example is predicted, then learned. The first row is a baseline
    that always predicts the most frequent label so far. The lines below the table say which algorithms
    may be behind the best by chance, and which are no better than the baseline.

    The best has the fewest mistakes, or, if a label has less than 10 % of the examples, the best balanced
    accuracy, which is the mean of the recalls of all labels. --metric chooses otherwise.
    """

    models: options.Models = None
    metric: options.Metric = None
    permutations: Annotated[int, typer.Option(min=1, help="Orders; 1 keeps the stream's own.")] = 1
    limit: Annotated[int | None, typer.Option(min=1, help="Number of examples.")] = None
    delay: options.Delay = 0

    def run(self) -> None:
        (rows,), kernel = self.streams(self.limit)
        algorithms = options.algorithms(self.models)
        with files.blaming(self.stream):
            comparison = self._compare(rows, kernel, algorithms)
        table = "\n".join([str(comparison), comparison.verdict(), *self._about_poor(comparison)])
        what, figures = f"{len(rows):,} examples{late(self.delay)}", comparison.to_dict()
        text = widths(kernel, algorithms.values())
        self.report(what, text, table, figures, "plot_comparison", comparison)

    def _about_poor(self, comparison: evaluate.Comparison) -> list[str]:
        """Return lines on the models that are no better than the most frequent label, if there are any."""
        poor = comparison.no_better()
        if not poor:
            return []
        why = [POOR] if self.gamma is None else [POOR, POOR_WIDTH]
        return [f"No better than the {BASELINE}: {', '.join(poor)}.", *why]

    def _compare(
        self, rows: list[Example], kernel: Any, algorithms: dict[str, Algorithm]
    ) -> evaluate.Comparison:
        """Return the comparison of algorithms and the most frequent label."""
        from river.dummy import PriorClassifier  # slow to import

        from river_budget.cli.scores import metrics_for  # so is River's `metrics`

        require(rows, "the stream has no examples")
        models: dict[str, Any] = {BASELINE: PriorClassifier()}
        for name, algorithm in algorithms.items():
            models[name] = algorithm.build(kernel, budget=self.budget, seed=self.seed)
        with progress(len(rows) * len(models) * self.permutations) as advance:
            return evaluate.compare(
                models, rows, self.permutations, self.seed, after_examples=advance,
                metrics=metrics_for(self.metric, (y for _, y in rows)), baseline=BASELINE,
                delays=evaluate.Delays(self.delay),
            )  # fmt: skip


@app.command()
@dataclasses.dataclass
class Certify(Study):
    """Print the mistakes of algorithms beside their mistake bounds.

    Each theorem is held against the hypothesis that makes its bound lowest in hindsight. The norm bound
    of Projectrons, Ahpatron and projected gradient descent is the largest norm that the theorem of the
    Forgetron admits with that budget.
    """

    budget: options.Budget = 1000
    limit: Annotated[int, typer.Option(min=1, help="Number of examples.")] = 2000

    def run(self) -> None:
        (rows,), kernel = self.streams(self.limit)
        if kernel.gamma is None:
            rows = _scaled(rows)
        kernel = kernel.resolve(rows[0][0]) if rows else kernel
        norm_bound = bounds.forgetron_norm(self.budget)
        proven = [row for row in ALGORITHMS.values() if hasattr(row.model, "guarantees")]
        certificates: dict[str, theory.Certificate] = {}
        with progress(1 + len(proven)) as advance:
            with files.blaming(self.stream):
                span = theory.Span(kernel, rows)
            advance("the comparators' span done")
            for row in proven:
                model = row.build(kernel, budget=self.budget, norm_bound=norm_bound, seed=self.seed)
                certificates[row.name] = theory.certify(model, rows, span=span)
                advance(f"{row.name} done")
        what, table = f"{len(rows):,} examples", "\n".join(c.table() for c in certificates.values())
        figures = {name: certificate.to_dict() for name, certificate in certificates.items()}
        self.report(what, widths(kernel, proven), table, figures, "plot_certificates", certificates)


def _scaled(rows: list[Example]) -> list[Any]:
    """Return examples with scaled numbers. An unknown one is left out: the mean of a feature is 0."""
    from river import compose, preprocessing  # slow to import

    numbers = compose.SelectType(Number) | preprocessing.StandardScaler()
    scaler = numbers + compose.SelectType(str, list, np.ndarray)
    scaled = []
    for x, y in rows:
        scaler.learn_one(x)
        scaled.append((dict(scaler.transform_one(x)), y))
    return scaled


@app.command()
@dataclasses.dataclass
class Lifelong(Study):
    """Print what algorithms learn and forget over several tasks.

    The table shows the prequential error, the final accuracy over all tasks, the mean accuracy over
    the tasks learned so far, backward and forward transfer, forgetting, the mean number of examples to
    recover from a drift, and the model size. If tasks bring new labels, another table has the
    forgetting of each of these classes.
    """

    stream: options.Tasks = "rotating-gaussians"
    models: options.Models = None
    cycles: Annotated[int, typer.Option(min=1, help="How often all tasks are learned.")] = 2
    learn: Annotated[int, typer.Option(min=1, help="New examples each time.")] = 1000
    test: Annotated[int, typer.Option(min=1, help="Test examples of each task.")] = 500
    delay: options.Delay = 0

    def run(self) -> None:
        tasks, kernel = self.streams(self.test + self.cycles * self.learn, are_tasks=True)
        sequence = self.cycles * [*range(len(tasks))]
        runs, chosen = {}, options.algorithms(self.models)
        with progress(len(chosen)) as advance:
            for name, algorithm in chosen.items():
                model = algorithm.build(kernel, budget=self.budget, seed=self.seed)
                with files.blaming(self.stream):
                    runs[name] = evaluate.lifelong(
                        model, tasks, sequence, self.learn, self.test, evaluate.Delays(self.delay)
                    )
                advance(f"{name} done")
        table = [["model", *CONTINUAL]]
        for name, run in runs.items():
            cells = [f"{run.figures[figure]:{spec}}" for figure, spec in CONTINUAL.values()]
            table.append([name, *cells])
        shown = text_table(table)
        if any(run.class_first_steps):
            table = [["forgetting (%)", *map(str, run.classes)]]
            for name, run in runs.items():
                table.append([name, *(f"{100 * drop:.1f}" for drop in run.class_forgetting)])
            shown += f"\n\n{text_table(table)}"
        what = f"{len(tasks)} tasks, {self.cycles} x {self.learn:,} examples each{late(self.delay)}"
        figures = {name: run.to_dict() for name, run in runs.items()}
        text = widths(kernel, chosen.values())
        self.report(what, text, shown, figures, "plot_continual_runs", runs)
