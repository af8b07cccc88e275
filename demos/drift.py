"""Drift and recurring concepts
============================

Which models follow a gradual drift, and which remember recurring concepts?

``python demos/drift.py [PICTURE]``

"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from matplotlib.figure import Figure
from river import neighbors, tree
from river.datasets.base import SyntheticDataset

import river_budget as rb
from river_budget import evaluate, plots, synth

KERNEL = rb.RBF(gamma=1.0)
BUDGET = 100
STATIONARY = ROTATING = 2000

MODELS = {
    "Mnemotron": rb.Mnemotron(BUDGET),
    "Tightest": rb.TightestPerceptron(KERNEL, BUDGET),
    "Projectron++": rb.ProjectronPlusPlus(KERNEL, budget=BUDGET),
    "Forgetron": rb.Forgetron(KERNEL, BUDGET),
    "Random": rb.RandomizedBudgetPerceptron(KERNEL, BUDGET, seed=1),
    "Stoptron": rb.Stoptron(KERNEL, BUDGET),
    "HoeffdingAdaptiveTree": tree.HoeffdingAdaptiveTreeClassifier(seed=1),
    "KNN": neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=BUDGET)),
}


def gradual_drift(speed: float = 1 / 60) -> list:
    """Return examples of a stream that is stationary, rotates, and is stationary again."""
    angle = speed * ROTATING
    parts = [
        synth.RotatingGaussians(STATIONARY, speed=0, seed=1),
        synth.RotatingGaussians(ROTATING, speed=speed, seed=2),
        synth.RotatingGaussians(STATIONARY, speed=0, start=angle, seed=3),
    ]
    return [example for part in parts for example in part]


def concepts() -> list[SyntheticDataset]:
    """Return four stationary streams."""
    return [synth.RotatingGaussians(speed=0, start=i * math.pi / 4, seed=5 + i) for i in range(4)]


def prequential_mistakes(model, examples: list) -> list[bool]:
    """Return whether each prediction, made before learning its example, was wrong."""
    wrong = []
    for x, y in examples:
        wrong.append(model.predict_one(x) != y)
        model.learn_one(x, y)
    return wrong


def expert_weights(examples: list) -> tuple[list[int], list[dict]]:
    """Return Mnemotron's expert weights every 50 examples."""
    model, rounds, history = rb.Mnemotron(BUDGET), [], []
    for t, (x, y) in enumerate(examples):
        model.learn_one(x, y)
        if t % 50 == 0:
            rounds.append(t)
            history.append(model.expert_weights)
    return rounds, history


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "drift.png")
    stream = gradual_drift()
    wrong = {name: prequential_mistakes(model.clone(), stream) for name, model in MODELS.items()}
    runs = {
        name: evaluate.lifelong(model, concepts(), task_sequence=2 * [0, 1, 2, 3])
        for name, model in MODELS.items()
    }

    print(f"{'errors (%)':<23}{'stationary':>12}{'rotating':>10}{'stationary':>12}", end="")
    print(f"{'recurring':>11}{'final':>7}{'forgetting':>12}{'bytes':>12}")
    for name, run in runs.items():
        parts = [wrong[name][i : i + STATIONARY] for i in range(0, len(stream), STATIONARY)]
        before, rotating, after = (100 * sum(part) / len(part) for part in parts)
        print(f"{name:<23}{before:>12.1f}{rotating:>10.1f}{after:>12.1f}", end="")
        print(f"{100 * run.prequential_error:>11.1f}{100 - 100 * run.accuracy_final:>7.1f}", end="")
        print(f"{100 * run.forgetting:>12.1f}{run.memory_bytes:>12,}")

    figure = Figure(figsize=(10, 9), layout="constrained")
    above, middle, below = figure.subplots(3, 1)
    plots.draw_errors(above, wrong)
    plots.draw_expert_weights(middle, *expert_weights(stream))
    plots.draw_errors(below, {name: run.wrong for name, run in runs.items()})
    for axes in (above, middle):
        plots.mark_drifts(axes, [STATIONARY, STATIONARY + ROTATING])
        axes.set_xlim(0, len(stream))
    plots.mark_drifts(below, runs["Mnemotron"].drifts)
    above.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    above.set_title("gradual drift: stationary, rotating, stationary")
    middle.set_title("Mnemotron's expert weights on the same stream")
    below.set_title("four recurring concepts")
    figure.savefig(path, dpi=80)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
