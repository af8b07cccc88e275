"""BudgetedSVM, the C++ library of Djuric, Lan, Vucetic & Wang 2013.

Errors are those on the test part, after one pass. All coefficients of BSGD have the same size until vectors are merged,
so that rounding decides which one of BudgetedSVM's is the smallest; of ours, it is the oldest one.

"""

from __future__ import annotations

import os
import subprocess
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

import river_budget as rb
from benchmarks.peers.shared import Case, Learned, Stream, dicts, field

VARIABLE = "RIVER_BUDGET_BUDGETEDSVM"
BUDGETS = {"Bananas": 100, "Adult": 500}

LAMBDAS = {"Bananas": 1e-3, "Adult": 1e-4}


def cases(stream: str) -> dict[str, Case]:
    """Return both ways of maintenance.

    They compare the scores of the labels, f and -f. The difference 2f is our f, which halves lambda.

    """
    budget, regularization = BUDGETS[stream], LAMBDAS[stream]
    return {
        f"BSGD, {maintenance}, B={budget:,}": Case(
            ["-m", code, "-L", repr(regularization), "-B", str(budget)],
            partial(
                rb.BudgetedSGD,
                budget=budget,
                regularization=regularization / 2,
                maintenance=maintenance,
            ),
        )
        for code, maintenance in [("0", "removal"), ("1", "merging")]
    }


def learned(case: Case, stream: Stream, directory: Path) -> Learned:
    """Train on one file, and predict the other; the time is that of training without reading.

    Their kernel is `exp(-width / 2 ||x - z||^2)`. With few values other than 0, their sparse vectors are faster.

    """
    options = {
        "-A": 4, "-e": 1, "-r": 0, "-b": 0, "-K": 0, "-v": 1,
        "-g": 2 * stream.gamma, "-S": int(np.mean(stream.learn.X != 0) < 0.5),
    }  # fmt: skip
    settings = [str(part) for option in options.items() for part in option]
    model, labels = directory / "model", directory / "labels"
    trained = printed("train", *settings, *case.theirs, directory / "learn", model)
    tested = printed("predict", "-v", "1", directory / "test", model, labels)
    return parse(trained, tested, model.read_text())


def printed(name: str, *arguments: str | Path) -> str:
    command = [Path(os.environ[VARIABLE], f"budgetedsvm-{name}"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def parse(trained: str, tested: str, model: str) -> Learned:
    """Return what the two programs print, and the size of the model."""
    seconds = field(trained, "Training completed in", "budgetedsvm-train")
    errors = field(tested, "Testing error rate:", "budgetedsvm-predict")
    vectors = field(model, "NUMBER_OF_WEIGHTS:", "the model")
    return Learned(seconds, errors, int(vectors))


def errors(model: Any, stream: Stream) -> float:
    return 100 * fmean(model.predict_one(x) != y for x, y in dicts(stream.test))
