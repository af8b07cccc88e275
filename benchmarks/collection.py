"""All classes of the package beside random and Nystroem features: error against budget and time.

    python -m benchmarks.collection [--quick] [--out DIRECTORY] [--cells DIRECTORY] [STREAM ...]

Progressive validation in order, of at most 20,000 examples. All streams but Adult9 pass a
StandardScaler. All kernels of a stream are the same RBF, except those of Mnemotron, which has its own;
other parameters are the defaults, and BudgetPassiveAggressive has its three kinds of maintenance. FOGD
are as many random Fourier features as the budget, NOGD Nystroem features with as many landmarks, both
with steps of 0.3 on the hinge loss. RBFSampler is River's, before its LogisticRegression; it has the
cosines of each feature by itself, so that the model is a sum of functions of one feature. Times are processor time of the process that runs one model after the
other, to predict and learn an example, with the scaler. A model that exceeds the limit of two minutes
stops; its cell says after how many examples, and does not compete for the front. Models whose step
takes time quadratic in the budget end at 500, and RBFSampler, which computes in Python, at 100.

The figure is `docs/collection.png`, and the tables are a section of `benchmarks/RESULTS.md`; --out is
the directory of both, that of the repository by default. Each cell is kept in the directory of --cells, build/collection by default, as soon as it is done: an interrupted run
resumes, and a finished one only draws. Data sets that are not part of River are read from the
directory given by RIVER_BUDGET_DATA; a stream without its data is left out. `--quick` does a small
part of everything.

"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from matplotlib import ticker
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from river import feature_extraction, linear_model, preprocessing

import river_budget as rb
from benchmarks import streams
from benchmarks.fourier import Fourier
from benchmarks.models import run
from benchmarks.multiclass import Part, markdown
from benchmarks.nystroem import Nystroem
from benchmarks.reproduce import runner
from river_budget.catalog import ALGORITHMS
from river_budget.datasets import DatasetError

# The width of the RBF on each stream.
WIDTHS = {
    "Bananas": 1.0,
    "Pendigits": 1 / 16,
    "Elec2": 1 / 6,
    "Adult9": 1 / 50,
    "Covertype": 1 / 54,
    "RandomRBFDrift": 1 / 10,
}
UNSCALED = {"Adult9"}

# Variants that are measured beside the default one.
OTHERS = {"BudgetPassiveAggressive": ("S", "P")}

# The largest budget of those whose step takes too long on a larger one.
LARGEST = {
    "Mnemotron": 500,
    "BudgetPassiveAggressive": 500,
    "BudgetPassiveAggressive (P)": 500,
    "RBFSampler": 100,
}

# What bounds the support set, and its colour.
FAMILIES = {
    "no budget": ("KernelPerceptron", "KernelPAClassifier"),
    "stop or remove": (
        "Stoptron", "RemoveOldestPerceptron", "RandomizedBudgetPerceptron", "FixedBudgetPerceptron",
    ),
    "shrink": ("Forgetron", "SimplifiedForgetron", "ModifiedRandomizedBudgetPerceptron"),
    "validate": ("TighterPerceptron", "TightestPerceptron"),
    "project": ("Projectron", "ProjectronPlusPlus", "ProjectedGradient", "Ahpatron"),
    "passive-aggressive": ("BudgetPassiveAggressive",),
    "gradient descent": ("BudgetedOGD", "BudgetedSGD"),
    "Gaussian processes": ("Mnemotron",),
    "features": ("FOGD", "NOGD", "RBFSampler"),
}  # fmt: skip
COLOURS = dict(zip(FAMILIES, ["black", *(f"C{i}" for i in (0, 9, 4, 2, 1, 5, 3, 6))], strict=True))
OTHER_COLOUR = "C7"
MARKERS = "osD^v"
BLANK = {"linestyle": "none"}

# Times or budgets whose ratio is smaller are taken as equal.
NOTICEABLE = 1.1

# Columns of the legend.
N_COLUMNS = 3

# The section of the tables, up to the next one.
SECTION = re.compile(r"## The collection\n.*?(?=\n## |\Z)", re.DOTALL)


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


FULL = Effort(streams.N, (20, 100, 500, 3000), seconds=120.0)
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

    @property
    def is_complete(self) -> bool:
        return self.n_done == self.n_examples


class Row(NamedTuple):
    """A model with a budget, or None for one without."""

    name: str
    budget: int | None

    def __str__(self) -> str:
        return self.name if self.budget is None else f"{self.name}, B={self.budget}"


Points = dict[Row, Point]
Results = dict[str, Points]
Costs = Mapping[Row, float]


def rbf_sampler(kernel: rb.RBF, budget: int):
    sampler = feature_extraction.RBFSampler(gamma=kernel.gamma, n_components=budget, seed=1)
    return sampler | linear_model.LogisticRegression()


BASELINES = {"FOGD": Fourier, "NOGD": Nystroem, "RBFSampler": rbf_sampler}


def variants() -> dict[str, tuple[str, str]]:
    """Return class and variant of each algorithm to measure, by name."""
    return {
        f"{name} ({variant})" if variant in OTHERS.get(name, ()) else name: (name, variant)
        for name, row in ALGORITHMS.items()
        for variant in (next(iter(row.variants)), *OTHERS.get(name, ()))
    }


def rows(effort: Effort) -> list[Row]:
    names = variants()
    bounded = [name for name, (cls, _) in names.items() if ALGORITHMS[cls].takes("budget")]
    return [
        *(Row(name, None) for name in names if name not in bounded),
        *(
            Row(name, budget)
            for name in [*bounded, *BASELINES]
            for budget in effort.budgets
            if budget <= LARGEST.get(name, budget)
        ),
    ]


def build(stream: str, row: Row):
    """Return the pipeline of a row."""
    kernel = rb.RBF(gamma=WIDTHS[stream])
    if row.name in BASELINES:
        model = BASELINES[row.name](kernel, row.budget)
    else:
        name, variant = variants()[row.name]
        model = ALGORITHMS[name].build(kernel, variant, budget=row.budget, seed=1)
    return model if stream in UNSCALED else preprocessing.StandardScaler() | model


@functools.cache
def examples_of(stream: str) -> list:
    return streams.named(stream)


def is_there(stream: str) -> bool:
    """Tell whether the data of a stream are there; if not, say so."""
    try:
        examples_of(stream)
    except DatasetError as error:
        print(f"{stream}: left out, {error}", file=sys.stderr)
        return False
    return True


def measured(stream: str, row: Row, effort: Effort) -> Point:
    """Return the result of a row, and show it as progress."""
    examples = examples_of(stream)[: effort.n_examples]
    # Imports on first use are not part of the cost.
    small = row if row.budget is None else row._replace(budget=5)
    run(build(stream, small), examples[:50])
    part = Part(examples, effort.seconds)
    accuracy, microseconds, _ = run(build(stream, row), part)
    point = Point(100 - accuracy, microseconds, len(part), len(examples))
    print(f"{stream}, {row}: {point}", file=sys.stderr, flush=True)
    return point


def collected(names: list[str], effort: Effort, cells: Path) -> Results:
    """Return the results on streams. Those that are in the directory of the cells are not measured again."""
    tasks = {
        (name, row): runner.Task(f"{name}/{row}/{effort.n_examples}", measured, (name, row, effort))
        for name in names
        for row in rows(effort)
    }
    known = runner.run(list(tasks.values()), cells, n_processes=1)
    return {
        name: {row: Point(*known[tasks[name, row].name]) for row in rows(effort)} for name in names
    }


def times(points: Points) -> Costs:
    return {row: point.microseconds for row, point in points.items()}


def budgets(points: Points) -> Costs:
    return {row: row.budget for row in points if row.budget is not None}


def front(points: Points, costs: Costs) -> list[Row]:
    """Return the rows with a cost that no other one beats, the cheapest one first.

    One beats another if it is better and not noticeably more expensive, or as good and cheaper.

    """
    known = {row: (points[row].error, costs[row]) for row in costs if points[row].is_complete}

    def is_beaten(error: float, cost: float) -> bool:
        return any(
            (e < error and c <= NOTICEABLE * cost) or (e == error and c < cost)
            for e, c in known.values()
        )

    return sorted((row for row in known if not is_beaten(*known[row])), key=costs.__getitem__)


def table(results: Results) -> str:
    """Return all results as a table, with a row for each model and a column for each stream."""
    fronts = {stream: front(points, times(points)) for stream, points in results.items()}

    def cell(stream: str, row: Row) -> str:
        point = results[stream][row]
        return (
            f"{point.error:.2f} / {point.microseconds:.1f}"
            + " *" * (row in fronts[stream])
            + f" ({point.n_done:,})" * (not point.is_complete)
        )

    names = next(iter(results.values()))
    return markdown({str(row): {stream: cell(stream, row) for stream in results} for row in names})


def family(name: str) -> str | None:
    own = (key for key, names in FAMILIES.items() if name.split(" ")[0] in names)
    return next(own, None)


def styles(names: list[str]) -> dict[str, dict]:
    """Return the style of each name: its family's colour, and a marker of its own."""
    by_family = {
        key: list(own) for key, own in itertools.groupby(sorted(names, key=_rank), key=family)
    }
    return {
        name: {"color": COLOURS.get(key, OTHER_COLOUR), "marker": MARKERS[i % len(MARKERS)]}
        for key, own in by_family.items()
        for i, name in enumerate(own)
    }


def _rank(name: str) -> int:
    return [*FAMILIES, None].index(family(name))


def draw(figure: Figure, results: Results) -> None:
    """Draw a row for each stream: error against budget, and against time."""
    panels = figure.subplots(len(results), 2, squeeze=False)
    names = {row.name: None for points in results.values() for row in points}
    style = styles(list(names))
    for (left, right), (stream, points) in zip(panels, results.items(), strict=True):
        left.set_title(stream, fontweight="bold", loc="left")
        panel(left, points, budgets(points), style)
        panel(right, points, times(points), style)
        for row, point in points.items():
            if row.budget is None:
                left.axhline(point.error, color="black", linewidth=0.6, linestyle=":")
        left.set_xticks(sorted(set(budgets(points).values())))
        left.set_xlabel("budget (dotted: no budget)")
        right.set_xlabel("microseconds per example")
    legend(figure, style)


def legend(figure: Figure, style: dict[str, dict]) -> None:
    """Draw the names under those of their families."""
    names = [
        name
        for key, own in itertools.groupby(sorted(style, key=_rank), family)
        for name in [key or "other", *own]
    ]
    handles = [
        Line2D([], [], label=name, linewidth=1, markersize=6, **style.get(name, BLANK))
        for name in names
    ]
    drawn = figure.legend(
        handles=handles, loc="outside upper center", ncols=N_COLUMNS, fontsize=10,
        handlelength=1.5, frameon=False,
    )  # fmt: skip
    for text in drawn.get_texts():
        text.set_fontweight("normal" if text.get_text() in style else "bold")


def panel(axes: Axes, points: Points, costs: Costs, style: dict[str, dict]) -> None:
    """Draw error against a cost, with the rows on the front as numbers, and their names."""
    axes.set_axis_on()
    axes.set(ylabel="error (%)", xscale="log", yscale="log")
    for name in dict.fromkeys(row.name for row in costs):
        own = [(costs[row], points[row].error) for row in costs if row.name == name]
        axes.plot(*zip(*own, strict=True), linewidth=0.7, markersize=3, alpha=0.45, **style[name])
    best = front(points, costs)
    steps = [(costs[row], points[row].error) for row in best]
    axes.step(*zip(*steps, strict=True), where="post", color="black", linewidth=0.5)
    zoom(axes, [points[row].error for row in costs], room=0.05 * (len(best) + 1))
    for i, (row, step) in enumerate(zip(best, steps, strict=True)):
        number(axes, i + 1, step, f"{row}: {step[1]:.1f} %", style[row.name]["color"], len(best))
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 3, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.minorticks_off()


def zoom(axes: Axes, errors: list[float], room: float) -> None:
    """Show the errors up to six times the smallest one, above an empty fraction of the axes."""
    low, high = math.log(min(errors)), math.log(1.1 * min(max(errors), 6 * min(errors)))
    axes.set_ylim(math.exp((low - room * high) / (1 - room)), math.exp(high))


def number(
    axes: Axes, i: int, at: tuple[float, float], text: str, colour: str, n_numbers: int
) -> None:
    """Draw a point with a number, and what it is in the empty part of the axes."""
    below = (0.03, 0.03 + 0.05 * (n_numbers - i))
    for place, transform in ((at, axes.transData), (below, axes.transAxes)):
        axes.plot(*place, "o", color=colour, markersize=11, transform=transform)
        axes.annotate(
            str(i), place, xycoords=transform, color="white", fontsize=7, fontweight="bold",
            ha="center", va="center_baseline",
        )  # fmt: skip
    axes.text(
        below[0] + 0.025, below[1], text, transform=axes.transAxes, color=colour, fontsize=9,
        va="center_baseline",
    )  # fmt: skip


def write(results: Results, directory: Path) -> None:
    """Write the figure and the tables."""
    figure = Figure(figsize=(10, 4.2 * len(results) + 2.5), layout="constrained", dpi=100)
    draw(figure, results)
    figure.savefig(directory / "docs" / "collection.png")
    page = directory / "benchmarks" / "RESULTS.md"
    page.write_text(SECTION.sub(lambda _: report(results), page.read_text()))


def report(results: Results) -> str:
    """Return the section of the tables."""
    capped = ", ".join(f"`{name}` at {budget}" for name, budget in LARGEST.items())
    return f"""## The collection

```sh
RIVER_BUDGET_DATA=DIR python -m benchmarks.collection
```

[Drawn, and what follows from it](../docs/collection.md). A step of these takes too long on a larger budget, so they
end earlier: {capped}.

Error in percent / microseconds an example. A star marks the front of a stream: no other model has a smaller error in
at most 1.1 times its time. A number in brackets is that of the examples done in the limit of time.

{table(results)}
"""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("streams", nargs="*", metavar="STREAM", help=", ".join(WIDTHS))
    parser.add_argument("--quick", action="store_true", help="do a small part of everything")
    parser.add_argument("--out", type=Path, default=Path(), metavar="DIRECTORY")
    parser.add_argument("--cells", type=Path, default=Path("build/collection"), metavar="DIRECTORY")
    options = parser.parse_args(arguments)
    effort = QUICK if options.quick else FULL
    names = [name for name in options.streams or list(WIDTHS) if is_there(name)]
    write(collected(names, effort, options.cells), options.out)


if __name__ == "__main__":
    main()
