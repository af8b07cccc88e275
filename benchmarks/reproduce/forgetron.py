"""Figure 2 of the Forgetron paper: mistakes of Forgetron and CKS in one pass, by budget."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

import river_budget as rb
from benchmarks.local import load
from benchmarks.reproduce import data, published
from benchmarks.reproduce.published import Setting
from benchmarks.reproduce.verdicts import Measured, by_budget

# The paper gives only the degree. With k(x, x) = 1 the theorem holds, and values do not overflow.
KERNEL = rb.Normalized(rb.Polynomial(degree=5, gamma=1.0, coef0=1.0))

BUDGETS = {"MNIST": (100, 250, 500, 1000), "census-income": (250, 500, 1000, 2000)}
ALGORITHMS = {"Forgetron": rb.Forgetron, "FixedBudgetPerceptron": rb.FixedBudgetPerceptron}

# Of the splits of MNIST, and of the orders of census-income.
N_REPEATS = 6

# The ways to split ten digits into two classes of five, each given by the class that contains 0.
SPLITS = [(0, *others) for others in itertools.combinations(range(1, 10), 4)]

PUBLISHED = published.forgetron()
SETTINGS = [
    Setting(data_set, *chosen)
    for data_set, budgets in BUDGETS.items()
    for chosen in [("KernelPerceptron", None), *itertools.product(ALGORITHMS, budgets)]
]
# Both data sets have to be read.
QUICK: list[Setting] = []


def measured(
    data_set: str, algorithm: str, budget: int | None, n_repeats: int
) -> dict[str, list[float]]:
    """Return mistakes in percent after one pass, of several splits or orders."""
    return {
        "mistakes": [mistakes(data_set, algorithm, budget, repeat) for repeat in range(n_repeats)]
    }


def mistakes(data_set: str, algorithm: str, budget: int | None, repeat: int) -> float:
    learner = (
        rb.KernelPerceptron(KERNEL) if budget is None else ALGORITHMS[algorithm](KERNEL, budget)
    )
    if data_set == "MNIST":
        X, y = digits(repeat)
        for start in range(0, len(X), 1000):
            part = slice(start, start + 1000)
            learner.learn_many(pd.DataFrame(X[part]), pd.Series(y[part]))
    else:
        for x, label in census(repeat):
            learner.learn_one(x, label)
    return round(100 * learner.n_mistakes / learner.n_rounds, 3)


def digits(split: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all digits, in the publisher's order, and whether each is in the class of 0."""
    arrays = load(data.FILES["MNIST"])
    return arrays["X_train"] / 255.0, np.isin(arrays["y_train"], SPLITS[split])


def census(seed: int) -> Iterator[tuple[dict, bool]]:
    """Yield the examples in a random order: codes one-hot, numbers divided by their maximum."""
    arrays = load(data.FILES["census-income"])
    numbers = arrays["X_num"] / np.maximum(arrays["X_num"].max(axis=0), 1)
    for i in np.random.default_rng(seed).permutation(len(numbers)):
        x = {("number", j): v for j, v in enumerate(numbers[i].tolist()) if v}
        x |= dict.fromkeys(enumerate(arrays["X_cat"][i].tolist()), 1.0)
        yield x, bool(arrays["y"][i] > 0)


def table(found: Measured) -> str:
    return by_budget(found, PUBLISHED, "mistakes")
