"""Policies with a target: the share of successes, the cost, and the calibration error.

    python -m benchmarks.targets [--seeds 3] [--limit 3000]

Each request goes to the cheapest arm that a policy holds good enough for the target, else to the best one.
Rewards come 50 rounds late, and on the streams with a swap, the arms change their strengths in mid-stream.

Three of the arms for the intents of clinc150 are nearest means of the training rows, in the first 16, 64
and all 384 elements of the vectors. The fourth is a person, who is right in 97 % of the cases. An arm is
a success where it names the right one of 150 intents. The data are read from the directory given by
RIVER_BUDGET_DATA.

"""

from __future__ import annotations

import argparse
import collections
import functools
import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import river_budget as rb
from benchmarks.local import load
from benchmarks.multiclass import markdown
from benchmarks.rewards import in_parallel
from river_budget import bandit, synth

LATE = 50
WIDTHS = (16, 64, 384)
COSTS_OF_INTENTS = {0: 0.0, 1: 0.1, 2: 0.3, 3: 1.0}
PERSON = 0.97


class Request(NamedTuple):
    """A context, the same as a vector for the rivals, and whether each arm would be a success."""

    context: dict
    vector: np.ndarray
    works: dict


class Setup(NamedTuple):
    """The requests for a seed, what arms cost, and the target."""

    requests: Callable[[int, int], list[Request]]
    costs: dict
    target: float


def routed(seed: int, limit: int, change_at: int | None = None) -> list[Request]:
    router = synth.Router(n_samples=limit, change_at=change_at, seed=seed)
    return [Request(x, np.array(list(x.values())), works) for x, works in router]


def routed_with_a_swap(seed: int, limit: int) -> list[Request]:
    return routed(seed, limit, change_at=max(1, limit // 2))


@functools.cache
def answered() -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of the rows that are not for training, and which nearest means are right."""
    data = load("clinc150_lsa384")
    train, labels = data["X_train"].astype(float), data["y_train"]
    X = np.concatenate([data["X_val"], data["X_test"]]).astype(float)
    y = np.concatenate([data["y_val"], data["y_test"]])
    means = np.stack([train[labels == label].mean(axis=0) for label in range(labels.max() + 1)])
    scores = [2 * X[:, :n] @ means[:, :n].T - (means[:, :n] ** 2).sum(axis=1) for n in WIDTHS]
    return X.astype(np.float32), np.stack([s.argmax(axis=1) == y for s in scores], axis=1)


def intents(seed: int, limit: int) -> list[Request]:
    X, right = answered()
    rng = random.Random(seed)
    return [
        Request(
            {"text": X[i]},
            X[i] / np.linalg.norm(X[i]),
            dict(enumerate([*map(bool, right[i]), rng.random() < PERSON])),
        )
        for i in rng.sample(range(len(X)), limit)
    ]


def intents_with_a_swap(seed: int, limit: int) -> list[Request]:
    """Return requests of which the second half finds the strongest mean at the price of the weakest."""
    rows = intents(seed, limit)
    swapped = {0: 2, 1: 1, 2: 0, 3: 3}
    half = limit // 2
    return rows[:half] + [
        row._replace(works={arm: row.works[swapped[arm]] for arm in row.works})
        for row in rows[half:]
    ]


ROUTER_COSTS = synth.Router().costs
SETUPS = {
    "Router": Setup(routed, ROUTER_COSTS, 0.8),
    "Router, a swap": Setup(routed_with_a_swap, ROUTER_COSTS, 0.8),
    "clinc150": Setup(intents, COSTS_OF_INTENTS, 0.9),
    "clinc150, a swap": Setup(intents_with_a_swap, COSTS_OF_INTENTS, 0.9),
}


class Chosen(NamedTuple):
    """An arm, its probability of success, and what the policy needs to learn the reward."""

    arm: Any
    probability: float
    kept: Any


class Rival:
    """The rule of a target around any values of arms: the cheapest that is good enough, else the best.

    Parameters
    ----------
    setup, seed
        The stream, and the seed.
    step
        How far a failure moves the threshold, as in `ArmClassifiers`; 0 for a fixed threshold.

    """

    def __init__(self, setup: Setup, seed: int, step: float) -> None:
        self.costs, self.target, self.step = setup.costs, setup.target, step
        self.threshold = setup.target
        self.rng = random.Random(seed)

    def chosen(self, values: dict) -> Any:
        good = [arm for arm, value in values.items() if value >= self.threshold]
        if good:
            return min(good, key=lambda arm: self.costs[arm])
        return max(values, key=lambda arm: (values[arm], self.rng.random()))

    def follow(self, reward: float) -> None:
        moved = self.threshold + self.step * (self.target - reward)
        self.threshold = min(max(moved, 0.0), self.target)


class LinUCB(Rival):
    """Ridge regression of rewards with an intercept, on scaled features; its bonus has a factor."""

    def __init__(self, setup: Setup, seed: int, step: float, factor: float) -> None:
        super().__init__(setup, seed, step)
        self.factor = factor
        self.n, self.mean, self.squares = 0, 0.0, 0.0
        self.models: dict = {}

    def features(self, vector: np.ndarray) -> np.ndarray:
        if len(vector) == max(WIDTHS):  # They have the norm 1, and 3 was better than that.
            return np.append(3.0 * vector, 1.0)
        scales = np.sqrt(self.squares / self.n)
        return np.append((vector - self.mean) / np.where(scales > 0, scales, 1.0), 1.0)

    def decide(self, request: Request) -> Chosen:
        self.n += 1
        before = request.vector - self.mean
        self.mean = self.mean + before / self.n
        self.squares = self.squares + before * (request.vector - self.mean)
        z = self.features(request.vector)
        values, means = {}, {}
        for arm in self.costs:
            inverse, sums = self.models.setdefault(arm, (np.eye(len(z)), np.zeros(len(z))))
            product = inverse @ z
            means[arm] = min(max(float(sums @ product), 0.0), 1.0)
            values[arm] = float(sums @ product) + self.factor * math.sqrt(z @ product)
        arm = self.chosen(values)
        return Chosen(arm, means[arm], request.vector)

    def learn(self, chosen: Chosen, reward: float) -> None:
        z = self.features(chosen.kept)
        inverse, sums = self.models[chosen.arm]
        product = inverse @ z
        inverse -= np.outer(product, product) / (1.0 + z @ product)
        sums += reward * z
        self.follow(reward)


class Neighbours(Rival):
    """The share of successes among the 20 nearest of an arm's rewards, of the last 1,000, with a guard.

    The guard is Wilson's lower bound with z standard deviations. An arm with fewer than 20 rewards is
    good enough, and a decision in twenty is random.
    """

    def __init__(self, setup: Setup, seed: int, step: float, z: float) -> None:
        super().__init__(setup, seed, step)
        self.z = z
        self.rows: collections.deque = collections.deque(maxlen=1000)

    def decide(self, request: Request) -> Chosen:
        values, means = dict.fromkeys(self.costs, 1.0), dict.fromkeys(self.costs, 0.5)
        if self.rows:
            vectors, arms, rewards = map(np.array, zip(*self.rows, strict=True))
            scales = vectors.std(axis=0) if vectors.shape[1] < max(WIDTHS) else np.ones(1)
            gaps = (vectors - request.vector) / np.where(scales > 0, scales, 1.0)
            distances = (gaps**2).sum(axis=1)
            for arm in self.costs:
                own = np.flatnonzero(arms == arm)
                if len(own) >= 20:
                    nearest = own[np.argsort(distances[own], kind="stable")[:20]]
                    means[arm] = float(rewards[nearest].mean())
                    values[arm] = self.bound(means[arm])
        arm = self.chosen(values)
        if self.rng.random() < 0.05:
            arm = self.rng.choice(list(self.costs))
        return Chosen(arm, means[arm], request.vector)

    def bound(self, mean: float) -> float:
        n, z = 20, self.z
        width = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
        return (mean + z * z / (2 * n) - width) / (1 + z * z / n)

    def learn(self, chosen: Chosen, reward: float) -> None:
        self.rows.append((chosen.kept, chosen.arm, reward))
        self.follow(reward)


class Ours:
    """`ArmClassifiers` as it is, with tickets."""

    def __init__(self, setup: Setup, seed: int, model: Any) -> None:
        self.policy = rb.ArmClassifiers(model, costs=setup.costs, target=setup.target, seed=seed)
        self.arms = list(setup.costs)

    def decide(self, request: Request) -> Chosen:
        ticket = self.policy.decide(self.arms, request.context)
        known = self.policy.probabilities_one(self.arms, request.context)
        return Chosen(ticket.arm, known.get(ticket.arm, 0.5), ticket.id)

    def learn(self, chosen: Chosen, reward: float) -> None:
        self.policy.reward(chosen.kept, reward)


class Fixed(Ours):
    """The same with a threshold that stays at the target: no ticket tells whether an arm was its choice."""

    def decide(self, request: Request) -> Chosen:
        arm = self.policy.pull(self.arms, request.context)
        known = self.policy.probabilities_one(self.arms, request.context)
        return Chosen(arm, known.get(arm, 0.5), request.context)

    def learn(self, chosen: Chosen, reward: float) -> None:
        self.policy.update(chosen.arm, chosen.kept, reward)


LARGER = rb.Mnemotron(budget=100, kernels=bandit.KERNELS)
POLICIES: dict[str, Callable[[Setup, int], Any]] = {
    f"LinUCB, bonus {factor}{name}": functools.partial(LinUCB, step=step, factor=factor)
    for step, name in ((0.0, ""), (bandit.STEP, ", threshold moves"))
    for factor in (-0.3, 0.0, 0.3, 1.0)
}
POLICIES |= {
    f"neighbours, guard {z}{name}": functools.partial(Neighbours, step=step, z=z)
    for step, name in ((0.0, ""), (bandit.STEP, ", threshold moves"))
    for z in (0.0, 1.0)
}
POLICIES |= {
    "ArmClassifiers, threshold fixed": functools.partial(Fixed, model=None),
    "ArmClassifiers": functools.partial(Ours, model=None),
    "... with a budget of 100": functools.partial(Ours, model=LARGER),
}


class Figures(NamedTuple):
    """The share of successes, the mean cost, and the calibration error of the chosen arm."""

    successes: float
    cost: float
    error: float


def measured(task: tuple[str, str, int, int]) -> Figures:
    name, policy_name, seed, limit = task
    setup = SETUPS[name]
    policy = POLICIES[policy_name](setup, seed)
    error, waiting = rb.metrics.CalibrationError(), collections.deque()
    rewards, costs = [], []
    for request in setup.requests(seed, limit):
        chosen = policy.decide(request)
        reward = float(request.works[chosen.arm])
        rewards.append(reward)
        costs.append(setup.costs[chosen.arm])
        error.update(bool(reward), {True: chosen.probability, False: 1.0 - chosen.probability})
        waiting.append((chosen, reward))
        if len(waiting) > LATE:
            policy.learn(*waiting.popleft())
    return Figures(float(np.mean(rewards)), float(np.mean(costs)), error.get())


def cells(setup: Setup, runs: list[Figures]) -> str:
    """Return the successes in % (with a star where they miss the target by two points), cost and error."""
    successes, cost, error = np.mean(runs, axis=0)
    star = "" if successes >= setup.target - 0.02 else "*"
    return f"{100 * successes:.1f}{star} / {cost:.3f} / {error:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=int, default=3000)
    given = parser.parse_args()
    figures = in_parallel(measured, SETUPS, POLICIES, range(given.seeds), [given.limit])
    rows = {
        policy: {
            f"{name}, {setup.target:.0%}": cells(
                setup, [f for task, f in figures.items() if task[:2] == (name, policy)]
            )
            for name, setup in SETUPS.items()
        }
        for policy in POLICIES
    }
    print(markdown(rows))


if __name__ == "__main__":
    main()
