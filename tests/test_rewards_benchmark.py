"""The streams, the rule and the rounds of the benchmarks of rewards."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import rewards, targets
from benchmarks.rewards import Request, Setup


class First:
    """Pulls the first arm, and keeps what it is told."""

    def __init__(self):
        self.told = []

    def pull(self, arms, context):
        return arms[0]

    def update(self, arm, context, reward):
        self.told.append((arm, context["t"], reward))


def numbered(seed, n):
    return [
        Request({"t": t}, [0, 1, 2, 3], {0: True, 1: False, 2: False, 3: t > 1}) for t in range(n)
    ]


def test_arms_that_are_swapped_and_those_that_are_not():
    before, after = list(rewards.swapped(numbered, 3, seed=1, n=2))
    assert before.rewards == {0: True, 1: False, 2: False, 3: False}
    assert after.rewards == {0: False, 1: False, 2: True, 3: False}


@pytest.mark.parametrize("is_told_all", [False, True])
def test_rewards_come_late_and_of_the_chosen_arm_or_all(is_told_all):
    policy, setup = First(), Setup(numbered, {0: 0.25}, late=2)
    figures = rewards.played(setup, policy, numbered(1, 5), is_told_all)
    assert (figures.reward, figures.cost) == (1.0, 0.25)
    assert [t for arm, t, _ in policy.told if arm == 0] == [0, 1, 2]
    assert {arm for arm, *_ in policy.told} == ({0, 1, 2, 3} if is_told_all else {0})


def test_linucb_is_ridge_regression_with_a_bonus():
    rng = np.random.default_rng(1)
    policy = rewards.LinUCB(seed=1, costs={}, bonus=0.5)
    Z, y = np.empty((0, 4)), rng.random(6)
    for reward in y:
        context = {"text": rng.normal(size=3)}
        policy.pull(["a"], context)
        policy.update("a", context, reward)
        z = rewards.vector_of(context, policy.scaler)
        Z = np.vstack([Z, z])
    inverse = np.linalg.inv(Z.T @ Z + np.eye(4))
    expected = z @ inverse @ Z.T @ y + 0.5 * np.sqrt(z @ inverse @ z)
    assert policy.values(["a"], context)["a"] == pytest.approx(expected)


def test_the_rule_of_a_target():
    class Known(rewards.Uniform):
        def values(self, arms, context):
            return context

    rival = targets.Rival(Known(1, {"cheap": 0, "dear": 1}), target=0.8, step=0.1)
    arms = ["cheap", "dear"]
    assert rival.pull(arms, {"cheap": 0.7, "dear": 0.9}) == "dear"
    assert rival.pull(arms, {"cheap": 0.7, "dear": 0.75}) == "dear"
    assert rival.pull(arms, {"cheap": 0.85, "dear": 0.9}) == "cheap"
    for _ in range(6):
        rival.update("dear", {}, 1.0)
    assert rival.threshold == pytest.approx(0.68)
    assert rival.pull(arms, {"cheap": 0.7, "dear": 0.9}) == "cheap"
    for _ in range(2):
        rival.update("cheap", {}, 0.0)
    assert rival.threshold == 0.8
