"""A forager that learns what is good to eat, from pains and pleasures that come late or never.

It meets one plant after another and eats those that it takes for good, and now and then another one
out of curiosity. Only what it eats can teach it something, some time later, if it notices at all.
Half-way through its life the good plants look different.

python demos/agent.py [PICTURE]

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

LIFETIME = 20_000
CHANGE = LIFETIME // 2
CURIOSITY = 0.05
LONGEST_DELAY = 50
NOTICED = 0.7


def is_good(plant: dict, t: int) -> bool:
    """Good plants have much the same colour and smell, before the change and after it."""
    center = -0.4 if t < CHANGE else 0.4
    return math.hypot(plant["colour"] - center, plant["smell"] - center) < 0.6


def live(model, seed: int) -> list[int]:
    """Return what each moment brought: 1 for a good meal, -1 for a bad one, 0 for none."""
    rng = random.Random(seed)
    late, rewards = [], []
    for t in range(LIFETIME):
        plant = {"colour": rng.uniform(-1, 1), "smell": rng.uniform(-1, 1)}
        good = is_good(plant, t)

        eats = model.predict_one(plant) or rng.random() < CURIOSITY
        rewards.append((1 if good else -1) if eats else 0)

        if eats and rng.random() < NOTICED:
            heapq.heappush(late, (t + rng.randint(1, LONGEST_DELAY), t, plant, good))
        while late and late[0][0] <= t:
            _, _, eaten, was_good = heapq.heappop(late)
            model.learn_one(eaten, was_good)
    return rewards


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "agent.png")
    foragers = {
        "Mnemotron": rb.Mnemotron(budget=100),
        "Projectron++": rb.ProjectronPlusPlus(rb.RBF(gamma=5.0), budget=100),
        "Tightest": rb.TightestPerceptron(rb.RBF(gamma=5.0), budget=100),
        "Stoptron": rb.Stoptron(rb.RBF(gamma=5.0), budget=100),
        "LogisticRegression": linear_model.LogisticRegression(),
    }
    lives = {name: live(model, seed=1) for name, model in foragers.items()}

    print(f"{'good meals less bad ones':<26}{'before':>8}{'after':>8}")
    for name, rewards in lives.items():
        print(f"{name:<26}{sum(rewards[:CHANGE]):>8}{sum(rewards[CHANGE:]):>8}")

    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    for name, rewards in lives.items():
        axes.plot(np.cumsum(rewards), label=name)
    plots.mark_drifts(axes, [CHANGE])
    axes.set(xlabel="moments", ylabel="good meals less bad ones")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    figure.savefig(path, dpi=80)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
