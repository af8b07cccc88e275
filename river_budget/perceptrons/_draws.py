"""Random draws that need no state: they follow from a key and the number of the round."""

from __future__ import annotations

import random

from river_budget._core.choices import uniform
from river_budget.base import BudgetPerceptron, ClassWeight, Count
from river_budget.kernels import Kernel


def key_of(seed: int | None) -> int:
    """Return the key of a seed; for None another one each time."""
    return random.Random(seed).getrandbits(62)


class RandomPerceptron(BudgetPerceptron):
    """A perceptron that draws at random, at most once in each round."""

    _key = Count()

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        seed: int | None = None,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        super().__init__(kernel, budget, gamma, class_weight, max_classes, dtype)
        self.seed = seed
        self._key = key_of(seed)

    def _random(self) -> float:
        """Return a number of at least 0 and below 1 for this round."""
        return uniform(self._key, self._f.n_rounds)
