"""Quix Streams on a mock broker in this process, and on the broker that RIVER_BUDGET_KAFKA names."""

from __future__ import annotations

import collections
import functools
import json
import os
import pathlib
import threading

import pytest

pytest.importorskip(
    "quixstreams",
    reason="quixstreams is not installed: Quix Streams did not run (pip install quixstreams)",
)

import agents_on_quix as agents
import confluent_kafka

import river_budget as rb
from river_budget import keyed
from river_budget.keyed import quix

pytestmark = pytest.mark.slow

N_AGENTS, N_EVENTS = 10, 40


@pytest.fixture
def real_broker():
    """Skip the test where no real broker is named."""
    if "RIVER_BUDGET_KAFKA" not in os.environ:
        pytest.skip(
            "RIVER_BUDGET_KAFKA names no broker: this did not run on Kafka (.ci/kafka/start)"
        )


@pytest.fixture(params=["mock", "kafka"])
def broker(request, monkeypatch):
    """Let `agents.kafka` take the mock broker, and then the real one."""
    if request.param == "mock":
        monkeypatch.delenv("RIVER_BUDGET_KAFKA", raising=False)
    else:
        request.getfixturevalue("real_broker")


@pytest.fixture
def quick_workers(monkeypatch):
    """Let the process that workers are forked from find the demo."""
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(agents.__file__).parent))


def test_a_killed_worker_loses_no_event_and_learns_none_twice(broker, quick_workers, tmp_path):
    events = agents.agent_events(N_AGENTS, N_EVENTS)
    names = sorted({event.key for event in events})
    with agents.kafka() as job:
        topics, workers = agents.Topics(job), agents.Workers(job, tmp_path)
        try:
            unfinished = agents.survive(topics, workers, events)
            workers.stop()
            workers.start("B")
            answers = agents.ask(topics, workers, names)
        finally:
            workers.stop()
            topics.close()

    states = {}
    collections.deque(keyed.run_local(events, agents.learner(), states), maxlen=0)
    questions = [keyed.Event(name, -1, agents.QUESTION) for name in names]
    expected = {p.key: p._asdict() for p in keyed.run_local(questions, agents.learner(), states)}
    assert unfinished > 0
    assert all(p["n_seen"] == N_EVENTS for p in expected.values())
    assert answers == {name: {**p, "worker": "B"} for name, p in expected.items()}
    assert not any("error" in answer for answer in topics.answers)
    assert {(a["key"], a["seq"]) for a in topics.answers} == {
        (event.key, event.seq) for event in events + questions
    }


def test_a_worker_killed_in_a_transaction_answers_and_learns_exactly_once(
    real_broker, quick_workers, tmp_path
):
    events = agents.agent_events(N_AGENTS, N_EVENTS)
    half = len(events) // 2
    with agents.kafka("exactly-once") as job:
        topics, workers = agents.Topics(job), agents.Workers(job, tmp_path)
        # It begins a transaction, and does not commit it before the end of the test.
        first = agents.Workers(job._replace(commit_interval=600.0), tmp_path)

        def has_answered(isolation):
            return any(answer["worker"] == "B" for answer in topics.results(isolation))

        try:
            workers.start("A")
            first.start("B")
            workers.wait_until(lambda: workers.has_agents("A") and first.has_agents("B"))
            topics.send(events[:half])
            workers.wait_until(lambda: has_answered("read_uncommitted"))
            is_in_a_transaction = not has_answered("read_committed")
            first.kill("B")
            first.wipe("B")
            workers.start("B")
            workers.wait_until(lambda: workers.has_agents("B"))
            topics.send(events[half:])
            workers.wait_until(lambda: topics.committed() == len(events))
        finally:
            first.stop()
            workers.stop()
            topics.close()
        answers, states = topics.results(), topics.states()

    expected_states = {}
    expected = [p._asdict() for p in keyed.run_local(events, agents.learner(), expected_states)]
    assert is_in_a_transaction
    assert {answer.pop("worker") for answer in answers} == {"A", "B"}
    assert by_key(answers) == by_key(expected)
    assert states == expected_states


def answers_of(job, directory, learner, messages, max_live=10_000, **options):
    """Return the answers of an application in this process, which commits after seven messages."""
    app = agents.application(job, directory, "tests", commit_every=7, **options)
    events, _ = agents.stream(job, app)
    producer = confluent_kafka.Producer({"bootstrap.servers": job.address})
    for key, value in messages:
        producer.produce(job.events, encoded(value), key)
    producer.flush(60)
    quix.apply(events, learner, max_live=max_live)
    return app.run(count=len(messages), timeout=60)


@pytest.fixture
def serve(broker, tmp_path):
    with agents.kafka() as job:
        yield functools.partial(answers_of, job, tmp_path)


def encoded(value):
    return value if value is None or isinstance(value, bytes) else json.dumps(value)


def forgetrons(**options):
    return keyed.KeyedLearner(lambda: rb.Forgetron(rb.RBF(gamma=1.0), budget=20), **options)


def message_of(event):
    return event.key, {"seq": event.seq, "x": event.x, "y": event.y}


def by_key(results):
    grouped = collections.defaultdict(list)
    for result in results:
        grouped[result["key"]].append(result)
    return grouped


def test_a_restarted_application_continues_and_evicts_models(serve):
    events = agents.agent_events(6, 20)
    expected = [p._asdict() for p in keyed.run_local(events, forgetrons())]
    half = len(events) // 2
    messages = [message_of(event) for event in events]
    first = serve(forgetrons(), messages[:half], max_live=1)
    second = serve(forgetrons(), messages[half:], max_live=1)
    assert by_key(first + second) == by_key(expected)


class DeadWorker:
    """What a worker leaves that is killed in a commit: a transaction with states."""

    def __init__(self, job):
        self._job = job
        settings = {"bootstrap.servers": job.address, "transactional.id": f"{job.group}-dead"}
        self._producer = confluent_kafka.Producer(settings)
        self._producer.init_transactions()
        self._producer.begin_transaction()

    def write(self, *_):
        for place in agents.PLACES:
            self._producer.produce(self._job.changelog, b"state", b"key", partition=place)
        self._producer.flush()

    def time_out(self):
        self._producer.abort_transaction()


def test_a_recovery_waits_for_states_behind_the_transaction_of_a_dead_worker(real_broker, tmp_path):
    events = agents.agent_events(4, 10)
    expected = [p._asdict() for p in keyed.run_local(events, forgetrons())]
    messages = [message_of(event) for event in events]
    half = len(events) // 2
    with agents.kafka("exactly-once") as job:
        dead = DeadWorker(job)
        answers = answers_of(
            job, tmp_path / "A", forgetrons(), messages[:half], on_message_processed=dead.write
        )
        threading.Timer(3.0, dead.time_out).start()
        answers += answers_of(job, tmp_path / "B", forgetrons(), messages[half:])
    assert by_key(answers) == by_key(expected)


def test_a_restarted_policy_hears_of_the_rewards_of_its_decisions(serve):
    learner = keyed.KeyedLearner(lambda: rb.bandit.ArmClassifiers(rb.Forgetron(budget=5), seed=1))
    decisions = [("ann", {"seq": t, "x": {"a": t % 3}, "arms": ["s", "l"]}) for t in range(6)]
    chosen = serve(learner, decisions)
    told = serve(learner, [("ann", {"seq": t, "y": t % 2}) for t in range(6)])
    assert {"s", "l"} == {answer["y_pred"] for answer in chosen}
    assert [answer["y_pred"] for answer in told] == [answer["y_pred"] for answer in chosen]
    assert told[-1]["accuracy"] == 0.5


def test_labels_come_at_any_time_and_differ_from_key_to_key(serve):
    labels = {"ann": ["ham", "spam", "eggs"], "bob": [0, 1, 2, "x"], "eve": [True, False]}
    events = [
        keyed.Event(key, t, {"a": 2.0 * (t % len(names))}, names[t % len(names)])
        for t in range(32)
        for key, names in labels.items()
    ]
    # The third label comes after the restart, that of the event 2 as a late one.
    late = [event._replace(x=None) for event in events if event.seq == 2]
    events = [
        event._replace(y=None) if event.seq < 14 and event.seq % 4 > 1 else event
        for event in events
    ]
    events += late
    expected = [p._asdict() for p in keyed.run_local(events, forgetrons())]
    messages = [message_of(event) for event in events]
    answers = serve(forgetrons(), messages[:40], max_live=1)
    answers += serve(forgetrons(), messages[40:], max_live=2)
    assert by_key(answers) == by_key(expected)
    assert {0, 1, 2, "x"} <= {a["y_pred"] for a in answers if a["key"] == "bob"}


REFUSED = [
    ("ann", [1, 2], "expected an object with seq, x and y"),
    ("ann", {"x": {"a": 1.0}}, "seq is None"),
    ("ann", {"seq": "4", "x": {"a": 1.0}}, "seq is '4'"),
    ("ann", {"seq": 4, "x": [1.0]}, "x must be a dict of features, got [1.0]"),
    ("ann", {"seq": 4, "x": {"a": [1.0]}}, "expected a finite number"),
    ("ann", {"seq": 4, "x": {"a": 1.0}, "y": [1]}, "expected a class"),
    ("ann", {"seq": 4}, "is new and has no features"),
    (None, {"seq": 4, "x": {"a": 1.0}}, "the message has no key"),
]


UNDECODABLE = [
    ("ann", b'{"seq": 4, "x": {"a": NaN}}', "unexpected character"),
    ("ann", b'{"seq": 4, "x": {"a": 1.0', "unexpected end of data"),
    ("ann", b'{"seq": 4, "x": {"a": 1e999}}', "infinity"),
    ("ann", b'{"seq": 4, "x": {"a": 1.0}, "y": "\\ud800"}', "surrogate"),
    ("ann", b"\xff\xfe", "not valid UTF-8"),
    ("ann", b"", "empty"),
    ("ann", b"[" * 100_000, "depth limit exceeded"),
    ("ann", None, "expected an object"),
    ("ann", b'{"seq": 9007199254740992, "x": {"a": 1.0}}', "max_jump=1000000000"),
    ("ann", b'{"seq": 4.0, "x": {"a": 1.0}}', "seq is 4.0: expected a whole number"),
    ("ann", b'{"seq": 1180591620717411303424, "x": {"a": 1.0}}', "expected a whole number"),
    ("ann", b'{"seq": -1180591620717411303424, "x": {"a": 1.0}}', "expected a whole number"),
    (b"an\xffn", b'{"seq": 4, "x": {"a": 1.0}}', "can't decode byte 0xff"),
]


def test_a_message_that_cannot_be_decoded_is_answered_and_does_not_stop_the_worker(serve):
    """So is one that is refused, and it changes nothing."""
    good = [("ann", {"seq": t, "x": {"a": t % 2}, "y": t % 2 == 0}) for t in range(6)]
    bad = [(key, value) for key, value, _ in REFUSED + UNDECODABLE]
    results = serve(forgetrons(), [*good[:4], *bad, *good[4:]])
    events = [keyed.Event(key, **value) for key, value in good]
    expected = [p._asdict() for p in keyed.run_local(events, forgetrons())]
    assert [result for result in results if "error" not in result] == expected
    errors = by_key([result for result in results if "error" in result])
    for name, key in [("ann", "ann"), ("an\\xffn", b"an\xffn"), (None, None)]:
        messages = [message for of, _, message in REFUSED + UNDECODABLE if of == key]
        for error, message in zip(errors[name], messages, strict=True):
            assert message in error["error"]


def test_a_key_has_the_same_state_whoever_decodes_it():
    event = {"seq": 3, "x": {"a": 1.0}, "y": True}
    assert quix._event_of(json.dumps(event).encode(), "änn".encode()) == quix._event_of(
        event, "änn"
    )


def test_a_model_that_grows_too_large_leaves_the_others_alone(serve):
    def values(n):
        return [{"seq": t, "x": {"a": float(t)}, "y": t % 2 == 0} for t in range(n)]

    learner = forgetrons(max_state_bytes=2000)
    messages = [("large", value) for value in values(40)] + [("small", v) for v in values(3)]
    answers = by_key(serve(learner, messages))
    assert "error" not in answers["large"][0]
    assert "2,000 are allowed: a budget of" in answers["large"][-1]["error"]
    small = [keyed.Event("small", **value) for value in values(3)]
    assert answers["small"] == [p._asdict() for p in keyed.run_local(small, forgetrons())]
    # A new application continues from the state that was stored last.
    (again,) = serve(learner, [("large", {"seq": -1, "x": {"a": 0.0}})])
    assert 0 < again["n_seen"] < 40
