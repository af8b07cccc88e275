from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from river import datasets
from river.datasets.base import BINARY_CLF

from river_budget._checks import check_count

__all__ = ["UnitVectors"]


class UnitVectors(datasets.base.SyntheticDataset):
    """The stream on which every budget fails: one more unit vector than a model can hold.

    All examples are positive. With the linear kernel a model of at most `budget` support vectors
    always lacks one of the `budget + 1` unit vectors, and whichever it lacks it has no opinion on:
    shown that one, it errs on every round. The sum of all unit vectors never errs, and its margin is
    always 1. So no budget competes with a norm of `sqrt(budget + 1)`.

    The stream goes round the unit vectors, which is the worst for algorithms that give up their
    oldest vector. `against` picks the worst for any other.

    Parameters
    ----------
    budget
        Budget of the models to be defeated.
    n_samples
        Number of examples.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

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

    def __init__(self, budget: int, n_samples: int = 10_000):
        check_count("budget", budget)
        check_count("n_samples", n_samples)
        super().__init__(
            task=BINARY_CLF, n_features=budget + 1, n_classes=2, n_samples=n_samples, sparse=True
        )
        self.budget = budget

    def __iter__(self) -> Iterator[tuple[dict[int, float], bool]]:
        for t in range(self.n_samples):
            yield {t % (self.budget + 1): 1.0}, True

    def against(self, model: Any) -> Iterator[tuple[dict[int, float], bool]]:
        """Yield, each time, the first unit vector that is not among the model's support vectors.

        Parameters
        ----------
        model
            A classifier of this package that learns the examples while they come, with no more than
            `budget` support vectors.

        """
        for _ in range(self.n_samples):
            held = {name for vector in model.support_vectors for name in vector}
            absent = next(name for name in itertools.count() if name not in held)
            yield {absent: 1.0}, True
