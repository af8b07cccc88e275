from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from river import datasets

from river_budget._checks import check_count

__all__ = ["RecurringConcepts"]


class RecurringConcepts(datasets.base.SyntheticDataset):
    """A stream that switches between concepts, each of which recurs.

    When a concept recurs, its stream continues where it stopped, so its examples are new. A stream
    that ends starts over.

    Parameters
    ----------
    concepts
        One stream for each concept: a River data set, or any iterable that can be restarted.
    schedule
        Segments of the stream: pairs of a concept's index and a number of examples. The schedule
        repeats. By default it has each concept once, in order, with 1,000 examples.
    n_samples
        Number of examples; endless by default.

    Raises
    ------
    ValueError
        If there are no concepts, or a parameter is out of its range; while iterating, if the stream
        of a concept is empty.

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
            raise ValueError("concepts must have at least one stream, got none")
        segments = [(i, 1000) for i in range(len(concepts))] if schedule is None else list(schedule)
        if not segments:
            raise ValueError("schedule must have at least one segment, got none")
        for index, n in segments:
            if index not in range(len(concepts)):
                raise ValueError(
                    f"schedule contains {index!r}, which is not a concept index "
                    f"(number of concepts: {len(concepts)})"
                )
            check_count("the number of examples in a segment", n)
        first = concepts[0]
        super().__init__(
            task=getattr(first, "task", datasets.base.BINARY_CLF),
            n_features=getattr(first, "n_features", None),
            n_classes=getattr(first, "n_classes", None),
            n_samples=n_samples,
        )
        self.concepts = concepts
        self.schedule = schedule
        self._segments = segments
        self._ends = list(itertools.accumulate(n for _, n in segments))

    def __iter__(self) -> Iterator[Any]:
        endless = [_repeat(concept) for concept in self.concepts]
        segments = itertools.cycle(self._segments)
        examples = itertools.chain.from_iterable(
            itertools.islice(endless[i], n) for i, n in segments
        )
        return itertools.islice(examples, self.n_samples)

    def concept_at(self, t: int) -> int:
        """Return the index of the concept of example t (from 0)."""
        return self._segments[bisect.bisect(self._ends, t % self._ends[-1])][0]

    def drifts(self, n_samples: int) -> list[int]:
        """Return the indices below `n_samples` of the examples at which the concept changes."""
        ends = (lap + end for lap in itertools.count(0, self._ends[-1]) for end in self._ends)
        starts = itertools.takewhile(lambda t: t < n_samples, ends)
        return [t for t in starts if self.concept_at(t) != self.concept_at(t - 1)]


def _repeat(concept: Any) -> Iterator[Any]:
    while True:
        start = iter(concept)
        try:
            first = next(start)
        except StopIteration:
            raise ValueError(f"{type(concept).__name__} has no examples") from None
        yield first
        yield from start
