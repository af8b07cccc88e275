"""The picture of README: accuracy against the time of a round, on short and on long streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks import summary
from benchmarks.cells import ROOT, Found
from benchmarks.short import OURS, VARIANTS
from benchmarks.tables import columns, mean
from docs.draw import BLUE, GREEN, RED, STYLE

PATH = ROOT / "benchmarks" / "pictures" / "accuracy.svg"

# Where the columns of names end and begin, in fractions of a panel's width, and the least distance between two names,
# in fractions of its height.
LEFT, RIGHT, LEAST_DISTANCE = 0.395, 0.80, 0.046
# The lowest accuracy that is shown.
LOWEST = 60.0


class Point(NamedTuple):
    """A model, with its mean accuracy in percent and the mean microseconds of a round."""

    name: str
    accuracy: float
    microseconds: float

    @property
    def is_ours(self) -> bool:
        return self.name.partition(",")[0] in OURS

    @property
    def color(self) -> str:
        if self.is_ours:
            return BLUE
        return GREEN if self.name.startswith("CapyMOA") else RED


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


def name_points(axes: Axes, named: list[Point], at: float, towards: str) -> None:
    """Draw points, and their names in a column that is aligned on the side `towards` them."""
    bottom, top = axes.get_ylim()
    places = spread([(point.accuracy - bottom) / (top - bottom) for point in named])
    for point, place in zip(named, places, strict=True):
        axes.plot(point.microseconds, point.accuracy, "o", color=point.color, markersize=4)
        axes.annotate(
            point.name, (point.microseconds, point.accuracy), (at, place), textcoords="axes fraction",
            horizontalalignment=towards, verticalalignment="center", color=point.color, fontsize=7.5,
            arrowprops={
                "arrowstyle": "-", "color": point.color, "linewidth": 0.4, "alpha": 0.6, "shrinkA": 2,
                "shrinkB": 0, "relpos": (float(towards == "right"), 0.5),
            },
        )  # fmt: skip


def draw(axes: Axes, title: str, shown: list[Point]) -> None:
    """Draw the package's models with their names on the left, and the others with theirs on the right."""
    axes.set(
        xscale="log", xlim=(0.0005, 1e6), ylim=(LOWEST, max(point.accuracy for point in shown) + 2)
    )
    axes.set_xticks([1, 10, 100, 1_000], ["1", "10", "100", "1,000"])
    axes.minorticks_off()
    axes.set(xlabel="microseconds a round", ylabel="accuracy (%)")
    axes.set_title(title, loc="left", fontsize=10)
    name_points(axes, [point for point in shown if point.is_ours], LEFT, "right")
    name_points(axes, [point for point in shown if not point.is_ours], RIGHT, "left")


def write(stored: Callable[[str], Found]) -> None:
    """Draw the picture of what is stored."""
    found, on_long = summary.with_capymoa(stored), summary.of_long(stored)
    models = [model for model in columns(found) if model not in VARIANTS]
    panels = {
        f"{len(found)} short streams": [
            Point(model, mean(found, model, "accuracy"), mean(found, model, "microseconds"))
            for model in models
        ],
        "long streams": [
            Point(model, one.accuracy, one.microseconds) for model, one in on_long.items()
        ],
    }
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11.5, 5.6), layout="constrained")
        figure.suptitle("river_budget (blue), River (red) and CapyMOA (green)", fontsize=10)
        for axes, (title, shown) in zip(figure.subplots(1, 2), panels.items(), strict=True):
            draw(axes, title, shown)
        figure.savefig(PATH, metadata={"Date": None})
