"""The leaderboard as a page of the site: tables that sort, and plots."""

from __future__ import annotations

import io
import math
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from html import escape
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks import lifelong
from benchmarks.leaderboard.cells import OURS, RIVERS, models
from benchmarks.leaderboard.track import LAST_LABEL, PUBLISHED, RELEASE
from benchmarks.multiclass import markdown
from river_budget.catalog import ALGORITHMS

# A cell of the JSON file.
Cell = dict[str, Any]

# Of the section on late labels, in examples.
DELAY = 100

# Drawn in the colour of the page's text, light or dark.
TEXT = "#010203"
BLUE, ORANGE = "#3b82c4", "#d9822b"
SHADES = {True: ["#1d5fa8", "#3b9be0", "#6fb7b0"], False: ["#c0561b", "#e8a33d", "#b8608a"]}

NO_METADATA = dict.fromkeys(["Creator", "Date", "Format", "Type"])

# A click sorts; the first one puts the largest number, or the first name, on top.
SCRIPT = """
for (const button of document.querySelectorAll(".board th button")) {
  button.addEventListener("click", () => {
    const heading = button.parentElement, table = heading.closest("table");
    const value = row => row.cells[heading.cellIndex].dataset.value;
    const rows = [...table.tBodies[0].rows];
    const numbers = rows.every(row => value(row) === "" || !isNaN(value(row)));
    const first = numbers ? "descending" : "ascending";
    const second = numbers ? "ascending" : "descending";
    const order = heading.ariaSort === first ? second : first;
    for (const other of heading.parentElement.cells) other.ariaSort = null;
    heading.ariaSort = order;
    const sign = order === "ascending" ? 1 : -1;
    rows.sort((a, b) => {
      const [p, q] = [value(a), value(b)];
      if (p === "" || q === "") return (p === "") - (q === "");
      return sign * (numbers ? p - q : p.localeCompare(q));
    });
    table.tBodies[0].append(...rows);
  });
}
"""


class Column(NamedTuple):
    """A column of a table.

    Attributes
    ----------
    heading
        Its heading.
    value
        Returns the value of a row, or None for an empty cell.
    form
        How a value is written.
    is_best_high
        Whether the largest value is in bold.

    """

    heading: str
    value: Callable[[Any], Any]
    form: str = "{:.2f}"
    is_best_high: bool = False


COLUMNS = [
    Column("model", lambda cell: cell["model"], "{}"),
    Column("accuracy", lambda cell: cell["accuracy"], is_best_high=True),
    Column("kappa", lambda cell: cell["kappa"], is_best_high=True),
    Column("kappa m", lambda cell: cell["kappa_m"], is_best_high=True),
    Column("kappa t", lambda cell: cell["kappa_t"], is_best_high=True),
    Column("lowest window", lambda cell: min(cell["windowed"], default=None), is_best_high=True),
    Column("last window", lambda cell: next(reversed(cell["windowed"]), None), is_best_high=True),
    Column("processor µs", lambda cell: cell["processor"], "{:,.1f}"),
    Column("wall µs", lambda cell: cell["wall"], "{:,.1f}"),
    Column("bytes", lambda cell: cell["bytes"], "{:,}"),
    Column("examples", lambda cell: cell["examples"], "{:,}"),
]


def table(columns: list[Column], rows: Iterable[Any], model: Callable[[Any], str]) -> str:
    """Return a table that sorts; `model` returns the model of a row."""
    rows = list(rows)
    best = {
        column.heading: max(v for row in rows if (v := column.value(row)) is not None)
        for column in columns
        if column.is_best_high and any(column.value(row) is not None for row in rows)
    }

    def cell(column: Column, row: Any) -> str:
        value = column.value(row)
        if value is None:
            return '<td data-value=""></td>'
        text = escape(column.form.format(value))
        if value == best.get(column.heading):
            text = f"<strong>{text}</strong>"
        return f'<td data-value="{escape(str(value))}">{text}</td>'

    def line(row: Any) -> str:
        kind = "ours" if model(row) in ALGORITHMS else ""
        kind = "baseline" if model(row) == LAST_LABEL else kind
        return f'<tr class="{kind}">{"".join(cell(column, row) for column in columns)}</tr>'

    heads = "".join(
        f'<th scope="col"><button type="button">{escape(column.heading)}</button></th>'
        for column in columns
    )
    body = "\n".join(map(line, rows))
    return (
        f'<div class="board"><table><thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n'
        "</tbody></table></div>"
    )


def by_accuracy(cells: Iterable[Cell]) -> list[Cell]:
    return sorted(cells, key=lambda cell: -cell["accuracy"])


def ranks(streams: dict[str, list[Cell]]) -> dict[str, list[float]]:
    """Return the ranks of the models for any labels, on the streams that all of them have done."""
    shared = {**RIVERS, **OURS}
    found = defaultdict(list)
    for cells in streams.values():
        accuracies = {c["model"]: c["accuracy"] for c in cells if c["model"] in shared}
        if len(accuracies) < len(shared):
            continue
        for model, accuracy in accuracies.items():
            better = sum(other > accuracy for other in accuracies.values())
            equal = sum(other == accuracy for other in accuracies.values())
            found[model].append(better + (equal + 1) / 2)
    return found


def overview(streams: dict[str, list[Cell]]) -> str:
    """Return the table of accuracies on all streams, with mean ranks, and medians of time and memory."""
    of_model = {model: statistics.mean(found) for model, found in ranks(streams).items()}
    found: dict[str, dict[str, Cell]] = defaultdict(dict)
    for stream, cells in streams.items():
        for cell in cells:
            found[cell["model"]][stream] = cell

    def median(figure: str, unit: int) -> Callable[[str], float]:
        return lambda m: statistics.median(c[figure] for c in found[m].values()) / unit

    columns = [
        Column("model", lambda model: model, "{}"),
        Column("mean rank", of_model.get),
        Column("µs", median("processor", 1), "{:,.1f}"),
        Column("kB", median("bytes", 1000), "{:,.1f}"),
        *(
            Column(
                stream, lambda m, s=stream: found[m].get(s, {}).get("accuracy"), is_best_high=True
            )
            for stream in streams
        ),
    ]
    order = sorted(found, key=lambda model: of_model.get(model, math.inf))
    return table(columns, order, lambda model: model)


def published(streams: dict[str, list[Cell]], found: dict) -> str:
    """Return the table of River's page beside what is measured here, with both releases."""
    ours = {(c["stream"], c["model"]): c for cells in streams.values() for c in cells}
    again = found["reproduced"]
    rows = [(s, m) for s, of_page in PUBLISHED.items() for m in of_page if (s, m) in ours]

    def difference(row: tuple[str, str]) -> float | None:
        stream, model = row
        here = again.get(stream, {}).get(model)
        return None if here is None else round(here - PUBLISHED[stream][model], 4)

    columns = [
        Column("model", lambda row: row[1], "{}"),
        Column("stream", lambda row: row[0], "{}"),
        Column(f"published, River {RELEASE}", lambda row: PUBLISHED[row[0]][row[1]]),
        Column(f"here, River {RELEASE}", lambda row: again.get(row[0], {}).get(row[1])),
        Column("difference", difference, "{:+.2f}"),
        Column(f"here, River {found['versions']['River']}", lambda row: ours[row]["accuracy"]),
    ]
    return table(columns, rows, lambda row: row[1])


def verdict(cells: list[Cell]) -> str:
    """Return what the baseline says of a stream."""
    baseline = next((cell for cell in cells if cell["model"] == LAST_LABEL), None)
    if baseline is None:
        return ""
    others = [cell for cell in cells if cell is not baseline]
    worse = [cell["model"] for cell in others if cell["accuracy"] <= baseline["accuracy"]]
    figure = f"Repeating the last label is right in {baseline['accuracy']:.2f} % of the rounds"
    if others and len(worse) == len(others):
        return f"**The last label wins here.** {figure}; no model does better."
    if worse:
        names = ", ".join(worse)
        return (
            f"**The last label beats {len(worse)} of {len(others)} models.** "
            f"{figure}; not better: {names}."
        )
    return f"{figure}; every model does better."


def svg(draw: Callable[[Axes], None], name: str) -> str:
    """Return a plot as an element of the page, in the colours of its text."""
    colors = dict.fromkeys(
        ["text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"], TEXT
    )
    settings = {"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 8, **colors}
    with mpl.rc_context(settings):
        figure = Figure(figsize=(5.6, 3.6), layout="constrained")
        axes = figure.subplots()
        axes.spines[["top", "right"]].set_visible(False)
        axes.patch.set_visible(False)
        draw(axes)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata=NO_METADATA)
    text = stream.getvalue()
    # A blank line would end the HTML in Markdown.
    text = re.sub(r"\n\s*", "\n", text[text.index("<svg") :].replace(TEXT, "currentColor"))
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(name)}"', 1)


def draw_costs(axes: Axes, cells: list[Cell]) -> None:
    """Draw accuracy against time; the line joins those that nothing else beats in both."""
    axes.set(xscale="log", xlabel="processor time, µs per example", ylabel="accuracy (%)")
    learners = [cell for cell in cells if cell["model"] != LAST_LABEL]
    for is_ours, marker, color, owner in [
        (True, "o", BLUE, "river_budget"),
        (False, "s", ORANGE, "River"),
    ]:
        points = [
            (cell["processor"], cell["accuracy"])
            for cell in learners
            if (cell["model"] in ALGORITHMS) is is_ours
        ]
        if points:
            axes.plot(*zip(*points, strict=True), marker, color=color, markersize=4, label=owner)
    name_best(axes, learners)
    axes.legend(fontsize="small", frameon=False, loc="lower left", bbox_to_anchor=(1, 0))
    lowest = axes.get_ylim()[0]
    for cell in cells:
        if cell["model"] == LAST_LABEL and cell["accuracy"] > lowest:
            axes.axhline(cell["accuracy"], color=TEXT, linestyle=":", linewidth=1)
            axes.text(0, cell["accuracy"], LAST_LABEL, transform=axes.get_yaxis_transform())


def name_best(axes: Axes, cells: list[Cell]) -> None:
    """Connect the models that nothing else beats in both, and write their names beside the plot."""
    best = [
        cell
        for cell in sorted(cells, key=lambda cell: (cell["processor"], -cell["accuracy"]))
        if not any(
            other["processor"] < cell["processor"] and other["accuracy"] >= cell["accuracy"]
            for other in cells
        )
    ]
    axes.plot(
        *zip(*[(cell["processor"], cell["accuracy"]) for cell in best], strict=True),
        color=TEXT, linewidth=0.6, alpha=0.5,
    )  # fmt: skip
    names = "\n".join(cell["model"] for cell in reversed(best))
    axes.text(
        1.02, 1, f"On the line,\nfrom its top:\n\n{names}", transform=axes.transAxes,
        va="top", fontsize="small",
    )  # fmt: skip


def draw_windows(axes: Axes, cells: list[Cell]) -> None:
    """Draw the accuracy in windows: the three best of the package, of River, and the baseline."""
    axes.set(xlabel="examples", ylabel="accuracy in the window (%)")
    styles = {True: iter(SHADES[True]), False: iter(SHADES[False])}
    for cell in by_accuracy(c for c in cells if c["model"] != LAST_LABEL):
        color = next(styles[cell["model"] in ALGORITHMS], None)
        if color is not None:
            plot_windows(axes, cell, color=color, linewidth=1.2)
    for cell in cells:
        if cell["model"] == LAST_LABEL:
            plot_windows(axes, cell, color=TEXT, linestyle=":", linewidth=1)
    axes.legend(
        fontsize="small", frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.15)
    )


def plot_windows(axes: Axes, cell: Cell, **style: Any) -> None:
    ends = [cell["window"] * (i + 1) for i in range(len(cell["windowed"]))]
    axes.plot(ends, cell["windowed"], label=cell["model"], **style)


def section(stream: str, cells: list[Cell]) -> str:
    n, window = max(cell["asked"] for cell in cells), cells[0]["window"]
    missing = [model for model in models(stream) if model not in {c["model"] for c in cells}]
    absent = f" Not measured: {', '.join(missing)}." if missing else ""
    plots = svg(lambda axes: draw_costs(axes, cells), f"{stream}: accuracy and time")
    plots += svg(lambda axes: draw_windows(axes, cells), f"{stream}: accuracy in windows")
    return (
        f"## {stream}\n\n{verdict(cells)}\n\n"
        f"{n:,} examples, in windows of {window:,}.{absent}\n\n"
        f"{table(COLUMNS, by_accuracy(cells), lambda cell: cell['model'])}\n\n"
        f'<div class="plots">{plots}</div>\n'
    )


def one_after_the_other(tracks: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return the tables of the tracks on which each class comes in one task only."""
    columns = [Column("model", lambda row: row["model"], "{}")] + [
        Column(heading, lambda row, key=key: row[key], "{:.1f}", is_best_high=key != "forgetting")
        for key, heading in lifelong.HEADINGS.items()
    ]
    parts = []
    for name, found in tracks.items():
        missing = [m for m in lifelong.models(lifelong.TRACKS[name]) if m not in found]
        left_out = [*lifelong.TRACKS[name].left_out, *missing]
        absent = f" Not measured: {', '.join(left_out)}." if left_out else ""
        rows = [{"model": model, **figures} for model, figures in found.items()]
        rows.sort(key=lambda row: -row["final"])
        board = table(columns, rows, lambda row: row["model"].removesuffix(", archive"))
        parts.append(f"### {name}\n\n{lifelong.described(name)}.{absent}\n\n{board}\n")
    return "\n".join(parts)


def late_labels(streams: dict[str, dict[str, float]]) -> str:
    """Return a table of accuracies with late labels, and their means."""
    rows = {
        stream: {model: f"{accuracy:.1f}" for model, accuracy in row.items()}
        for stream, row in streams.items()
    }
    if not rows:
        return ""
    measured = next(iter(streams.values()))
    means = {model: statistics.fmean(row[model] for row in streams.values()) for model in measured}
    rows["mean"] = {model: f"{mean:.1f}" for model, mean in means.items()}
    return markdown(rows)


def page(found: dict) -> str:
    """Return the page of a leaderboard in Markdown, which is what its JSON file holds."""
    streams = defaultdict(list)
    for cell in found["cells"]:
        streams[cell["stream"]].append(cell)
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    n_complete = max(map(len, ranks(streams).values()), default=0)
    sections = "\n".join(section(stream, cells) for stream, cells in streams.items())
    return f"""# Leaderboard

All classifiers of river_budget (blue bar) beside River's, test then learn. All parameters are the defaults, with a
budget of 100 unless the class has another default or none. River's models are those of its benchmark, with its
scalers, and PA, softmax regression and a scaled Mondrian forest (AMF). A click on a heading sorts.

{versions}; `RIVER_BUDGET_DATA=DIR python -m benchmarks.leaderboard` measures it again.

## All streams

Accuracy in percent, after the medians of time (microseconds to predict and learn an example, on a machine that did
other work, too) and of memory. The mean rank is among the models for any number of labels, over the streams that all
of them have done ({n_complete} of {len(streams)}).

{overview(streams)}

The tables of single streams add Cohen's kappa, kappa m (relative to the majority class), kappa t (relative to the
last label), and the accuracy in the worst and in the last full window, all in percent. A row with fewer examples than
others reached the limit of time.

{sections}
## Classes one after the other

Each task brings a few new classes and is learned once ([which model keeps what](classes.md)). In percent: accuracy on
test rows of all classes at the end; how far the accuracy on a class has fallen from its best, averaged over classes;
and progressive accuracy. KNN keeps 1,000 examples, and "archive" is `Mnemotron(archive=300)`.

{one_after_the_other(found["tracks"])}
## Labels late by {DELAY}

Accuracy in percent over 4,000 examples, where each label comes after {DELAY} more examples were predicted
([what a delay costs](agents.md#what-a-delay-costs)). Streams "in runs" have their labels in runs with a mean length of 20.

{late_labels(found["late"])}

## Beside River's published figures

Accuracy in percent on the page of River {RELEASE}, of the same models with that release here, and with the release
that this board uses. Where the last two differ, River has changed: its Mondrian forest now expects values between 0
and 1. KNN and SRP draw at random, and the page's runs had no seed.

{published(streams, found)}

<script>{SCRIPT}</script>
"""
