from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from river import datasets

from river_budget._checks import check_count

__all__ = ["RecurringConcepts"]


class RecurringConcepts(datasets.base.SyntheticDataset):
    """Streams that are visited in turn, again and again.

    A visit goes on where the last one to the same stream ended, so that a concept comes back with
    fresh examples. A stream that ends starts over.

    Parameters
    ----------
    concepts
        River's data sets, or other streams that can be iterated more than once.
    schedule
        Pairs of a concept's index and the number of examples of one visit. After the last visit the
        schedule starts over. By default each concept is visited for 1,000 examples, in order.
    n_samples
        Number of examples; endless by default.

    Raises
    ------
    ValueError
        If there is no concept, a visit is not to one of them, or has no examples; while iterating,
        if a stream is empty.

    Examples
    --------

    >>> from river_budget import synth

    >>> stream = synth.RecurringConcepts(
    ...     [synth.RotatingGaussians(speed=0, start=angle, seed=42) for angle in (0.0, 1.57)],
    ...     schedule=[(0, 500), (1, 250)],
    ... )
    >>> [stream.concept_at(t) for t in (0, 499, 500, 749, 750)]
    [0, 0, 1, 1, 0]
    >>> stream.drifts(2000)
    [500, 750, 1250, 1500]

    """

    def __init__(
        self,
        concepts: Sequence[Any],
        schedule: Sequence[tuple[int, int]] | None = None,
        n_samples: int | None = None,
    ):
        if n_samples is not None:
            check_count("n_samples", n_samples)
        if not concepts:
            raise ValueError("concepts must be at least one stream, got none")
        visits = [(i, 1000) for i in range(len(concepts))] if schedule is None else list(schedule)
        if not visits:
            raise ValueError("schedule must be at least one visit, got none")
        for index, n in visits:
            if index not in range(len(concepts)):
                raise ValueError(
                    f"schedule visits concept {index!r}, but there are {len(concepts)} from 0 on"
                )
            check_count("the number of examples of a visit", n)
        first = concepts[0]
        super().__init__(
            task=getattr(first, "task", datasets.base.BINARY_CLF),
            n_features=getattr(first, "n_features", None),
            n_classes=getattr(first, "n_classes", None),
            n_samples=n_samples,
        )
        self.concepts = concepts
        self.schedule = schedule
        self._visits = visits
        self._ends = list(itertools.accumulate(n for _, n in visits))

    def __iter__(self) -> Iterator[Any]:
        endless = [_over_and_over(concept) for concept in self.concepts]
        visits = itertools.cycle(self._visits)
        examples = itertools.chain.from_iterable(itertools.islice(endless[i], n) for i, n in visits)
        return itertools.islice(examples, self.n_samples)

    def concept_at(self, t: int) -> int:
        """Return the index of the concept that example t belongs to; the first is 0."""
        return self._visits[bisect.bisect(self._ends, t % self._ends[-1])][0]

    def drifts(self, n_samples: int) -> list[int]:
        """Return which of the first so many examples belong to another concept than the one before."""
        ends = (lap + end for lap in itertools.count(0, self._ends[-1]) for end in self._ends)
        starts = itertools.takewhile(lambda t: t < n_samples, ends)
        return [t for t in starts if self.concept_at(t) != self.concept_at(t - 1)]


def _over_and_over(concept: Any) -> Iterator[Any]:
    while True:
        start = iter(concept)
        try:
            first = next(start)
        except StopIteration:
            raise ValueError(f"{type(concept).__name__} has no examples") from None
        yield first
        yield from start
