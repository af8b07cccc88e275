from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from river_budget._checks import check_count
from river_budget.synth import _fields as field
from river_budget.synth._stream import Example, Stream, stream


@stream
class UnitVectors(Stream):
    """The worst case for any budget: one more unit vector than the model can store.

    All examples are positive, and the kernel is linear. A model with at most `budget` support
    vectors lacks one of the `budget + 1` unit vectors. `against` yields that vector, whose margin
    is 0, so the model is wrong in every round. The sum of all unit vectors has margin 1 everywhere.
    So no algorithm with this budget can have a mistake bound against comparators of norm
    `sqrt(budget + 1)`.

    Iterating the stream itself cycles through the unit vectors, the worst order for algorithms that
    remove the oldest support vector.

    Examples
    --------

    >>> from river_budget import synth
    >>> import river_budget as rb

    >>> stream = synth.UnitVectors(budget=2, n_samples=4)
    >>> list(stream)
    [({0: 1.0}, True), ({1: 1.0}, True), ({2: 1.0}, True), ({0: 1.0}, True)]

    >>> model = rb.Stoptron(rb.Linear(), budget=2)
    >>> for x, y in stream.against(model):
    ...     model.learn_one(x, y)
    >>> model.n_mistakes
    4

    References
    ----------
    [^1]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 18, section 2.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)
    """

    budget: int = field.parameter("Budget of the models.", check_count)
    n_samples: int = field.length(10_000)

    sparse = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.n_features = self.budget + 1

    def _example(self, t: int, rng: random.Random) -> Example:
        return {t % (self.budget + 1): 1.0}, True

    def against(self, model: Any) -> Iterator[Example]:
        """Yield, in each round, the first unit vector that is not a support vector of the model.

        The model, a classifier of this package with at most `budget` support vectors, must learn
        each example before the next one is drawn.
        """
        for _ in range(self.n_samples):
            held = {name for vector in model.support_vectors for name in vector}
            absent = next(name for name in itertools.count() if name not in held)
            yield {absent: 1.0}, True
