"""Plots of comparisons, of continual learning and of models. They need the extra `plot` (matplotlib).

A `plot_*` function returns a new figure, and a `draw_*` function draws on axes of yours. The results of
several models are given as a dict by name. Runs of `evaluate.lifelong` that are drawn together must have
the same task sequence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import pyplot, rcParams  # pyplot tells a notebook how to show figures.
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.rcsetup import cycler

from river_budget._regions import EVERYWHERE
from river_budget.base.documented import describing
from river_budget.evaluate import Comparison, ContinualRun
from river_budget.explanation import Explanation, short
from river_budget.metrics import FadingError
from river_budget.theory import Certificate

__all__ = [
    "draw_accuracy_matrix", "draw_accuracy_seen", "draw_class_forgetting", "draw_decision_regions",
    "draw_errors", "draw_expert_weights", "draw_explanation", "draw_prediction_sets", "draw_regions",
    "draw_relevances", "mark_drifts", "plot_certificates", "plot_comparison", "plot_continual_runs",
]  # fmt: skip

# The resolution of figures in files.
DOTS_PER_INCH = 72

Runs = Mapping[str, ContinualRun]
Pair = tuple[Any, Any]

# What the arguments of the functions are.
PARAMETERS = {
    "comparison": "What `evaluate.compare` returned.",
    "runs": "What `evaluate.lifelong` returned for each model.",
    "certificates": "What `theory.certify` returned for each model.",
    "axes": "Where to draw.",
    "model": "A trained model of this package.",
    "names": "The names of its two features: the horizontal one and the vertical one.",
    "limits": "The smallest and the largest value of both features.",
    "n_points": "Number of points along each axis at which the model is asked.",
    "wrong": "For each model, whether each of its predictions was wrong (examples,).",
    "factor": "The fading factor, as in `metrics.FadingError`.",
    "run": "What `evaluate.lifelong` returned.",
    "rounds": "Numbers of rounds, ascending.",
    "history": "`Mnemotron.expert_weights` after each of these rounds; for relevances, `relevances_`.",
    "explanation": "What `explain` returned.",
    "labels": "The label of each example.",
    "sets": "The set of labels that was predicted for each example.",
    "coverage": "The share of sets that should contain the label.",
    "n_features": "Number of features, those with the largest effects.",
    "drifts": "The indices of the examples with which a new concept begins.",
    "title": "The title.",
}

_plot = describing(PARAMETERS)


@_plot
def plot_comparison(comparison: Comparison, title: str = "") -> Figure:
    """Plot online error and support size over time, as Figures 1 and 2 of the Projectron paper do.

    Lines are means over the permutations, and bands are one standard deviation to either side.
    """
    figure = _figure(title, 12, 4)
    left, right = figure.subplots(1, 2)
    highest = 0.0
    for name, runs in comparison.runs.items():
        x, sizes = np.array(runs[0].examples), np.array([run.support_sizes for run in runs])
        errors = 100 * np.array([run.mistakes for run in runs]) / x
        # The errors on the first few examples would flatten all curves.
        highest = max(highest, errors[:, len(x) // 20 :].max())
        for axes, values in [(left, errors), (right, sizes)]:
            mean, deviation = values.mean(axis=0), values.std(axis=0)
            color = _draw_line(axes, name, x, mean).get_color()
            axes.fill_between(x, mean - deviation, mean + deviation, color=color, alpha=0.2)
    left.set(xlabel="examples", ylabel="online error (%)", ylim=(0, 1.1 * highest))
    right.set(xlabel="examples", ylabel="support vectors", ylim=(0, None))
    _add_legend(right)
    return figure


@_plot
def plot_continual_runs(runs: Runs, title: str = "") -> Figure:
    """Plot error and support size over time, and the accuracy matrix of each run."""
    heights = [4, 2 * math.ceil(len(runs) / 7)]
    figure = _figure(title, 14, sum(heights))
    above, below = figure.subfigures(2, 1, height_ratios=heights, squeeze=False).ravel()
    left, right = above.subplots(1, 2)
    draw_errors(left, {name: run.wrong for name, run in runs.items()})
    for name, run in runs.items():
        _draw_line(right, name, run.support_sizes)
    right.set(xlabel="examples", ylabel="support vectors", ylim=(0, None))
    for axes in (left, right):
        mark_drifts(axes, next(iter(runs.values())).drifts)
    _add_legend(right)
    for axes, (name, run) in zip(_grid(below, len(runs), 7), runs.items(), strict=True):
        draw_accuracy_matrix(axes, run, name)
    return figure


@_plot
def plot_certificates(certificates: Mapping[str, Certificate], title: str = "") -> Figure:
    """Plot mistakes and their bound over time, in a panel for each model."""
    n = len(certificates)
    figure = _figure(title, 3.4 * min(n, 3), 2.4 * math.ceil(n / 3) + 0.4)
    for axes, (name, certificate) in zip(_grid(figure, n, 3), certificates.items(), strict=True):
        axes.plot(certificate.examples, certificate.bounds, "k--", label="bound")
        axes.plot(certificate.examples, certificate.mistakes, label="mistakes")
        axes.set_title(name, fontsize="small")
        axes.set(xlabel="examples", yscale="log")
        axes.legend(fontsize="x-small")
    return figure


@_plot
def draw_decision_regions(
    axes: Axes, model: Any, names: Pair, limits: Pair, n_points: int = 80
) -> None:
    """Draw the decision regions of a model of two features, as Figure 2 of the Tightest paper does.

    Boundaries are black. The region of a label, its support vectors, and the line on which it has the
    margin 1 have a colour. Of two labels, the positive one is red and the negative one green.
    """
    grid = np.linspace(*limits, n_points)
    points = [[dict(zip(names, (a, b), strict=True)) for a in grid] for b in grid]
    scores = np.array([[[*model.scores_one(x).values()] for x in row] for row in points])
    coefficients, n = model.coefficients, scores.shape[2]
    if coefficients.ndim == 1:  # Those of the positive label.
        coefficients = np.stack([-coefficients, coefficients], axis=1)
    vectors = np.array([[x.get(name, 0.0) for name in names] for x in model.support_vectors])

    colormap = pyplot.get_cmap("tab10") if n <= 10 else pyplot.get_cmap("gist_rainbow", n)
    colors = ["green", "red"] if n == 2 else map(colormap, range(n))
    # A single label has no boundary.
    for c, color in enumerate(colors if n > 1 else []):
        margins = (scores[..., c] - np.delete(scores, c, axis=2).max(axis=2)) / 2
        axes.contourf(grid, grid, margins, levels=[0, np.inf], colors=[color], alpha=0.25)
        lines = axes.contour(grid, grid, margins, levels=[0, 1], colors=["black", color])
        lines.set(linewidths=[1.2, 0.6], linestyles="solid")
        us, vs = vectors[coefficients.argmax(axis=1) == c].T
        axes.scatter(us, vs, s=3, color=color)
    axes.set(xlim=limits, ylim=limits, xticks=[], yticks=[], aspect="equal")


@_plot
def draw_regions(axes: Axes, model: Any, names: Pair, limits: Pair, n_points: int = 80) -> None:
    """Draw the decision regions of a `Mnemotron` of two features, and the rectangles of its `regions_`.

    The colours are those of `draw_decision_regions`; support vectors are those of the root.
    """
    draw_decision_regions(axes, model, names, limits, n_points)
    for region in model.regions_:
        sides = [np.clip(region.bounds.get(name, EVERYWHERE), *limits) for name in names]
        (left, right), (bottom, top) = sides
        rectangle = Rectangle((left, bottom), right - left, top - bottom, fill=False)
        rectangle.set(edgecolor="blue", linewidth=0.8)
        axes.add_patch(rectangle)


@_plot
def draw_errors(axes: Axes, wrong: Mapping[str, Any], factor: float = 0.99) -> None:
    """Draw the prequential error of each model over time, with a fading factor."""
    for name, mistakes in wrong.items():
        metric, curve = FadingError(factor), []
        for mistake in mistakes:
            metric.update(False, bool(mistake))
            curve.append(100 * metric.get())
        _draw_line(axes, name, curve, linewidth=1)
    axes.set(xlabel="examples", ylabel="fading error (%)", ylim=(0, None))


@_plot
def draw_accuracy_matrix(axes: Axes, run: ContinualRun, title: str) -> None:
    """Draw the accuracy on each task (columns) after each step of the task sequence (rows)."""
    tasks = range(run.accuracy_matrix.shape[1])
    _draw_cells(axes, run.accuracy_matrix, "RdYlGn", run.task_sequence, tasks)
    axes.set_title(title, fontsize="x-small")
    axes.set_ylabel("after learning task", fontsize=6)
    axes.set_xlabel("accuracy (%) on task", fontsize=6)


@_plot
def draw_accuracy_seen(axes: Axes, runs: Runs) -> None:
    """Draw the accuracy on all tasks so far after each step, `ContinualRun.accuracy_seen`."""
    for name, run in runs.items():
        _draw_line(axes, name, 100 * run.accuracy_seen, marker=".")
    sequence = next(iter(runs.values())).task_sequence
    axes.set_xticks(range(len(sequence)), [str(j) for j in sequence])
    axes.set(xlabel="after learning task", ylabel="accuracy on all tasks so far (%)", ylim=(0, 103))


@_plot
def draw_class_forgetting(axes: Axes, runs: Runs) -> None:
    """Draw how much each model (rows) has forgotten of each class (columns).

    Cells are empty for classes that only the last step, or no step, brings.
    """
    drops = np.array([run.class_forgetting for run in runs.values()])
    _draw_cells(axes, drops, "RdYlGn_r", runs, next(iter(runs.values())).classes)
    axes.set_xlabel("class")
    axes.set_title("drop from the best earlier accuracy on the class (%)", fontsize="small")


@_plot
def draw_expert_weights(axes: Axes, rounds: Sequence[int], history: Sequence[Any]) -> None:
    """Draw the total weight of Mnemotron's experts with each forgetting factor over time."""
    factors = sorted({factor for weights in history for _, factor, _ in weights})
    shares = [
        [sum(w for (_, f, _), w in weights.items() if f == factor) for weights in history]
        for factor in factors
    ]
    axes.stackplot(rounds, shares, labels=[f"{factor:g}" for factor in factors], alpha=0.8)
    axes.set(xlabel="examples", ylabel="weight", ylim=(0, 1), xlim=(rounds[0], rounds[-1]))
    _add_legend(axes, "forgetting factor")


@_plot
def draw_relevances(axes: Axes, rounds: Sequence[int], history: Sequence[Any]) -> None:
    """Draw the relevance of each feature over time, and 1, the mean, as a dotted line.

    A feature has a gap where it had no relevance.
    """
    for name in dict.fromkeys(name for weights in history for name in weights):
        _draw_line(axes, str(name), rounds, [weights.get(name, math.nan) for weights in history])
    axes.axhline(1.0, color="0.5", linestyle=":", linewidth=0.8)
    axes.set(xlabel="examples", ylabel="relevance", ylim=(0, None), xlim=(rounds[0], rounds[-1]))
    _add_legend(axes, "feature")


@_plot
def draw_explanation(axes: Axes, explanation: Explanation, n_features: int = 10) -> None:
    """Draw what each feature adds to the log odds of the label, the largest effect at the top.

    Bars of features that speak for the label are green, and those of others red.
    """
    features = explanation.features[:n_features]
    names = [f"{short(feature.name)} = {short(feature.value)}" for feature in features]
    effects = [feature.effect for feature in features]
    colors = ["green" if effect > 0 else "red" for effect in effects]
    axes.barh(range(len(features)), effects, color=colors, alpha=0.7)
    axes.set_yticks(range(len(features)), names)
    axes.invert_yaxis()
    axes.axvline(0.0, color="0.5", linewidth=0.8)
    axes.set(xlabel=f"adds to the log odds of {short(explanation.label)}")


@_plot
def draw_prediction_sets(
    axes: Axes,
    labels: Sequence[Any],
    sets: Sequence[Any],
    coverage: float = 0.9,
    factor: float = 0.99,
) -> None:
    """Draw over time how often predicted sets cover the label, and their mean size, both with a fading factor.

    The size has an axis of its own, on the right. The coverage to reach is a dotted line.
    """
    hits = [100.0 * (label in own) for label, own in zip(labels, sets, strict=True)]
    _draw_line(axes, "coverage", _faded(hits, factor), linewidth=1)
    axes.axhline(100.0 * coverage, color="0.5", linestyle=":", linewidth=0.8)
    axes.set(xlabel="examples", ylabel="coverage (%)", ylim=(0, 103))
    right = axes.twinx()
    right.plot(_faded([len(own) for own in sets], factor), color="C1", linewidth=1, label="size")
    right.set(ylabel="mean size", ylim=(0, None))
    lines = [axes.lines[0], right.lines[0]]
    right.legend(
        lines, [str(line.get_label()) for line in lines], fontsize="small", loc="lower right"
    )


@_plot
def mark_drifts(axes: Axes, drifts: Sequence[int]) -> None:
    """Draw a vertical line at each drift."""
    for drift in drifts:
        axes.axvline(drift, color="black", linestyle="--", linewidth=0.8)


def _faded(values: Sequence[float], factor: float) -> list[float]:
    """Return the mean of the values so far, after each one, where the last ones weigh most."""
    means, total, weight = [], 0.0, 0.0
    for value in values:
        total, weight = value + factor * total, 1.0 + factor * weight
        means.append(total / weight)
    return means


def _draw_cells(axes: Axes, shares: Any, colors: str, rows: Any, columns: Any) -> None:
    """Draw a matrix of shares, with percentages as text. Cells with NaN are empty."""
    axes.imshow(shares, vmin=0, vmax=1, cmap=colors, aspect="auto")
    axes.set_yticks(range(len(shares)), [*map(str, rows)], fontsize=6)
    axes.set_xticks(range(len(shares[0])), [*map(str, columns)], fontsize=6)
    for (i, j), share in np.ndenumerate(shares):
        if not math.isnan(share):
            axes.text(j, i, f"{100 * share:.0f}", ha="center", va="center", fontsize=6)


def _figure(title: str, width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title)
    return figure


def _grid(figure: FigureBase, n: int, n_columns: int) -> list[Axes]:
    """Return n panels of a figure, row by row. The rest of the last row stays empty."""
    shape = math.ceil(n / n_columns), min(n, n_columns)
    return [figure.add_subplot(*shape, i) for i in range(1, n + 1)]


def _draw_line(axes: Axes, name: str, *values: Any, **style: Any) -> Line2D:
    """Draw another line on some axes: in the default colours, then with the next line style."""
    styles = cycler(linestyle=["-", "--", ":"]) * rcParams["axes.prop_cycle"]
    drawn, _ = axes.get_legend_handles_labels()
    style |= list(styles)[len(drawn) % len(styles)]
    return axes.plot(*values, label=name, **style)[0]


def _add_legend(axes: Axes, title: str | None = None) -> None:
    axes.legend(title=title, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
