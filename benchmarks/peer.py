"""Times of the C++ library KOL on the same examples, and the ratios of ours to them.

    python -m benchmarks.peer BINARY_OR_DIR

KOL (Lu, Hoi, Wang, Zhao & Liu 2016, "Large scale online kernel learning") is not part of this repository:
the argument is its executable, or the directory of the executable `KOL`. Both sides learn the same
examples in the same order, with the same kernel and budget; we learn them one by one from dicts
(`learn_one`), and in blocks of 1,000 rows (`learn_many`). The three run alternately, and the fastest of
several runs of each counts.

Our times are processor times of one thread. KOL reads its file in another thread than it learns in, and
prints the wall-clock time of learning. Its time is the smaller of that and the processor time of the
learning thread, which Linux keeps until the process is reaped.

Mistakes and support vectors of both sides are shown, to tell where they do the same work. KOL computes
in single precision. Its Projectron has no threshold: it adds every misclassified example until the budget
is full, and projects after that, as ours does with `eta=0`, except that ours also projects examples that
are numerically in the span. Where KOL adds them, its inverse of the Gram matrix may become useless, and it
makes more mistakes. Its RBP removes the vector at a position that changes once a second.

Adult is read from the directory given by RIVER_BUDGET_DATA.

"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import river_budget as rb
from benchmarks import streams
from benchmarks.timing import seconds
from river_budget import synth
from river_budget.datasets import DatasetError, load

N = 20_000
ROWS_OF_BLOCK = 1_000
REPEATS = 5

# Digits after the point of all values: KOL's parser keeps nine digits of a number.
DIGITS = 6


class Goals(NamedTuple):
    """The largest ratios of our time to KOL's."""

    one: float
    many: float


class Stream(NamedTuple):
    """Examples, and what to learn them with."""

    X: np.ndarray
    y: np.ndarray
    gamma: float
    budgets: list[int]
    goals: Goals


class Case(NamedTuple):
    """An algorithm of KOL by its name there, and its budget, None without one."""

    algorithm: str
    budget: int | None


class Learned(NamedTuple):
    """The time of learning in seconds, the mistakes in percent, and the number of support vectors."""

    seconds: float
    mistakes: float
    n_support: int


class Times(NamedTuple):
    """The fastest runs in seconds."""

    peer: float
    one: float
    many: float


BUDGETED = {
    "rbp": lambda kernel, budget: rb.RandomizedBudgetPerceptron(kernel, budget, seed=1),
    "forgetron": rb.Forgetron,
    "projectron": lambda kernel, budget: rb.Projectron(kernel, eta=0, budget=budget),
}


def rotating() -> Stream:
    examples = list(synth.RotatingGaussians(N, seed=1))
    X = np.array([list(x.values()) for x, _ in examples]).round(DIGITS)
    return Stream(X, np.array([y for _, y in examples]), 1.0, [500, 1000], Goals(1.0, 0.5))


def adult() -> Stream:
    data = load("adult_a9a")
    X, y = data["X_train"][:N].astype(float), data["y_train"][:N] > 0
    return Stream(X, y, 1 / 50, [1500], Goals(0.15, 0.2))


STREAMS = {"2-D": rotating, "Adult": adult}


def cases(stream: Stream) -> list[Case]:
    budgeted = [Case(name, budget) for budget in stream.budgets for name in BUDGETED]
    return [Case("perceptron", None), *budgeted]


def ours(case: Case, kernel: rb.RBF):
    """Return our model of the same algorithm."""
    if case.budget is None:
        return rb.KernelPerceptron(kernel)
    return BUDGETED[case.algorithm](kernel, case.budget)


def executable(path: Path) -> Path:
    """Return the executable, which may be given by its directory."""
    binary = path / "KOL" if path.is_dir() else path
    if not (binary.is_file() and os.access(binary, os.X_OK)):
        sys.exit(f"{binary} is no executable: build KOL and give its executable or its directory")
    return binary.resolve()


def lines(stream: Stream) -> Iterator[str]:
    """Yield the examples in the LIBSVM format, which KOL reads."""
    for x, y in zip(stream.X, stream.y, strict=True):
        values = " ".join(f"{j + 1}:{x[j].item()!r}" for j in np.flatnonzero(x))
        yield f"{'+1' if y else '-1'} {values}\n"


def field(output: str, name: str) -> float:
    """Return the number after a name in KOL's output."""
    found = re.search(rf"{name}: *([-+.\d]+)", output)
    if found is None:
        raise ValueError(f"no {name!r} in the output of KOL: {output[-500:]!r}")
    return float(found[1])


def parse(output: str) -> Learned:
    """Return what KOL prints after learning."""
    accuracy = field(output, "Learn acc?uracy")
    return Learned(field(output, "Learning time"), 100 - accuracy, int(field(output, "#SV")))


def processor_seconds(pid: int) -> float:
    """Return the processor time of the main thread of a process that has exited, but is not reaped."""
    nanoseconds, *_ = Path(f"/proc/{pid}/schedstat").read_text().split()
    return int(nanoseconds) / 1e9


def learned_by_peer(binary: Path, file: Path, case: Case, gamma: float) -> Learned:
    """Run KOL on a file."""
    command = [binary, "-i", file, "-opt", f"kernel-{case.algorithm}", "-gamma", repr(gamma)]
    budget = [] if case.budget is None else ["-B", str(case.budget)]
    with subprocess.Popen([*command, *budget], stdout=subprocess.PIPE, text=True) as process:
        learned = parse(process.stdout.read())
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        processor = processor_seconds(process.pid)
    return learned._replace(seconds=min(learned.seconds, processor))


def dicts(stream: Stream) -> list:
    """Return the examples as dicts of the values other than 0."""
    return list(zip(streams.sparse(stream.X), stream.y.tolist(), strict=True))


def blocks(stream: Stream) -> list:
    frame = pd.DataFrame(stream.X, columns=[f"f{j}" for j in range(stream.X.shape[1])])
    labels = pd.Series(stream.y)
    parts = [slice(start, start + ROWS_OF_BLOCK) for start in range(0, len(frame), ROWS_OF_BLOCK)]
    return [(frame[part], labels[part]) for part in parts]


def learning(learn: Callable, examples: list) -> Callable[[], None]:
    """Return a function that learns all examples or blocks."""

    def work() -> None:
        for X, y in examples:
            learn(X, y)

    return work


def report(name: str, case: Case, times: Times, goals: Goals, peer: Learned, model) -> None:
    title = f"{name}: {case.algorithm}" + (f" B={case.budget}" if case.budget else "")
    per_example = "".join(f"{1e6 * t / N:>9.2f}" for t in times)
    ratios = (
        f"{times.one / times.peer:>8.2f}{goals.one:>6.2f}"
        f"{times.many / times.peer:>8.2f}{goals.many:>6.2f}"
    )
    mistakes = f"{peer.mistakes:>8.2f}{100 * model.n_mistakes / N:>7.2f}"
    vectors = f"{peer.n_support:>8,}{model.n_support:>7,}"
    print(f"{title:<26}{per_example}{ratios}{mistakes}{vectors}", flush=True)


def compare(binary: Path, file: Path, name: str, stream: Stream) -> None:
    """Time all algorithms on a stream, and report them."""
    file.write_text("".join(lines(stream)))
    one_by_one, in_blocks = dicts(stream), blocks(stream)
    for case in cases(stream):
        fastest = Times(math.inf, math.inf, math.inf)
        for _ in range(REPEATS):
            peer = learned_by_peer(binary, file, case, stream.gamma)
            model, other = (ours(case, rb.RBF(gamma=stream.gamma)) for _ in range(2))
            one = seconds(learning(model.learn_one, one_by_one), time.thread_time)
            many = seconds(learning(other.learn_many, in_blocks), time.thread_time)
            fastest = Times(*map(min, fastest, (peer.seconds, one, many)))
        report(name, case, fastest, stream.goals, peer, model)


def main(binary: Path) -> None:
    print(
        f"{'microseconds per example':<26}{'KOL':>9}{'one':>9}{'many':>9}{'one/K':>8}{'goal':>6}"
        f"{'many/K':>8}{'goal':>6}{'% KOL':>8}{'ours':>7}{'SV KOL':>8}{'ours':>7}"
    )
    with tempfile.TemporaryDirectory() as directory:
        for name, make in STREAMS.items():
            try:
                stream = make()
            except DatasetError as error:
                print(f"{name}: skipped, {error}")
            else:
                compare(binary, Path(directory, "examples"), name, stream)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peer")
    parser.add_argument("binary", type=Path, metavar="BINARY_OR_DIR")
    main(executable(parser.parse_args().binary))
