"""One model per key on a broker: speed, bytes, memory, and the recovery of a worker.

`python -m benchmarks.keyed` runs it on the broker that RIVER_BUDGET_KAFKA names. Events are sent to workers
that already have their partitions. Each commit writes all models that have changed.

"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import river_budget as rb
from benchmarks.keyed import events
from benchmarks.soak import resident_bytes
from benchmarks.workers import agents
from river_budget import keyed

N_EVENTS, N_KEYS, BUDGET = 100_000, 5_000, 30
COMMIT_INTERVAL = 5.0
GUARANTEES = ("at-least-once", "exactly-once")
WORKERS = ("A", "AB")


def learner() -> keyed.KeyedLearner:
    return keyed.KeyedLearner(lambda: rb.Forgetron(rb.RBF(gamma=0.1), budget=BUDGET))


class Cost(NamedTuple):
    """What a run took.

    Attributes
    ----------
    rate
        Events a second, from the first that is sent to the last answer.
    processor
        Microseconds of the workers' processor time for an event, commits included.
    writes, changelog, state
        States that are written for an event and their bytes, and the bytes of the last state of a key.
    resident
        Bytes of the largest worker.
    restart, recovery
        Seconds from the start of a worker to its first answer, with the states on its disk and without.
    """

    rate: float
    processor: float
    writes: float
    changelog: float
    state: float
    resident: int
    restart: float
    recovery: float

    def __str__(self) -> str:
        return (
            f"{self.rate:>10,.0f}{self.processor:>10.0f}{self.writes:>14.2f}{self.changelog:>13,.0f}{self.state:>11,.0f}"
            f"{self.resident / 1e6:>13.0f}{self.restart:>12.1f}{self.recovery:>17.1f}"
        )


HEADER = (
    f"{'delivery':<15}{'workers':>7}{'events/s':>10}{'us/event':>10}{'writes/event':>14}{'bytes/event':>13}{'bytes/key':>11}"
    f"{'MB a worker':>13}{'restart, s':>12}{'without disk, s':>17}"
)


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Run:
    """Workers on topics of their own."""

    def __init__(self, job: agents.Job, directory: Path) -> None:
        self._job = job
        self._topics, self._workers = agents.Topics(job), agents.Workers(job, directory)

    def n_answers(self) -> int:
        return self._topics.n_written(self._job.results)

    def cost(self, names: str, stream: list[keyed.Event]) -> Cost:
        """Send events to workers with these names."""
        for name in names:
            self._workers.start(name)
            self._workers.wait_until(lambda name=name: self._workers.has_agents(name))
        pids = [self._workers.pid(name) for name in names]
        before = sum(map(processor_seconds, pids))
        start = time.monotonic()
        self._topics.send(stream)
        self._workers.wait_until(lambda: self.n_answers() >= len(stream))
        rate = len(stream) / (time.monotonic() - start)
        self._workers.wait_until(lambda: self._topics.committed() == len(stream))
        processor = sum(map(processor_seconds, pids)) - before
        resident = max(map(resident_bytes, pids))
        self._workers.stop()

        written = [len(message) for message in self._topics.messages(self._job.changelog)]
        states = self._topics.states().values()
        self.seconds_to_an_answer()  # A gets the states of all keys.
        restart = self.seconds_to_an_answer()
        self._workers.wipe("A")
        recovery = self.seconds_to_an_answer()
        self._topics.close()
        return Cost(
            rate, 1e6 * processor / len(stream), len(written) / len(stream), sum(written) / len(stream),
            sum(map(len, states)) / len(states), resident, restart, recovery,
        )  # fmt: skip

    def seconds_to_an_answer(self) -> float:
        """Start a worker for all keys, and stop it when it has answered a question."""
        n_before = self.n_answers()
        self._topics.send([keyed.Event("key-0", -1, {})])
        start = time.monotonic()
        self._workers.start("A")
        self._workers.wait_until(lambda: self.n_answers() > n_before)
        seconds = time.monotonic() - start
        self._workers.stop()
        return seconds


def cost_of(guarantee: str, names: str, stream: list[keyed.Event]) -> Cost:
    """Return what workers with these names take on new topics."""
    with agents.kafka(guarantee) as job, tempfile.TemporaryDirectory() as directory:
        job = job._replace(learner=learner, commit_interval=COMMIT_INTERVAL)
        return Run(job, Path(directory)).cost(names, stream)


def main() -> None:
    print(
        f"on a broker: {N_EVENTS:,} events of {N_KEYS:,} keys, Forgetron with a budget of {BUDGET}, "
        f"a commit every {COMMIT_INTERVAL:.0f} s"
    )
    print(HEADER)
    stream = list(events(N_KEYS, N_EVENTS))
    for guarantee in GUARANTEES:
        for names in WORKERS:
            cost = cost_of(guarantee, names, stream)
            print(f"{guarantee:<15}{len(names):>7}{cost}", flush=True)
