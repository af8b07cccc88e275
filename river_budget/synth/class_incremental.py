from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator

from river import datasets
from river.datasets.base import MULTI_CLF

from river_budget._checks import check_count, check_positive, check_probability
from river_budget.synth.recurring_concepts import RecurringConcepts

__all__ = ["ClassIncremental"]

# How many places are tried for each cluster. The one farthest from the clusters so far is taken.
N_CANDIDATES = 10


class ClassIncremental(datasets.base.SyntheticDataset):
    """Gaussian clusters whose classes appear one after the other, and come back.

    Each task brings classes that no task before it has. The labels are 0, 1, 2 and so on, in order of
    appearance. As one stream, the tasks follow each other; after the last one, the first comes back,
    with new examples. `tasks` has each task as a stream of its own, as `evaluate.lifelong` takes them.

    Each class has the same number of clusters. Their means are scattered at random in a cube, and all
    clusters have variance 1 in every direction. A class with several clusters lies between others, and
    a linear model, or one Gaussian for each class, is too simple for it.

    Parameters
    ----------
    n_samples
        Number of examples; endless by default.
    n_classes
        Number of classes, at least 2.
    classes_per_task
        Number of classes that each task brings. The last task brings what is left.
    samples_per_task
        Number of examples of a task before the next one begins.
    n_features
        Number of features.
    clusters_per_class
        Number of clusters of each class.
    separation
        Distance between the two closest means, in standard deviations of a cluster.
    recurrence
        Probability that an example of a task is of a class of the tasks before it.
    seed
        Random number generator seed for reproducibility.

    Attributes
    ----------
    tasks
        The tasks, each as an endless stream.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------

    >>> from river_budget import evaluate, synth

    >>> stream = synth.ClassIncremental(n_classes=4, samples_per_task=3, seed=42)
    >>> for x, y in stream.take(4):
    ...     print(x, y)
    {0: -6.538021310517042, 1: 1.612140497036876} 0
    {0: -0.2734442633284524, 1: -7.319829029138026} 0
    {0: 1.1939579665514435, 1: 6.158814340115255} 1
    {0: -5.207068346221599, 1: -5.333845494614818} 2
    >>> [stream.concept_at(t) for t in range(7)]
    [0, 0, 0, 1, 1, 1, 0]

    River's nearest neighbours forget the classes that have left their window:

    >>> from river import neighbors

    >>> model = neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=1000))
    >>> run = evaluate.lifelong(model, stream.tasks, n_test=200)
    >>> print(run.class_table())
       class  task 0  task 1    drop
           0   100.0     0.0   100.0
           1    98.2     0.0    98.2
           2     0.0   100.0       -
           3     0.0    98.2       -
    >>> run.accuracy_seen
    array([0.99 , 0.495])

    """

    def __init__(
        self,
        n_samples: int | None = None,
        n_classes: int = 10,
        classes_per_task: int = 2,
        samples_per_task: int = 1000,
        n_features: int = 2,
        clusters_per_class: int = 2,
        separation: float = 4.0,
        recurrence: float = 0.0,
        seed: int | None = None,
    ):
        if n_samples is not None:
            check_count("n_samples", n_samples)
        check_count("n_classes", n_classes)
        if n_classes < 2:
            raise ValueError(f"n_classes must be at least 2, got {n_classes!r}")
        check_count("classes_per_task", classes_per_task, most=n_classes)
        check_count("samples_per_task", samples_per_task)
        check_count("n_features", n_features)
        check_count("clusters_per_class", clusters_per_class)
        check_positive("separation", separation)
        check_probability("recurrence", recurrence)
        super().__init__(
            task=MULTI_CLF, n_features=n_features, n_classes=n_classes, n_samples=n_samples
        )
        self.classes_per_task = classes_per_task
        self.samples_per_task = samples_per_task
        self.clusters_per_class = clusters_per_class
        self.separation = separation
        self.recurrence = recurrence
        self.seed = seed
        n_clusters = n_classes * clusters_per_class
        self._means = _scattered(n_clusters, n_features, separation, random.Random(seed))

    def __iter__(self) -> Iterator[tuple[dict[int, float], int]]:
        return iter(self._in_turn)

    @property
    def tasks(self) -> list[datasets.base.SyntheticDataset]:
        """The tasks, each as an endless stream."""
        starts = range(0, self.n_classes, self.classes_per_task)
        return [
            _Task(self, range(start, min(start + self.classes_per_task, self.n_classes)))
            for start in starts
        ]

    def means_of(self, label: int) -> list[dict[int, float]]:
        """Return the means of the clusters of a class."""
        return self._means[label :: self.n_classes]

    def concept_at(self, t: int) -> int:
        """Return the index of the task of example t (from 0)."""
        return self._in_turn.concept_at(t)

    def drifts(self, n_samples: int) -> list[int]:
        """Return the indices below `n_samples` of the examples at which the task changes."""
        return self._in_turn.drifts(n_samples)

    @property
    def _in_turn(self) -> RecurringConcepts:
        tasks = self.tasks
        schedule = [(i, self.samples_per_task) for i in range(len(tasks))]
        return RecurringConcepts(tasks, schedule, self.n_samples)


class _Task(datasets.base.SyntheticDataset):
    """The examples of one task of `ClassIncremental`."""

    def __init__(self, stream: ClassIncremental, labels: range):
        super().__init__(task=MULTI_CLF, n_features=stream.n_features, n_classes=len(labels))
        self.stream = stream
        self.labels = labels

    def __iter__(self) -> Iterator[tuple[dict[int, float], int]]:
        seed, earlier = self.stream.seed, range(self.labels.start)
        rng = random.Random(None if seed is None else f"{seed}, {self.labels.start}")
        while True:
            comes_back = earlier and rng.random() < self.stream.recurrence
            label = rng.choice(earlier if comes_back else self.labels)
            mean = rng.choice(self.stream.means_of(label))
            yield {name: rng.gauss(value, 1.0) for name, value in mean.items()}, label


def _scattered(
    n: int, n_features: int, separation: float, rng: random.Random
) -> list[dict[int, float]]:
    """Return points scattered in a cube, of which the closest two have the given distance."""
    points: list[list[float]] = []
    while len(points) < n:
        candidates = [
            [rng.uniform(-1.0, 1.0) for _ in range(n_features)] for _ in range(N_CANDIDATES)
        ]
        points.append(max(candidates, key=lambda point: _distance(point, points)))
    closest = min(math.dist(a, b) for a, b in itertools.combinations(points, 2))
    return [{i: separation / closest * v for i, v in enumerate(point)} for point in points]


def _distance(point: list[float], others: list[list[float]]) -> float:
    """Return the distance of a point from the closest of the others."""
    return min((math.dist(point, other) for other in others), default=0.0)
