"""Figure 2 of the Forgetron paper: error of Forgetron and CKS against budget."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from matplotlib.figure import Figure

import river_budget as rb
from benchmarks.reproduce import data
from benchmarks.reproduce.cells import Cell, Table
from benchmarks.reproduce.published import Published, forgetron_support
from benchmarks.reproduce.runner import Results, Task, under
from river_budget import plots
from river_budget.base import Machine

TITLE = "Forgetron paper"

# The paper gives only the degree. With k(x, x) = 1 the theorem holds, and values do not overflow.
KERNEL = rb.Normalized(rb.Polynomial(degree=5, gamma=1.0, coef0=1.0))

BUDGETS = {"MNIST": (100, 250, 500, 1000), "census-income": (250, 500, 1000, 2000)}
ALGORITHMS = {"Forgetron": rb.Forgetron, "FixedBudgetPerceptron": rb.FixedBudgetPerceptron}
N_ORDERS = 10

# The ways to split ten digits into two classes of five, each given by the class that contains 0.
SPLITS = [(0, *others) for others in itertools.combinations(range(1, 10), 4)]

N_EXAMPLES = {"MNIST": 60_000, "census-income": 199_523}

# Number of examples in a quick run.
QUICK = 5000


def one_run(
    data_set: str,
    repeat: int,
    algorithm: str,
    budget: int | None,
    limit: int | None,
    directory: Path | None,
) -> dict[str, float]:
    """Return mistakes in percent and the size of the support set after one pass."""
    learner: Machine
    learner = (
        rb.KernelPerceptron(KERNEL) if budget is None else ALGORITHMS[algorithm](KERNEL, budget)
    )
    if data_set == "MNIST":
        X, y = _digits(repeat, directory)
        for start in range(0, len(X[:limit]), 1000):
            part = slice(start, min(start + 1000, limit or len(X)))
            learner.learn_many(pd.DataFrame(X[part]), pd.Series(y[part]))
    else:
        for x, label in _census(repeat, directory)[:limit]:
            learner.learn_one(x, label)
    return {"mistakes": 100 * learner.n_mistakes / learner.n_rounds, "support": learner.n_support}


def _digits(split: int, directory: Path | None) -> tuple[Any, Any]:
    """Return all digits, in the publisher's order, and whether each is in the class of 0."""
    arrays = data.load("MNIST", directory)
    return arrays["X_train"] / 255.0, np.isin(arrays["y_train"], SPLITS[split])


def _census(seed: int, directory: Path | None) -> list[tuple[dict[Any, float], bool]]:
    """Return the examples in a random order: codes one-hot, numbers divided by their maximum."""
    arrays = data.load("census-income", directory)
    numbers = arrays["X_num"] / np.maximum(arrays["X_num"].max(axis=0), 1)
    order = np.random.default_rng(seed).permutation(len(numbers))
    return [
        (
            {("number", j): v for j, v in enumerate(numbers[i].tolist()) if v}
            | dict.fromkeys(enumerate(arrays["X_cat"][i].tolist()), 1.0),
            bool(arrays["y"][i] > 0),
        )
        for i in order
    ]


def tasks(directory: Path | None, quick: bool, n_splits: int) -> tuple[list[Task], list[str]]:
    found, missing = [], []
    limit = QUICK if quick else None
    for data_set, budgets in BUDGETS.items():
        if not data.has(data_set, directory):
            missing.append(f"Figure 2: {data_set} is not there")
            continue
        n_repeats = min(n_splits, len(SPLITS) if data_set == "MNIST" else N_ORDERS)
        runs: list[tuple[str, int | None]] = [
            ("KernelPerceptron", None), *itertools.product(ALGORITHMS, budgets),
        ]  # fmt: skip
        found += [
            Task(
                f"forgetron/{data_set}/{algorithm}/{budget}/{limit}/{repeat}",
                one_run,
                (data_set, repeat, algorithm, budget, limit, directory),
            )
            for repeat in range(1 if quick else n_repeats)
            for algorithm, budget in runs
        ]
    return found, missing


def perceptron_mistakes(data_set: str) -> Published:
    """Return the Perceptron's mistakes in percent; the paper gives no standard deviation."""
    return Published(100 * forgetron_support()[data_set] / N_EXAMPLES[data_set], 0.0)


def mistakes(
    results: Results, data_set: str, algorithm: str, budget: int | None
) -> tuple[float, ...]:
    runs = under(results, "forgetron", data_set, algorithm, budget)
    return tuple(run["mistakes"] for run in runs)


def tables(results: Results) -> list[Table]:
    made = []
    for data_set, budgets in BUDGETS.items():
        cells = []
        if errors := mistakes(results, data_set, "KernelPerceptron", None):
            published = perceptron_mistakes(data_set)
            cells.append(Cell("KernelPerceptron", "mistakes (%)", errors, published, False))
        for algorithm, budget in itertools.product(ALGORITHMS, budgets):
            if errors := mistakes(results, data_set, algorithm, budget):
                cells.append(Cell(f"{algorithm}, B={budget}", "mistakes (%)", errors, None, False))
        if cells:
            made.append(Table(f"Forgetron paper, Figure 2: {data_set}", tuple(cells)))
    return made


def draw(results: Results, directory: Path) -> dict[str, str]:
    if not under(results, "forgetron"):
        return {}
    figure = Figure(figsize=(9, 3), layout="constrained")
    for axes, (data_set, budgets) in zip(figure.subplots(1, 2), BUDGETS.items(), strict=True):
        for algorithm in ALGORITHMS:
            means = [
                np.mean(mistakes(results, data_set, algorithm, budget) or [np.nan])
                for budget in budgets
            ]
            axes.plot(budgets, means, "o-", label=algorithm)
        for error in mistakes(results, data_set, "KernelPerceptron", None)[:1]:
            axes.axhline(error, color="black", linestyle="--", label="KernelPerceptron")
        axes.set(xlabel="budget", ylabel="mistakes (%)", title=data_set)
        axes.legend(fontsize="x-small")
    figure.savefig(directory / "forgetron.png", dpi=plots.DOTS_PER_INCH)
    return {"Forgetron paper, Figure 2: error against budget": "forgetron.png"}
