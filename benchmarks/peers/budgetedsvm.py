"""BudgetedSVM, the C++ library of Djuric, Lan, Vucetic & Wang 2013."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import river_budget as rb
from benchmarks.peers.data import Stream, adult, bananas, dicts, libsvm
from benchmarks.peers.peer import Algorithm, Case, Learned, Peer, executable, field

# Their kernel is `exp(-width / 2 ||x - z||^2)`.
WIDTH_PER_GAMMA = 2

# They compare the scores of the labels, f and -f with two of them. The difference 2f is our f, which
# halves lambda.
LAMBDA_PER_OURS = 2

# Data with fewer values other than 0 are faster with their sparse vectors.
SPARSE = 0.5


class Setting(NamedTuple):
    """The budget, and lambda in their code."""

    budget: int
    regularization: float


SETTINGS = {"Bananas": Setting(100, 1e-3), "Adult": Setting(500, 1e-4)}


class BudgetedSVM(Peer):
    """The directory of `budgetedsvm-train` and `budgetedsvm-predict`."""

    name = "BudgetedSVM"
    note = """\
C++. Errors are those on examples that were held out, after one pass. All coefficients of BSGD have the same
size until vectors are merged, so that rounding decides which one of BudgetedSVM's is the smallest; of ours,
it is the oldest one."""
    streams = (bananas, adult)

    def __init__(self, path: Path) -> None:
        self.train, self.predict = (
            executable(path, f"budgetedsvm-{name}") for name in ("train", "predict")
        )

    def cases(self, stream: Stream) -> list[Case]:
        budget, regularization = SETTINGS[stream.name]
        return [Case(algorithm, budget) for algorithm in algorithms(regularization)]

    def write(self, stream: Stream, directory: Path) -> None:
        for name, examples in [("learn", stream.learn), ("test", stream.test)]:
            (directory / name).write_text("".join(libsvm(examples)))

    def learned(self, case: Case, stream: Stream, directory: Path) -> Learned:
        """Train on one file, and predict the other; the time is that of training without reading."""
        options = {
            "-A": 4, "-e": 1, "-r": 0, "-b": 0, "-K": 0, "-v": 1,
            "-g": WIDTH_PER_GAMMA * stream.gamma, "-B": case.budget,
            "-S": int(np.mean(stream.learn.X != 0) < SPARSE),
        }  # fmt: skip
        settings = [str(part) for option in options.items() for part in option]
        model = directory / "model"
        files = [directory / "learn", model]
        trained = printed(self.train, *settings, *case.algorithm.theirs, *files)
        tested = printed(self.predict, "-v", "1", directory / "test", model, directory / "labels")
        return parse(trained, tested, model.read_text())

    def errors(self, model, stream: Stream) -> float:
        test = dicts(stream.test)
        return 100 * np.mean([model.predict_one(x) != y for x, y in test])


def algorithms(regularization: float) -> list[Algorithm]:
    """Return both ways of budget maintenance."""
    return [
        Algorithm(
            f"BSGD, {maintenance}",
            ["-m", code, "-L", repr(regularization)],
            partial(
                rb.BudgetedSGD,
                regularization=regularization / LAMBDA_PER_OURS,
                maintenance=maintenance,
            ),
        )
        for code, maintenance in [("0", "removal"), ("1", "merging")]
    ]


def printed(*command) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def parse(trained: str, tested: str, model: str) -> Learned:
    """Return what the two programs print, and the size of the model."""
    seconds = field(trained, "Training completed in", "budgetedsvm-train")
    errors = field(tested, "Testing error rate:", "budgetedsvm-predict")
    vectors = field(model, "NUMBER_OF_WEIGHTS:", "the model")
    return Learned(seconds, errors, int(vectors))
