"""Labels that come late: how long each of them takes."""

from __future__ import annotations

import dataclasses
import heapq
import math
import random
from collections.abc import Iterable, Iterator
from typing import Any

from river_budget._checks import (
    check_not_negative,
    check_probability,
    check_seed,
    one_of,
    random_of,
)

# Features, and the label, or None where it is asked for.
Turn = tuple[int, dict[Any, Any], Any]

DISTRIBUTIONS = ("fixed", "uniform", "exponential", "batches")


@dataclasses.dataclass(frozen=True)
class Delays:
    """How many examples are predicted between an example and its label.

    Parameters
    ----------
    mean
        The mean number; with 0, the default, labels come at once.
    distribution
        `"fixed"`; `"uniform"` from 0 to twice the mean, or `"exponential"`, where labels come out of order;
        or `"batches"`, where those of each `mean` examples come together, after the last of these.
    missing
        The share of labels that never come, from 0 to 1.
    seed
        Random number generator seed for reproducibility.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import river_budget as rb

    >>> delays = rb.evaluate.Delays(2)
    >>> stream = [({"a": a}, a > 1) for a in range(4)]
    >>> for number, x, y in delays.turns(stream):
    ...     print(number, x, y)
    0 {'a': 0} None
    1 {'a': 1} None
    2 {'a': 2} None
    0 {'a': 0} False
    3 {'a': 3} None
    1 {'a': 1} False
    2 {'a': 2} True
    3 {'a': 3} True
    """

    mean: float = 0.0
    distribution: str = "fixed"
    missing: float = 0.0
    seed: int | None = None

    def __post_init__(self) -> None:
        check_not_negative("mean", self.mean)
        one_of(*DISTRIBUTIONS)("distribution", self.distribution)
        check_probability("missing", self.missing)
        if self.seed is not None:
            check_seed("seed", self.seed)

    def turns(self, stream: Iterable[tuple[dict[Any, Any], Any]]) -> Iterator[Turn]:
        """Yield the number and the features of each example, twice: with None, and with its label.

        This is what River's `stream.simulate_qa` yields. Labels that are due after the end come last.

        Parameters
        ----------
        stream
            Pairs of features and label.
        """
        rng = random_of(self.seed)
        due: list[tuple[int, int, dict[Any, Any], Any]] = []
        for number, (x, y) in enumerate(stream):
            yield number, x, None
            is_missing = rng.random() < self.missing
            if not is_missing:
                heapq.heappush(due, (number + self._drawn(rng, number), number, x, y))
            while due and due[0][0] <= number:
                yield heapq.heappop(due)[1:]
        while due:
            yield heapq.heappop(due)[1:]

    def _drawn(self, rng: random.Random, number: int) -> int:
        """Return the delay of the label of the example with a number."""
        if self.mean == 0 or self.distribution == "fixed":
            return round(self.mean)
        if self.distribution == "batches":
            size = math.ceil(self.mean)
            return size - 1 - number % size
        if self.distribution == "uniform":
            return round(rng.uniform(0, 2 * self.mean))
        return round(rng.expovariate(1 / self.mean))


# Labels that come before the next example is predicted.
AT_ONCE = Delays()
