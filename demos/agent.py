"""An agent with late feedback
===========================

An agent that learns which plants are edible, from delayed and missing feedback.

At each step it sees a plant and eats it if the model predicts that it is good, or at random with a
small probability (exploration). A label arrives only for plants that it has eaten, after a delay, and
not always. Halfway through, the concept changes: other plants are good.

``python demos/agent.py [PICTURE]``

"""

from __future__ import annotations

import heapq
import math
import random
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from river import linear_model

import river_budget as rb
from river_budget import plots

N_STEPS = 20_000
DRIFT = N_STEPS // 2
EXPLORATION = 0.05
MAX_DELAY = 50
FEEDBACK = 0.7


def is_good(plant: dict, t: int) -> bool:
    """Return whether colour and smell are in the circle of good plants, which the drift moves."""
    center = -0.4 if t < DRIFT else 0.4
    return math.hypot(plant["colour"] - center, plant["smell"] - center) < 0.6


def run(model, seed: int) -> list[int]:
    """Return the reward of each step: 1 for eating a good plant, -1 for a bad one, 0 for none."""
    rng = random.Random(seed)
    delayed, rewards = [], []
    for t in range(N_STEPS):
        plant = {"colour": rng.uniform(-1, 1), "smell": rng.uniform(-1, 1)}
        good = is_good(plant, t)

        eats = model.predict_one(plant) or rng.random() < EXPLORATION
        rewards.append((1 if good else -1) if eats else 0)

        if eats and rng.random() < FEEDBACK:
            heapq.heappush(delayed, (t + rng.randint(1, MAX_DELAY), t, plant, good))
        while delayed and delayed[0][0] <= t:
            _, _, eaten, was_good = heapq.heappop(delayed)
            model.learn_one(eaten, was_good)
    return rewards


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "agent.png")
    models = {
        "Mnemotron": rb.Mnemotron(budget=100),
        "Projectron++": rb.ProjectronPlusPlus(rb.RBF(gamma=5.0), budget=100),
        "Tightest": rb.TightestPerceptron(rb.RBF(gamma=5.0), budget=100),
        "Stoptron": rb.Stoptron(rb.RBF(gamma=5.0), budget=100),
        "LogisticRegression": linear_model.LogisticRegression(),
    }
    rewards = {name: run(model, seed=1) for name, model in models.items()}

    print(f"{'total reward':<20}{'before drift':>14}{'after drift':>14}")
    for name, values in rewards.items():
        print(f"{name:<20}{sum(values[:DRIFT]):>14}{sum(values[DRIFT:]):>14}")

    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    for name, values in rewards.items():
        axes.plot(np.cumsum(values), label=name)
    plots.mark_drifts(axes, [DRIFT])
    axes.set(xlabel="steps", ylabel="total reward")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    figure.savefig(path, dpi=80)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
