"""All classes of the package beside random and Nystroem features: error against budget and time.

    python -m benchmarks.collection [--quick] [--out DIRECTORY] [STREAM ...]

Progressive validation in order, of at most 20,000 examples. All streams but Adult9 pass a
StandardScaler. All kernels of a stream are the same RBF, except those of Mnemotron, which has its own;
other parameters are the defaults. FOGD is River's `RBFSampler | LogisticRegression` with as many
components as the budget, NOGD are Nystroem features with as many landmarks. Times are processor time of
the thread that runs a model, to predict and learn an example. A model that exceeds the limit of 10
minutes stops; its cell says after how many examples.

DIRECTORY, docs by default, gets the figure `collection.png`, with two panels for each stream, and the
table `collection.md`. A cell has the error in percent, the microseconds an example, and a star if no
other cell of its stream is both better and faster. Data sets that are not part of River are read from
the directory given by RIVER_BUDGET_DATA; a stream without its data is left out. `--quick` does a small
part of everything.

"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from river import feature_extraction, linear_model, preprocessing

import river_budget as rb
from benchmarks import streams
from benchmarks.models import run
from benchmarks.multiclass import Part, markdown
from benchmarks.nystroem import Nystroem
from river_budget.catalog import ALGORITHMS
from river_budget.datasets import DatasetError

# The width of the RBF on each stream.
WIDTHS = {
    "Bananas": 1.0,
    "Phishing": 1 / 9,
    "Elec2": 1 / 6,
    "Adult9": 1 / 50,
    "Covertype": 1 / 54,
    "RandomRBFDrift": 1 / 10,
}
UNSCALED = {"Adult9"}

# Streams side by side in the figure.
N_COLUMNS = 3


class Effort(NamedTuple):
    """How much to do.

    Attributes
    ----------
    n_examples
        Largest number of examples of a stream.
    budgets
        The budgets.
    seconds
        Limit for one model.

    """

    n_examples: int
    budgets: tuple[int, ...]
    seconds: float


FULL = Effort(streams.N, (20, 100, 500, 3000), seconds=600.0)
QUICK = Effort(120, (5, 20), seconds=1.0)


class Point(NamedTuple):
    """The result of one model on a stream.

    Attributes
    ----------
    error
        Error in percent.
    microseconds
        Time to predict and learn an example.
    n_done, n_examples
        Number of examples that were done, and that of the stream.

    """

    error: float
    microseconds: float
    n_done: int
    n_examples: int


class Row(NamedTuple):
    """A model with a budget, or None for one without."""

    name: str
    budget: int | None

    def __str__(self) -> str:
        return self.name if self.budget is None else f"{self.name}, B={self.budget}"


Results = dict[str, dict[Row, Point]]


def fogd(kernel: rb.RBF, budget: int):
    sampler = feature_extraction.RBFSampler(gamma=kernel.gamma, n_components=budget, seed=1)
    return sampler | linear_model.LogisticRegression()


BASELINES = {"FOGD": fogd, "NOGD": Nystroem}


def variants() -> dict[str, tuple[str, str]]:
    """Return class and variant of each algorithm with bounded memory or a default, by name."""
    return {
        f"{name} ({variant})" if variant else name: (name, variant)
        for name, row in ALGORITHMS.items()
        for variant in row.variants
        if row.variants[variant].is_bounded or variant == next(iter(row.variants))
    }


def rows(effort: Effort) -> list[Row]:
    names = variants()
    bounded = [name for name, (cls, _) in names.items() if ALGORITHMS[cls].takes("budget")]
    return [
        *(Row(name, None) for name in names if name not in bounded),
        *(Row(name, budget) for name in [*bounded, *BASELINES] for budget in effort.budgets),
    ]


def build(stream: str, row: Row):
    """Return the pipeline of a row."""
    kernel = rb.RBF(gamma=WIDTHS[stream])
    if row.name in BASELINES:
        model = BASELINES[row.name](kernel, row.budget)
    else:
        name, variant = variants()[row.name]
        model = ALGORITHMS[name].build(kernel, row.budget, seed=1, variant=variant)
    return model if stream in UNSCALED else preprocessing.StandardScaler() | model


@functools.cache
def examples_of(stream: str) -> list:
    return streams.named(stream)


def measured(stream: str, row: Row, effort: Effort) -> Point:
    """Return the result of a row, and show it as progress."""
    examples = examples_of(stream)[: effort.n_examples]
    # Compilation and imports on first use are not part of the cost.
    small = row if row.budget is None else row._replace(budget=5)
    run(build(stream, small), examples[:50])
    part = Part(examples, effort.seconds)
    accuracy, microseconds, _ = run(build(stream, row), part)
    point = Point(100 - accuracy, microseconds, len(part), len(examples))
    print(f"{stream}, {row}: {point}", file=sys.stderr, flush=True)
    return point


def front(points: dict[Row, Point]) -> set[Row]:
    """Return the rows such that no other one is both better and faster."""
    return {
        row
        for row, point in points.items()
        if not any(
            other.error <= point.error
            and other.microseconds <= point.microseconds
            and (other.error, other.microseconds) != (point.error, point.microseconds)
            for other in points.values()
        )
    }


def table(results: Results) -> str:
    """Return all results as a table, with a row for each model and a column for each stream."""
    fronts = {stream: front(points) for stream, points in results.items()}

    def cell(stream: str, row: Row) -> str:
        point = results[stream][row]
        return (
            f"{point.error:.2f} / {point.microseconds:.1f}"
            + " *" * (row in fronts[stream])
            + f" ({point.n_done:,})" * (point.n_done < point.n_examples)
        )

    names = next(iter(results.values()))
    return markdown({str(row): {stream: cell(stream, row) for stream in results} for row in names})


def draw(figure: Figure, results: Results) -> None:
    """Draw error against budget (above) and against time (below) for each stream."""
    n_rows = -(-len(results) // N_COLUMNS)
    panels = figure.subplots(2 * n_rows, N_COLUMNS, squeeze=False)
    used: set[Axes] = set()
    names = list(dict.fromkeys(row.name for points in results.values() for row in points))
    for i, (stream, points) in enumerate(results.items()):
        above, below = (panels[2 * (i // N_COLUMNS) + j, i % N_COLUMNS] for j in (0, 1))
        used.update((above, below))
        above.set(title=stream, xlabel="budget", ylabel="error (%)", xscale="log")
        below.set(xlabel="microseconds per example", ylabel="error (%)", xscale="log")
        for index, name in enumerate(names):
            own = {row: point for row, point in points.items() if row.name == name}
            style = {"color": f"C{index % 10}", "marker": "osD^v"[index // 10 % 5], "markersize": 4}
            line(below, [(p.microseconds, p.error) for p in own.values()], name, style)
            if own and None not in {row.budget for row in own}:
                line(above, [(row.budget, p.error) for row, p in own.items()], name, style)
    for axes in used:
        axes.minorticks_off()
    for axes in set(panels.flat) - used:
        axes.set_axis_off()
    handles, labels = panels[1][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", fontsize="small")


def line(axes: Axes, points: Iterable[tuple], label: str, style: dict) -> None:
    axes.plot(*zip(*points, strict=True), label=label, linewidth=0.8, **style)


def collected(names: list[str], effort: Effort) -> Results:
    """Return the results on streams, without those whose data are absent."""
    with ProcessPoolExecutor() as pool:
        jobs = {
            name: {row: pool.submit(measured, name, row, effort) for row in rows(effort)}
            for name in names
        }
        results: Results = {}
        for name, of_rows in jobs.items():
            try:
                results[name] = {row: job.result() for row, job in of_rows.items()}
            except DatasetError as error:
                print(f"{name}: left out, {error}", file=sys.stderr)
        return results


def write(results: Results, directory: Path) -> None:
    """Write the figure and the table."""
    figure = Figure(figsize=(15, 8 * -(-len(results) // N_COLUMNS)), layout="constrained", dpi=80)
    draw(figure, results)
    figure.savefig(directory / "collection.png")
    (directory / "collection.md").write_text(
        "# Error against budget and time\n\n"
        "Error in percent / microseconds an example, with a star where no other cell of the column "
        "is both\nbetter and faster (`python -m benchmarks.collection`).\n\n"
        "![Error against budget and time](collection.png)\n\n"
        f"{table(results)}\n"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("streams", nargs="*", metavar="STREAM", help=", ".join(WIDTHS))
    parser.add_argument("--quick", action="store_true", help="do a small part of everything")
    parser.add_argument("--out", type=Path, default=Path("docs"), metavar="DIRECTORY")
    options = parser.parse_args(arguments)
    effort = QUICK if options.quick else FULL
    results = collected(options.streams or list(WIDTHS), effort)
    write(results, options.out)


if __name__ == "__main__":
    main()
