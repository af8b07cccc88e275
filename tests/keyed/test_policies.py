"""One policy for each key: decisions and rewards as events."""

from __future__ import annotations

import functools
import pickle
import random
import re
import signal
import subprocess
import sys

import hypothesis
import pytest
from hypothesis import strategies as st
from refusals import refuses
from test_keyed import content, contents, fold, interleaved

import river_budget as rb
from river_budget import checkpoint, keyed, synth
from river_budget.keyed import Event
from river_budget.testing.moments import interrupted

ARMS = ["small", "large"]
X = {"u": 0.5}


def policy(**options):
    return rb.bandit.ArmClassifiers(
        rb.Forgetron(budget=5), **{"costs": {1: 0.1}, "seed": 1, **options}
    )


def learner(**options):
    return keyed.KeyedLearner(lambda: policy(**options))


def decisions_of(key, n=12):
    """Return decisions among arms that come and go, and for each arm whether it works."""
    rng = random.Random(key)
    router = synth.Router(n_arms=3, n_samples=n, seed=rng.randrange(99))
    return [
        (Event(key, t, x, arms=rng.choice([[0, 1], [1, 2], [0, 1, 2]])), works)
        for t, (x, works) in enumerate(router)
    ]


def rewarded(decisions, seed):
    """Return decisions with rewards that come later, in another order, or never; by `settled`."""
    rng, result, waiting = random.Random(seed), [], []
    for event, works in decisions:
        result.append((event, None))
        if rng.random() < 0.8:
            waiting.append((event._replace(x=None, arms=None), works))
        if rng.random() < 0.3:
            rng.shuffle(waiting)
            result += [waiting.pop() for _ in range(len(waiting) // 2)]
    return result + waiting


def settled(stream):
    """Return the events of a stream in which each reward is that of the arm that was chosen."""
    states, arms, events = {}, {}, []
    for event, works in stream:
        if works is not None:
            event = event._replace(y=int(works[arms[event.key, event.seq]]))
        states[event.key], answer = learner().step(states.get(event.key), event)
        arms.setdefault((event.key, event.seq), answer.y_pred)
        events.append(event)
    return events


@functools.cache
def events():
    return settled(interleaved([rewarded(decisions_of(key), seed=1) for key in "ab"], seed=1))


MOMENTS = st.integers(0, 50)


def test_a_stream_of_keys_equals_one_policy_for_each_key():
    states, answers = fold(learner(), events())
    for key in "ab":
        alone, tickets, rewards = policy(), {}, []
        for event, answer in zip(events(), answers, strict=True):
            if event.key != key:
                continue
            if event.y is None:
                tickets[event.seq] = alone.decide(event.arms, event.x)
            else:
                rewards.append(event.y)
                assert alone.reward(tickets[event.seq].id, event.y)
            expected = sum(rewards) / len(rewards) if rewards else None
            assert answer == (
                key, event.seq, tickets[event.seq].arm, None, len(tickets), expected,
            )  # fmt: skip
        assert 0 < len(rewards) < len(tickets) == 12
        loaded = checkpoint.loads(states[key])
        assert content(checkpoint.dumps(loaded)) == content(checkpoint.dumps(alone))


@pytest.mark.slow
@hypothesis.given(flushed=st.sets(MOMENTS), max_live=st.integers(1, 2))
@hypothesis.settings(max_examples=2)
def test_serializing_at_any_time_changes_nothing(flushed, max_live):
    expected, answers = fold(learner(), events())
    states = {}
    cache = keyed.ModelCache(learner(), states.get, states.__setitem__, max_live)
    for t, event in enumerate(events()):
        assert cache.advance(event) == answers[t]
        if t in flushed:
            cache.flush()
            cache = keyed.ModelCache(learner(), states.get, states.__setitem__, max_live)
    cache.flush()
    assert contents(states) == contents(expected)


@pytest.mark.slow
@hypothesis.given(crashes=st.lists(st.tuples(MOMENTS, st.integers(0, 12)), max_size=3))
@hypothesis.settings(max_examples=2)
def test_a_crash_and_a_replay_make_the_same_policies(crashes):
    expected, answers = fold(learner(), events())
    states, start = {}, 0
    for crash, repeated in sorted(crashes):
        fold(learner(), events()[start:crash], states)
        # The states are stored, but not the position in the stream.
        start = max(0, crash - repeated)
    last = fold(learner(), events()[start:], states)[1]
    assert contents(states) == contents(expected)
    for replayed, first in zip(last, answers[start:], strict=True):
        assert replayed.y_pred in (first.y_pred, None)


@pytest.mark.slow
def test_policies_of_a_mixture_are_the_same_whether_they_stay_live_or_are_stored():
    """Its experts know the last label, unless a label is late."""
    mixture = functools.partial(rb.Mnemotron, budget=5, kernels=(rb.RBF(gamma=1.0),))
    of_mixture = keyed.KeyedLearner(lambda: rb.bandit.ArmClassifiers(mixture(), seed=1))
    stream = [
        event
        for t in range(80)
        for event in (
            Event("a", t, {"u": float(t % 3)}, arms=ARMS), Event("a", t - t % 2, y=t // 20 % 2)
        )
    ]  # fmt: skip
    held, state = of_mixture.deserialize(None), None
    for event in stream:
        answer = of_mixture.advance(held, event)
        state, stored = of_mixture.step(state, event)
        assert stored == answer


@pytest.mark.slow
def test_events_that_all_come_twice_are_learned_once():
    states, _ = fold(learner(), [event for event in events() for _ in range(2)])
    assert contents(states) == contents(fold(learner(), events())[0])


WORKER = """
import os, pickle, signal, sys
import river_budget as rb
from river_budget import keyed
def policy():
    return rb.bandit.ArmClassifiers(rb.Forgetron(budget=5), costs={1: 0.1}, seed=1)
path, last = sys.argv[1], int(sys.argv[2])
events = pickle.load(open(path + ".events", "rb"))
start, states = pickle.load(open(path, "rb")) if os.path.exists(path) else (0, {})
cache = keyed.ModelCache(keyed.KeyedLearner(policy), states.get, states.__setitem__, 1)
for t, event in enumerate(events[start:], start + 1):
    cache.advance(event)
    if t % 10 == 0:
        cache.flush()
        with open(path + ".new", "wb") as file:
            pickle.dump((t, states), file)
        os.replace(path + ".new", path)
    if t == last:
        os.kill(os.getpid(), signal.SIGKILL)
cache.flush()
pickle.dump((t, states), open(path, "wb"))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_killed_worker_that_starts_again_makes_the_same_policies(tmp_path):
    path = tmp_path / "states"
    path.with_suffix(".events").write_bytes(pickle.dumps(events()))
    ends = [
        subprocess.run([sys.executable, "-c", WORKER, str(path), str(last)], check=False).returncode
        for last in (18, 0)
    ]
    assert ends == [-signal.SIGKILL, 0]
    _, states = pickle.loads(path.read_bytes())
    assert contents(states) == contents(fold(learner(), events())[0])


def test_a_decision_that_comes_again_gets_its_arm_until_it_is_rewarded():
    decision, reward = Event("a", 3, X, arms=ARMS), Event("a", 3, y=True)
    state, first = learner().step(None, decision)
    again, second = learner().step(state, decision)
    assert second == first
    assert content(again) == content(state)
    state, answer = learner().step(state, reward)
    assert (answer.y_pred, answer.n_seen, answer.accuracy) == (first.y_pred, 1, 1.0)
    for event in (decision, reward, reward._replace(y=False), Event("a", 1, y=1), Event("a", -1)):
        after, answer = learner().step(state, event)
        assert content(after) == content(state)
        assert (answer.y_pred, answer.accuracy) == (None, 1.0)


def test_the_reward_of_a_ticket_that_has_expired_is_not_learned():
    events = [Event("a", t, X, arms=ARMS) for t in (0, 5, 7)]
    rewards = [Event("a", t, y=1) for t in (0, 5)]
    states, answers = fold(learner(max_pending=2), [*events, *rewards])
    assert answers[-2].y_pred is None
    assert answers[-1].y_pred == answers[1].y_pred
    assert learner().deserialize(states["a"]).n_labelled == 1


REFUSED = {
    "no arms": (Event("a", 1, X), "list of arms"),
    "an empty list": (Event("a", 1, X, arms=[]), "no arm"),
    "a text": (Event("a", 1, X, arms="ab"), "list of arms"),
    "a set, whose order changes": (Event("a", 1, X, arms={"b", "c"}), "list of arms"),
    "an arm": (Event("a", 1, X, arms=["b", ["c"]]), r"\['c'\]"),
    "bytes": (Event("a", 1, X, arms=[b"x"]), "cannot be stored"),
    "no features": (Event("a", 1, arms=ARMS), "no features"),
    "a feature": (Event("a", 1, {"u": float("inf")}, arms=ARMS), "'u'"),
    "both": (Event("a", 1, X, 1, ARMS), "reward before its decision"),
    "a reward": (Event("a", 0, y=1.5), "reward must be a number from 0"),
    "a jump": (Event("a", 10**12, X, arms=ARMS), "max_jump"),
}


@pytest.mark.parametrize(("event", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_changes_nothing(event, message):
    state, _ = learner().step(None, Event("a", 0, X, arms=ARMS))
    live = learner().deserialize(state)
    refuses(message, functools.partial(learner().advance, live), event)
    assert content(learner().serialize(live)) == content(state)


def test_a_policy_without_a_seed_is_refused():
    refuses("ArmClassifiers with a seed", keyed.KeyedLearner, rb.bandit.ArmClassifiers)


def test_tickets_that_are_too_many_for_a_state_say_what_helps():
    small = keyed.KeyedLearner(policy, max_state_bytes=7_000)
    events = [Event("a", t, {f"name-{t}": 1.0}, arms=ARMS) for t in range(40)]
    message = r"models of 0 arms take 0 of them, and \d+ waiting tickets .* a smaller max_pending"
    refuses(message, fold, small, events)


def test_the_budget_that_a_policy_is_advised_to_have_fits():
    def learner(budget):
        model = rb.Forgetron(budget=budget)
        return keyed.KeyedLearner(lambda: rb.ArmClassifiers(model, seed=1), max_state_bytes=20_000)

    rng = random.Random(1)
    events = []
    for t in range(120):
        x = {f"name-{i}": rng.random() for i in range(30)}
        events += [Event("a", t, x, arms=[t % 2]), Event("a", t, y=rng.random() < 0.5)]
    with pytest.raises(ValueError, match="a model with a budget of") as refused:
        fold(learner(60), events)
    advised = int(re.search(r"budget of (\d+)", str(refused.value))[1])
    fold(learner(advised), events)


def test_a_decision_that_others_made_and_a_grade_are_events():
    observed, grade = Event("a", 0, X, arms=["large"]), Event("a", 0, y=0.4)
    state, first = learner().step(None, observed)
    live = learner().deserialize(state)
    assert (first.y_pred, live.model._observed) == ("large", {0: 1.0})
    _, answer = learner().step(state, grade)
    assert (answer.y_pred, answer.accuracy) == ("large", 0.0)


def test_a_context_with_a_name_that_cannot_be_stored_is_refused():
    learner = keyed.KeyedLearner(lambda: rb.bandit.ArmClassifiers(seed=1))
    live = learner.deserialize(None)
    with pytest.raises(ValueError, match="cannot be stored"):
        learner.advance(live, Event("ann", 0, {b"price": 1.5}, arms=["a", "b"]))
    assert learner.serialize(live) == learner.serialize(learner.deserialize(None))


@pytest.mark.slow
@pytest.mark.parametrize("event", ["decision", "reward"])
def test_an_interrupted_event_of_a_policy_comes_again(event):
    made = learner()
    states, _ = fold(made, [event for event in events()[:20] if event.key == "a"])
    n = made.deserialize(states["a"]).last_seq + 1
    decision, reward = Event("a", n, X, arms=[0, 1]), Event("a", n, y=1)
    if event == "reward":
        states, _ = fold(made, [decision], states)
    event = reward if event == "reward" else decision
    expected = made.deserialize(fold(made, [event], dict(states))[0]["a"])
    for live in interrupted(
        lambda: made.deserialize(states["a"]), lambda live: made.advance(live, event)
    ):
        made.advance(live, event)
        for name in ("last_seq", "n_seen", "n_labelled", "n_right"):
            assert getattr(live, name) == getattr(expected, name)
        assert live.model._counts == expected.model._counts
        assert list(live.model._pending) == list(expected.model._pending)
        made.serialize(live)
