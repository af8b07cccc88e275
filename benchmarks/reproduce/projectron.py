"""Tables 1 and 3 of the Projectron paper: mistakes and support vectors in one pass.

The data set of Table 2, Vehicle, is left out.

"""

from __future__ import annotations

import numpy as np

import river_budget as rb
from benchmarks.reproduce import data, published
from benchmarks.reproduce.published import Setting
from benchmarks.reproduce.verdicts import Measured, shown
from benchmarks.tables import markdown
from river_budget import synth
from river_budget.base import Machine
from river_budget.theory import bounds

N_REPEATS = 5

PUBLISHED = published.projectron()
SETTINGS = [setting for setting in PUBLISHED if setting.data_set in ("Adult9", "Synthetic")]
QUICK = [Setting("Synthetic", "KernelPerceptron", None), Setting("Synthetic", "Projectron", 500)]


def model(algorithm: str, budget: int | None, kernel: rb.kernels.Kernel, seed: int) -> Machine:
    """Return an algorithm as the paper runs it."""
    if budget is None:
        return getattr(rb, algorithm)(kernel)
    if algorithm in ("Projectron", "ProjectronPlusPlus"):
        return getattr(rb, algorithm)(kernel, norm_bound=bounds.forgetron_norm(budget))
    if algorithm == "RandomizedBudgetPerceptron":
        return rb.RandomizedBudgetPerceptron(kernel, budget, seed=seed)
    return getattr(rb, algorithm)(kernel, budget)


def measured(
    data_set: str, algorithm: str, budget: int | None, n_repeats: int
) -> dict[str, list[float]]:
    """Return mistakes in percent and support sizes after one pass, in several orders."""
    kernel = rb.RBF(gamma=1 / (2 * published.projectron_sigma_squared()[data_set]))
    learners = [model(algorithm, budget, kernel, seed) for seed in range(n_repeats)]
    for seed, learner in enumerate(learners):
        rows = examples(data_set, seed)
        for i in np.random.default_rng(seed).permutation(len(rows)).tolist():
            learner.learn_one(*rows[i])
    return {
        "mistakes": [round(100 * own.n_mistakes / own.n_rounds, 3) for own in learners],
        "support": [own.n_support for own in learners],
    }


def examples(data_set: str, seed: int) -> list:
    """Return the examples of a data set; each seed gives a new sample of the synthetic one."""
    if data_set == "Synthetic":
        return list(synth.TwoGaussians(10_000, seed=seed))
    return data.sparse_training_part(data_set)


def table(found: Measured) -> str:
    """Return a table of mistakes, and of the support set where it may vary."""
    return markdown({
        setting.title: {
            f"{quantity}{unit}": shown(found, PUBLISHED, setting, quantity)
            for quantity, unit in [("mistakes", " (%)"), ("support", "")]
            if quantity in PUBLISHED[setting]
        }
        for setting in found
    })  # fmt: skip
