"""The command line."""

from __future__ import annotations

import argparse
import math
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import river

import river_budget as rb
from benchmarks import peers
from benchmarks.peers.budgetedsvm import BudgetedSVM
from benchmarks.peers.data import Stream, blocks, dicts
from benchmarks.peers.dogma import DOGMA
from benchmarks.peers.kol import KOL
from benchmarks.peers.peer import Case, Learned, Peer
from benchmarks.timing import seconds
from river_budget.datasets import DatasetError

REPEATS = 3


class Times(NamedTuple):
    """The fastest runs in seconds."""

    peer: float
    one: float
    many: float


def learning(learn: Callable, examples: list) -> Callable[[], None]:
    """Return a function that learns all examples or blocks."""

    def work() -> None:
        for X, y in examples:
            learn(X, y)

    return work


def report(peer: Peer, stream: Stream, case: Case, times: Times, learned: Learned, model) -> None:
    per_example = "".join(f"{1e6 * t / len(stream.learn.y):>9.2f}" for t in times)
    ratios = f"{times.one / times.peer:>10.3f}{times.many / times.peer:>10.3f}"
    errors = f"{learned.errors:>8.2f}{peer.errors(model, stream):>7.2f}"
    vectors = f"{learned.n_support:>8,}{model.n_support:>7,}"
    title = f"{stream.name}: {case.title}"
    print(f"{title:<29}{per_example}{ratios}{errors}{vectors}", flush=True)


def compare_on(stream: Stream, peer: Peer, directory: Path) -> None:
    """Time all algorithms on a stream, and report them."""
    peer.write(stream, directory)
    one_by_one, in_blocks = dicts(stream.learn), blocks(stream.learn)
    for case in peer.cases(stream):
        fastest = Times(math.inf, math.inf, math.inf)
        for _ in range(REPEATS):
            learned = peer.learned(case, stream, directory)
            model, other = (case.ours(stream.gamma) for _ in range(2))
            one = seconds(learning(model.learn_one, one_by_one), time.thread_time)
            many = seconds(learning(other.learn_many, in_blocks), time.thread_time)
            fastest = Times(*map(min, fastest, (learned.seconds, one, many)))
        report(peer, stream, case, fastest, learned, model)


def compare(peer: Peer) -> None:
    """Compare with a library on all its streams."""
    print(f"\n{peer.name}\n{peer.note}\n")
    print(
        f"{'microseconds per example':<29}{'theirs':>9}{'one':>9}{'many':>9}{'one/th.':>10}{'many/th.':>10}"
        f"{'% err.':>8}{'ours':>7}{'vectors':>8}{'ours':>7}"
    )
    for make in peer.streams:
        try:
            stream = make()
        except DatasetError as error:
            print(f"skipped, {error}")
            continue
        with tempfile.TemporaryDirectory() as directory:
            compare_on(stream, peer, Path(directory))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers",
        description=peers.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kol", type=Path, metavar="BINARY_OR_DIR")
    parser.add_argument("--dogma", type=Path, metavar="DIR")
    parser.add_argument("--octave", type=Path, metavar="BINARY", default=Path("octave-cli"))
    parser.add_argument("--budgetedsvm", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    chosen: list[Peer] = []
    if arguments.kol:
        chosen.append(KOL(arguments.kol))
    if arguments.dogma:
        chosen.append(DOGMA(arguments.dogma, arguments.octave))
    if arguments.budgetedsvm:
        chosen.append(BudgetedSVM(arguments.budgetedsvm))
    if not chosen:
        parser.error("give the place of at least one library")
    print(
        f"{platform.machine()}, Python {platform.python_version()}, River {river.__version__}, "
        f"NumPy {np.__version__}, river-budget {rb.__version__}"
    )
    for peer in chosen:
        compare(peer)


if __name__ == "__main__":
    main()
