"""The regions of a model: their leaves, and how people read them."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from river_budget._state import State
from river_budget.kernels import Category

# A split of a category is between 0, for an example without it, and 1.
Bounds = tuple[float, float]
EVERYWHERE: Bounds = (-math.inf, math.inf)


class Region(NamedTuple):
    """A region of a model, as `regions_` describes it.

    Attributes
    ----------
    rule
        Which examples are in it, as text; "everything" if there is one region only.
    bounds
        The values of these examples, by feature: above the first number, and up to the second one. A
        feature is a name, or a pair of a name and an index for an element of an array.
    n_examples
        Number of examples that came into it.
    accuracy
        Share of these that the model predicted right, root and leaf together; NaN without examples.
    labels
        Number of these examples of each label.
    n_support
        Number of support vectors of its leaf.
    """

    rule: str
    bounds: Mapping[Any, Bounds]
    n_examples: int
    accuracy: float
    labels: Mapping[Any, int]
    n_support: int


class Leaves:
    """The models of all regions. They change, but which they are does not.

    Their engines have the columns of the root, whose labels they do not know.
    """

    def __init__(self, models: Sequence[Any]) -> None:
        self.models = tuple(models)

    @property
    def engines(self) -> list[Any]:
        return [model._f for model in self.models]  # noqa: SLF001

    @property
    def nbytes(self) -> int:
        return sys.getsizeof(self.models) + sum(model.memory_bytes for model in self.models)

    def with_copy(self, region: int) -> Self:
        """Return these leaves, and a copy of that of a region for a new one."""
        return type(self)([*self.models, copy.deepcopy(self.models[region])])

    def untrained(self, n: int) -> Self:
        """Return n leaves, given one that has learned nothing."""
        return type(self)([copy.deepcopy(self.models[0]) for _ in range(n)])

    def state(self) -> list[State]:
        return [model.state() for model in self.models]

    def restore(self, states: Sequence[State]) -> None:
        for model, state in zip(self.models, states, strict=True):
            model.restore(state)


def regions_of(f: Any, labels: Mapping[Any, int]) -> list[Region]:
    """Return the regions of an engine, given the column of each label."""
    return [
        _region(f.tree.path(region), tally, labels, leaf.n_support)
        for region, (tally, leaf) in enumerate(zip(f.counts.tolist(), f.leaves.models, strict=True))
    ]


def _region(path: Any, tally: list[int], labels: Mapping[Any, int], n_support: int) -> Region:
    """Return a region, given the splits on the way to it, and its right predictions and examples."""
    n_right, *n_of_labels = tally
    bounds: dict[Any, Bounds] = {}
    for name, element, threshold, is_above in path:
        feature = name if element < 0 else (name, element)
        low, high = bounds.get(feature, EVERYWHERE)
        bounds[feature] = (max(low, threshold), high) if is_above else (low, min(high, threshold))
    rule = " and ".join(_rule(feature, *limits) for feature, limits in bounds.items())
    n = sum(n_of_labels)
    counts = {label: n_of_labels[column] for label, column in labels.items()}
    return Region(
        rule or "everything", bounds, n, n_right / n if n else math.nan, counts, n_support
    )


def _rule(feature: Any, low: float, high: float) -> str:
    """Return a condition as text."""
    if type(feature) is Category and not low < 0.0 and not high >= 1.0:
        return f"{feature[0]} is not {feature[1]}"
    if type(feature) is Category and high == math.inf and 0.0 <= low < 1.0:
        return f"{feature[0]} is {feature[1]}"
    if low == -math.inf:
        return f"{feature} <= {high:.4g}"
    return f"{feature} > {low:.4g}" if high == math.inf else f"{low:.4g} < {feature} <= {high:.4g}"
