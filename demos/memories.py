"""Which memory does Mnemotron trust while the world stands still, turns, and stands still again?

python demos/memories.py [PICTURE]

"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import river_budget as rb
from river_budget import plots, synth

STILL = TURNING = 3000
SPEED = 1 / 60


def turned(x: dict, angle: float) -> dict:
    """Return a point of the plane turned around the origin."""
    sine, cosine = math.sin(angle), math.cos(angle)
    return {0: cosine * x[0] - sine * x[1], 1: sine * x[0] + cosine * x[1]}


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "memories.png")
    model = rb.Mnemotron(budget=50)
    rounds, history, mistakes = [], [], [0]
    for t, (x, y) in enumerate(synth.TwoGaussians(2 * STILL + TURNING, seed=1)):
        angle = SPEED * min(max(t - STILL, 0), TURNING)
        model.learn_one(turned(x, angle), y)
        if t % 50 == 0:
            rounds.append(t)
            history.append(model.expert_weights)
        if (t + 1) % STILL == 0:
            mistakes.append(model.n_mistakes)
    for i, name in enumerate(["still", "turning", "still again"]):
        wrong = mistakes[i + 1] - mistakes[i]
        print(f"{name:<12}{100 * wrong / STILL:5.1f} % mistakes")
    plots.plot_expert_weights(rounds, history, path, drifts=[STILL, STILL + TURNING])
    print(f"saved {path}")


if __name__ == "__main__":
    main()
