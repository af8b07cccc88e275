"""Mistakes and their bounds
=========================

How far do mistakes stay below what the theorems promise?

Six algorithms learn one stream. Each theorem is applied to the comparator that makes its bound lowest
in hindsight.

``python demos/bounds.py [PICTURE]``

"""

from __future__ import annotations

import sys
from pathlib import Path

import river_budget as rb
from river_budget import plots, synth
from river_budget.theory import bounds, certify, comparators

KERNEL = rb.RBF(gamma=1.0)
BUDGET = 1000


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "bounds.png")
    norm_bound = bounds.forgetron_norm(BUDGET)
    models = {
        "Perceptron": rb.KernelPerceptron(KERNEL),
        "Forgetron": rb.Forgetron(KERNEL, BUDGET),
        "Projectron": rb.Projectron(KERNEL, norm_bound=norm_bound),
        "Projectron++": rb.ProjectronPlusPlus(KERNEL, norm_bound=norm_bound),
        "Modified random": rb.ModifiedRandomizedBudgetPerceptron(KERNEL, BUDGET, seed=1),
        "Simplified Forgetron": rb.SimplifiedForgetron(KERNEL, BUDGET),
    }
    stream = list(synth.RotatingGaussians(2000, speed=0, flip=0.02, seed=1))
    span = comparators.Span(KERNEL, stream)
    certificates = {name: certify(model, stream, span=span) for name, model in models.items()}
    for certificate in certificates.values():
        print(certificate.table())

    print(f"\nA budget of {BUDGET} competes with norms of at most")
    for name, largest_norm in [
        ("Forgetron", bounds.forgetron_norm),
        ("Modified random", bounds.modified_randomized_budget_norm),
        ("Simplified Forgetron", bounds.simplified_forgetron_norm),
    ]:
        smallest = bounds.smallest_budget(largest_norm, 4.0)
        print(f"  {name:<22}{largest_norm(BUDGET):5.2f}   (4 takes a budget of {smallest:,})")
    title = f"mistakes and bounds on one stream, budget {BUDGET}"
    plots.plot_certificates(certificates, title).savefig(path, dpi=plots.DOTS_PER_INCH)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
