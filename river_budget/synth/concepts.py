"""Streams that consist of others: concepts that recur, and tasks that bring new classes."""

from __future__ import annotations

import bisect
import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

from river import datasets
from river.datasets.base import MULTI_CLF

from river_budget._checks import check_count, check_indices
from river_budget.synth import streams as field
from river_budget.synth.streams import Example, Point, Stream

# How many places are tried for each cluster. The one farthest from the clusters so far is taken.
N_CANDIDATES = 10


class _Switching:
    """A stream of segments, each of one concept: pairs of its index and a number of examples."""

    n_samples: int | None
    _concepts: Sequence[Any]
    _segments: list[tuple[int, int]]

    def __iter__(self) -> Iterator[Any]:
        endless = [_repeat(concept) for concept in self._concepts]
        parts = (itertools.islice(endless[i], n) for i, n in itertools.cycle(self._segments))
        return itertools.islice(itertools.chain.from_iterable(parts), self.n_samples)

    def concept_at(self, t: int) -> int:
        """Return the index of the concept of example t (from 0)."""
        ends = list(itertools.accumulate(n for _, n in self._segments))
        return self._segments[bisect.bisect(ends, t % ends[-1])][0]

    def drifts(self, n_samples: int) -> list[int]:
        """Return the indices below `n_samples` of the examples at which the concept changes."""
        ends = itertools.accumulate(n for _, n in itertools.cycle(self._segments))
        starts = itertools.takewhile(lambda t: t < n_samples, ends)
        return [t for t in starts if self.concept_at(t) != self.concept_at(t - 1)]


def _repeat(concept: Any) -> Iterator[Any]:
    while True:
        start = iter(concept)
        try:
            yield next(start)
        except StopIteration:
            raise ValueError(f"{type(concept).__name__} has no examples") from None
        yield from start


class RecurringConcepts(_Switching, Stream):
    """A stream that switches between concepts, each of which recurs.

    A concept continues where it stopped, with new examples; one that ends starts over. An empty one
    raises a ValueError while iterating.

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

    concepts: Sequence[Any] = field.parameter(
        field.REQUIRED,
        "A River data set, or another iterable that can be restarted, for each concept.",
    )
    schedule: Sequence[tuple[int, int]] | None = field.parameter(
        None,
        "Pairs of a concept's index and a number of examples, which repeat; by default each concept "
        "once, in order, with 1,000 examples.",
    )
    n_samples: int | None = field.length()

    def __post_init__(self) -> None:
        n_concepts = len(self.concepts)
        if not n_concepts:
            raise ValueError("concepts must have at least one stream, got none")
        default = [(i, 1000) for i in range(n_concepts)]
        self._concepts = self.concepts
        self._segments = default if self.schedule is None else list(self.schedule)
        check_indices("schedule", [index for index, _ in self._segments], n_concepts, "concept")
        for _, n in self._segments:
            check_count("the number of examples in a segment", n)
        first = self.concepts[0]
        self.task = getattr(first, "task", self.task)
        self.n_features = getattr(first, "n_features", None)
        self.n_classes = getattr(first, "n_classes", None)
        super().__post_init__()


class ClassIncremental(_Switching, Stream):
    """Gaussian clusters whose classes appear one after the other, and come back.

    Each task brings new classes. Labels are 0, 1, 2 and so on, in order of appearance. As one
    stream, the tasks follow each other; after the last one, the first comes back, with new
    examples. `tasks` has each as a stream of its own, as `evaluate.lifelong` takes them.

    Each class has the same number of clusters, of variance 1 in every direction, whose means are
    scattered in a cube. With several, it is too complex for a linear model or for one Gaussian.

    Examples
    --------
    >>> from river_budget import synth
    >>> stream = synth.ClassIncremental(n_classes=4, samples_per_task=3, seed=42)
    >>> [(stream.concept_at(t), y) for t, (x, y) in enumerate(stream.take(7))]
    [(0, 0), (0, 0), (0, 1), (1, 2), (1, 3), (1, 2), (0, 1)]
    """

    n_samples: int | None = field.length()
    n_classes: int = field.count(10, "Number of classes, at least 2.")
    classes_per_task: int = field.count(2, "Number of classes of each task, at most.")
    samples_per_task: int = field.count(1000, "Number of examples in each task.")
    n_features: int = field.count(2, "Number of features.")
    clusters_per_class: int = field.count(2, "Number of clusters of each class.")
    separation: float = field.positive(
        4.0, "Distance of the closest means, in standard deviations."
    )
    recurrence: float = field.probability(0.0, "Probability of a class of earlier tasks.")
    seed: int | None = field.seeded()

    task = MULTI_CLF

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_classes < 2:
            raise ValueError(f"n_classes must be at least 2, got {self.n_classes!r}")
        check_count("classes_per_task", self.classes_per_task, most=self.n_classes)
        n_clusters, rng = self.n_classes * self.clusters_per_class, random.Random(self.seed)
        self._means = _scattered(n_clusters, self.n_features, self.separation, rng)
        self._concepts = self.tasks
        self._segments = [(i, self.samples_per_task) for i in range(len(self._concepts))]

    @property
    def tasks(self) -> list[datasets.base.SyntheticDataset]:
        """The tasks, each as an endless stream."""
        labels, n = range(self.n_classes), self.classes_per_task
        return [_Task(self, labels[start : start + n]) for start in labels[::n]]

    def means_of(self, label: int) -> list[Point]:
        """Return the means of the clusters of a class."""
        return self._means[label :: self.n_classes]


class _Task(datasets.base.SyntheticDataset):
    """The examples of one task of `ClassIncremental`."""

    def __init__(self, stream: ClassIncremental, labels: range):
        super().__init__(task=MULTI_CLF, n_features=stream.n_features, n_classes=len(labels))
        self.stream = stream
        self.labels = labels

    def __iter__(self) -> Iterator[Example]:
        seed, earlier = self.stream.seed, range(self.labels.start)
        rng = random.Random(None if seed is None else f"{seed}, {self.labels.start}")
        while True:
            comes_back = earlier and rng.random() < self.stream.recurrence
            label = rng.choice(earlier if comes_back else self.labels)
            mean = rng.choice(self.stream.means_of(label))
            yield {name: rng.gauss(value, 1.0) for name, value in mean.items()}, label


def _scattered(n: int, n_features: int, separation: float, rng: random.Random) -> list[Point]:
    """Return points scattered in a cube, with the given distance between the closest two."""
    points: list[list[float]] = []
    while len(points) < n:
        candidates = [
            [rng.uniform(-1.0, 1.0) for _ in range(n_features)] for _ in range(N_CANDIDATES)
        ]
        distances = [min((math.dist(p, q) for q in points), default=0.0) for p in candidates]
        points.append(candidates[distances.index(max(distances))])
    closest = min(math.dist(a, b) for a, b in itertools.combinations(points, 2))
    return [{i: separation / closest * v for i, v in enumerate(point)} for point in points]
