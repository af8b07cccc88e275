"""Table 2 and Figure 2 of the Tightest paper."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import river_budget as rb
from benchmarks.reproduce import data
from benchmarks.reproduce.cells import Cell, Table
from benchmarks.reproduce.published import Setting, tightest_accuracies, tightest_data_sets
from benchmarks.reproduce.runner import Results, Task, under
from river_budget import plots
from river_budget.base import Machine

TITLE = "Tightest paper"

N_REPEATS = 10
BUDGETS = (20, 100, 500)
FIGURE_BUDGET = 500

# In the paper's order.
ALGORITHMS = tuple(dict.fromkeys(setting.algorithm for setting in tightest_accuracies()))

# Data sets on which Tighter^Full, whose removals take O(B N), takes seconds; on the others it takes
# minutes to hours.
FULL_SETS = ("Banana", "NCheckerb", "Pendigits", "Waveform")
FULL = "TighterFull"

# Numbers of examples of the runtime curve.
LENGTHS = (1000, 2500, 5000, 10_000)
CURVE_BUDGET = 100


def model(algorithm: str, kernel: rb.kernels.Kernel, budget: int, seed: int) -> Machine:
    """Return an algorithm by its name in the table."""
    if algorithm == "KernelPerceptron":
        return rb.KernelPerceptron(kernel)
    if algorithm == "RandomizedBudgetPerceptron":
        return rb.RandomizedBudgetPerceptron(kernel, budget, seed=seed)
    validations: dict[str, Any] = {"Tighter0": "support", "TighterB": budget, FULL: "all"}
    if algorithm in validations:
        return rb.TighterPerceptron(kernel, budget, validation=validations[algorithm], seed=seed)
    return getattr(rb, algorithm)(kernel, budget)


def kernel_of(data_set: str) -> rb.RBF:
    """Return the kernel that the paper uses on a data set."""
    return rb.RBF(gamma=1 / (2 * tightest_data_sets()[data_set].delta_squared))


def one_repeat(data_set: str, seed: int, directory: Path | None) -> dict[str, float]:
    """Return test accuracies in percent after one pass, by algorithm and budget."""
    frame, labels, test, truth = _frames(data_set, seed, directory)
    kernel = kernel_of(data_set)
    accuracies = {}
    for algorithm in ALGORITHMS:
        if algorithm == FULL and data_set not in FULL_SETS:
            continue
        for budget in BUDGETS if algorithm != "KernelPerceptron" else [0]:
            learner = model(algorithm, kernel, budget, seed)
            learner.learn_many(frame, labels)
            right = np.array(learner.predict_many(test)) == truth
            accuracies[f"{algorithm}/{budget}"] = 100 * float(right.mean())
    return accuracies


def _frames(data_set: str, seed: int, directory: Path | None) -> data.Frames:
    return data.frames(data.split(data_set, seed, directory), 1000 + seed)


def seconds(algorithm: str, n: int) -> float:
    """Return the seconds to learn n examples of the checkerboard."""
    frame, labels, _, _ = _frames("NCheckerb", 0, None)
    learner = model(algorithm, kernel_of("NCheckerb"), CURVE_BUDGET, seed=0)
    learner.clone().learn_many(frame[:100], labels[:100])
    start = time.perf_counter()
    learner.learn_many(frame[:n], labels[:n])
    return time.perf_counter() - start


def tasks(directory: Path | None, quick: bool, n_splits: int) -> tuple[list[Task], list[str]]:
    found, missing = [], []
    for data_set in tightest_data_sets():
        if data_set != "NCheckerb" and not data.has(data_set, directory):
            missing.append(f"Table 2: {data_set} is not there")
        elif not quick or data_set in ("Banana", "NCheckerb", "Pendigits"):
            found += [
                Task(f"tightest/{data_set}/{seed}", one_repeat, (data_set, seed, directory))
                for seed in range(1 if quick else N_REPEATS)
            ]
    found += [
        Task(f"tightest/seconds/{CURVE_BUDGET}/{algorithm}/{n}", seconds, (algorithm, n))
        for algorithm in ("TightestPerceptron", FULL)
        for n in (LENGTHS[:2] if quick else LENGTHS)
    ]
    return found, missing


def tables(results: Results) -> list[Table]:
    made = []
    for data_set in tightest_data_sets():
        repeats = under(results, "tightest", data_set)
        cells = []
        for algorithm in ALGORITHMS:
            for budget in BUDGETS:
                key = f"{algorithm}/{0 if algorithm == 'KernelPerceptron' else budget}"
                values = tuple(repeat[key] for repeat in repeats if key in repeat)
                published = tightest_accuracies()[Setting(data_set, algorithm, budget)]
                if values:
                    cells.append(Cell(algorithm, f"B={budget}", values, published, True))
        if cells:
            title = f"Tightest paper, Table 2: {data_set}, test accuracy (%)"
            made.append(Table(title, tuple(cells)))
    return made


def draw(results: Results, directory: Path) -> dict[str, str]:
    """Draw Figure 2: the hypotheses (a to h), and the learning time of the best two (i)."""
    frame, labels, _, _ = _frames("NCheckerb", 0, None)
    kernel = kernel_of("NCheckerb")
    models = {}
    for algorithm in ALGORITHMS:
        models[algorithm] = model(algorithm, kernel, FIGURE_BUDGET, seed=0)
        models[algorithm].learn_many(frame, labels)
    title = f"NCheckerboard, B={FIGURE_BUDGET}"
    limits = (float(frame.min().min()), float(frame.max().max()))
    figure = Figure(figsize=(9, 5), layout="constrained")
    figure.suptitle(title)
    for axes, (algorithm, learned) in zip(figure.subplots(2, 4).flat, models.items(), strict=True):
        plots.draw_decision_regions(axes, learned, (0, 1), limits)
        axes.set_title(f"{algorithm} ({learned.n_support})", fontsize="x-small")
    figure.savefig(directory / "tightest.png", dpi=plots.DOTS_PER_INCH)

    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.subplots()
    for algorithm in ("TightestPerceptron", FULL):
        times = {
            n: results.get(f"tightest/seconds/{CURVE_BUDGET}/{algorithm}/{n}") for n in LENGTHS
        }
        known = {n: value for n, value in times.items() if value is not None}
        axes.plot(list(known), list(known.values()), "o-", label=algorithm)
    axes.set(xlabel="examples", ylabel="seconds", title=f"NCheckerboard, B={CURVE_BUDGET}")
    axes.legend()
    figure.savefig(directory / "tightest-time.png", dpi=plots.DOTS_PER_INCH)
    return {
        f"Tightest paper, Figure 2 (a) to (h): {title}": "tightest.png",
        "Tightest paper, Figure 2 (i): time to learn": "tightest-time.png",
    }
