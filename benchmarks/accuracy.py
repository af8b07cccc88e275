"""Accuracy against cost: the package's algorithms on a budget of 100, and River's alternatives.

    python -m benchmarks.accuracy [PICTURE]

Progressive validation of the first 20,000 examples in order, after a StandardScaler, one model at a
time, in processor time. The kernel is RBF(gamma=1.0) on Bananas and the default elsewhere; Mnemotron
uses its own kernels. Elec2 is read from the directory given by RIVER_BUDGET_DATA and left out if it is
absent. PICTURE, accuracy.png by default, has a panel for each stream.

"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from river import preprocessing

import river_budget as rb
from benchmarks.models import ours, rivers, run
from benchmarks.streams import named
from river_budget.datasets import DatasetError

BUDGET = 100
KERNELS = {"Bananas": rb.RBF(gamma=1.0), "Phishing": None, "Elec2": None, "RandomRBFDrift": None}

DOTS_PER_INCH = 80

# Where the columns of names end or begin, in fractions of a panel's width, and the least distance between
# two names, in fractions of its height.
OURS_END, RIVERS_BEGIN, LEAST_DISTANCE = 0.38, 0.74, 0.055

Figures = dict[str, tuple[float, float]]


def measured(examples: list, models: dict) -> Figures:
    """Return accuracy in percent and microseconds per example of each model."""
    figures = {}
    for name, model in models.items():
        accuracy, microseconds, _ = run(preprocessing.StandardScaler() | model, examples)
        figures[name] = accuracy, microseconds
        print(f"{name:<36}{accuracy:7.2f} %{microseconds:10.1f} µs", flush=True)
    return figures


def spread(heights: list[float]) -> list[float]:
    """Return heights in [0, 1] in the same order, at least `LEAST_DISTANCE` apart."""
    order = np.argsort(heights, kind="stable")
    steps = LEAST_DISTANCE * np.arange(len(heights))
    # Names are pushed up by those below them, and kept low enough to leave room for all.
    raised = np.maximum.accumulate(np.array(heights)[order] - steps)
    lowest, highest = 0.5 * LEAST_DISTANCE, 1.0 - 0.5 * LEAST_DISTANCE - steps[-1]
    places = np.empty(len(heights))
    places[order] = np.clip(raised, lowest, highest) + steps
    return places.tolist()


def name_points(axes: Axes, figures: Figures, at: float, towards: str, color: str) -> None:
    """Draw points, and their names in a column that is aligned on the side `towards` them."""
    bottom, top = axes.get_ylim()
    places = spread([(accuracy - bottom) / (top - bottom) for accuracy, _ in figures.values()])
    for (name, (accuracy, microseconds)), place in zip(figures.items(), places, strict=True):
        axes.plot(microseconds, accuracy, "o", color=color, markersize=5)
        axes.annotate(
            name, (microseconds, accuracy), (at, place), textcoords="axes fraction",
            horizontalalignment=towards, verticalalignment="center", color=color, fontsize=9,
            arrowprops={
                "arrowstyle": "-", "color": color, "linewidth": 0.4, "shrinkA": 2, "shrinkB": 0,
                "relpos": (float(towards == "right"), 0.5),
            },
        )  # fmt: skip


def draw(axes: Axes, title: str, own: Figures, others: Figures) -> None:
    accuracies = [accuracy for accuracy, _ in [*own.values(), *others.values()]]
    axes.set(xscale="log", xlim=(0.001, 1_000_000), ylim=(min(accuracies) - 2, max(accuracies) + 2))
    axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    axes.minorticks_off()
    axes.set(title=title, xlabel="microseconds per example", ylabel="accuracy (%)")
    name_points(axes, own, OURS_END, "right", "tab:blue")
    name_points(axes, others, RIVERS_BEGIN, "left", "tab:red")


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("accuracy.png")
    figure = Figure(figsize=(14, 10), layout="constrained", dpi=DOTS_PER_INCH)
    figure.suptitle(f"Budget {BUDGET} (blue) and River's models (red)")
    for axes, (name, kernel) in zip(figure.subplots(2, 2).flat, KERNELS.items(), strict=True):
        try:
            examples = named(name)
        except DatasetError as error:
            print(f"\n{name}: left out, {error}")
            axes.set_axis_off()
            continue
        # Imports on first use are not part of the cost.
        for model in {**ours(5, kernel), **rivers()}.values():
            run(preprocessing.StandardScaler() | model, examples[:50])
        print(f"\n{name}, {len(examples):,} examples")
        own = measured(examples, ours(BUDGET, kernel))
        draw(axes, name, own, measured(examples, rivers()))
    figure.savefig(path)


if __name__ == "__main__":
    main()
