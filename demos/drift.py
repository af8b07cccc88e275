"""Who follows a world that turns, and who remembers one that comes back?

python demos/drift.py [PICTURE]

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
STILL = TURNING = 2000

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


def turning_world(speed: float = 1 / 60) -> list:
    """Return examples of a world that stands still, turns, and stands still again."""
    angle = speed * TURNING
    parts = [
        synth.RotatingGaussians(STILL, speed=0, seed=1),
        synth.RotatingGaussians(TURNING, speed=speed, seed=2),
        synth.RotatingGaussians(STILL, speed=0, start=angle, seed=3),
    ]
    return [example for part in parts for example in part]


def recurring_concepts() -> list[SyntheticDataset]:
    return [synth.RotatingGaussians(speed=0, start=i * math.pi / 4, seed=5 + i) for i in range(4)]


def live(model, examples: list) -> list[bool]:
    """Return which predictions were wrong, each made before its example was learned."""
    wrong = []
    for x, y in examples:
        wrong.append(model.predict_one(x) != y)
        model.learn_one(x, y)
    return wrong


def weights_over_time(examples: list) -> tuple[list[int], list[dict]]:
    model, rounds, history = rb.Mnemotron(BUDGET), [], []
    for t, (x, y) in enumerate(examples):
        model.learn_one(x, y)
        if t % 50 == 0:
            rounds.append(t)
            history.append(model.expert_weights)
    return rounds, history


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "drift.png")
    world = turning_world()
    wrong = {name: live(model.clone(), world) for name, model in MODELS.items()}
    lives = {
        name: evaluate.lifelong(model, recurring_concepts(), visits=2 * [0, 1, 2, 3])
        for name, model in MODELS.items()
    }

    print(f"{'mistakes in %':<23}{'still':>7}{'turning':>9}{'still':>7}", end="")
    print(f"{'recurring':>11}{'at the end':>12}{'forgotten':>11}{'bytes':>12}")
    for name, life in lives.items():
        parts = [wrong[name][start : start + STILL] for start in range(0, len(world), STILL)]
        still, turning, again = (100 * sum(part) / len(part) for part in parts)
        print(f"{name:<23}{still:>7.1f}{turning:>9.1f}{again:>7.1f}", end="")
        print(f"{100 * life.error:>11.1f}{100 - 100 * life.average_accuracy:>12.1f}", end="")
        print(f"{100 * life.forgetting:>11.1f}{life.memory_bytes:>12,}")

    figure = Figure(figsize=(10, 9), layout="constrained")
    above, middle, below = figure.subplots(3, 1)
    plots.draw_errors(above, wrong)
    plots.draw_expert_weights(middle, *weights_over_time(world))
    plots.draw_errors(below, {name: life.wrong for name, life in lives.items()})
    for axes in (above, middle):
        plots.mark_drifts(axes, [STILL, STILL + TURNING])
        axes.set_xlim(0, len(world))
    plots.mark_drifts(below, lives["Mnemotron"].drifts)
    above.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    above.set_title("a world that stands still, turns, and stands still again")
    middle.set_title("which memory Mnemotron trusts meanwhile")
    below.set_title("four concepts that come back")
    figure.savefig(path, dpi=80)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
