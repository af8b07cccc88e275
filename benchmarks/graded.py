"""Rewards that are grades: the mean reward less costs.

    python -m benchmarks.graded [--seeds 3] [--limit 2000]

The streams of "Router" and "ImageSegments" are those of `benchmarks.rewards`, where the reward is the
probability of success with noise, and a grade for each pair of a label and an arm, 1 for the right one.
The grades of "linear" are linear in the context with noise, as LinUCB assumes. Each stream comes with
rewards at once and 50 rounds late.

"""

from __future__ import annotations

import argparse
import functools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import river_budget as rb
from benchmarks import rewards
from benchmarks.multiclass import markdown
from benchmarks.rewards import LATE, Request, Setup
from river_budget import bandit, synth

NOISE = 0.1
PRIOR = 10.0


def clipped(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def routed(seed: int, limit: int) -> Iterator[Request]:
    router, rng = synth.Router(n_samples=limit, seed=seed), random.Random(seed)
    for t, (x, _) in enumerate(router):
        means = {a: router._success_probability(t, x, a) for a in router.arms}
        grades = {arm: clipped(mean + rng.gauss(0.0, NOISE)) for arm, mean in means.items()}
        yield Request(x, router.arms, grades)


def segments(seed: int, limit: int) -> Iterator[Request]:
    rows = rewards.of_labels(rewards.segments(), seed, limit)
    rng, arms = random.Random(seed), rows[0].arms
    grades = {y: {arm: 1.0 if arm == y else 0.8 * rng.random() for arm in arms} for y in arms}
    for x, _, works in rows:
        (label,) = (arm for arm in arms if works[arm])
        yield Request(x, arms, grades[label])


def linear(seed: int, limit: int) -> Iterator[Request]:
    rng, arms = random.Random(seed), list(range(5))
    weights = {arm: [rng.gauss(0.0, 0.15) for _ in range(6)] for arm in arms}
    for _ in range(limit):
        x = {i: rng.gauss(0.0, 1.0) for i in range(6)}
        means = {arm: 0.5 + sum(weights[arm][i] * x[i] for i in x) for arm in arms}
        grades = {arm: clipped(mean + rng.gauss(0.0, NOISE)) for arm, mean in means.items()}
        yield Request(x, arms, grades)


STREAMS = {
    "Router": Setup(routed, synth.Router().costs),
    "ImageSegments": Setup(segments, {}),
    "linear": Setup(linear, {}),
}
SETUPS = STREAMS | {f"{name}, late": setup._replace(late=LATE) for name, setup in STREAMS.items()}


class LinUCB(rewards.LinUCB):
    """The mended one with an intercept and the costs of arms."""

    def __init__(self, seed: int, costs: dict, factor: float) -> None:
        super().__init__(seed, factor)
        self.costs = costs

    def _pull(self, arm_ids: list, context: dict) -> Any:
        self._scaler.learn_one(context)
        x = self.features(context)
        bounds = {}
        for arm in arm_ids:
            forecast = self._models[arm].predict_one(x, with_dist=True)
            bounds[arm] = forecast.mu + self.factor * forecast.sigma - self.costs.get(arm, 0.0)
        best = max(bounds.values())
        return self._rng.choice([arm for arm, bound in bounds.items() if bound == best])

    def update(self, arm_id: Any, context: dict, reward: float) -> None:
        self._models[arm_id].learn_one(self.features(context), reward)

    def features(self, context: dict) -> dict:
        return self._scaler.transform_one(context) | {"intercept": 1.0}


# Labels that come in pairs look like runs.
WITHOUT_REPEATS = rb.Mnemotron(30, bandit.KERNELS, repeats=False)


class Weighted(rewards.Uniform):
    """A classifier for each arm as in `ArmClassifiers`, where the grade of a reward is a weight."""

    def __init__(self, seed: int, costs: dict) -> None:
        super().__init__(seed)
        self.costs, self.models, self.counts = costs, {}, {}

    def _pull(self, arm_ids: list, context: dict) -> Any:
        values = {}
        for arm in arm_ids:
            n, model = self.counts.get(arm, 0), self.models.get(arm)
            p = 0.0 if model is None else model.predict_proba_one(context).get(True, 0.0)
            values[arm] = (n * p + PRIOR) / (n + PRIOR) - self.costs.get(arm, 0.0)
        best = max(values.values())
        return self._rng.choice([arm for arm, value in values.items() if value == best])

    def update(self, arm_id: Any, context: dict, reward: float) -> None:
        if arm_id not in self.models:
            self.models[arm_id] = WITHOUT_REPEATS.clone()
        self.counts[arm_id] = self.counts.get(arm_id, 0) + 1
        for is_success, weight in self.examples(reward):
            if weight > 0:
                self.models[arm_id].learn_one(context, is_success, w=weight)

    def examples(self, reward: float) -> list[tuple[bool, float]]:
        """Return the labels of a reward, and their weights."""
        return [(False, 1.0 - reward), (True, reward)]


class Nearer(Weighted):
    """The same with one label, the nearer one, whose weight is how near it is."""

    def examples(self, reward: float) -> list[tuple[bool, float]]:
        return [(reward >= 0.5, abs(2.0 * reward - 1.0))]


POLICIES: dict[str, Callable[[int, dict], Any]] = {
    f"LinUCB, bonus {factor}": functools.partial(LinUCB, factor=factor)
    for factor in (0.1, 0.3, 1.0)
}
POLICIES |= {
    "two weighted examples": Weighted,
    "one weighted example": Nearer,
    "ArmClassifiers": lambda seed, costs: rb.ArmClassifiers(costs=costs, seed=seed),
    "... without repeats": lambda seed, costs: rb.ArmClassifiers(
        WITHOUT_REPEATS, costs=costs, seed=seed
    ),
}


def measured(task: tuple[str, str, int, int]) -> float:
    name, policy_name, seed, limit = task
    setup = SETUPS[name]
    policy = POLICIES[policy_name](seed, setup.costs)
    return rewards.played(setup, policy, seed, limit, is_told_all=False).reward


def means(
    measure: Callable[[tuple], float], columns: Iterable, rows: Iterable, *others: Iterable
) -> str:
    """Return a table of what is measured for each column and row: the mean over all other values."""
    found = rewards.in_parallel(measure, columns, rows, *others)
    return markdown({
        row: {
            column: f"{np.mean([f for task, f in found.items() if task[:2] == (column, row)]):.3f}"
            for column in columns
        }
        for row in rows
    })  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=int, default=2000)
    given = parser.parse_args()
    print(means(measured, SETUPS, POLICIES, range(given.seeds), [given.limit]))


if __name__ == "__main__":
    main()
