"""Decision regions
================

What models learn of a noisy checkerboard, as in Figure 2 of the Tightest paper: accuracy of all, and the
decision regions of three.

``python demos/checkerboard.py [PICTURE]``

"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from matplotlib.figure import Figure

import river_budget as rb
from river_budget import plots, synth

BUDGET = 100
DRAWN = ["Forgetron", "Tightest", "Mnemotron"]
# The paper's width sigma^2 = 0.1, for features with standard deviation 1.
KERNEL = rb.RBF(gamma=1 / (2 * 0.1))


def board(n_samples: int, noise: float, seed: int) -> list:
    """Return a checkerboard, its coordinates scaled to mean 0 and standard deviation 1."""
    stream = synth.NoisyCheckerboard(n_samples, noise=noise, seed=seed)
    return [({i: (v - 0.5) * math.sqrt(12) for i, v in x.items()}, y) for x, y in stream]


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "checkerboard.png")
    models = {
        "Perceptron": rb.KernelPerceptron(KERNEL),
        "PA-I": rb.KernelPAClassifier(KERNEL),
        "Stoptron": rb.Stoptron(KERNEL, BUDGET),
        "Remove oldest": rb.RemoveOldestPerceptron(KERNEL, BUDGET),
        "Random": rb.RandomizedBudgetPerceptron(KERNEL, BUDGET, seed=1),
        "Modified random": rb.ModifiedRandomizedBudgetPerceptron(KERNEL, BUDGET, seed=1),
        "CKS": rb.FixedBudgetPerceptron(KERNEL, BUDGET),
        "Forgetron": rb.Forgetron(KERNEL, BUDGET),
        "Simplified Forgetron": rb.SimplifiedForgetron(KERNEL, BUDGET),
        "Projectron": rb.Projectron(KERNEL, budget=BUDGET),
        "Projectron++": rb.ProjectronPlusPlus(KERNEL, budget=BUDGET),
        "Tighter, support": rb.TighterPerceptron(KERNEL, BUDGET),
        "Tighter, 100 more": rb.TighterPerceptron(KERNEL, BUDGET, validation=100, seed=1),
        "Tightest": rb.TightestPerceptron(KERNEL, BUDGET),
        "Mnemotron": rb.Mnemotron(BUDGET),
    }
    for x, y in board(10_000, noise=0.15, seed=42):
        for model in models.values():
            model.learn_one(x, y)

    clean = board(2_000, noise=0.0, seed=7)
    accuracies = {}
    for name, model in models.items():
        accuracies[name] = 100 * sum(model.predict_one(x) == y for x, y in clean) / len(clean)
        print(f"{name:<22}{accuracies[name]:5.1f} % accuracy on clean labels")

    figure = Figure(figsize=(10, 3.8), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.12)
    for axes, name in zip(figure.subplots(1, len(DRAWN)), DRAWN, strict=True):
        plots.draw_decision_regions(axes, models[name], (0, 1), (-math.sqrt(3), math.sqrt(3)))
        axes.set_title(f"{name}: {accuracies[name]:.0f} %", fontsize="x-large")
    figure.savefig(path)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
