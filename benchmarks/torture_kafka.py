"""Whether workers on a broker that are killed at random moments answer and learn every event exactly once.

Two workers deliver exactly once. While events arrive, one of them is killed, loses its disk half of the times,
and starts again at once. Every second kill comes at a random moment, and the others as soon as states of a
commit are in the changelog. In the end, the answers that a reader of committed messages sees, and the states
in the changelog, are compared with those of a loop in one process.

"""

from __future__ import annotations

import collections
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from benchmarks.workers import agents
from river_budget import keyed

N_AGENTS, N_ROUNDS = 100, 15  # rounds of each agent between two kills
LONGEST_WAIT = 15.0  # seconds before a kill
N_PORTIONS, N_LAST = 50, 100


class Report(NamedTuple):
    """Counts of a run.

    Attributes
    ----------
    kills, events, answers
        Number of kills, of events that were sent, and of answers that a reader of committed messages sees.
    twice, missing
        Number of answers that one process does not give, and of those that only it gives.
    aborted_answers, aborted_states
        Number of answers and states that killed workers had written in transactions that did not end.
    models, equal
        Number of models, and of those whose states are bit for bit those of one process.
    seconds
        Time from the first event to the last commit.
    """

    kills: int
    events: int
    answers: int
    twice: int
    missing: int
    aborted_answers: int
    aborted_states: int
    models: int
    equal: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.events:,} events, {self.answers:,} answers: {self.twice:,} twice, "
            f"{self.missing:,} missing\n"
            f"killed in transactions: {self.aborted_answers:,} answers, {self.aborted_states:,} states\n"
            f"{self.equal:,} of {self.models:,} models equal, {self.seconds:.0f} s"
        )

    @property
    def is_exact(self) -> bool:
        return self.twice == self.missing == 0 and self.models == self.equal


class Life:
    """Two workers while events arrive."""

    def __init__(self, job: agents.Job, directory: Path) -> None:
        self._changelog = job.changelog
        self.topics, self.workers = agents.Topics(job), agents.Workers(job, directory)
        self._rng = random.Random(1)
        self.workers.start("A")
        self.workers.start("B")

    def send_slowly(self, events: list[keyed.Event]) -> None:
        """Send events in portions over a random time."""
        wait = self._rng.uniform(0, LONGEST_WAIT) / N_PORTIONS
        size = -(-len(events) // N_PORTIONS)
        for start in range(0, len(events), size):
            self.workers.revive()
            self.topics.send(events[start : start + size])
            time.sleep(wait)

    def send_until_a_commit(self, events: list[keyed.Event]) -> None:
        """Send events, and wait until a worker writes the states that have learned them."""
        n_before = self.topics.n_written(self._changelog)
        self.topics.send(events)
        self.workers.wait_until(lambda: self.topics.n_written(self._changelog) > n_before)

    def kill(self) -> None:
        name = self._rng.choice("AB")
        self.workers.kill(name)
        if self._rng.random() < 0.5:
            self.workers.wipe(name)
        self.workers.start(name)

    def live(self, events: list[keyed.Event], n_kills: int) -> float:
        """Send all events, and return the seconds until they are committed."""
        start = time.monotonic()
        share = -(-len(events) // n_kills)
        for kill in range(n_kills):
            portion = events[kill * share : (kill + 1) * share]
            self.send_slowly(portion[:-N_LAST])
            if kill % 2:
                self.send_until_a_commit(portion[-N_LAST:])
            else:
                self.topics.send(portion[-N_LAST:])
            self.kill()
        self.workers.wait_until(lambda: self.topics.committed() == len(events))
        return time.monotonic() - start

    def stop(self) -> None:
        self.workers.stop()
        self.topics.close()


def counted(answers: Iterable[dict]) -> collections.Counter[str]:
    return collections.Counter(json.dumps(answer, sort_keys=True) for answer in answers)


def torture(n_kills: int) -> Report:
    events = agents.agent_events(N_AGENTS, N_ROUNDS * n_kills)
    with agents.kafka("exactly-once") as job, tempfile.TemporaryDirectory() as directory:
        life = Life(job, Path(directory))
        try:
            seconds = life.live(events, n_kills)
        finally:
            life.stop()
        topics = life.topics
        given = counted({**answer, "worker": None} for answer in topics.results())
        aborted_answers = len(topics.results("read_uncommitted")) - given.total()
        written, committed = (
            sum(1 for _ in topics.messages(job.changelog, isolation))
            for isolation in ("read_uncommitted", "read_committed")
        )
        states = topics.states()

    local: dict[str, bytes] = {}
    answers = keyed.run_local(events, agents.learner(), local)
    expected = counted({**answer._asdict(), "worker": None} for answer in answers)
    return Report(
        n_kills, len(events), given.total(),
        twice=(given - expected).total(), missing=(expected - given).total(),
        aborted_answers=aborted_answers, aborted_states=written - committed,
        models=len(local), equal=sum(states.get(key) == state for key, state in local.items()),
        seconds=seconds,
    )  # fmt: skip


def main(n_kills: int) -> None:
    if "RIVER_BUDGET_KAFKA" not in os.environ:
        sys.exit("RIVER_BUDGET_KAFKA names no broker: start one by .ci/kafka/start")
    report = torture(n_kills)
    print(report)
    sys.exit(not report.is_exact)
