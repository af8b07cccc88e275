from __future__ import annotations

import math
from typing import Any

import numpy as np

from river_budget._checks import check_positive
from river_budget._core.removal import CountedTable
from river_budget._state import Field
from river_budget.base import Example, Expansion, parameter, with_example
from river_budget.kernels import Features
from river_budget.perceptrons import _dirichlet
from river_budget.perceptrons._validation import ValidatedPerceptron


@with_example(accuracy="88.62%", budget=100)
class TightestPerceptron(ValidatedPerceptron):
    """The Tightest Perceptron.

    Use it without drift: there it is the most accurate perceptron of those that only remove vectors. Every support
    vector counts the labels of the examples to which it was the nearest one: `c+` positive and `c-`
    negative labels. It is taken as positive with the probability
    `w+ = P(Beta(c+ + prior, c- + prior) > 1/2)`. Once the budget is full, a misclassified example is
    added, and the support vector is removed whose removal gives the smallest expected hinge loss on
    all support vectors; it may be the incoming one. So the support vectors are their own validation
    set, which is robust to noisy labels.

    The paper has only two labels. With more, the weight of a label is the probability that its share
    is the largest under the Dirichlet posterior, and the loss is the hinge loss of half the difference
    between its score and the largest other one.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default. The nearest support vector is nearest in input space, or in
        feature space for a `FunctionKernel`. Its counts grow by the kernel value, if positive.
    prior
        Both parameters of the Beta prior of each support vector, positive; of the Dirichlet prior
        with more labels. The larger they are, the more labels it takes to move `w+` away from 1/2.

    References
    ----------
    [^1]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), Figure 1 and Eq. 2
    """

    # Correctly classified examples update the counts of their nearest support vector.
    _threshold = math.inf
    _validation = Field[CountedTable]()

    prior: float = parameter(default=1.0, check=check_positive)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._validation = CountedTable(self._f, self.budget + 1)

    def posteriors_one(self, x: Features) -> dict[Any, float]:
        """Return the posterior probability w_c of each label c at the support vector nearest to x.

        Without a support vector, all are equal. Raises ValueError if a value of x is refused.
        """
        return self._by_label(self._posteriors(x))

    def posterior_one(self, x: Features) -> float:
        """Return the posterior probability w+ of the positive label at the support vector nearest to x.

        Raises ValueError if there are more than two labels, or a value of x is refused.
        """
        self._labels.require_two("posteriors_one")
        return self._posteriors(x)[1]

    def _update(self, f: Expansion, y: Example) -> None:
        vectors = self._validation
        if y.margin > 0.0:
            vectors.count()
            return
        vectors.join()
        if f.n < self.budget:
            vectors.finish()
            return
        vectors.renew(self.prior, _dirichlet.largest_share)
        vectors.finish(vectors.least_loss(is_hinge=True))

    def _posteriors(self, x: Features) -> list[float]:
        f, vectors = self._f, self._validation
        f.best(x)  # Computes the kernel row of x.
        counts = np.zeros((1, f.n_labels))
        if f.n:
            counts[:, : vectors.n_labels] = vectors.counts_of([vectors.nearest(f.n)])
        return _dirichlet.largest_share(counts + self.prior)[0].tolist()
