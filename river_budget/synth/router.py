"""A stream of requests to a router over models."""

from __future__ import annotations

import math
import random
from typing import Any

from river.datasets.base import MULTI_CLF

from river_budget._checks import check_count
from river_budget.synth import _fields as field
from river_budget.synth._stream import Stream, stream

COST_STEP = 0.05


@stream
class Router(Stream):
    """Requests to a router over models that differ in strength, topic and cost.

    Each element is a request and a dict that tells for each arm whether it would have answered
    well; a policy learns only that of the arm it chose. A request has a difficulty, a length and a
    topic. Arm 0 is the weakest and costs nothing; each further one is stronger and costs more
    (`costs`). Each arm is better at the topic with its number. After `change_at` requests, the
    order of strengths is reversed.

    Examples
    --------

    >>> from river_budget import synth

    >>> router = synth.Router(n_arms=3, seed=42)
    >>> for x, works in router.take(2):
    ...     print(x, works)
    {'difficulty': 0.6394267984578837, 'length': 0.025010755222666936, 'topic': 1} {0: False, 1: True, 2: True}
    {'difficulty': 0.7406677446676758, 'length': 0.5453665337483498, 'topic': 2} {0: False, 1: True, 2: True}
    >>> router.costs
    {0: 0.0, 1: 0.05, 2: 0.1}
    """

    task = MULTI_CLF
    n_features = 3
    n_arms: int = field.count(4, "Number of arms.")
    change_at: int | None = field.parameter(
        "Number of requests before the strengths change; they never do by default.",
        check_count,
        default=None,
    )
    n_samples: int | None = field.length()
    seed: int | None = field.seed()

    @property
    def arms(self) -> list[int]:
        """The arms, from 0 on."""
        return list(range(self.n_arms))

    @property
    def costs(self) -> dict[int, float]:
        """The cost of each arm, in units of rewards."""
        return {arm: COST_STEP * arm for arm in self.arms}

    def success_probability(self, t: int, x: dict[str, Any], arm: int) -> float:
        """Return the probability that an arm answers request t (from 0) well."""
        is_changed = self.change_at is not None and t >= self.change_at
        rank = self.n_arms - 1 - arm if is_changed else arm
        strength = 0.2 + 0.6 * rank / max(1, self.n_arms - 1)
        fits = 0.5 * (x["topic"] == arm) - 0.1 * x["length"]
        return 1.0 / (1.0 + math.exp(-8.0 * (strength + fits - x["difficulty"])))

    def _example(self, t: int, rng: random.Random) -> Any:
        x = {
            "difficulty": rng.random(),
            "length": rng.random(),
            "topic": rng.randrange(self.n_arms),
        }
        return x, {arm: rng.random() < self.success_probability(t, x, arm) for arm in self.arms}
