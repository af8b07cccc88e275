from __future__ import annotations

import numpy as np

from river_budget._arrays import Floats
from river_budget._state import State, floats
from river_budget.base import BudgetPerceptron
from river_budget.kernels import Kernel
from river_budget.support import Query

__all__ = ["FixedBudgetPerceptron"]


class FixedBudgetPerceptron(BudgetPerceptron):
    """The fixed budget perceptron of Crammer, Kandola and Singer (CKS).

    Once the budget is full, a misclassified example is added, and the support vector with the
    largest margin `y (f(x) - alpha k(x, x))` without its own term is removed. It may be the
    incoming example. This works well with clean labels; with noisy labels, the mislabelled examples
    are kept.

    The margins of the support vectors are updated incrementally, so a mistake costs two kernel
    rows.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Maximum number of support vectors.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler() |
    ...     rb.FixedBudgetPerceptron(rb.RBF(gamma=1.0), budget=100)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 62.38%

    References
    ----------
    [^1]: [Crammer, Kandola & Singer 2004](https://papers.nips.cc/paper/2385-online-classification-on-a-budget)
    [^2]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), section II.A.1

    """

    def __init__(self, kernel: Kernel | None = None, budget: int = 100) -> None:
        super().__init__(kernel, budget)
        # f and k(s, s) at each support vector s, by slots.
        self._values: Floats = np.zeros(0)
        self._self_values: Floats = np.zeros(0)

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + self._values.nbytes + self._self_values.nbytes

    def numerical_errors(self) -> dict[str, float]:
        self_values = [self._store.self_value_of(slot) for slot in range(self.n_support)]
        return {
            "margins": float(np.abs(self._values - self._hypothesis.values()).max(initial=0.0)),
            "self values": float(np.abs(self._self_values - self_values).max(initial=0.0)),
        }

    def state(self) -> State:
        cached = {"values": self._values.copy(), "self_values": self._self_values.copy()}
        return {**super().state(), **cached}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._values = floats(state["values"], (self.n_support,))
        self._self_values = floats(state["self_values"], (self.n_support,))

    def _update(self, query: Query, y: float) -> None:
        if self._store.n < self.budget:
            self._values, self._self_values = self._values_with(query, y)
        super()._update(query, y)

    def _update_full(self, query: Query, y: float) -> None:
        values, self_values = self._values_with(query, y)
        alphas = np.append(self._hypothesis.coefficients, y)
        margins = np.sign(alphas) * (values - alphas * self_values)
        r = self._store.oldest_largest(margins)
        if r == self.budget:
            return
        values -= alphas[r] * np.append(self._store.row(r), query.row[r])
        values[r], self_values[r] = values[-1], self_values[-1]
        self._values, self._self_values = values[:-1], self_values[:-1]
        self._hypothesis.replace(r, query, y)

    def _values_with(self, query: Query, y: float) -> tuple[Floats, Floats]:
        """Return f and k(s, s) at each vector after an example is added, its own values last."""
        k = self._store.self_value(query)
        values = np.append(self._values + y * query.row, query.answer + y * k)
        return values, np.append(self._self_values, k)
