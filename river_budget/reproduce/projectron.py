"""Tables 1 to 3 and Figures 1 to 3 of the Projectron paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import river_budget as rb
from river_budget import plots, synth
from river_budget.base import Machine
from river_budget.published import PROJECTRON_DATA_SETS, PROJECTRON_MISTAKES, PROJECTRON_SUPPORT
from river_budget.reproduce import data
from river_budget.reproduce.cells import Cell, Table
from river_budget.reproduce.runner import Experiment, Results, Task, under
from river_budget.theory import bounds

__all__ = ["EXPERIMENT"]

N_ORDERS = 5
N_POINTS = 100

# The figures' data set and budget, with the algorithms that have none.
CURVES = ("Adult9", (1500, None))

TABLES = {"Adult9": "Table 1", "Vehicle": "Table 2", "Synthetic": "Table 3"}


def model(algorithm: str, budget: int | None, kernel: rb.kernels.Kernel, seed: int) -> Machine:
    """Return an algorithm as the paper runs it."""
    if budget is None:
        return {
            "KernelPerceptron": rb.KernelPerceptron,
            "KernelPAClassifier": rb.KernelPAClassifier,
        }[algorithm](kernel)
    if algorithm in ("Projectron", "ProjectronPlusPlus"):
        return getattr(rb, algorithm)(kernel, norm_bound=bounds.forgetron_norm(budget))
    if algorithm == "RandomizedBudgetPerceptron":
        return rb.RandomizedBudgetPerceptron(kernel, budget, seed)
    return getattr(rb, algorithm)(kernel, budget)


def one_order(
    data_set: str, algorithm: str, budget: int | None, seed: int, folder: Path | None
) -> dict[str, Any]:
    """Return mistakes in percent, support size, and both over time, of one order."""
    rows = examples(data_set, seed, folder)
    _, width, _ = PROJECTRON_DATA_SETS[data_set]
    learner = model(algorithm, budget, rb.RBF(gamma=1 / (2 * width)), seed)
    order = np.random.default_rng(seed).permutation(len(rows))
    points = []
    for n, i in enumerate(order.tolist(), 1):
        learner.learn_one(*rows[i])
        if n % (len(rows) // N_POINTS) == 0:
            points.append((n, 100 * learner.n_mistakes / n, learner.n_support))
    return {
        "mistakes": 100 * learner.n_mistakes / len(rows),
        "support": learner.n_support,
        "curve": points,
    }


def examples(data_set: str, seed: int, folder: Path | None) -> list[Any]:
    """Return a data set; each seed draws a synthetic one of its own."""
    if data_set == "Synthetic":
        return list(synth.TwoGaussians(10_000, seed=seed))
    return data.sparse_training_part(data_set, folder)


def tasks(folder: Path | None, quick: bool, n_splits: int) -> tuple[list[Task], list[str]]:
    found, missing = [], []
    for data_set, cells in PROJECTRON_MISTAKES.items():
        if data_set != "Synthetic" and not data.has(data_set, folder):
            missing.append(f"{TABLES[data_set]}: {data_set} is not there")
            continue
        for algorithm, budget in cells:
            if quick and (data_set != "Synthetic" and budget != 1500):
                continue
            found += [
                Task(
                    f"projectron/{data_set}/{algorithm}/{budget}/{seed}",
                    one_order,
                    (data_set, algorithm, budget, seed, folder),
                )
                for seed in range(1 if quick else N_ORDERS)
            ]
    return found, missing


def tables(results: Results) -> list[Table]:
    made = []
    for data_set, mistakes in PROJECTRON_MISTAKES.items():
        cells: list[Cell] = []
        for (algorithm, budget), published in mistakes.items():
            runs = under(results, "projectron", data_set, algorithm, budget)
            row = algorithm if budget is None else f"{algorithm}, B={budget}"
            support = PROJECTRON_SUPPORT[data_set].get((algorithm, budget))
            for column, key, figure in [
                ("mistakes (%)", "mistakes", published), ("support", "support", support),
            ]:  # fmt: skip
                values = tuple(run[key] for run in runs)
                if values:
                    cells.append(Cell(row, column, values, figure, bigger_is_better=False))
        if cells:
            made.append(Table(f"Projectron paper, {TABLES[data_set]}: {data_set}", tuple(cells)))
    return made


def draw(results: Results, folder: Path) -> dict[str, str]:
    """Draw Figures 1 to 3: error and support size over time, and error over support size."""
    data_set, budgets = CURVES
    if not under(results, "projectron", data_set):
        return {}
    figure = Figure(figsize=(14, 4), layout="constrained")
    panels = figure.subplots(1, 3)
    for algorithm, budget in PROJECTRON_MISTAKES[data_set]:
        runs = under(results, "projectron", data_set, algorithm, budget)
        if budget in budgets and runs:
            n, error, support = np.mean([run["curve"] for run in runs], axis=0).T
            for axes, x, y in zip(panels, [n, n, support], [error, support, error], strict=True):
                axes.plot(x, y, label=algorithm, linewidth=1)
    panels[0].set(xlabel="examples", ylabel="online error (%)", ylim=(15, 30), title="Figure 1")
    panels[1].set(xlabel="examples", ylabel="support vectors", ylim=(0, 7000), title="Figure 2")
    panels[2].set(
        xlabel="support vectors", ylabel="online error (%)", xlim=(0, 2000), ylim=(15, 30),
        title="Figure 3",
    )  # fmt: skip
    panels[2].legend(fontsize="x-small")
    figure.savefig(folder / "projectron.png", dpi=plots.DOTS_PER_INCH)
    return {f"Projectron paper, Figures 1 to 3: {data_set}, B=1500": "projectron.png"}


EXPERIMENT = Experiment("Projectron paper", tasks, tables, draw)
