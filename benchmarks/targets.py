"""Policies with a target: the share of successes, and the mean cost.

Each request goes to the cheapest arm that a policy holds good enough for the target, else to the best one.
Rewards come 50 rounds late, and on the streams with a swap, the arms change their strengths in mid-stream.
Each cell is the mean over three seeds of 3,000 requests.

Three of the arms for the intents of clinc150 are nearest means of the training rows, in the first 16, 64
and all 384 elements of the vectors. The fourth is a person, who is right in 97 % of the cases. An arm is
a success where it names the right one of 150 intents.

"""

from __future__ import annotations

import collections
import functools
import random
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from river import preprocessing

import river_budget as rb
from benchmarks import rewards
from benchmarks.cells import Cell, Found, Section
from benchmarks.local import load
from benchmarks.rewards import LinUCB, Request, Setup, played
from benchmarks.tables import markdown, means
from river_budget import bandit, synth

N_SEEDS, N_REQUESTS = 3, 3_000
WIDTHS = (16, 64, 384)
PERSON = 0.97
# How far below the target a share of successes is marked.
TOLERANCE = 0.02
# How many of an arm's last rewards are compared, and how many of these count.
LAST, NEAREST = 250, 20


@functools.cache
def answered() -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of the rows that are not for training, and which nearest means are right."""
    data = load("clinc150_lsa384")
    train, labels = data["X_train"].astype(float), data["y_train"]
    X = np.concatenate([data["X_val"], data["X_test"]]).astype(float)
    y = np.concatenate([data["y_val"], data["y_test"]])
    centres = np.stack([train[labels == label].mean(axis=0) for label in range(labels.max() + 1)])
    scores = [2 * X[:, :n] @ centres[:, :n].T - (centres[:, :n] ** 2).sum(axis=1) for n in WIDTHS]
    return X.astype(np.float32), np.stack([s.argmax(axis=1) == y for s in scores], axis=1)


def intents(seed: int, n: int) -> Iterator[Request]:
    X, right = answered()
    rng = random.Random(seed)
    for i in rng.sample(range(len(X)), n):
        works = dict(enumerate([*right[i].tolist(), rng.random() < PERSON]))
        yield Request({"text": X[i]}, list(works), works)


ROUTER, INTENTS = synth.Router().costs, {0: 0.0, 1: 0.1, 2: 0.3, 3: 1.0}
SETUPS = {
    "Router": Setup(rewards.routed, ROUTER, rewards.LATE),
    "Router, a swap": Setup(rewards.routed_with_a_change, ROUTER, rewards.LATE),
    "clinc150": Setup(intents, INTENTS, rewards.LATE),
    "clinc150, a swap": Setup(
        functools.partial(rewards.swapped, intents, len(WIDTHS)), INTENTS, rewards.LATE
    ),
}
TARGETS = {"Router": 0.8, "Router, a swap": 0.8, "clinc150": 0.9, "clinc150, a swap": 0.9}


class Rival:
    """The rule of a target around any values of arms: the cheapest that is good enough, else the best.

    With a step, its threshold moves as that of `ArmClassifiers`.

    """

    def __init__(self, policy: Any, target: float, step: float = 0.0) -> None:
        self.policy, self.target, self.threshold, self.step = policy, target, target, step

    def pull(self, arms: list, context: dict) -> Any:
        values = self.policy.values(arms, context)
        good = [arm for arm, value in values.items() if value >= self.threshold]
        if good:
            return min(good, key=lambda arm: self.policy.costs[arm])
        return max(values, key=lambda arm: (values[arm], self.policy.rng.random()))

    def update(self, arm: Any, context: dict, reward: float) -> None:
        self.policy.update(arm, context, reward)
        threshold = self.threshold + self.step * (self.target - reward)
        self.threshold = min(max(threshold, 0.0), self.target)


class Neighbours(rewards.Uniform):
    """The share of successes among the nearest of an arm's last rewards; a decision in twenty is random."""

    def __init__(self, seed: int, costs: dict) -> None:
        super().__init__(seed, costs)
        self.scaler = preprocessing.StandardScaler()
        self.rows = {arm: collections.deque(maxlen=LAST) for arm in costs}

    def values(self, arms: list, context: dict) -> dict:
        if self.rng.random() < 1 / 20:
            return {self.rng.choice(arms): 1.0}
        vector = rewards.vector_of(context, self.scaler)
        return {arm: self.value(arm, vector) for arm in arms}

    def value(self, arm: Any, vector: np.ndarray) -> float:
        if len(self.rows[arm]) < NEAREST:
            return 1.0
        vectors, outcomes = map(np.array, zip(*self.rows[arm], strict=True))
        distances = ((vectors - vector) ** 2).sum(axis=1)
        return float(outcomes[np.argsort(distances, kind="stable")[:NEAREST]].mean())

    def update(self, arm: Any, context: dict, reward: float) -> None:
        self.rows[arm].append((rewards.vector_of(context, self.scaler), reward))


class Ticketed:
    """`ArmClassifiers` with tickets, whose rewards, which come in their order, move its threshold."""

    def __init__(self, policy: rb.ArmClassifiers) -> None:
        self.policy, self.tickets = policy, collections.deque()

    def pull(self, arms: list, context: dict) -> Any:
        ticket = self.policy.decide(arms, context)
        self.tickets.append(ticket.id)
        return ticket.arm

    def update(self, arm: Any, context: dict, reward: float) -> None:
        self.policy.reward(self.tickets.popleft(), reward)


def own(seed: int, costs: dict, target: float, model: Any = None) -> rb.ArmClassifiers:
    return rb.ArmClassifiers(model, costs=costs, target=target, seed=seed)


LARGER = rb.Mnemotron(budget=100, kernels=bandit.KERNELS)
POLICIES: dict[str, Callable[[int, dict, float], Any]] = {
    "LinUCB(0)": lambda seed, costs, target: Rival(LinUCB(seed, costs, 0.0), target),
    "LinUCB(0), threshold moves": lambda seed, costs, target: Rival(
        LinUCB(seed, costs, 0.0), target, bandit.STEP
    ),
    "neighbours": lambda seed, costs, target: Rival(Neighbours(seed, costs), target),
    "neighbours, threshold moves": lambda seed, costs, target: Rival(
        Neighbours(seed, costs), target, bandit.STEP
    ),
    # Without tickets, the threshold stays where it is.
    "ArmClassifiers, threshold fixed": own,
    "ArmClassifiers": lambda *given: Ticketed(own(*given)),
    "... with a budget of 100": lambda *given: Ticketed(own(*given, LARGER)),
}


def measured(policy: str, stream: str, n_seeds: int, n_requests: int) -> dict[str, float]:
    """Return the mean reward, which is the share of successes, and the mean cost over the seeds."""
    setup, runs = SETUPS[stream], []
    for seed in range(n_seeds):
        made = POLICIES[policy](seed, setup.costs, TARGETS[stream])
        figures = played(setup, made, setup.requests(seed, n_requests), is_told_all=False)
        runs.append({"successes": figures.reward, "cost": figures.cost})
    return means(runs)


def cells(is_quick: bool) -> list[Cell]:
    streams, *size = (["Router"], 1, 120) if is_quick else (SETUPS, N_SEEDS, N_REQUESTS)
    return [Cell(*place, measured, (*place, *size)) for place in product(POLICIES, streams)]


def shown(figures: dict[str, float], target: float) -> str:
    """Return the successes in %, with a star where they miss the target, and the cost."""
    star = "" if figures["successes"] >= target - TOLERANCE else "*"
    return f"{100 * figures['successes']:.1f}{star} / {figures['cost']:.3f}"


def by_policy(found: Found) -> str:
    return markdown({
        policy: {
            f"{stream}, {TARGETS[stream]:.0%}": shown(figures, TARGETS[stream])
            for stream, figures in row.items()
        }
        for policy, row in found.items()
    })  # fmt: skip


SECTION = Section("targets", cells, {"targets": by_policy}, minutes=2)
