"""Whether a learner that is killed at any moment resumes from a complete checkpoint.

    python -m benchmarks.torture [kills]
    python -m benchmarks.torture --kafka [kills]

A process learns, saves a checkpoint every 50 rounds, and is killed at random moments. The next process resumes from the
newest checkpoint. A finished run is compared, byte by byte, with an uninterrupted one. The runs take the algorithms with
a budget in turn. The command fails if anything is lost. With `--kafka`, workers on a broker are killed, as
`benchmarks.torture_kafka` says.

"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import river_budget as rb
from benchmarks import torture_kafka
from benchmarks.cells import ROOT, Cell, Found, Section
from river_budget import checkpoint, synth
from river_budget.catalog import ALGORITHMS

N_KILLS, N_KILLS_OF_COMMAND = 100, 200
N_ROUNDS, EVERY, KEPT = 20_000, 50, 3
LONGEST_WAIT = 0.3  # seconds before a kill


def model_of(run: int) -> Any:
    rows = [row for row in ALGORITHMS.values() if row.takes("budget")]
    return rows[run % len(rows)].build(rb.RBF(gamma=0.5), budget=20, seed=run)


def stream_of(run: int, n_rounds: int) -> Iterator[tuple[dict, bool]]:
    return iter(synth.TwoGaussians(n_rounds, flip=0.2, seed=run))


def write(path: Path, run: int, n_rounds: int) -> None:
    """Learn from the newest checkpoint on, and write one byte per example to standard output."""
    model, start = model_of(run), 0
    if path.exists():
        model, extra = checkpoint.restore(path)
        start = extra["example"]
    checkpointer = checkpoint.Checkpointer(model, path, every=EVERY, keep=KEPT)
    examples = itertools.islice(stream_of(run, n_rounds), start, None)
    for example, (x, y) in enumerate(examples, start + 1):
        model.learn_one(x, y)
        checkpointer.step({"example": example})
        os.write(1, b".")
    checkpointer.save({"example": n_rounds})


def killed(path: Path, run: int, n_rounds: int, timeout: float) -> tuple[bool, int]:
    """Kill a writer some time after its first example.

    Returns
    -------
    Whether it was killed before it had finished, and how many examples it had learned.

    """
    words = [sys.executable, "-m", "benchmarks.torture", "--write", path, run, n_rounds]
    command = [str(word) for word in words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as writer:
        first = writer.stdout.read(1)
        with contextlib.suppress(subprocess.TimeoutExpired):
            writer.wait(timeout)
        writer.kill()
        rest = writer.stdout.read()
    if writer.returncode > 0:
        raise RuntimeError(f"a writer failed with {writer.returncode}")
    return writer.returncode < 0, len(first + rest)


@dataclasses.dataclass
class Report:
    """Counts of what happened to the writers and their checkpoints.

    Attributes
    ----------
    kills, runs
        Number of writers that were killed, and of runs that finished.
    loaded
        Number of complete checkpoints found after a writer, the older ones included.
    left
        Number of temporary files found after the kills, before the next save removed them.
    replayed
        Number of examples that were learned again.
    losses
        Number of checkpoints that could not be loaded or were older than they may be, of runs that
        ended with another model than they would have without interruption, and of temporary files
        beside their last checkpoints.

    """

    kills: int = 0
    runs: int = 0
    loaded: int = 0
    left: int = 0
    replayed: int = 0
    losses: int = 0

    def __str__(self) -> str:
        return (
            f"{self.kills:,} kills, {self.runs:,} runs finished, {self.loaded:,} checkpoints loaded, "
            f"{self.left:,} temporary files left, {self.replayed:,} examples replayed, "
            f"{self.losses:,} losses."
        )


def newest(path: Path, report: Report) -> int:
    """Load all existing checkpoints, and return the example count of the newest."""
    examples = []
    for place in [path, *(path.with_name(f"{path.name}.{age}") for age in range(1, KEPT))]:
        if place.exists():
            try:
                examples.append(checkpoint.restore(place)[1]["example"])
            except checkpoint.CheckpointError:
                report.losses += 1
    report.loaded += len(examples)
    report.losses += examples != sorted(examples, reverse=True)
    return examples[0] if examples else 0


def torture(n_kills: int, n_rounds: int = N_ROUNDS, seed: int = 1) -> Report:
    """Kill writers at random moments, and return the counts."""
    report, rng = Report(), random.Random(seed)
    for run in itertools.count():
        with tempfile.TemporaryDirectory() as directory:
            path, start, is_killed = Path(directory, "model"), 0, True
            while is_killed:
                # After the last kill the run is allowed to finish.
                timeout = rng.uniform(0, LONGEST_WAIT) if report.kills < n_kills else 600
                is_killed, learned = killed(path, run, n_rounds, timeout)
                report.kills += is_killed
                reached, start = start + learned, newest(path, report)
                # A byte is written after the save, so at most one more example was learned.
                report.losses += start < reached // EVERY * EVERY
                report.replayed += max(0, reached - start)
                left = set(Path(directory).glob(f".{path.name}.checkpoint.*"))
                report.left += len(left)
            report.runs += 1
            report.losses += len(left)
            report.losses += path.read_bytes() != uninterrupted(run, n_rounds)
        if report.kills >= n_kills:
            return report


def uninterrupted(run: int, n_rounds: int) -> bytes:
    """Return the last checkpoint of an uninterrupted run."""
    model = model_of(run)
    for x, y in stream_of(run, n_rounds):
        model.learn_one(x, y)
    return checkpoint.dumps(model, {"example": n_rounds})


def counts(n_kills: int, n_rounds: int) -> dict[str, int]:
    return dataclasses.asdict(torture(n_kills, n_rounds))


def cells(is_quick: bool) -> list[Cell]:
    return [Cell("writers", "kills", counts, (1, 3_000) if is_quick else (N_KILLS, N_ROUNDS))]


def text(found: Found) -> str:
    return str(Report(**found["writers"]["kills"]))


def main(words: list[str]) -> None:
    if words[:1] == ["--write"]:
        path, run, n_rounds = words[1:]
        write(Path(path), int(run), int(n_rounds))
    elif words[:1] == ["--kafka"]:
        torture_kafka.main(int(words[1]) if words[1:] else torture_kafka.N_KILLS)
    else:
        report = torture(int(words[0]) if words else N_KILLS_OF_COMMAND)
        print(report)
        sys.exit(report.losses > 0)


SECTION = Section("torture", cells, {"torture": text}, minutes=4)

if __name__ == "__main__":
    main(sys.argv[1:])
