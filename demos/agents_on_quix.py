"""Agents on Kafka
===============

Agents on Kafka: each has its own model, one worker is killed, and no event is lost or learned twice.

Worker A serves all agents until worker B joins and takes over half of them. B is killed in mid-stream
and its disk is wiped, and A takes its agents back. In the end all models are those of a loop in one
process.

The demo runs on the broker that RIVER_BUDGET_KAFKA names, or starts a mock broker.

``python demos/agents_on_quix.py``

"""

from __future__ import annotations

import collections
import contextlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import confluent_kafka
import mock_kafka
from confluent_kafka import TopicPartition
from quixstreams import Application
from quixstreams.models import TopicConfig

import river_budget as rb
from river_budget import keyed, synth
from river_budget.keyed import quix

PATIENCE = 120.0
QUESTION = {"0": 0.5, "1": 0.5}

# Workers are forked from a process that has imported everything.
FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(["__main__", "agents_on_quix"])

N_PARTITIONS = 4
PLACES = range(N_PARTITIONS)

# A group soon notices a dead member. By default, brokers allow no shorter session.
QUICK = mock_kafka.QUICK | {"session.timeout.ms": 6000}


def learner() -> keyed.KeyedLearner:
    return keyed.KeyedLearner(lambda: rb.Mnemotron(budget=20))


class Job(NamedTuple):
    """The broker, topics and consumer group that the workers share, and what they learn with."""

    address: str
    is_mock: bool
    events: str
    results: str
    group: str
    guarantee: str = "at-least-once"
    learner: Callable[[], keyed.KeyedLearner] = learner
    commit_interval: float = 1.0

    @property
    def changelog(self) -> str:
        """The topic in which Quix Streams keeps the states."""
        return f"changelog__{self.group}--{self.events}--default"


def application(job: Job, directory: str | Path, name: str, **options: Any) -> Application:
    """Return the application of a worker, whose name is also that of its transactions.

    With exactly-once delivery, a worker that is killed leaves an open transaction. Readers wait for
    its end: until it times out after a minute, or until another worker begins one of the same name.
    So a worker that is started again has the name that it had before.
    """
    make = mock_kafka.application if job.is_mock else real_application
    return make(
        job.address, job.group,
        auto_offset_reset="earliest", state_dir=directory, loglevel="ERROR",
        processing_guarantee=job.guarantee,
        producer_extra_config={"transactional.id": f"{job.group}-{name}"},
        **options,
    )  # fmt: skip


def real_application(address: str, group: str, **options: Any) -> Application:
    return Application(
        address, consumer_group=group, consumer_extra_config=QUICK, consumer_poll_timeout=0.1, **options
    )  # fmt: skip


def stream(job: Job, app: Application):
    """Return the stream of events, and the topic of results."""
    size = TopicConfig(num_partitions=N_PARTITIONS, replication_factor=1)
    events = app.topic(
        job.events, key_deserializer="bytes", value_deserializer="bytes", config=size
    )
    results = app.topic(job.results, key_serializer="bytes", value_serializer="json", config=size)
    return app.dataframe(events), results


def work(job: Job, directory: str, name: str) -> None:
    """Run a worker until it is told to stop. A worker of your own needs no more than this."""
    app = application(job, directory, name, commit_interval=job.commit_interval)
    events, results = stream(job, app)
    answers = quix.apply(events, job.learner())
    answers = answers.apply(lambda answer: {**answer, "worker": name})
    answers.to_topic(results)
    app.run()


class Workers:
    """Processes that each run `work`; one that ends by itself is started again."""

    def __init__(self, job: Job, directory: Path) -> None:
        self._job = job
        self._directory = directory
        self._running: dict[str, multiprocessing.Process] = {}

    def start(self, name: str) -> None:
        process = FORKED.Process(
            target=work, args=(self._job, str(self._directory / name), name), daemon=True
        )
        process.start()
        self._running[name] = process

    def has_agents(self, name: str) -> bool:
        """Whether a worker has opened the store of a partition."""
        return any((self._directory / name).rglob("CURRENT"))

    def pid(self, name: str) -> int:
        return self._running[name].pid

    def freeze(self, name: str) -> None:
        """Stop a worker where it is: it neither learns nor commits any more."""
        os.kill(self.pid(name), signal.SIGSTOP)

    def kill(self, name: str) -> None:
        """Kill a worker as a power failure does."""
        process = self._running.pop(name)
        process.kill()
        process.join()

    def wipe(self, name: str) -> None:
        """Lose the disk of a worker."""
        shutil.rmtree(self._directory / name, ignore_errors=True)

    def stop(self) -> None:
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            process.join()
        self._running.clear()

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not is_so():
            if time.monotonic() > deadline:
                raise TimeoutError(f"the condition was not met within {PATIENCE:.0f} s")
            self.revive()
            time.sleep(0.02)

    def revive(self) -> None:
        """Start the workers again that have ended by themselves."""
        for name, process in list(self._running.items()):
            if not process.is_alive():
                self.start(name)


class Topics:
    """The topics of events and results, and the progress of the workers."""

    def __init__(self, job: Job) -> None:
        stream(job, application(job, tempfile.gettempdir(), "topics"))
        self._job = job
        self.answers: list[dict] = []
        self._settings = {"bootstrap.servers": job.address, "log_level": 0}
        self._producer = confluent_kafka.Producer({**self._settings, "linger.ms": 5})
        self._group = confluent_kafka.Consumer({**self._settings, "group.id": job.group})
        self._results = self._reader(job.results)
        self._ends = self._consumer("read_uncommitted")

    def _consumer(self, isolation: str = "read_committed") -> confluent_kafka.Consumer:
        """Return a consumer that is not a member of the group of workers."""
        return confluent_kafka.Consumer(
            {
                **self._settings,
                "group.id": f"{self._job.group}-reader",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": isolation,
            }
        )

    def _reader(self, topic: str, isolation: str = "read_committed") -> confluent_kafka.Consumer:
        """Return a consumer of a whole topic."""
        reader = self._consumer(isolation)
        reader.assign([TopicPartition(topic, place, 0) for place in PLACES])
        return reader

    def send(self, events: list[keyed.Event]) -> None:
        for event in events:
            value = {"seq": event.seq, "x": event.x, "y": event.y}
            self._producer.produce(self._job.events, json.dumps(value), event.key)
            self._producer.poll(0)
        self._producer.flush(PATIENCE)

    def read(self) -> list[dict]:
        """Return all results so far."""
        for message in self._results.consume(num_messages=1000, timeout=0.02):
            if message.error() is None:
                self.answers.append(json.loads(message.value()))
        return self.answers

    def messages(self, topic: str, isolation: str = "read_committed") -> Iterator[Any]:
        """Yield the messages that a topic has now: the committed ones, or all that were written."""
        reader = self._reader(topic, isolation)
        ended: set[int] = set()
        while len(ended) < N_PARTITIONS:
            for message in reader.consume(num_messages=1000, timeout=1.0):
                if message.error() is None:
                    yield message
                else:
                    ended.add(message.partition())
        reader.close()

    def results(self, isolation: str = "read_committed") -> list[dict]:
        return [
            json.loads(message.value()) for message in self.messages(self._job.results, isolation)
        ]

    def n_written(self, topic: str) -> int:
        """Return the number of messages that a topic has, committed or not."""
        places = [TopicPartition(topic, place) for place in PLACES]
        return sum(self._ends.get_watermark_offsets(place)[1] for place in places)

    def states(self) -> dict[str, bytes]:
        """Return the last state of each agent, from the changelog."""
        return {
            json.loads(message.key().rpartition(b"|")[0]): message.value().removeprefix(quix.MAGIC)
            for message in self.messages(self._job.changelog)
        }

    def committed(self) -> int:
        """Return the number of events whose offsets the workers have committed."""
        places = [TopicPartition(self._job.events, place) for place in PLACES]
        return sum(max(place.offset, 0) for place in self._group.committed(places, timeout=30))

    def close(self) -> None:
        self._results.close()
        self._group.close()
        self._ends.close()


@contextlib.contextmanager
def kafka(guarantee: str = "at-least-once") -> Iterator[Job]:
    """Yield a job on the broker that RIVER_BUDGET_KAFKA names, or on a mock broker."""
    run, named = uuid.uuid4().hex[:8], os.environ.get("RIVER_BUDGET_KAFKA")
    with contextlib.nullcontext(named) if named else mock_kafka.broker() as address:
        names = (f"{name}-{run}" for name in ("events", "results", "workers"))
        yield Job(address, not named, *names, guarantee)


def agent_events(n_agents: int, n_events: int) -> list[keyed.Event]:
    """Return the events of agents, each with its own stream; about half of the labels come late."""
    rng = random.Random(1)
    events, late = [], []
    streams = [
        iter(synth.RotatingGaussians(n_events, speed=0, start=agent, seed=agent))
        for agent in range(n_agents)
    ]
    for seq in range(n_events):
        for agent, examples in enumerate(streams):
            x, y = next(examples)
            x = {str(name): value for name, value in x.items()}
            if rng.random() < 0.5:
                events.append(keyed.Event(f"agent-{agent}", seq, x, y))
            else:
                events.append(keyed.Event(f"agent-{agent}", seq, x))
                late.append(keyed.Event(f"agent-{agent}", seq, None, y))
        rng.shuffle(late)
        events += [late.pop() for _ in range(len(late) // 2)]
    return events + late


def survive(topics: Topics, workers: Workers, events: list[keyed.Event]) -> int:
    """Let worker B join and be killed; return how many events were sent but not committed by then.

    B is frozen in mid-stream before the last events are sent, so it has not committed its share.
    """
    third = len(events) // 3
    workers.start("A")
    topics.send(events[:third])
    workers.wait_until(lambda: topics.committed() == third)

    workers.start("B")
    workers.wait_until(lambda: workers.has_agents("B"))
    topics.send(events[third : 2 * third])
    workers.wait_until(lambda: any(answer["worker"] == "B" for answer in topics.read()))
    workers.freeze("B")
    topics.send(events[2 * third :])
    unfinished = len(events) - topics.committed()
    workers.kill("B")
    workers.wipe("B")

    workers.wait_until(lambda: topics.committed() == len(events))
    return unfinished


def ask(topics: Topics, workers: Workers, agents: Iterable[str]) -> dict[str, dict]:
    """Return each agent's prediction of one example, by a query, which is not learned."""
    questions = [keyed.Event(agent, -1, QUESTION) for agent in agents]
    topics.send(questions)
    answers: dict[str, dict] = {}

    def all_answered() -> bool:
        answers.update((a["key"], a) for a in topics.read() if a.get("seq") == -1)
        return len(answers) == len(questions)

    workers.wait_until(all_answered)
    return answers


def main() -> None:
    events = agent_events(n_agents=12, n_events=200)
    agents = sorted({event.key for event in events})
    with kafka() as job, tempfile.TemporaryDirectory() as directory:
        print("a mock broker" if job.is_mock else f"the broker at {job.address}")
        topics, workers = Topics(job), Workers(job, Path(directory))
        unfinished = survive(topics, workers, events)
        print(f"{len(events):,} messages; worker B was killed with {unfinished:,} unfinished")
        answers = ask(topics, workers, agents)
        workers.stop()
        topics.close()

    states: dict[str, bytes] = {}
    collections.deque(keyed.run_local(events, learner(), states), maxlen=0)
    questions = [keyed.Event(agent, -1, QUESTION) for agent in agents]
    print(f"{'agent':<10}{'events':>8}{'accuracy':>10}   as in one process")
    for expected in keyed.run_local(questions, learner(), states):
        answer = answers[expected.key]
        same = answer == {**expected._asdict(), "worker": answer["worker"]}
        print(f"{expected.key:<10}{answer['n_seen']:>8}{answer['accuracy']:>10.3f}   {same}")


if __name__ == "__main__":
    main()
