"""Table 3 of the paper on budgeted stochastic gradient descent: test accuracy after one pass."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import river_budget as rb
from benchmarks.reproduce import data
from benchmarks.reproduce.cells import Cell, Table
from benchmarks.reproduce.published import Setting, bsgd_accuracies
from benchmarks.reproduce.runner import Results, Task, under
from river_budget.base import Machine

TITLE = "Budgeted SGD paper"

N_REPEATS = 5
BUDGETS = (100, 500)

# The names in the package of the paper's data sets that are used. Gauss is drawn.
DATA_SETS = {"Banana": "Banana", "Gauss": None, "Pen": "Pendigits", "Adult": "Adult9"}

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


class Parameters(NamedTuple):
    """The kernel's gamma, and C."""

    gamma: float
    cost: float


def gradient_descent(maintenance: str) -> Callable[..., Machine]:
    def model(chosen: Parameters, budget: int, n: int) -> Machine:
        return rb.BudgetedSGD(
            rb.RBF(chosen.gamma),
            budget,
            regularization=1 / (chosen.cost * n),
            maintenance=maintenance,
        )

    return model


def passive_aggressive(chosen: Parameters, budget: int, n: int) -> Machine:
    return rb.BudgetPassiveAggressive(rb.RBF(chosen.gamma), budget, C=chosen.cost)


# In the paper's order. Each takes parameters, a budget and the number of examples.
ALGORITHMS: dict[str, Callable[..., Machine]] = {
    "BudgetPassiveAggressive": passive_aggressive,
    "BudgetedSGD, removal": gradient_descent("removal"),
    "BudgetedSGD, merging": gradient_descent("merging"),
}


def accuracies(
    data_set: str, algorithm: str, budget: int, n_repeats: int, directory: Path | None
) -> list[float]:
    """Return test accuracies in percent after one pass, with parameters chosen on the first sample."""
    build = ALGORITHMS[algorithm]
    frames = [data.frames(split(data_set, seed, directory), seed) for seed in range(n_repeats)]
    chosen = choice(build, budget, frames[0])
    return [accuracy(build(chosen, budget, len(own.train)), own) for own in frames]


def choice(build: Callable[..., Machine], budget: int, frames: data.Frames) -> Parameters:
    """Return the parameters with the best accuracy on folds that are held out."""
    parts = [fold(frames, k) for k in range(N_FOLDS)]
    grid = [
        Parameters(width / frames.train.shape[1], cost)
        for width, cost in itertools.product(WIDTHS, COSTS)
    ]
    return max(
        grid,
        key=lambda chosen: sum(
            accuracy(build(chosen, budget, len(part.train)), part) for part in parts
        ),
    )


def fold(frames: data.Frames, k: int) -> data.Frames:
    """Return fold k of ten of the training examples to test on, and others to learn."""
    is_held_out = 10 * np.arange(len(frames.train)) // len(frames.train) == k
    return data.Frames(
        frames.train[~is_held_out][:N_CHOICE],
        frames.labels[~is_held_out][:N_CHOICE],
        frames.train[is_held_out],
        np.asarray(frames.labels[is_held_out]),
    )


def accuracy(learner: Machine, frames: data.Frames) -> float:
    learner.learn_many(frames.train, frames.labels)
    return 100 * float(np.mean(np.asarray(learner.predict_many(frames.test)) == frames.truth))


def split(data_set: str, seed: int, directory: Path | None) -> data.Split:
    """Return the training and test part of a data set."""
    if data_set == "Gauss":
        return gauss(seed)
    if data_set == "Pen":
        arrays = data.load("Pendigits", directory)
        parts = (arrays[name] for name in ("X_train", "y_train", "X_test", "y_test"))
        X_train, y_train, X_test, y_test = parts
        return data.Split(X_train.astype(float), y_train, X_test.astype(float), y_test)
    whole = data.split(DATA_SETS[data_set] or data_set, seed, directory)
    order = np.random.default_rng(seed).permutation(len(whole.X_train))
    kept = order[: N_TRAIN.get(data_set)]
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


def tasks(directory: Path | None, quick: bool, n_splits: int) -> tuple[list[Task], list[str]]:
    found, missing = [], []
    n_repeats = 1 if quick else N_REPEATS
    for data_set, source in DATA_SETS.items():
        if source is not None and not data.has(source, directory):
            missing.append(f"Table 3: {source} is not there")
        elif not quick or data_set == "Banana":
            found += [
                Task(
                    f"bsgd/{data_set}/{algorithm}/{budget}/{n_repeats}",
                    accuracies,
                    (data_set, algorithm, budget, n_repeats, directory),
                )
                for algorithm in published_algorithms(data_set)
                for budget in (BUDGETS[:1] if quick else BUDGETS)
            ]
    return found, missing


def published_algorithms(data_set: str) -> list[str]:
    return [name for name in ALGORITHMS if Setting(data_set, name, BUDGETS[0]) in bsgd_accuracies()]


def tables(results: Results) -> list[Table]:
    made = []
    for data_set in DATA_SETS:
        cells = []
        for algorithm, budget in itertools.product(published_algorithms(data_set), BUDGETS):
            published = bsgd_accuracies()[Setting(data_set, algorithm, budget)]
            cells += [
                Cell(algorithm, f"B={budget}", tuple(values), published, True)
                for values in under(results, "bsgd", data_set, algorithm, budget)
            ]
        if cells:
            title = f"Budgeted SGD paper, Table 3: {data_set}, test accuracy (%)"
            made.append(Table(title, tuple(cells)))
    return made


def draw(results: Results, directory: Path) -> dict[str, str]:
    """Return no figures: those of the paper are not drawn."""
    return {}
