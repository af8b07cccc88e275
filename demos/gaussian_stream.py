"""Error and support size
======================

Online error and support size on the Projectron paper's two Gaussians with label noise.

``python demos/gaussian_stream.py [PICTURE]``

"""

from __future__ import annotations

import sys
from pathlib import Path

import river_budget as rb
from river_budget import evaluate, plots, synth

BUDGET = 100
KERNEL = rb.RBF(gamma=1.0)


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "gaussian_stream.png")
    models = {
        "Perceptron": rb.KernelPerceptron(KERNEL),
        "Stoptron": rb.Stoptron(KERNEL, BUDGET),
        "Random": rb.RandomizedBudgetPerceptron(KERNEL, BUDGET, seed=1),
        "Forgetron": rb.Forgetron(KERNEL, BUDGET),
        "Projectron": rb.Projectron(KERNEL, eta=0.1),
        "Projectron++": rb.ProjectronPlusPlus(KERNEL, eta=0.1),
        "Tightest": rb.TightestPerceptron(KERNEL, BUDGET),
        "Mnemotron": rb.Mnemotron(BUDGET),
    }
    comparison = evaluate.compare(models, synth.TwoGaussians(seed=42), permutations=5, seed=1)
    print(f"{'':<14}{'mistakes':>12}{'support':>10}{'bytes':>12}")
    for name, figures in comparison.summary().items():
        mistakes, support, size, _ = (mean for mean, _ in figures.values())
        print(f"{name:<14}{mistakes:>10.1f} %{support:>10.0f}{size:>12,.0f}")
    figure = plots.plot_comparison(comparison, "Two Gaussians, 10 % of the labels flipped")
    figure.savefig(path, dpi=plots.DOTS_PER_INCH)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
