"""Tables 1 to 3 and Figures 1 to 3 of the Projectron paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import river_budget as rb
from benchmarks.reproduce import data
from benchmarks.reproduce.cells import Cell, Table
from benchmarks.reproduce.published import Setting, projectron_data_sets, projectron_results
from benchmarks.reproduce.runner import Results, Task, under
from river_budget import plots, synth
from river_budget.base import Machine
from river_budget.theory import bounds

TITLE = "Projectron paper"

N_ORDERS = 5
N_POINTS = 100

# The budget of a quick run on data sets that are not synthetic.
QUICK_BUDGET = 1500

# What the figures show.
FIGURE_DATA_SET = "Adult9"
FIGURE_BUDGETS = (1500, None)

TABLES = {"Adult9": "Table 1", "Vehicle": "Table 2", "Synthetic": "Table 3"}


def model(algorithm: str, budget: int | None, kernel: rb.kernels.Kernel, seed: int) -> Machine:
    """Return an algorithm as the paper runs it."""
    if budget is None:
        return getattr(rb, algorithm)(kernel)
    if algorithm in ("Projectron", "ProjectronPlusPlus"):
        return getattr(rb, algorithm)(kernel, norm_bound=bounds.forgetron_norm(budget))
    if algorithm == "RandomizedBudgetPerceptron":
        return rb.RandomizedBudgetPerceptron(kernel, budget, seed=seed)
    return getattr(rb, algorithm)(kernel, budget)


def one_order(
    data_set: str, algorithm: str, budget: int | None, seed: int, directory: Path | None
) -> dict[str, Any]:
    """Return mistakes in percent and support size of one order, at its end and over time."""
    rows = examples(data_set, seed, directory)
    kernel = rb.RBF(gamma=1 / (2 * projectron_data_sets()[data_set].sigma_squared))
    learner = model(algorithm, budget, kernel, seed)
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


def examples(data_set: str, seed: int, directory: Path | None) -> list[Any]:
    """Return the examples of a data set; each seed gives a new sample of the synthetic one."""
    if data_set == "Synthetic":
        return list(synth.TwoGaussians(10_000, seed=seed))
    return data.sparse_training_part(data_set, directory)


def tasks(directory: Path | None, quick: bool, n_splits: int) -> tuple[list[Task], list[str]]:
    missing = [s for s in TABLES if s != "Synthetic" and not data.has(s, directory)]
    found = [
        Task(
            f"projectron/{data_set}/{algorithm}/{budget}/{seed}",
            one_order,
            (data_set, algorithm, budget, seed, directory),
        )
        for data_set, algorithm, budget in projectron_results()
        if data_set not in missing
        and (not quick or data_set == "Synthetic" or budget == QUICK_BUDGET)
        for seed in range(1 if quick else N_ORDERS)
    ]
    return found, [f"{TABLES[data_set]}: {data_set} is not there" for data_set in missing]


def tables(results: Results) -> list[Table]:
    made = []
    for data_set, table in TABLES.items():
        settings = [setting for setting in projectron_results() if setting.data_set == data_set]
        cells = tuple(cell for setting in settings for cell in row(setting, results))
        if cells:
            made.append(Table(f"Projectron paper, {table}: {data_set}", cells))
    return made


def row(setting: Setting, results: Results) -> list[Cell]:
    """Return the cells of a row; none if it was not run."""
    runs = under(results, "projectron", *setting)
    if not runs:
        return []
    title = (
        setting.algorithm if setting.budget is None else f"{setting.algorithm}, B={setting.budget}"
    )
    published = projectron_results()[setting]
    mistakes, support = (tuple(run[key] for run in runs) for key in ("mistakes", "support"))
    return [
        Cell(title, "mistakes (%)", mistakes, published.mistakes, bigger_is_better=False),
        Cell(title, "support", support, published.support, bigger_is_better=False),
    ]


def draw(results: Results, directory: Path) -> dict[str, str]:
    """Draw Figures 1 to 3: error and support size over time, and error by support size."""
    if not under(results, "projectron", FIGURE_DATA_SET):
        return {}
    figure = Figure(figsize=(14, 4), layout="constrained")
    panels = figure.subplots(1, 3)
    for setting in projectron_results():
        runs = under(results, "projectron", *setting)
        if setting.data_set == FIGURE_DATA_SET and setting.budget in FIGURE_BUDGETS and runs:
            n, error, support = np.mean([run["curve"] for run in runs], axis=0).T
            for axes, x, y in zip(panels, [n, n, support], [error, support, error], strict=True):
                axes.plot(x, y, label=setting.algorithm, linewidth=1)
    panels[0].set(xlabel="examples", ylabel="online error (%)", ylim=(15, 30), title="Figure 1")
    panels[1].set(xlabel="examples", ylabel="support vectors", ylim=(0, 7000), title="Figure 2")
    panels[2].set(
        xlabel="support vectors", ylabel="online error (%)", xlim=(0, 2000), ylim=(15, 30),
        title="Figure 3",
    )  # fmt: skip
    panels[2].legend(fontsize="x-small")
    figure.savefig(directory / "projectron.png", dpi=plots.DOTS_PER_INCH)
    return {f"Projectron paper, Figures 1 to 3: {FIGURE_DATA_SET}, B=1500": "projectron.png"}
