"""Whether workers on a broker that are killed at random moments answer and learn every event exactly once.

Two workers deliver exactly once, on the broker that RIVER_BUDGET_KAFKA names. While events arrive, one of them is
killed, loses its disk half of the times, and starts again at once. Every second kill comes at a random moment, and the
others as soon as states of a commit are in the changelog. In the end, the answers that a reader of committed messages
sees, and the states in the changelog, are compared with those of a loop in one process.

"""

from __future__ import annotations

import collections
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cells import Cell, Found, Section
from benchmarks.keyed_kafka import missing
from river_budget import keyed

if TYPE_CHECKING:
    from benchmarks.workers import agents

N_KILLS = 20
N_AGENTS, N_ROUNDS = 100, 15  # rounds of each agent between two kills
LONGEST_WAIT = 15.0  # seconds before a kill
N_PORTIONS, N_LAST = 50, 100


class Life:
    """Two workers while events arrive."""

    def __init__(self, job: agents.Job, topics: agents.Topics, workers: agents.Workers) -> None:
        self._changelog, self._topics, self._workers = job.changelog, topics, workers
        self._rng = random.Random(1)
        workers.start("A")
        workers.start("B")

    def send_slowly(self, events: list[keyed.Event]) -> None:
        """Send events in portions over a random time."""
        wait = self._rng.uniform(0, LONGEST_WAIT) / N_PORTIONS
        size = -(-len(events) // N_PORTIONS)
        for start in range(0, len(events), size):
            self._workers.revive()
            self._topics.send(events[start : start + size])
            time.sleep(wait)

    def send_until_a_commit(self, events: list[keyed.Event]) -> None:
        """Send events, and wait until a worker writes the states that have learned them."""
        n_before = self._topics.n_written(self._changelog)
        self._topics.send(events)
        self._workers.wait_until(lambda: self._topics.n_written(self._changelog) > n_before)

    def kill(self) -> None:
        name = self._rng.choice("AB")
        self._workers.kill(name)
        if self._rng.random() < 0.5:
            self._workers.wipe(name)
        self._workers.start(name)

    def live(self, events: list[keyed.Event], n_kills: int) -> None:
        """Send all events, and wait until they are committed."""
        share = -(-len(events) // n_kills)
        for kill in range(n_kills):
            portion = events[kill * share : (kill + 1) * share]
            self.send_slowly(portion[:-N_LAST])
            if kill % 2:
                self.send_until_a_commit(portion[-N_LAST:])
            else:
                self._topics.send(portion[-N_LAST:])
            self.kill()
        self._workers.wait_until(lambda: self._topics.committed() == len(events))


def counted(answers: Iterable[dict]) -> collections.Counter[str]:
    return collections.Counter(json.dumps(answer, sort_keys=True) for answer in answers)


def torture(n_kills: int) -> dict[str, int]:
    """Return counts of a run; "twice" and "missing" are answers that one process does not give, and only it gives."""
    from benchmarks.workers import agents

    events = agents.agent_events(N_AGENTS, N_ROUNDS * n_kills)
    with agents.kafka("exactly-once") as job, tempfile.TemporaryDirectory() as directory:
        topics, workers = agents.Topics(job), agents.Workers(job, Path(directory))
        try:
            Life(job, topics, workers).live(events, n_kills)
        finally:
            workers.stop()
            topics.close()
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
    return {
        "kills": n_kills,
        "events": len(events),
        "answers": given.total(),
        "twice": (given - expected).total(),
        "missing": (expected - given).total(),
        "aborted_answers": aborted_answers,
        "aborted_states": written - committed,
        "models": len(local),
        "equal": sum(states.get(key) == state for key, state in local.items()),
    }


SENTENCE = (
    "{kills} kills, {events:,} events, {answers:,} answers: {twice:,} twice, {missing:,} missing; killed in transactions: "
    "{aborted_answers:,} answers, {aborted_states:,} states; {equal:,} of {models:,} models equal."
)


def main(n_kills: int) -> None:
    if what := missing():
        sys.exit(what)
    counts = torture(n_kills)
    print(SENTENCE.format(**counts))
    sys.exit(counts["twice"] + counts["missing"] > 0 or counts["equal"] < counts["models"])


def cells(is_quick: bool) -> list[Cell]:
    return [Cell("workers", "kills", torture, (2 if is_quick else N_KILLS,))]


def text(found: Found) -> str:
    return SENTENCE.format(**found["workers"]["kills"])


SECTION = Section("torture_kafka", cells, {"torture_kafka": text}, minutes=4, missing=missing)
