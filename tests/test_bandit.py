"""A policy with a classifier for each arm."""

from __future__ import annotations

import copy
import math
import random

import numpy as np
import pandas as pd
import pytest
from refusals import refuses
from river import bandit, linear_model, preprocessing

import river_budget as rb
from river_budget import checkpoint, synth
from river_budget.base import Chain
from river_budget.calibration import Calibrator
from river_budget.testing.moments import interrupted

ARMS = ["a", "b"]


class Fixed(linear_model.LogisticRegression):
    """A classifier that says what it was told, once it has learned."""

    def __init__(self, p=0.25):
        super().__init__()
        self.p, self.n, self.n_successes = p, 0, 0.0

    def learn_one(self, x, y, w=1.0):
        self.n += 1
        self.n_successes += w * y

    def predict_proba_one(self, x):
        return {False: 1 - self.p, True: self.p} if self.n else {}


class Unweighted(Fixed):
    """The same without weights."""

    def learn_one(self, x, y):
        self.n += 1


def test_what_an_arm_is_worth():
    policy = rb.bandit.ArmClassifiers(Fixed(0.25), prior_successes=6.0, costs={"b": 0.125})
    assert policy.values_one(ARMS, {}) == {"a": 1.0, "b": 0.875}
    policy.update("a", {}, 1)
    policy.update("a", {}, 0)
    # (2 / 4 + 6) / (2 + 6)
    assert policy.values_one(ARMS, {})["a"] == 6.5 / 8
    policy.decide(["a"], {})
    policy.decide(["a"], {})
    assert policy.values_one(ARMS, {})["a"] == 6.5 / 10


def test_a_ticket_is_rewarded_once():
    policy = rb.bandit.ArmClassifiers(seed=1)
    ticket = policy.decide(ARMS, {"u": 1.0})
    assert (ticket.id, ticket.probability, len(policy._pending)) == (0, 0.5, 1)
    with pytest.raises(ValueError, match=r"a number from 0 for failure to 1 for success, got 1\.5"):
        policy.reward(ticket.id, 1.5)
    assert policy.reward(ticket.id, True)
    assert not policy.reward(ticket.id, True)
    assert not policy.reward(99, True)
    assert policy.arms == [ticket.arm]
    assert len(policy._pending) == 0


def test_ids_of_tickets_may_be_given():
    policy = rb.bandit.ArmClassifiers(seed=1)
    ids = [policy.decide(ARMS, {"u": 1.0}, number).id for number in (None, 5, None, 7)]
    assert ids == [0, 5, 6, 7]
    assert policy.waits_for(5) in ARMS
    assert policy.waits_for(4) is None
    refuses("ticket 7 must be a whole number of at least 8", policy.decide, ARMS, {"u": 1.0}, 7)
    refuses("ticket 8.5 must be a whole number", policy.decide, ARMS, {"u": 1.0}, 8.5)


def test_a_policy_with_the_largest_id_can_be_stored():
    policy = rb.bandit.ArmClassifiers(seed=1)
    for number in np.int64(3), 2**62 - 2:
        policy.decide(ARMS, {"u": 1.0}, number)
        assert checkpoint.loads(checkpoint.dumps(policy)).waits_for(number) in ARMS
    for number in (None, 2**62 - 1, np.int64(3)):
        refuses(
            r"must be a whole number of at least .* below 2\*\*62 - 1",
            policy.decide,
            ARMS,
            {},
            number,
        )


def test_the_oldest_ticket_expires():
    policy = rb.bandit.ArmClassifiers(max_pending=2, seed=1)
    tickets = [policy.decide(ARMS, {"u": float(i)}) for i in range(3)]
    assert [policy.reward(ticket.id, 1) for ticket in tickets] == [False, True, True]


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series])
@pytest.mark.parametrize("arms", [["a", "b"], [1, 2]])
def test_arms_of_any_kind(kind, arms):
    policy = rb.bandit.ArmClassifiers(seed=1)
    ticket = policy.decide(kind(arms), {"u": 1.0})
    assert type(ticket.arm) is type(arms[0])
    policy.reward(ticket.id, np.bool_(True))
    assert policy.pull(kind(arms), {"u": 1.0}) in arms
    assert checkpoint.loads(checkpoint.dumps(policy)).arms == [ticket.arm]


@pytest.mark.parametrize("value", [b"q", math.inf, object()])
def test_a_context_of_new_arms_is_checked(value):
    refuses("'u'", rb.bandit.ArmClassifiers(seed=1).decide, ARMS, {"u": value})


def test_a_context_that_changes_after_the_decision_is_learned_as_it_was():
    policies = [rb.bandit.ArmClassifiers(seed=1) for _ in range(2)]
    for policy, after in zip(policies, [0.0, 5.0], strict=True):
        context = {"u": 0.0}
        ticket = policy.decide(ARMS, context)
        context["u"] = after
        policy.reward(ticket.id, 1)
    vectors = [policy._models[policy.arms[0]].support_vectors for policy in policies]
    assert vectors[0] == vectors[1] == [{"u": 0.0}]


def test_what_is_refused_changes_nothing():
    policy = rb.bandit.ArmClassifiers(max_arms=1, seed=1)
    policy.update("a", {"u": 1.0}, 1)
    before = policy.values_one(ARMS, {"u": 0.5})
    refuses("'b' is one too many, at most 1", policy.update, "b", {"u": 1.0}, 1)
    refuses("'u'", policy.update, "a", {"u": math.inf}, 1)
    refuses("'u'", policy.decide, ["a"], {"u": math.inf})
    refuses("no arm", policy.decide, [], {"u": 1.0})
    for reward in (2, -1, 1.5, math.nan, "yes", None, np.array([1]), np.array(1), np.array([0, 1])):
        refuses("reward", policy.update, "a", {"u": 1.0}, reward)
    for arm in (None, math.nan, pd.NA, ["c"], 10**5000):
        refuses("the arm is", policy.decide, ["a", arm], {"u": 1.0})
        refuses("the arm is", policy.update, arm, {"u": 1.0}, 1)
    for arms in ("ab", 3, None):
        refuses("arm_ids must be a list", policy.decide, arms, {"u": 1.0})
    assert policy.values_one(ARMS, {"u": 0.5}) == before
    assert (len(policy._pending), policy._n) == (0, 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prior_successes", 0.0),
        ("max_arms", 0),
        ("max_pending", 1.5),
        ("model", 3),
        ("costs", 5),
        ("cost", {"a": "free"}),
        ("target", 0.0),
        ("target", 1.5),
        ("target", "most"),
    ],
)
def test_parameters_out_of_range(name, value):
    refuses(name, rb.bandit.ArmClassifiers, **{"costs" if name == "cost" else name: value})


def with_target(**options):
    """Return a policy whose arm "a" has the worth 1.4 / 2.5, "b" 2 / 2.5, and "c" 2.5 / 2.5."""
    given = {"costs": {"a": 1, "b": 2, "c": 5}, "prior_successes": 0.5, "target": 0.7, "seed": 1}
    policy = rb.bandit.ArmClassifiers(Fixed(), **(given | options))
    for arm, p in (("a", 0.45), ("b", 0.75), ("c", 1.0)):
        for reward in (0, 1):
            policy.update(arm, {}, reward)
        policy.models[arm].p = p
    policy._calibrator = Calibrator()
    return policy


def test_the_cheapest_arm_that_reaches_the_target_is_chosen():
    policy = with_target()
    expected = {"a": 1.4 / 2.5, "b": 2.0 / 2.5, "c": 1.0}
    assert policy.values_one(list("abc"), {}) == pytest.approx(expected)
    assert policy.probabilities_one(list("abcd"), {}) == pytest.approx(
        {"a": 0.45, "b": 0.75, "c": 1.0}
    )
    assert policy.pull(["c", "b", "a"], {}) == "b"
    # A new arm costs nothing, and is worth 1 until it has failed.
    assert policy.pull(["c", "b", "a", "new"], {}) == "new"


def test_the_likeliest_arm_is_chosen_if_none_reaches_the_target():
    policy = with_target(target=0.9)
    assert policy.pull(["b", "a"], {}) == "b"
    assert policy.pull(["c", "b", "a"], {}) == "c"


def test_arms_that_cost_the_same_are_chosen_at_random():
    policy = with_target(costs={"a": 1, "b": 2, "c": 2})
    assert {policy.pull(["a", "b", "c"], {}) for _ in range(30)} == {"b", "c"}
    assert policy.decide(["a", "b", "c"], {}).probability == 0.5


def test_the_threshold_follows_the_rewards_of_own_decisions():
    policy = with_target()
    assert policy.threshold == 0.7
    policy.reward(policy.decide(["b", "c"], {}).id, 1)
    assert policy.threshold == pytest.approx(0.7 - 0.005 * 0.3)
    policy.reward(policy.decide(["b", "c"], {}).id, 0.5)
    assert policy.threshold == pytest.approx(0.7 - 0.005 * 0.1)
    policy.reward(policy.decide(["b", "c"], {}).id, 0)
    assert policy.threshold == 0.7
    # Others chose these, or there was no choice.
    policy.update("b", {}, 1)
    policy.reward(policy.observe("b", {}).id, 1)
    policy.reward(policy.decide(["b"], {}).id, 1)
    assert policy.threshold == 0.7
    assert (policy._observed, policy.n_pending) == ({}, 0)


def test_a_target_without_costs_is_refused():
    for costs in (None, {}):
        refuses("target needs costs", rb.bandit.ArmClassifiers, costs=costs, target=0.9)
    assert rb.bandit.ArmClassifiers().threshold is None


def test_probabilities_are_calibrated_where_there_is_a_target():
    """The models say 0.25, and three rewards in four are successes."""
    policies = [
        rb.bandit.ArmClassifiers(Fixed(0.25), costs={"a": 1}, target=target, seed=1)
        for target in (None, 0.9)
    ]
    for policy in policies:
        for i in range(200):
            policy.update("a", {}, i % 4 > 0)
    plain, calibrated = (policy.probabilities_one(["a", "new"], {}) for policy in policies)
    assert plain == {"a": 0.25}
    assert calibrated == {"a": pytest.approx(0.75, abs=0.05)}


def test_grades_keep_their_mean():
    policy = rb.bandit.ArmClassifiers(Fixed(), seed=1)
    for i in range(2000):
        policy.update("a", {}, (0.3, 0.9)[i % 2])
    assert policy.models["a"].n_successes / 2000 == pytest.approx(0.6, abs=0.02)
    assert policy._rewards["a"].get() == pytest.approx(0.6)


def test_a_grade_of_a_half_is_one_success_and_one_failure_of_half_the_weight():
    policy = rb.bandit.ArmClassifiers(Fixed(), seed=1)
    for _ in range(10):
        policy.update("a", {}, 0.5)
    model = policy.models["a"]
    assert (model.n, model.n_successes, policy._counts["a"]) == (20, 5.0, 10)


def test_a_model_without_weights_refuses_grades_only():
    policy = rb.bandit.ArmClassifiers(Unweighted(), seed=1)
    refuses("the reward 0.5 is a grade, which takes a model that", policy.update, "a", {}, 0.5)
    policy.update("a", {}, 1.0)
    assert policy._n == 1


def test_grades_of_0_and_1_are_learned_as_they_are():
    policy = rb.bandit.ArmClassifiers(Fixed(), seed=1)
    for reward in (0.0, 1.0, False, np.bool_(True), np.int64(1)):
        policy.update("a", {}, reward)
    assert policy.models["a"].n_successes == 3


def test_a_decision_that_others_made_is_learned_from_its_late_reward():
    policy, told = (rb.bandit.ArmClassifiers(seed=1) for _ in range(2))
    tickets = [policy.observe("ab"[i % 2], {"u": i / 9}, 0.25) for i in range(9)]
    assert tickets[3] == (3, "b", 0.25)
    assert policy.waits_for(3) == "b"
    loaded = checkpoint.loads(checkpoint.dumps(policy))
    for i, ticket in enumerate(tickets):
        own = told.decide(["ab"[i % 2]], {"u": i / 9})
        for one in (policy, loaded):
            assert one.reward(ticket.id, i % 3 == 0)
            assert not one.reward(ticket.id, i % 3 == 0)
        told.reward(own.id, i % 3 == 0)
    assert loaded.values_one(ARMS, {"u": 0.5}) == policy.values_one(ARMS, {"u": 0.5})
    assert (policy.arms, policy.n_pending, policy._observed) == (["a", "b"], 0, {})


def test_what_cannot_be_observed_changes_nothing():
    policy = rb.bandit.ArmClassifiers(max_pending=2, seed=1)
    policy.observe("a", {"u": 1.0}, 0.5)
    for propensity in (0.0, 1.5, math.nan, "often", None):
        refuses("propensity must be", policy.observe, "a", {"u": 1.0}, propensity)
    refuses("the arm is None", policy.observe, None, {"u": 1.0})
    refuses("'u'", policy.observe, "a", {"u": math.inf})
    refuses("the ticket 0 must be", policy.observe, "a", {"u": 1.0}, 0.5, 0)
    for _ in range(2):
        policy.decide(ARMS, {"u": 1.0})
    assert (policy._observed, policy.n_pending) == ({}, 2)


def test_an_arm_that_is_forgotten_begins_anew():
    policy = rb.bandit.ArmClassifiers(seed=1)
    for i in range(20):
        policy.update("a", {"u": float(i)}, 0)
        policy.update("b", {"u": float(i)}, 1)
    waiting = policy.decide(["a"], {"u": 1.0})
    policy.forget("a")
    assert policy.arms == ["b"]
    assert policy.values_one(["a"], {"u": 1.0}) == {"a": 1.0}
    assert not policy.reward(waiting.id, 1)
    assert policy.ranking == ["b"]


def test_observed_tickets_of_an_arm_go_with_it():
    policy = rb.bandit.ArmClassifiers(seed=1)
    policy.observe("a", {"u": 1.0})
    kept = policy.observe("b", {"u": 1.0}, 0.5)
    policy.forget("a")
    assert policy._observed == {kept.id: 0.5}


def play(policy, stream, delay=0):
    """Return the mean of rewards less costs, with rewards that come some rounds late."""
    total, waiting = 0.0, []
    for x, works in stream:
        ticket = policy.decide(stream.arms, x)
        total += works[ticket.arm] - stream.costs[ticket.arm]
        waiting.append((ticket.id, works[ticket.arm]))
        if len(waiting) > delay:
            policy.reward(*waiting.pop(0))
    return total / stream.n_samples


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0, 50])
def test_it_learns_which_arm_to_pull(delay):
    stream = synth.Router(n_samples=1500, seed=3)
    rng = random.Random(1)
    uniform = [works[rng.choice(stream.arms)] for _, works in stream]
    policy = rb.bandit.ArmClassifiers(costs=stream.costs, seed=1)
    assert play(policy, stream, delay) > sum(uniform) / len(uniform)


def test_a_copy_goes_on_exactly():
    stream = synth.Router(n_samples=60, seed=3)
    policy = rb.bandit.ArmClassifiers(costs=stream.costs, seed=1)
    play(policy, stream, delay=5)
    other = copy.deepcopy(policy)
    assert play(policy, stream) == play(other, stream)
    assert policy.values_one(stream.arms, {"difficulty": 0.5}) == other.values_one(
        stream.arms, {"difficulty": 0.5}
    )


MODELS = [None, rb.Forgetron(budget=5), preprocessing.StandardScaler() | rb.Projectron(budget=5)]


class Graded(synth.Router):
    """The same, whose rewards are grades."""

    def __iter__(self):
        rng = random.Random(1)
        for x, works in super().__iter__():
            yield x, {arm: 0.8 * works[arm] + 0.2 * rng.random() for arm in works}


@pytest.mark.parametrize(
    ("model", "target"),
    [*((model, None) for model in MODELS), (MODELS[1], 0.7)],
    ids=["default", "given", "pipeline", "target"],
)
def test_a_loaded_policy_goes_on_exactly(model, target):
    stream = Graded(n_samples=80, seed=3)
    policy = rb.bandit.ArmClassifiers(
        model, costs=stream.costs, max_pending=4, seed=1, target=target
    )
    new = checkpoint.loads(checkpoint.dumps(policy))
    assert play(new, stream, delay=5) == play(policy, stream, delay=5)
    loaded = checkpoint.loads(checkpoint.dumps(policy))
    assert checkpoint.dumps(loaded) == checkpoint.dumps(policy)
    assert (loaded.arms, len(loaded._pending)) == (policy.arms, 4)
    assert (loaded.ranking, loaded.threshold) == (policy.ranking, policy.threshold)
    assert play(loaded, stream) == play(policy, stream)


def test_a_clone_has_learned_nothing():
    policy = rb.bandit.ArmClassifiers(seed=1)
    policy.update("a", {"u": 1.0}, 1)
    assert policy.clone().arms == []


def test_it_is_a_policy_of_river():
    policy = rb.bandit.ArmClassifiers(seed=1)
    assert repr(policy).startswith("ArmClassifiers (")
    assert isinstance(policy, bandit.base.ContextualPolicy)
    assert policy.pull(["a"], {"u": 1.0}) == "a"
    policy.update("a", {"u": 1.0}, 1)
    assert policy.ranking == ["a"]
    assert "a" in repr(policy)


@pytest.mark.slow
def test_memory_is_bounded():
    policy = rb.bandit.ArmClassifiers(max_pending=50, seed=1)
    sizes = []
    for i in range(1200):
        ticket = policy.decide(ARMS, {f"name-{i}": 1.0, "u": i % 7 / 7})
        if i % 3:
            policy.reward(ticket.id, i % 2)
        if i in (599, 1199):
            sizes.append(policy.memory_bytes)
    assert len(policy._pending) <= 50
    assert sizes[1] < 1.3 * sizes[0]


def test_a_ticket_is_not_its_id():
    policy = rb.bandit.ArmClassifiers(seed=1)
    ticket = policy.decide(["a", "b"], {"u": 1.0})
    with pytest.raises(ValueError, match="the id of a ticket"):
        policy.reward(ticket, 1)
    assert policy.reward(ticket.id, 1)


MIXTURE = rb.Mnemotron(budget=3, kernels=(rb.RBF(gamma=1.0),))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "arm"),
    [(MODELS[1], "a"), (MODELS[1], "new"), (MODELS[2], "b"), (MIXTURE, "b")],
    ids=["perceptron", "perceptron of a new arm", "pipeline", "mixture"],
)
def test_an_interrupt_leaves_a_reward_that_was_learned_and_counted_or_neither(model, arm):
    policy = rb.bandit.ArmClassifiers(model, seed=1)
    for i in range(12):
        policy.reward(policy.decide(ARMS, {"u": i / 7}).id, i % 3 == 0)
    ticket, _ = (policy.decide([chosen], {"u": 0.3}) for chosen in (arm, "b"))
    assert policy.arms == ARMS

    def copied():
        new, fresh = copy.deepcopy(policy), policy._new_model()
        new._new_model = lambda: fresh  # To make one has hundreds of moments.
        return new

    counts, stored = set(), set()
    for interrupted_policy in interrupted(copied, lambda policy: policy.reward(ticket.id, 1)):
        n = interrupted_policy._n
        counts.add(n)
        assert (interrupted_policy.waits_for(ticket.id) is None) == (n == 13)
        assert interrupted_policy.reward(ticket.id, 1) == (n == 12)
        models = interrupted_policy._models
        assert {arm: Chain(models[arm]).n_rounds for arm in models} == interrupted_policy._counts
        assert interrupted_policy._counts.total() == 13
        stored.add(checkpoint.dumps(interrupted_policy))
    for data in stored:
        checkpoint.loads(data)
    assert counts == {12, 13}


@pytest.mark.slow
def test_an_interrupt_leaves_a_ticket_or_none():
    policy = rb.bandit.ArmClassifiers(rb.Forgetron(budget=5), max_pending=2, seed=1)
    oldest, newest = (policy.decide(ARMS, {"u": 0.1}).id for _ in range(2))
    waiting, stored = [], set()
    for interrupted_policy in interrupted(
        lambda: copy.deepcopy(policy), lambda policy: policy.decide(ARMS, {"u": 0.2})
    ):
        waiting.append(list(interrupted_policy._pending))
        stored.add(checkpoint.dumps(interrupted_policy))
    for data in stored:
        checkpoint.loads(data)
    assert all(ids in ([oldest, newest], [newest, newest + 1]) for ids in waiting)
    assert [oldest, newest] in waiting
