"""Pictures. They need matplotlib, which the extra `plot` installs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from cycler import cycler
from matplotlib import rcParams
from matplotlib.figure import Figure

from river_budget.evaluate import Comparison
from river_budget.kernels import Kernel

__all__ = ["plot_comparison", "plot_expert_weights"]


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
        # Ten colours, in three styles of lines.
        axes.set_prop_cycle(cycler(linestyle=["-", "--", ":"]) * rcParams["axes.prop_cycle"])
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
    right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    figure.suptitle(title)
    figure.savefig(path, dpi=120)


def plot_expert_weights(
    rounds: Sequence[int],
    history: Sequence[Mapping[tuple[Kernel, float, float], float]],
    path: Path,
    drifts: Sequence[int] = (),
) -> None:
    """Draw which memory Mnemotron trusts over time, the weights of all kernels added up.

    Parameters
    ----------
    rounds
        When the weights were taken.
    history
        `Mnemotron.expert_weights` at those rounds.
    path
        Where the picture goes; the suffix tells the format.
    drifts
        Rounds to mark.

    """
    memories = sorted({memory for weights in history for _, memory, _ in weights})
    shares = [
        [sum(w for (_, m, _), w in weights.items() if m == memory) for weights in history]
        for memory in memories
    ]
    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    axes.stackplot(rounds, shares, labels=[f"{memory:g}" for memory in memories], alpha=0.8)
    for drift in drifts:
        axes.axvline(drift, color="black", linestyle="--", linewidth=1)
    axes.set(xlabel="examples", ylabel="weight", ylim=(0, 1), xlim=(rounds[0], rounds[-1]))
    axes.legend(title="memory", loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, dpi=120)
