"""Synthetic streams, each of which is a dataclass with its parameters as fields.

`concept_at(t)` of a stream with drift is the concept of its example t, so that a plot can show it.
"""

from __future__ import annotations

import bisect
import copy
import dataclasses
import functools
import inspect
import itertools
import math
import random
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any, dataclass_transform

from river.datasets.base import BINARY_CLF, MO_BINARY_CLF, MULTI_CLF, SyntheticDataset

from river_budget import _checks
from river_budget._checks import check_parameters
from river_budget._state import require
from river_budget.base.documented import RAISES, described

__all__ = [
    "ClassIncremental", "NoisyCheckerboard", "RarePositives", "RecurringConcepts", "RotatingGaussians",
    "Router", "ShiftingCheckerboard", "TwoGaussians",
]  # fmt: skip

# The number of places that are tried for each cluster. The one farthest from the clusters before is taken.
N_CANDIDATES = 10

ENDLESS = "Number of examples; endless by default."
SEED = "Random number generator seed for reproducibility."

# The public methods of streams, and what their arguments are.
METHODS = {"concept_at", "mean_at", "path_length"}
ARGUMENTS = {"t": "The number of the example, from 0.", "n_samples": "The number of examples."}

Point = dict[int, float]
Example = tuple[Point, Any]


def _parameter(default: Any, doc: str, check: Callable[[str, Any], None] | None = None) -> Any:
    """Return the dataclass field of a parameter, with the description of the parameter and its check."""
    return dataclasses.field(default=default, metadata={"doc": doc, "check": check})


# Fields for parameters that have the same check.
_whole = functools.partial(_parameter, check=_checks.check_count)
_seed = functools.partial(_parameter, None, SEED, _checks.check_seed)
_real = functools.partial(_parameter, check=_checks.check_real)
_positive = functools.partial(_parameter, check=_checks.check_positive)
_not_negative = functools.partial(_parameter, check=_checks.check_not_negative)
_probability = functools.partial(_parameter, check=_checks.check_probability)


@dataclass_transform(eq_default=False)
class Stream(SyntheticDataset):
    """A synthetic stream. Each iteration starts over with the same seed."""

    task = BINARY_CLF
    n_features: int | None = 2
    n_classes: int | None = 2
    n_outputs: int | None = None
    sparse = False
    n_samples: Any = None
    seed: Any = None

    def __init_subclass__(cls) -> None:
        """Make a dataclass of a stream, and add its parameters to its docstring."""
        made: Any = dataclasses.dataclass(eq=False, repr=False)(cls)
        entries = "".join(f"{f.name}\n    {f.metadata['doc']}\n" for f in dataclasses.fields(made))
        first, *rest = inspect.cleandoc(cls.__doc__ or "").partition("Examples\n")
        sections = f"Parameters\n----------\n{entries}\nRaises\n------\n{RAISES}\n\n"
        text = first + sections + "".join(rest)
        # River expects the indentation of a docstring in the source.
        cls.__doc__ = textwrap.indent(text, "    ").lstrip()
        for name in METHODS & vars(cls).keys():
            described(vars(cls)[name], ARGUMENTS)

    def __post_init__(self) -> None:
        check_parameters(self)

    def __iter__(self) -> Iterator[Any]:
        rng = _checks.random_of(self.seed)
        for t in itertools.islice(itertools.count(), self.n_samples):
            yield self._example(t, rng)

    def _example(self, t: int, rng: random.Random) -> Example:
        """Return example t (from 0)."""
        raise NotImplementedError


class TwoGaussians(Stream):
    """Two Gaussians in the plane that overlap, with label noise.

    Both have the variances 0.2 and 2, the positive one around (1, 1), the negative one around
    (-1, -1). The stream is that of
    [Orabona, Keshet & Caputo 2008](https://doi.org/10.1145/1390156.1390247), section 5.

    Examples
    --------
    >>> from river_budget import synth
    >>> next(iter(synth.TwoGaussians(seed=42)))
    ({0: -0.6457421022434613, 1: -0.8224903521747634}, False)
    """

    n_samples: int = _whole(10_000, "Number of examples.")
    flip: float = _probability(0.1, "Probability that a label is flipped.")
    seed: int | None = _seed()

    def _example(self, t: int, rng: random.Random) -> Example:
        y = rng.random() < 0.5
        mean = 1.0 if y else -1.0
        x = {0: rng.gauss(mean, math.sqrt(0.2)), 1: rng.gauss(mean, math.sqrt(2.0))}
        return x, y != (rng.random() < self.flip)


class RotatingGaussians(Stream):
    """Two Gaussians whose means rotate on opposite sides of a circle, with label noise.

    Use it for drift of a known speed, and for mistake bounds against a moving comparator
    ([Sutskever 2009](https://doi.org/10.1145/1553374.1553501)): with the linear kernel, the
    comparators `u_t = c * mean_at(t)` have the path length `c * path_length(n)` over n examples.

    Examples
    --------
    >>> from river_budget import synth
    >>> stream = synth.RotatingGaussians(speed=0.01, seed=42)
    >>> next(iter(stream))
    ({0: -0.6039276295251046, 1: 0.06275913785163033}, False)
    >>> stream.path_length(1001)
    9.99...
    """

    n_samples: int | None = _whole(None, ENDLESS)
    speed: float = _real(0.001, "Radians from one example to the next; 0 is stationary.")
    start: float = _real(0.0, "Angle of the positive mean at the first example, in radians.")
    radius: float = _positive(1.0, "Radius of the circle.")
    deviation: float = _positive(0.5, "Standard deviation of both Gaussians, in every direction.")
    flip: float = _probability(0.1, "Probability that a label is flipped.")
    seed: int | None = _seed()

    def _example(self, t: int, rng: random.Random) -> Example:
        sign = 1 if rng.random() < 0.5 else -1
        x = {name: rng.gauss(sign * v, self.deviation) for name, v in self.mean_at(t).items()}
        return x, (sign > 0) != (rng.random() < self.flip)

    def concept_at(self, t: int) -> float:
        """Return the angle of the positive mean at an example, in radians."""
        return self.start + self.speed * t

    def mean_at(self, t: int) -> Point:
        """Return the positive mean at an example; the negative mean is its opposite."""
        return _on_circle(self.radius, self.concept_at(t))

    def path_length(self, n_samples: int) -> float:
        """Return the sum of `||mean_at(t + 1) - mean_at(t)||` over the first examples."""
        return (n_samples - 1) * 2 * self.radius * abs(math.sin(self.speed / 2))


class RarePositives(Stream):
    """A rare class in a few small clusters among the examples of a common one.

    Negative examples are standard normal in the plane. Positive ones lie in Gaussian clusters,
    evenly spaced on a circle around the origin, so no line separates them. With the default
    parameters, the best possible F1 is about 0.6.

    Examples
    --------
    >>> from river_budget import synth
    >>> sum(y for x, y in synth.RarePositives(seed=42))
    105
    """

    n_samples: int = _whole(10_000, "Number of examples.")
    rate: float = _probability(0.01, "Probability of a positive example.")
    clusters: int = _whole(3, "Number of clusters of positive examples.")
    radius: float = _not_negative(2.5, "Radius of the circle, at least 0.")
    deviation: float = _positive(0.2, "Standard deviation of each cluster, in every direction.")
    seed: int | None = _seed()

    def _example(self, t: int, rng: random.Random) -> Example:
        y = rng.random() < self.rate
        if not y:
            return {0: rng.gauss(0.0, 1.0), 1: rng.gauss(0.0, 1.0)}, y
        mean = _on_circle(self.radius, 2 * math.pi * rng.randrange(self.clusters) / self.clusters)
        return {name: rng.gauss(value, self.deviation) for name, value in mean.items()}, y


def _on_circle(radius: float, angle: float) -> Point:
    return {0: radius * math.cos(angle), 1: radius * math.sin(angle)}


class NoisyCheckerboard(Stream):
    """A checkerboard on the unit square, with label noise.

    Points are uniform, and do not depend on `noise`. The square at the origin is negative. The
    stream is that of [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), section
    IV.A.

    Examples
    --------
    >>> from river_budget import synth
    >>> next(iter(synth.NoisyCheckerboard(seed=42)))
    ({0: 0.6394267984578837, 1: 0.025010755222666936}, False)
    """

    n_samples: int | None = _whole(10_000, "Number of examples.")
    squares: int = _whole(4, "Number of squares along each side of the board.")
    noise: float = _probability(0.15, "Probability that a label is flipped.")
    seed: int | None = _seed()

    def concept_at(self, t: int) -> float:
        """Return the offset of the board at an example, in squares, modulo 2."""
        return 0.0

    def _example(self, t: int, rng: random.Random) -> Example:
        x = {0: rng.random(), 1: rng.random()}
        column = int(x[0] * self.squares + self.concept_at(t))
        y = (column + int(x[1] * self.squares)) % 2 == 1
        return x, y != (rng.random() < self.noise)


class ShiftingCheckerboard(NoisyCheckerboard):
    """A `NoisyCheckerboard` with concept drift: the board shifts along the first axis.

    A shift by one square swaps all labels, and a shift by two squares restores them. With `every=1`,
    the drift is gradual.

    Examples
    --------
    >>> from river_budget import synth
    >>> stream = synth.ShiftingCheckerboard(shift=1, every=2, noise=0, seed=42)
    >>> [(stream.concept_at(t), y) for t, (x, y) in enumerate(stream.take(4))]
    [(0.0, False), (0.0, False), (1.0, False), (1.0, True)]
    """

    n_samples: int | None = _whole(None, ENDLESS)
    shift: float = _not_negative(0.5, "How far the board shifts each time, in squares.")
    every: int = _whole(2000, "Number of examples between shifts.")
    start: float = _not_negative(0.0, "Offset of the board at the first example, in squares.")

    def concept_at(self, t: int) -> float:
        return (self.start + t // self.every * self.shift) % 2.0


def _repeat(concept: Any) -> Iterator[Any]:
    """Yield the examples of a concept again and again. Raises ValueError if it has none."""
    while True:
        example = None
        for example in concept:
            yield example
        require(example is not None, f"{type(concept).__name__} has no examples")


class RecurringConcepts(Stream):
    """A stream that switches between concepts, which come back again and again.

    Each concept is a stream, such as a data set of River. When it comes back, it continues where it
    stopped, with new examples. A concept that ends starts over. An empty one raises a ValueError during
    the iteration.

    Examples
    --------
    >>> from river_budget import synth
    >>> stream = synth.RecurringConcepts(
    ...     [synth.RotatingGaussians(speed=0, start=angle, seed=42) for angle in (0.0, 1.57)],
    ...     schedule=[(0, 500), (1, 250)],
    ... )
    >>> [stream.concept_at(t) for t in (0, 499, 500, 749, 750)]
    [0, 0, 1, 1, 0]
    """

    concepts: Sequence[Any] = _parameter(dataclasses.MISSING, "Iterables that can be restarted.")
    schedule: Sequence[tuple[int, int]] | None = _parameter(
        None,
        "Pairs of a concept's index and a number of examples, repeated; by default 1,000 of each.",
    )
    n_samples: int | None = _whole(None, ENDLESS)

    def __post_init__(self) -> None:
        super().__post_init__()
        n_concepts = len(self.concepts)
        _checks.check_indices("concepts", range(n_concepts), n_concepts, "stream")
        default = [(i, 1000) for i in range(n_concepts)]
        self._segments = default if self.schedule is None else list(self.schedule)
        _checks.check_indices("schedule", [i for i, _ in self._segments], n_concepts, "concept")
        for _, n in self._segments:
            _checks.check_count("the number of examples in a segment", n)
        first = self.concepts[0]
        self.task = getattr(first, "task", self.task)
        self.n_features = getattr(first, "n_features", None)
        self.n_classes = getattr(first, "n_classes", None)

    def __iter__(self) -> Iterator[Any]:
        endless = [_repeat(concept) for concept in self.concepts]
        parts = (itertools.islice(endless[i], n) for i, n in itertools.cycle(self._segments))
        return itertools.islice(itertools.chain.from_iterable(parts), self.n_samples)

    def concept_at(self, t: int) -> int:
        """Return the index of the concept of an example."""
        ends = list(itertools.accumulate(n for _, n in self._segments))
        return self._segments[bisect.bisect(ends, t % ends[-1])][0]


class ClassIncremental(Stream):
    """Gaussian clusters whose classes appear one after the other, and come back.

    Each task brings new classes; the labels are 0, 1, 2 and so on. After the last task, the first one
    comes back, with new examples. Each class has the same number of clusters, with variance 1 in every
    direction, whose means are scattered in a cube. The attribute `tasks` has each task as an endless
    stream of its own, as `evaluate.lifelong` takes them.

    Examples
    --------
    >>> from river_budget import synth
    >>> stream = synth.ClassIncremental(n_classes=4, samples_per_task=3, seed=42)
    >>> [(stream.concept_at(t), y) for t, (x, y) in enumerate(stream.take(7))]
    [(0, 0), (0, 0), (0, 1), (1, 2), (1, 3), (1, 2), (0, 1)]
    """

    n_samples: int | None = _whole(None, ENDLESS)
    n_classes: int = _whole(10, "Number of classes, at least 2.")
    classes_per_task: int = _parameter(2, "Number of classes of each task, at most.")
    samples_per_task: int = _whole(1000, "Number of examples in each task.")
    n_features: int = _whole(2, "Number of features.")
    clusters_per_class: int = _whole(2, "Number of clusters of each class.")
    separation: float = _positive(4.0, "Distance of the closest means, in standard deviations.")
    recurrence: float = _probability(0.0, "Probability of a class of earlier tasks.")
    seed: int | None = _seed()

    task = MULTI_CLF

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.n_classes > 1, f"n_classes must be at least 2, got {self.n_classes!r}")
        _checks.check_count("classes_per_task", self.classes_per_task, most=self.n_classes)
        n_clusters, rng = self.n_classes * self.clusters_per_class, _checks.random_of(self.seed)
        self._means = _scattered(n_clusters, self.n_features, self.separation, rng)
        # The first class of each task.
        self._firsts: Sequence[int] = range(0, self.n_classes, self.classes_per_task)
        # A task alone is an endless stream with a single first class.
        self.tasks = [copy.copy(self) for _ in self._firsts]
        for task, first in zip(self.tasks, self._firsts, strict=True):
            vars(task).update(n_samples=None, _firsts=[first])

    def __iter__(self) -> Iterator[Any]:
        tasks = list(map(self._examples_of, self._firsts))
        for t in itertools.islice(itertools.count(), self.n_samples):
            yield next(tasks[self.concept_at(t)])

    def _examples_of(self, first: int) -> Iterator[Example]:
        """Yield examples of the task with a first class, without end."""
        rng = random.Random(None if self.seed is None else f"{self.seed}, {first}")
        earlier, own = range(first), range(self.n_classes)[first : first + self.classes_per_task]
        while True:
            comes_back = earlier and rng.random() < self.recurrence
            label = rng.choice(earlier if comes_back else own)
            mean = rng.choice(self._means[label :: self.n_classes])
            yield {name: rng.gauss(value, 1.0) for name, value in mean.items()}, label

    def concept_at(self, t: int) -> int:
        """Return the index of the task of an example."""
        return t // self.samples_per_task % len(self._firsts)


def _scattered(n: int, n_features: int, separation: float, rng: random.Random) -> list[Point]:
    """Return points that are scattered in a cube. The closest two have the distance `separation`."""
    points: list[list[float]] = []
    while len(points) < n:
        places = [[rng.uniform(-1.0, 1.0) for _ in range(n_features)] for _ in range(N_CANDIDATES)]
        distances = [min((math.dist(p, q) for q in points), default=0.0) for p in places]
        points.append(places[distances.index(max(distances))])
    closest = min(math.dist(a, b) for a, b in itertools.combinations(points, 2))
    return [{i: separation / closest * v for i, v in enumerate(point)} for point in points]


class Router(Stream):
    """Requests to a router that has to choose one of several models (arms) for each.

    Each element is a pair: a request, and a dict that says for each arm whether it would answer well.
    A policy may learn only the outcome of the arm that it chose. Arm 0 is the weakest and costs nothing;
    each further arm is stronger and costs more. Each arm is better at the topic with its number. The
    attribute `arms` has their numbers, and `costs` what they cost, in units of rewards.

    Examples
    --------
    >>> from river_budget import synth
    >>> router = synth.Router(n_arms=3, seed=42)
    >>> for x, works in router.take(1):
    ...     print(x, works)
    {'difficulty': 0.6394267984578837, 'length': 0.025010755222666936, 'topic': 1} {0: False, 1: True, 2: True}
    >>> router.costs
    {0: 0.0, 1: 0.05, 2: 0.1}
    """

    task = MO_BINARY_CLF
    n_features = 3
    n_arms: int = _whole(4, "Number of arms.")
    change_at: int | None = _whole(None, "Number of requests before the strengths are reversed.")
    n_samples: int | None = _whole(None, ENDLESS)
    seed: int | None = _seed()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.n_outputs, self.arms = self.n_arms, list(range(self.n_arms))
        self.costs = {arm: 0.05 * arm for arm in self.arms}

    def _success_probability(self, t: int, x: dict[str, Any], arm: int) -> float:
        """Return the probability that an arm would answer request t well."""
        is_changed = self.change_at is not None and t >= self.change_at
        rank = self.n_arms - 1 - arm if is_changed else arm
        strength = 0.2 + 0.6 * rank / max(1, self.n_arms - 1)
        fits = 0.5 * (x["topic"] == arm) - 0.1 * x["length"]
        return 1.0 / (1.0 + math.exp(-8.0 * (strength + fits - x["difficulty"])))

    def _example(self, t: int, rng: random.Random) -> Any:
        numbers = {"difficulty": rng.random(), "length": rng.random()}
        x = numbers | {"topic": rng.randrange(self.n_arms)}
        return x, {arm: rng.random() < self._success_probability(t, x, arm) for arm in self.arms}
