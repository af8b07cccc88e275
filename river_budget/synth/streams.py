"""Streams that are drawn example by example; they are dataclasses, whose fields are their parameters."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import math
import random
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, dataclass_transform

from river import datasets
from river.datasets.base import BINARY_CLF, MULTI_CLF

from river_budget import _checks

COST_STEP = 0.05

Point = dict[int, float]
Example = tuple[Point, Any]

REQUIRED: Any = dataclasses.MISSING


def parameter(default: Any, doc: str, check: Callable[[str, Any], None] | None = None) -> Any:
    """Return the field of a parameter, with its description and its check."""
    return dataclasses.field(default=default, metadata={"doc": doc, "check": check})


count = functools.partial(parameter, check=_checks.check_count)
real = functools.partial(parameter, check=_checks.check_real)
positive = functools.partial(parameter, check=_checks.check_positive)
not_negative = functools.partial(parameter, check=_checks.check_not_negative)
probability = functools.partial(parameter, check=_checks.check_probability)


def length(default: int | None = None) -> Any:
    """Return the field of the number of examples. Without a default, a stream is endless."""
    return count(default, f"Number of examples{'.' if default else '; endless by default.'}")


def seeded() -> Any:
    return parameter(None, "Random number generator seed for reproducibility.")


@dataclass_transform(eq_default=False)
class Stream(datasets.base.SyntheticDataset):
    """A synthetic stream. Each iteration starts over with the same seed."""

    task = BINARY_CLF
    n_features: int | None = 2
    n_classes: int | None = 2
    sparse = False
    n_samples: Any = None
    seed: Any = None

    def __init_subclass__(cls) -> None:
        """Make a dataclass of a stream, and add its parameters and attributes to its docstring."""
        made: Any = dataclasses.dataclass(eq=False, repr=False)(cls)
        sections = {
            "Parameters": {field.name: field.metadata["doc"] for field in dataclasses.fields(made)},
            "Raises": {"ValueError": "If a parameter is out of its range."},
            "Attributes": {n: v.__doc__ for n, v in vars(cls).items() if isinstance(v, property)},
        }
        text, heading, examples = inspect.cleandoc(cls.__doc__ or "").partition("Examples\n")
        for name, entries in sections.items():
            lines = [
                f"{entry}\n{textwrap.indent(textwrap.fill(doc or '', 92), '    ')}\n"
                for entry, doc in entries.items()
            ]
            text += f"{name}\n{'-' * len(name)}\n{''.join(lines)}\n" if lines else ""
        cls.__doc__ = textwrap.indent(text + heading + examples, "    ").lstrip()

    def __post_init__(self) -> None:
        fields: Any = dataclasses.fields(self)  # type: ignore[arg-type]
        for field in fields:
            check, value = field.metadata["check"], getattr(self, field.name)
            if check is not None and not (value is None and field.default is None):
                check(field.name, value)
        super().__init__(
            self.task, self.n_features, self.n_samples, self.n_classes, sparse=self.sparse
        )

    def __iter__(self) -> Iterator[Any]:
        rng = random.Random(self.seed)
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
    >>> for x, y in synth.TwoGaussians(seed=42).take(2):
    ...     print(x, y)
    {0: -0.6457421022434613, 1: -0.8224903521747634} False
    {0: -1.4195092595002838, 1: -3.673812298973276} True
    """

    n_samples: int = length(10_000)
    flip: float = probability(0.1, "Probability that a label is flipped.")
    seed: int | None = seeded()

    def _example(self, t: int, rng: random.Random) -> Example:
        y = rng.random() < 0.5
        mean = 1.0 if y else -1.0
        x = {0: rng.gauss(mean, math.sqrt(0.2)), 1: rng.gauss(mean, math.sqrt(2.0))}
        return x, y != (rng.random() < self.flip)


class RotatingGaussians(Stream):
    """Two Gaussians that rotate around the origin of the plane, with label noise.

    The means of the two classes lie on opposite sides of a circle; the best classifier is the line
    halfway between them (`true_label`).

    For mistake bounds against a drifting comparator
    ([Sutskever 2009](https://doi.org/10.1145/1553374.1553501)): with the linear kernel, the
    comparators `u_t = c * mean_at(t)` have path length `c * path_length(n)` over n examples.

    Examples
    --------
    >>> from river_budget import synth
    >>> stream = synth.RotatingGaussians(speed=0.01, seed=42)
    >>> for x, y in stream.take(2):
    ...     print(x, y)
    {0: -0.6039276295251046, 1: 0.06275913785163033} False
    {0: -1.4689756111332823, 1: -0.9553352374461647} True
    >>> stream.path_length(1001)
    9.99...
    """

    n_samples: int | None = length()
    speed: float = real(
        0.001, "Angle of rotation from one example to the next, in radians; 0 is stationary."
    )
    start: float = real(0.0, "Angle of the positive mean at the first example, in radians.")
    radius: float = positive(1.0, "Radius of the circle.")
    deviation: float = positive(0.5, "Standard deviation of both Gaussians, in every direction.")
    flip: float = probability(0.1, "Probability that a label is flipped.")
    seed: int | None = seeded()

    def _example(self, t: int, rng: random.Random) -> Example:
        sign = 1 if rng.random() < 0.5 else -1
        x = {name: rng.gauss(sign * v, self.deviation) for name, v in self.mean_at(t).items()}
        return x, (sign > 0) != (rng.random() < self.flip)

    def concept_at(self, t: int) -> float:
        """Return the angle of the positive mean at example t (from 0), in radians."""
        return self.start + self.speed * t

    def mean_at(self, t: int) -> Point:
        """Return the positive mean at example t; the negative mean is its opposite."""
        return _on_circle(self.radius, self.concept_at(t))

    def true_label(self, x: Point, t: int) -> bool:
        """Return the more likely label of x at example t, for `flip` below 0.5."""
        mean = self.mean_at(t)
        return x[0] * mean[0] + x[1] * mean[1] > 0

    def path_length(self, n_samples: int) -> float:
        """Return the sum of `||mean_at(t + 1) - mean_at(t)||` over the first `n_samples` examples."""
        return (n_samples - 1) * 2 * self.radius * abs(math.sin(self.speed / 2))


class RarePositives(Stream):
    """A rare class in a few small clusters among the examples of a common one.

    Negative examples are standard normal in the plane. Positive ones lie in small Gaussian clusters,
    evenly spaced on a circle around the origin, so no line separates them. With the default
    parameters, the best possible F1 is about 0.6.

    Examples
    --------
    >>> from river_budget import synth
    >>> sum(y for x, y in synth.RarePositives(seed=42))
    105
    """

    n_samples: int = length(10_000)
    rate: float = probability(0.01, "Probability of a positive example.")
    clusters: int = count(3, "Number of clusters of positive examples.")
    radius: float = not_negative(2.5, "Radius of the circle, at least 0.")
    deviation: float = positive(0.2, "Standard deviation of each cluster, in every direction.")
    seed: int | None = seeded()

    def _example(self, t: int, rng: random.Random) -> Example:
        y = rng.random() < self.rate
        mean, deviation = (rng.choice(self.means), self.deviation) if y else ({0: 0.0, 1: 0.0}, 1.0)
        return {name: rng.gauss(value, deviation) for name, value in mean.items()}, y

    @property
    def means(self) -> list[Point]:
        """The means of the clusters."""
        n = self.clusters
        return [_on_circle(self.radius, 2 * math.pi * k / n) for k in range(n)]


def _on_circle(radius: float, angle: float) -> Point:
    return {0: radius * math.cos(angle), 1: radius * math.sin(angle)}


class _Checkerboard:
    squares: int
    noise: float

    def concept_at(self, t: int) -> float:
        """Return the offset of the board at example t (from 0), in squares, modulo 2."""
        return 0.0

    def true_label(self, x: Point, t: int) -> bool:
        """Return the label of x at example t, before noise."""
        column = int(x[0] * self.squares + self.concept_at(t))
        return (column + int(x[1] * self.squares)) % 2 == 1

    def _example(self, t: int, rng: random.Random) -> Example:
        x = {0: rng.random(), 1: rng.random()}
        return x, self.true_label(x, t) != (rng.random() < self.noise)


class NoisyCheckerboard(_Checkerboard, Stream):
    """A checkerboard on the unit square, with label noise.

    Points are uniform, and do not depend on `noise`. Neighbouring squares have different labels; the
    square at the origin is negative. The stream is that of
    [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), section IV.A.

    Examples
    --------
    >>> from river_budget import synth
    >>> for x, y in synth.NoisyCheckerboard(seed=42).take(2):
    ...     print(x, y)
    {0: 0.6394267984578837, 1: 0.025010755222666936} False
    {0: 0.22321073814882275, 1: 0.7364712141640124} False
    """

    n_samples: int = length(10_000)
    squares: int = count(4, "Number of squares along each side of the board.")
    noise: float = probability(0.15, "Probability that a label is flipped.")
    seed: int | None = seeded()


class ShiftingCheckerboard(_Checkerboard, Stream):
    """A noisy checkerboard with concept drift: the board shifts along the first axis.

    The points are those of `NoisyCheckerboard`. A shift by one square swaps all labels, one by two
    restores them. With `every=1`, drift is gradual.

    Examples
    --------
    >>> from river_budget import synth
    >>> stream = synth.ShiftingCheckerboard(shift=1, every=2, noise=0, seed=42)
    >>> [(stream.concept_at(t), y) for t, (x, y) in enumerate(stream.take(4))]
    [(0.0, False), (0.0, False), (1.0, False), (1.0, True)]
    """

    n_samples: int | None = length()
    squares: int = count(4, "Number of squares along each side of the board.")
    shift: float = not_negative(0.5, "How far the board shifts each time, in squares.")
    every: int = count(2000, "Number of examples between shifts.")
    start: float = not_negative(0.0, "Offset of the board at the first example, in squares.")
    noise: float = probability(0.15, "Probability that a label is flipped.")
    seed: int | None = seeded()

    def concept_at(self, t: int) -> float:
        return (self.start + t // self.every * self.shift) % 2.0


class UnitVectors(Stream):
    """The worst case for any budget: one more unit vector than the model can store.

    All examples are positive, and the kernel is linear. A model lacks one of the `budget + 1` unit
    vectors; `against` yields that one, whose margin is 0, so each round is a mistake, while the sum
    of all unit vectors has margin 1. So no algorithm with this budget can have a mistake bound
    against comparators of norm `sqrt(budget + 1)`
    ([Dekel, Shalev-Shwartz & Singer 2005](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget), section 2).

    The stream itself cycles through the unit vectors, the worst order for algorithms that remove the
    oldest support vector.

    Examples
    --------
    >>> import river_budget as rb
    >>> stream = rb.synth.UnitVectors(budget=2, n_samples=4)
    >>> list(stream)
    [({0: 1.0}, True), ({1: 1.0}, True), ({2: 1.0}, True), ({0: 1.0}, True)]
    >>> model = rb.Stoptron(rb.Linear(), budget=2)
    >>> for x, y in stream.against(model):
    ...     model.learn_one(x, y)
    >>> model.n_mistakes
    4
    """

    budget: int = count(REQUIRED, "Budget of the models.")
    n_samples: int = length(10_000)

    sparse = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.n_features = self.budget + 1

    def _example(self, t: int, rng: random.Random) -> Example:
        return {t % (self.budget + 1): 1.0}, True

    def against(self, model: Any) -> Iterator[Example]:
        """Yield, in each round, the first unit vector that is not a support vector of the model.

        The model, of this package, must learn each example before the next one is drawn.
        """
        for _ in range(self.n_samples):
            held = {name for vector in model.support_vectors for name in vector}
            absent = next(name for name in itertools.count() if name not in held)
            yield {absent: 1.0}, True


class Router(Stream):
    """Requests to a router over models that differ in strength, topic and cost.

    Each element is a request, of some difficulty, length and topic, and a dict that tells for each
    arm whether it would have answered well; a policy learns only that of the arm it chose. Arm 0 is
    the weakest and costs nothing; each further one is stronger and costs more (`costs`). Each arm is
    better at the topic with its number. After `change_at` requests, the order of strengths is
    reversed.

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

    task = MULTI_CLF
    n_features = 3
    n_arms: int = count(4, "Number of arms.")
    change_at: int | None = count(
        None, "Number of requests before the strengths change; they never do by default."
    )
    n_samples: int | None = length()
    seed: int | None = seeded()

    @property
    def arms(self) -> list[int]:
        """The arms, from 0 on."""
        return list(range(self.n_arms))

    @property
    def costs(self) -> dict[int, float]:
        """The cost of each arm, in units of rewards."""
        return {arm: COST_STEP * arm for arm in self.arms}

    def success_probability(self, t: int, x: dict[str, Any], arm: int) -> float:
        """Return the probability that an arm answers request t (from 0) well."""
        is_changed = self.change_at is not None and t >= self.change_at
        rank = self.n_arms - 1 - arm if is_changed else arm
        strength = 0.2 + 0.6 * rank / max(1, self.n_arms - 1)
        fits = 0.5 * (x["topic"] == arm) - 0.1 * x["length"]
        return 1.0 / (1.0 + math.exp(-8.0 * (strength + fits - x["difficulty"])))

    def _example(self, t: int, rng: random.Random) -> Any:
        numbers = {"difficulty": rng.random(), "length": rng.random()}
        x = numbers | {"topic": rng.randrange(self.n_arms)}
        return x, {arm: rng.random() < self.success_probability(t, x, arm) for arm in self.arms}
