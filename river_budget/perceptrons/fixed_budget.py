from __future__ import annotations

import numpy as np

from river_budget._arrays import Floats, padded, widened
from river_budget._compile import UNCOUNTED, compiled
from river_budget._state import State, floats
from river_budget.base import RulePerceptron, documented
from river_budget.perceptrons._compiled import add_term
from river_budget.support import Rule
from river_budget.support.rule import BUDGET, SKIP, assign, columns_of, step_of

# Margins that differ by less than this, relative to the largest score, are ties: the difference may
# be due to rounding.
ROUNDING = 1e-12


@compiled(forceinline=True, **UNCOUNTED)
def _margin(scores, label, y, change):
    """Return the margin of a label and the largest size of a score, after y has changed two scores."""
    own, rival, size = 0.0, -np.inf, 0.0
    for c in range(len(scores)):
        score = scores[c] + change * ((c == y.label) - (c == y.rival))
        size = max(size, abs(score))
        own = score if c == label else own
        rival = rival if c == label else max(rival, score)
    return 0.5 * (own - rival), size


@compiled(**UNCOUNTED)
def _safest_of(f, y, margins):
    """Choose as `_safest`, and compute the margins, of the example as well (n + 1,)."""
    n = f.n
    margins[n], size = _margin(y.scores, y.label, y, 0.0)
    largest, safest = margins[n], n
    for i in range(n):
        label, _ = columns_of(f, i)
        margins[i], own_size = _margin(f.table[i], label, y, y.weight * y.row[i])
        largest, size = max(largest, margins[i]), max(size, own_size)
    least = largest - ROUNDING * max(1.0, size)
    for i in range(n):
        if margins[i] >= least and (safest == n or f.inserted[i] < f.inserted[safest]):
            safest = i
    return safest if safest < n else SKIP


@compiled()
def _safest(f, y):
    """Choose the vector with the largest margin without its own term, the oldest among ties.

    The table holds the scores at each stored vector without its own term. Margins are those after
    the example is added, which may be the one with the largest margin itself: it is then skipped.
    """
    return f.n if f.n < f.numbers[BUDGET] else _safest_of(f, y, np.empty(f.n + 1))


@compiled(**UNCOUNTED)
def _replace(f, y, r, row):
    """Add the example in place of the vector r, if there is one, and update the table."""
    add_term(f.table, y.row, y.weight, y.label, y.rival)
    for c in range(len(y.scores)):
        f.table[r, c] = y.scores[c]
    if r < f.n:
        sigma = step_of(f, r)
        label, rival = columns_of(f, r)
        f.table[r, label] -= sigma * y.row[r]
        f.table[r, rival] += sigma * y.row[r]
        # The row of the slot itself is that of the example by now.
        add_term(f.table[:r], row[:r], -sigma, label, rival)
        add_term(f.table[r + 1 :], row[r + 1 :], -sigma, label, rival)
    assign(f, r, y, 1.0)


@documented
class FixedBudgetPerceptron(RulePerceptron):
    """The fixed budget perceptron of Crammer, Kandola and Singer (CKS).

    Once the budget is full, a misclassified example is added, and the support vector with the
    largest margin `y (f(x) - alpha k(x, x))` without its own term is removed. It may be the
    incoming example. This works well with clean labels; with noisy labels, the mislabelled examples
    are kept.

    The margins of the support vectors are updated incrementally, so a mistake costs two kernel
    rows.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb
    >>> perceptron = rb.FixedBudgetPerceptron(rb.RBF(gamma=1.0), budget=100)
    >>> model = preprocessing.StandardScaler() | perceptron
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 62.37%

    References
    ----------
    [^1]: [Crammer, Kandola & Singer 2004](https://papers.nips.cc/paper/2385-online-classification-on-a-budget)
    [^2]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), section II.A.1
    """

    _rule = Rule(_safest, _replace, reads_row=True)
    _n_columns = 2

    def numerical_errors(self) -> dict[str, float]:
        scores = self._scores_from_scratch()
        return {"scores": float(np.abs(self._scores - scores).max(initial=0.0))}

    def state(self) -> State:
        return {**super().state(), "scores": self._scores.copy()}

    def restore(self, state: State) -> None:
        super().restore(state)
        shape = self.n_support, self._hypothesis.n_labels
        self._own.table = padded(floats(state["scores"], shape), self._store.n_slots)

    @property
    def _scores(self) -> Floats:
        """The scores at each support vector without its own term, by slots (n, labels)."""
        return self._own.table[: self.n_support]

    def _on_rescaled(self) -> None:
        self._scores[:] = self._scores_from_scratch()

    def _widen(self, n_labels: int) -> None:
        super()._widen(n_labels)
        self._own.table = widened(self._own.table, self._hypothesis.n_labels)

    def _scores_from_scratch(self) -> Floats:
        gram = self._store.gram()
        np.fill_diagonal(gram, 0.0)
        return gram @ self._hypothesis.rows
