"""The learning curves of `benchmarks.long`, with a panel for each stream."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmarks.long.measure import Figures, ends_of_windows
from benchmarks.long.tables import Results, measured

N_COLUMNS = 3
OURS = "Mnemotron"
THICK, THIN = 2.0, 1.0

Styles = dict[str, dict[str, object]]


def styles(models: list[str]) -> Styles:
    """Return the style of each model's line; those of the package are thick."""
    return {
        model: {"color": f"C{i % 10}", "linewidth": THICK if model.startswith(OURS) else THIN}
        for i, model in enumerate(models)
    }


def draw_curves(axes: Axes, row: dict[str, Figures], style: Styles) -> None:
    """Draw the accuracy of each model in the windows that it has done."""
    for model, figures in row.items():
        ends = ends_of_windows(figures.n_examples)
        axes.plot(ends[: len(figures.windows)], figures.windows, **style[model])


def picture(results: Results, models: Iterable[str]) -> Figure:
    """Return the curves of all streams as one figure."""
    style = styles(measured(results, models))
    n_rows = math.ceil(len(results) / N_COLUMNS)
    figure = Figure(figsize=(4 * N_COLUMNS, 2.6 * n_rows + 0.8), layout="constrained", dpi=100)
    panels = figure.subplots(n_rows, N_COLUMNS, squeeze=False).ravel()
    for axes in panels:
        axes.set_axis_off()
    for axes, (stream, row) in zip(panels, results.items(), strict=False):
        axes.set_axis_on()
        axes.set_title(stream, fontsize=10, loc="left")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.tick_params(labelsize=8)
        draw_curves(axes, row, style)
    figure.supxlabel("examples", fontsize=9)
    figure.supylabel("accuracy in a window (%)", fontsize=9)
    lines = [Line2D([], [], label=model, **style[model]) for model in style]
    figure.legend(handles=lines, loc="outside upper center", ncols=5, frameon=False, fontsize=9)
    return figure


def write_picture(results: Results, models: Iterable[str], path: Path) -> None:
    picture(results, models).savefig(path)
