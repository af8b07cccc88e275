"""Pictures. They need matplotlib, which the extra `plot` installs.

Functions that begin with `draw` draw on axes that are given, those that begin with `plot` make a file.

"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cycler import cycler
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure, FigureBase

from river_budget.base import Machine
from river_budget.evaluate import Comparison, Life
from river_budget.kernels import Kernel
from river_budget.metrics import FadingError
from river_budget.theory import Certificate

__all__ = [
    "FORMATS",
    "draw_accuracies",
    "draw_decision_regions",
    "draw_errors",
    "draw_expert_weights",
    "mark_drifts",
    "plot_certificates",
    "plot_comparison",
    "plot_decision_regions",
    "plot_lives",
]

# What a file's name may end in.
FORMATS = frozenset(FigureCanvasBase.filetypes)

DOTS_PER_INCH = 72

# Points of a curve over time.
N_POINTS = 500


def plot_comparison(comparison: Comparison, title: str, path: Path) -> None:
    """Draw online error and support size against examples, as Figures 1 and 2 of the Projectron
    paper do: means over the orders, with a band of one standard deviation.

    Parameters
    ----------
    comparison
        The runs.
    title
        What stands above the picture.
    path
        Where it goes; the suffix tells the format.

    """
    figure = Figure(figsize=(12, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes in (left, right):
        _tell_apart(axes)
    for name, runs in comparison.runs.items():
        examples = runs[0].examples
        for axes, values in [
            (left, 100 * np.array([run.errors for run in runs])),
            (right, np.array([run.support_sizes for run in runs])),
        ]:
            mean, deviation = values.mean(axis=0), values.std(axis=0)
            (line,) = axes.plot(examples, mean, label=name)
            axes.fill_between(
                examples, mean - deviation, mean + deviation, color=line.get_color(), alpha=0.2
            )
    # The first few examples are nearly all mistakes and would squeeze the rest.
    late = [
        max(run.errors[len(run.errors) // 20 :])
        for runs in comparison.runs.values()
        for run in runs
    ]
    left.set_ylim(0, 110 * max(late))
    left.set(xlabel="examples", ylabel="online error (%)")
    right.set(xlabel="examples", ylabel="support vectors", ylim=(0, None))
    _name_lines(right)
    _save(figure, title, path)


def plot_lives(lives: Mapping[str, Life], title: str, path: Path) -> None:
    """Draw lives: error and support size over time, and what each model knew after each visit.

    Parameters
    ----------
    lives
        Lives through the same visits, by the models' names.
    title
        What stands above the picture.
    path
        Where it goes; the suffix tells the format.

    """
    n_columns = min(7, len(lives))
    heights = [4, 2 * math.ceil(len(lives) / n_columns)]
    figure = Figure(figsize=(14, sum(heights)), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=heights, squeeze=False).ravel()
    left, right = above.subplots(1, 2)
    draw_errors(left, {name: life.wrong for name, life in lives.items()})
    _tell_apart(right)
    for name, life in lives.items():
        right.plot(*_thinned(life.support_sizes), label=name)
    right.set(xlabel="examples", ylabel="support vectors", ylim=(0, None))
    for axes in (left, right):
        mark_drifts(axes, next(iter(lives.values())).drifts)
    _name_lines(right)
    for axes, (name, life) in zip(_grid(below, len(lives), n_columns), lives.items(), strict=True):
        draw_accuracies(axes, life, name)
    _save(figure, title, path)


def plot_certificates(certificates: Mapping[str, Certificate], title: str, path: Path) -> None:
    """Draw mistakes and their bound over time, a panel for each model.

    Parameters
    ----------
    certificates
        What `theory.certify` returns, by the models' names.
    title
        What stands above the picture.
    path
        Where it goes; the suffix tells the format.

    """
    figure, panels = _panels(len(certificates), 3, (3.4, 2.4))
    for axes, (name, certificate) in zip(panels, certificates.items(), strict=True):
        axes.plot(certificate.examples, certificate.bounds, "k--", label="bound")
        axes.plot(certificate.examples, certificate.mistakes, label="mistakes")
        axes.set_title(name, fontsize="small")
        axes.set(xlabel="examples", yscale="log")
        axes.legend(fontsize="x-small")
    _save(figure, title, path)


def plot_decision_regions(
    models: Mapping[str, Machine],
    names: tuple[Any, Any],
    limits: tuple[float, float],
    title: str,
    path: Path,
) -> None:
    """Draw the hypotheses of several models of two features, a panel each.

    Parameters
    ----------
    models
        Trained models, by name.
    names
        The names of the two features.
    limits
        The smallest and largest value of both.
    title
        What stands above the picture.
    path
        Where it goes; the suffix tells the format.

    """
    figure, panels = _panels(len(models), math.ceil(math.sqrt(1.6 * len(models))), (2.2, 2.4))
    for axes, (name, model) in zip(panels, models.items(), strict=True):
        draw_decision_regions(axes, model, names, limits)
        axes.set_title(f"{name} ({model.n_support})", fontsize="x-small")
    _save(figure, title, path)


def draw_decision_regions(
    axes: Axes,
    model: Machine,
    names: tuple[Any, Any],
    limits: tuple[float, float],
    n_points: int = 80,
) -> None:
    """Draw a hypothesis of two features, as Figure 2 of the Tightest paper does.

    The boundary f(x) = 0 is black, the margins f(x) = 1 and -1 are magenta and cyan, positive support
    vectors are red and negative ones green.

    Parameters
    ----------
    axes
        Where to draw.
    model
        A trained model.
    names
        The names of the two features.
    limits
        The smallest and largest value of both.
    n_points
        Number of points along each side at which f is computed.

    """
    grid = np.linspace(*limits, n_points)
    values = np.array(
        [
            [model.decision_function_one(dict(zip(names, (a, b), strict=True))) for a in grid]
            for b in grid
        ]
    )
    axes.contourf(grid, grid, values > 0, levels=[0.5, 2], colors=["mistyrose"])
    axes.contour(
        grid, grid, values, levels=[-1, 0, 1], colors=["cyan", "black", "magenta"],
        linewidths=[0.6, 1.2, 0.6], linestyles="solid",
    )  # fmt: skip
    vectors = np.array([[x.get(name, 0.0) for name in names] for x in model.support_vectors])
    vectors = vectors.reshape(-1, 2)
    for sign, color in [(1, "red"), (-1, "green")]:
        chosen = vectors[np.sign(model.coefficients) == sign]
        axes.scatter(chosen[:, 0], chosen[:, 1], s=3, color=color)
    axes.set(xlim=limits, ylim=limits, xticks=[], yticks=[], aspect="equal")


def draw_errors(axes: Axes, wrong: Mapping[str, Any], factor: float = 0.99) -> None:
    """Draw prequential errors with a fading factor over time (see `metrics.FadingError`).

    Parameters
    ----------
    axes
        Where to draw.
    wrong
        Whether each prediction was wrong (examples,), by the models' names.
    factor
        The fading factor.

    """
    _tell_apart(axes)
    for name, mistakes in wrong.items():
        metric, errors = FadingError(factor), []
        for mistake in mistakes:
            metric.update(False, bool(mistake))
            errors.append(100 * metric.get())
        axes.plot(*_thinned(errors), label=name, linewidth=1)
    axes.set(xlabel="examples", ylabel="fading error (%)", ylim=(0, None))


def draw_accuracies(axes: Axes, life: Life, title: str) -> None:
    """Draw R: the accuracy on each concept (columns) after each visit (lines)."""
    axes.imshow(life.accuracy, vmin=0, vmax=1, cmap="RdYlGn", aspect="auto")
    for i, row in enumerate(life.accuracy):
        for j, value in enumerate(row):
            axes.text(j, i, f"{100 * value:.0f}", ha="center", va="center", fontsize=6)
    axes.set_yticks(range(len(life.visits)), [str(j) for j in life.visits], fontsize=6)
    axes.set_xticks(range(life.accuracy.shape[1]))
    axes.tick_params(axis="x", labelsize=6)
    axes.set_title(title, fontsize="x-small")
    axes.set_ylabel("after visit to", fontsize=6)
    axes.set_xlabel("accuracy on (%)", fontsize=6)


def draw_expert_weights(
    axes: Axes,
    rounds: Sequence[int],
    history: Sequence[Mapping[tuple[Kernel, float, float], float]],
) -> None:
    """Draw which memory Mnemotron trusts over time, the weights of all kernels added up.

    Parameters
    ----------
    axes
        Where to draw.
    rounds
        When the weights were taken.
    history
        `Mnemotron.expert_weights` at those rounds.

    """
    memories = sorted({memory for weights in history for _, memory, _ in weights})
    shares = [
        [sum(w for (_, m, _), w in weights.items() if m == memory) for weights in history]
        for memory in memories
    ]
    axes.stackplot(rounds, shares, labels=[f"{memory:g}" for memory in memories], alpha=0.8)
    axes.set(xlabel="examples", ylabel="weight", ylim=(0, 1), xlim=(rounds[0], rounds[-1]))
    axes.legend(title="memory", loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")


def mark_drifts(axes: Axes, drifts: Sequence[int]) -> None:
    """Draw a line where each drift was."""
    for drift in drifts:
        axes.axvline(drift, color="black", linestyle="--", linewidth=0.8)


def _panels(n: int, n_columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """Return a figure of so many panels of one size, and the panels."""
    n_columns = min(n, n_columns)
    n_lines = math.ceil(n / n_columns)
    figure = Figure(figsize=(size[0] * n_columns, size[1] * n_lines + 0.4), layout="constrained")
    return figure, _grid(figure, n, n_columns)


def _grid(figure: FigureBase, n: int, n_columns: int) -> list[Axes]:
    """Return so many panels of a figure; what is left of the last line stays empty."""
    panels = figure.subplots(math.ceil(n / n_columns), n_columns, squeeze=False).ravel()
    for axes in panels[n:]:
        axes.set_axis_off()
    return list(panels[:n])


def _tell_apart(axes: Axes) -> None:
    """Give lines ten colours, in three styles."""
    axes.set_prop_cycle(cycler(linestyle=["-", "--", ":"]) * rcParams["axes.prop_cycle"])


def _name_lines(axes: Axes) -> None:
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")


def _thinned(values: Any) -> tuple[Any, Any]:
    """Return some of the points of a curve, with their positions."""
    positions = np.arange(0, len(values), max(1, len(values) // N_POINTS))
    return positions, np.asarray(values)[positions]


def _save(figure: Figure, title: str, path: Path) -> None:
    figure.suptitle(title)
    figure.savefig(path, dpi=DOTS_PER_INCH)
