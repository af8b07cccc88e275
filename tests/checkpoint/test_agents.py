"""Forged checkpoints of what learns from rewards or asks: each makes a whole model, or is refused."""

from __future__ import annotations

import copy
import math

import pytest
from forging import UNIT_NORM, change, forged, parts, paths

import river_budget as rb
from river_budget import checkpoint, synth
from river_budget.checkpoint import CheckpointError

STREAM = list(synth.Router(n_arms=2, n_samples=12, seed=1))
JUNK = [None, -1, 10**400, math.nan, "x", [1]]


def policy():
    policy = rb.bandit.ArmClassifiers(rb.Forgetron(budget=3), costs={0: 0.1}, max_pending=3, seed=1)
    for x, works in STREAM:
        ticket = policy.decide([0, 1], x)
        if x["topic"]:
            policy.reward(ticket.id, works[ticket.arm])
    return policy


def query():
    query = rb.active.Query(rb.Forgetron(budget=3), rate=0.5, seed=1)
    for x, works in STREAM:
        if query.predict_one(x)[1]:
            query.learn_one(x, works[0])
    return query


def goes_on(model):
    x = {"difficulty": 0.5, "length": 0.1, "topic": 1}
    if isinstance(model, rb.bandit.ArmClassifiers):
        assert len(model.arms) <= model.max_arms
        assert len(model._pending) <= model.max_pending
        model.reward(model.decide([0, 1], x).id, 1)
    else:
        model.predict_one(x)
        model.learn_one(x, True)
    checkpoint.dumps(model)


@pytest.mark.slow
@pytest.mark.parametrize("make", [policy, query])
def test_forged_states(make):
    content, tensors = parts(make())
    n_refused = 0
    for place in paths(content["model"]):
        # Other tests forge the classifiers inside. What is none, and River's means, are not checked.
        if not place or {"hypothesis", "feature_scales", "models", "rewards"} & {*place}:
            continue
        for value in JUNK:
            forgery = copy.deepcopy(content)
            change(forgery["model"], place, value)
            try:
                loaded = checkpoint.loads(forged(forgery, tensors))
            except CheckpointError:
                n_refused += 1
            else:
                goes_on(loaded)
    assert n_refused > 50


FORGED_POLICIES = [
    (("state", "models", "dict", 0, 0), 7, "the rewards of 1 are wrong"),
    (("parameters", "max_arms"), 1, "too many arms"),
    (("state", "rewards", "dict", 0, 1, "state", "n"), 1.5, "the rewards of 1 are wrong"),
    (("state", "rewards", "dict", 0, 1), 0.5, "the rewards of 1 are wrong"),
    (("state", "rewards", "dict", 0, 1), UNIT_NORM, "the rewards of 1 are wrong"),
    (("state", "next_id"), 0, "the tickets are wrong"),
    (("parameters", "max_pending"), 1, "the tickets are wrong"),
    (("state", "pending", "dict", 0, 0), 10**6, "the tickets are wrong"),
    (("state", "pending", "dict", 0, 1, "Waiting", 0), [1], "what is kept of an example is wrong"),
    (("state", "pending", "dict", 0, 1, "Waiting", 1), [1], "a ticket is wrong"),
    (("state", "pending", "dict", 0, 1, "Waiting", 2), None, "a ticket is wrong"),
    (
        ("state", "pending", "dict", 0, 1, "Waiting", 2, "Asked", 0),
        [1],
        "what is kept of an answer",
    ),
    (("state", "pending", "dict", 0, 1, "Waiting", 2, "Asked", 1), 7, "what is kept of an answer"),
    (("parameters", "model"), UNIT_NORM, "model must be a classifier"),
]


@pytest.mark.parametrize(("path", "value", "message"), FORGED_POLICIES, ids=str)
def test_forged_policies_are_refused(path, value, message):
    content, tensors = parts(policy())
    change(content["model"], path, value)
    with pytest.raises(CheckpointError, match=message):
        checkpoint.loads(forged(content, tensors))
