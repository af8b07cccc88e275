"""A model for every key on Apache Kafka: speed, bytes, memory, and the recovery of a worker.

It runs on the broker that RIVER_BUDGET_KAFKA names; `.ci/kafka/start` starts one. Events are sent to workers of Quix
Streams that already have their partitions. Each commit writes all models that have changed. Events a second count from
the first that is sent to the last answer; microseconds are those of the workers' processor time, commits included. In the
end a worker is started again, with the states of all keys on its disk and without them, until its first answer.

"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import river_budget as rb
from benchmarks.cells import Cell, Found, Section
from benchmarks.keyed import events
from benchmarks.processes import processor_seconds, resident_bytes
from benchmarks.tables import markdown
from river_budget import keyed

if TYPE_CHECKING:
    from benchmarks.workers import agents

N_EVENTS, N_KEYS, BUDGET = 100_000, 5_000, 30
COMMIT_INTERVAL = 5.0
GUARANTEES = ("at-least-once", "exactly-once")
WORKERS = ("A", "AB")


def learner() -> keyed.KeyedLearner:
    return keyed.KeyedLearner(lambda: rb.Forgetron(rb.RBF(gamma=0.1), budget=BUDGET))


class Run:
    """Workers on topics of their own."""

    def __init__(self, job: agents.Job, topics: agents.Topics, workers: agents.Workers) -> None:
        self._job, self._topics, self._workers = job, topics, workers

    def n_answers(self) -> int:
        return self._topics.n_written(self._job.results)

    def cost(self, names: str, stream: list[keyed.Event]) -> dict[str, float]:
        """Send events to workers with these names, and return the columns of the table."""
        for name in names:
            self._workers.start(name)
            self._workers.wait_until(lambda name=name: self._workers.has_agents(name))
        pids = [self._workers.pid(name) for name in names]
        before, start = sum(map(processor_seconds, pids)), time.monotonic()
        self._topics.send(stream)
        self._workers.wait_until(lambda: self.n_answers() >= len(stream))
        rate = len(stream) / (time.monotonic() - start)
        self._workers.wait_until(lambda: self._topics.committed() == len(stream))
        processor = sum(map(processor_seconds, pids)) - before
        resident = max(map(resident_bytes, pids))
        self._workers.stop()

        n_written = sum(len(message) for message in self._topics.messages(self._job.changelog))
        states = self._topics.states().values()
        self.seconds_to_an_answer()  # A gets the states of all keys.
        restart = self.seconds_to_an_answer()
        self._workers.wipe("A")
        recovery = self.seconds_to_an_answer()
        self._topics.close()
        return {
            "events/s": round(rate),
            "µs an event": round(1e6 * processor / len(stream)),
            "bytes an event": round(n_written / len(stream)),
            "bytes a key": round(sum(map(len, states)) / len(states)),
            "MB a worker": round(resident / 1e6),
            "s, restart": round(restart, 1),
            "s, without its disk": round(recovery, 1),
        }

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


def cost_of(guarantee: str, names: str, n_keys: int, n_events: int) -> dict[str, float]:
    """Return what workers with these names take on new topics."""
    from benchmarks.workers import agents

    stream = list(events(n_keys, n_events))
    with agents.kafka(guarantee) as job, tempfile.TemporaryDirectory() as directory:
        job = job._replace(learner=learner, commit_interval=COMMIT_INTERVAL)
        run = Run(job, agents.Topics(job), agents.Workers(job, Path(directory)))
        return run.cost(names, stream)


def cells(is_quick: bool) -> list[Cell]:
    runs = [(guarantee, names) for guarantee in GUARANTEES for names in WORKERS]
    sizes = (N_KEYS, N_EVENTS)
    if is_quick:
        runs, sizes = runs[:1], (20, 500)
    return [
        Cell(guarantee, names, cost_of, (guarantee, names, *sizes)) for guarantee, names in runs
    ]


def missing() -> str:
    named = "RIVER_BUDGET_KAFKA" in os.environ
    return "" if named else "RIVER_BUDGET_KAFKA names no broker: start one by .ci/kafka/start"


def workers(found: Found) -> str:
    """Return the table of workers."""
    return markdown({
        f"{guarantee}, {len(names)}": {title: f"{value:,}" for title, value in cost.items()}
        for guarantee, row in found.items()
        for names, cost in row.items()
    })  # fmt: skip


SECTION = Section(
    "keyed_kafka", cells, {"workers": workers}, minutes=5, is_timed=True, missing=missing
)
