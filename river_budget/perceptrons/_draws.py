"""Random draws that come again if their round is taken back."""

from __future__ import annotations

import copy
import random
import sys

from river_budget._state import Part, State, random_state, restore_random
from river_budget.base import BudgetPerceptron, ClassWeight, Expansion
from river_budget.kernels import Kernel

# A state is copied after so many words of 32 bits, because a copy takes longer than an update.
MOST_WORDS = 2**14


class Draws:
    """The draws of `random.Random`, at most one in each round of f."""

    def __init__(self, f: Expansion, seed: int | None) -> None:
        self._f = f
        self._rng = random.Random(seed)
        # The generator as it was some words ago.
        self._copy, self._n_words = copy.copy(self._rng), 0
        # The round of the last draw, and the number of words before it.
        self._round, self._n_before = 0, 0

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return sum(map(sys.getsizeof, (self, self._rng, self._copy)))

    def random(self) -> float:
        """Return a number of at least 0 and below 1."""
        self._begin(2)
        return self._rng.random()

    def randrange(self, n: int) -> int:
        """Return a whole number of at least 0 and below n, which is below 2**32."""
        self._begin(1)
        n_bits = n.bit_length()
        number = self._rng.getrandbits(n_bits)
        while number >= n:
            self._n_words += 1
            number = self._rng.getrandbits(n_bits)
        return number

    def take_back(self) -> None:
        """Take back the draw of a round that the hypothesis has taken back."""
        if self._f.n_rounds < self._round:
            self._rng.setstate(self._copy.getstate())
            self._rng.getrandbits(32 * self._n_before)
            self._round, self._n_words = 0, self._n_before

    def state(self) -> State:
        """Return the learned state as plain values and arrays; see `checkpoint`."""
        return random_state(self._rng)

    def restore(self, state: State) -> None:
        """Restore a new object from the state of one with the same parameters. Raises ValueError."""
        restore_random(self._rng, state)
        restore_random(self._copy, state)

    def _begin(self, n_words: int) -> None:
        """Begin the draw of this round, of at least so many words."""
        # No interrupt comes between the values of an assignment.
        n = self._n_words
        if n > MOST_WORDS:
            self._copy, self._n_words = copy.copy(self._rng), 0
            n = 0
        self._round, self._n_before, self._n_words = self._f.n_rounds, n, n + n_words


class RandomPerceptron(BudgetPerceptron):
    """A perceptron that draws at random, at most once in each round."""

    _rng = Part[Draws]()

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
        self._rng = Draws(self._f, seed)

    def _derive(self) -> None:
        self._rng.take_back()
