"""Table 3 of the paper on budgeted stochastic gradient descent: test accuracy after one pass.

Checkerb and IJCNN are left out.

"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

import river_budget as rb
from benchmarks.local import load
from benchmarks.reproduce import data, published
from benchmarks.reproduce.published import Setting
from benchmarks.reproduce.verdicts import Measured, by_budget
from river_budget.base import Machine

N_REPEATS = 5

# The paper's data sets that are measured, and what `data` calls those that it splits.
DATA_SETS = ("Banana", "Gauss", "Pen", "Adult")
NAMES = {"Banana": "Banana", "Adult": "Adult9"}

# Examples to learn (all of them where the table gives the size of the set), and to test on Gauss.
N_TRAIN = {"Gauss": 10_000, "Adult": 21_000}
N_TEST_OF_GAUSS = 5_000

# The paper chooses width and regularization by ten-fold cross-validation, and names no grid. These are
# gamma times the number of features, and C, which is 1 / (lambda N) for gradient descent: LIBSVM's
# defaults, and values on both sides of them.
WIDTHS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
COSTS = (0.1, 1.0, 10.0)

# Of the ten folds, so many are held out in turn, and models learn at most so many of the others.
N_FOLDS = 2
N_CHOICE = 10_000

PUBLISHED = published.bsgd()
SETTINGS = [setting for setting in PUBLISHED if setting.data_set in DATA_SETS]
QUICK = [Setting("Gauss", "BudgetedSGD, removal", 100)]


class Parameters(NamedTuple):
    """The kernel's gamma, and C."""

    gamma: float
    cost: float


def model(algorithm: str, chosen: Parameters, budget: int, n: int) -> Machine:
    """Return an algorithm for n examples."""
    kernel = rb.RBF(chosen.gamma)
    if algorithm == "BudgetPassiveAggressive":
        return rb.BudgetPassiveAggressive(kernel, budget, C=chosen.cost)
    return rb.BudgetedSGD(
        kernel,
        budget,
        regularization=1 / (chosen.cost * n),
        maintenance=algorithm.removeprefix("BudgetedSGD, "),
    )


def measured(data_set: str, algorithm: str, budget: int, n_repeats: int) -> dict[str, list[float]]:
    """Return test accuracies in percent, with parameters chosen on the first sample."""
    chosen = choice(algorithm, budget, data.frames(split(data_set, 0), 0))
    accuracies = []
    for seed in range(n_repeats):
        frames = data.frames(split(data_set, seed), seed)
        learner = model(algorithm, chosen, budget, len(frames.train))
        accuracies.append(frames.accuracy(learner))
    return {"accuracy": accuracies}


def choice(algorithm: str, budget: int, frames: data.Frames) -> Parameters:
    """Return the parameters with the best accuracy on folds that are held out."""
    parts = [fold(frames, k) for k in range(N_FOLDS)]
    grid = [
        Parameters(width / frames.train.shape[1], cost)
        for width, cost in itertools.product(WIDTHS, COSTS)
    ]
    return max(
        grid,
        key=lambda chosen: sum(
            own.accuracy(model(algorithm, chosen, budget, len(own.train))) for own in parts
        ),
    )


def fold(frames: data.Frames, k: int) -> data.Frames:
    """Return fold k of ten of the training examples to test on, and others to learn."""
    is_held_out = 10 * np.arange(len(frames.train)) // len(frames.train) == k
    return data.Frames(
        frames.train[~is_held_out][:N_CHOICE],
        frames.labels[~is_held_out][:N_CHOICE],
        frames.train[is_held_out],
        frames.labels[is_held_out].to_numpy(),
    )


def split(data_set: str, seed: int) -> data.Split:
    """Return the training and test part of a data set."""
    if data_set == "Gauss":
        return gauss(seed)
    if data_set == "Pen":
        arrays = load(data.FILES["Pendigits"])
        return data.Split(*(arrays[name] for name in data.Split._fields))
    whole = data.split(NAMES[data_set], seed)
    kept = np.random.default_rng(seed).permutation(len(whole.X_train))[: N_TRAIN.get(data_set)]
    return whole._replace(X_train=whole.X_train[kept], y_train=whole.y_train[kept])


def gauss(seed: int) -> data.Split:
    """Return examples of N((0, 0), I) and N((2, 0), 4 I), with equal probabilities."""
    rng = np.random.default_rng(seed)
    n = N_TRAIN["Gauss"] + N_TEST_OF_GAUSS
    y = rng.random(n) < 0.5
    X = rng.normal(size=(n, 2)) * np.where(y, 2.0, 1.0)[:, None]
    X[:, 0] += 2.0 * y
    train, test = slice(N_TRAIN["Gauss"]), slice(N_TRAIN["Gauss"], n)
    return data.Split(X[train], y[train], X[test], y[test])


def table(found: Measured) -> str:
    return by_budget(found, PUBLISHED, "accuracy")
