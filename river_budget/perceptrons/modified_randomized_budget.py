from __future__ import annotations

import random
import sys

from river_budget._state import State, random_state, restore_random
from river_budget.kernels import Kernel
from river_budget.perceptrons._ball import BallPerceptron
from river_budget.support import Query
from river_budget.theory import bounds
from river_budget.theory.bounds import Guarantee, bounded_norm

__all__ = ["ModifiedRandomizedBudgetPerceptron"]


class ModifiedRandomizedBudgetPerceptron(BallPerceptron):
    """The modified randomized budget perceptron of the unified analysis.

    Every mistake draws one of `budget` places. If a support vector is there it goes, even while the
    budget is not full: on average that is a weight decay. Then the hypothesis is projected onto a
    ball.

    With a budget `B`, `k(x, x) <= 1` and any hypotheses `g_1, g_2, ...` with norms of at most
    `sqrt(B) / 8`, a shift `S = sum ||g_t - g_(t-1)||` and a cumulative hinge loss of `L(g)`, it makes
    at most `4/3 (L(g) + B / 2 + 6 S sqrt(B))` mistakes on average over the draws (Theorem 1, for the
    default learning rate). The norms that small budgets compete with are so small that the theorem
    says little: a hypothesis that is right on every example by a margin of 1 has a norm of at least
    1, which takes a budget of 64.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Largest number of support vectors. The ball, of radius `sqrt(budget) / 8`, follows from it.
    learning_rate
        Coefficient of a newcomer.
    seed
        Random number generator seed for reproducibility.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler() |
    ...     rb.ModifiedRandomizedBudgetPerceptron(rb.RBF(gamma=1.0), budget=100, seed=1)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 80.57%

    References
    ----------
    [^1]: [Sutskever, I., 2009. A simpler unified analysis of budget Perceptrons. ICML 2009, Algorithm 1.](https://doi.org/10.1145/1553374.1553501)

    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        learning_rate: float = 1 / 16,
        seed: int | None = None,
    ) -> None:
        super().__init__(kernel, budget, learning_rate)
        self.seed = seed
        self._rng = random.Random(seed)
        self._radius = bounds.modified_randomized_budget_norm(budget)

    def guarantees(
        self, norm: float, loss: float, path_length: float = 0.0
    ) -> tuple[Guarantee, ...]:
        """Return Theorem 1 of the unified analysis; see `KernelPerceptron.guarantees`.

        It bounds the mean over the draws.

        """
        theorem = bounds.modified_randomized_budget(norm, loss, self.budget, path_length)
        theorem = theorem.assuming("a learning rate of 1/16", self.learning_rate == 1 / 16)
        return bounded_norm(self._largest_self_value, theorem)

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + sys.getsizeof(self._rng)

    def state(self) -> State:
        return {**super().state(), "rng": random_state(self._rng)}

    def restore(self, state: State) -> None:
        super().restore(state)
        restore_random(self._rng, state["rng"])

    def _update(self, query: Query, y: float) -> None:
        drawn = self._rng.randrange(self.budget)
        self._descend(query, y, removed=drawn if drawn < self._store.n else None)
