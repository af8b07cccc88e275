"""What a policy has learned from decisions that somebody else made, with and without weights.

    python -m benchmarks.shadow [--seeds 3]

A logged policy makes 1,200 decisions, by probabilities that depend on the context. Classifiers of the arms
learn from its rewards. Then they choose for the next 400 requests, and learn no more. With weights, an
example counts 1 / propensity, at most so much.

"""

from __future__ import annotations

import argparse
import math
import random

import numpy as np

from benchmarks import graded, rewards
from benchmarks.rewards import Request

N_LOGGED, N_CHOSEN = 1200, 400
STREAMS = ("Router", "ImageSegments", "Phishing")
LIMITS = {"no weights": 1.0, "weights of at most 5": 5.0, "weights of at most 20": 20.0}


class Weighted(graded.Weighted):
    """A classifier for each arm, whose examples have weights."""

    def learn(self, arm: object, request: Request, weight: float) -> None:
        self.weight = weight
        self.update(arm, request.context, request.works[arm])

    def examples(self, reward: float) -> list[tuple[bool, float]]:
        return [(bool(reward), self.weight)]


def propensities(request: Request, rng: random.Random) -> dict:
    """Return a distribution over arms that prefers one arm, which the context decides."""
    hint = sum(value for value in request.context.values() if isinstance(value, float))
    tastes = [math.sin(3.0 * i + hint) for i in range(len(request.arms))]
    odds = [math.exp(2.0 * taste + rng.random()) for taste in tastes]
    return {arm: odd / sum(odds) for arm, odd in zip(request.arms, odds, strict=True)}


def measured(task: tuple[str, str, int]) -> float:
    """Return the mean reward less costs of the choices after those that were logged."""
    name, limit, seed = task
    setup, rng = rewards.SETUPS[name], random.Random(seed)
    policy = Weighted(seed, setup.costs)
    requests = list(setup.requests(seed, N_LOGGED + N_CHOSEN))
    for request in requests[:N_LOGGED]:
        chances = propensities(request, rng)
        (arm,) = rng.choices(request.arms, list(chances.values()))
        policy.learn(arm, request, min(1.0 / chances[arm], LIMITS[limit]))
    chosen = [(r, policy.pull(r.arms, r.context)) for r in requests[N_LOGGED:]]
    return float(np.mean([r.works[arm] - setup.costs.get(arm, 0.0) for r, arm in chosen]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    print(graded.means(measured, STREAMS, LIMITS, range(given.seeds)))


if __name__ == "__main__":
    main()
