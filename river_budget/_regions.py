"""The regions of a model: their leaves, and how people read them."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from river_budget._state import State
from river_budget.kernels import Category

Bounds = tuple[float, float]
EVERYWHERE: Bounds = (-math.inf, math.inf)


class Element(NamedTuple):
    """An element of an array, as a feature."""

    name: Any
    place: int


class Region(NamedTuple):
    """A region of a model, as `regions_` describes it.

    Attributes
    ----------
    rule
        Which examples are in it, as text; "everything" if there is one region only.
    bounds
        The values of these examples, by feature: above the first number, and up to the second one. A
        feature is the name of a number, a `Category`, or an `Element` of an array.
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
    n, bounds = sum(n_of_labels), bounds_of(path)
    accuracy = n_right / n if n else math.nan
    counts = {label: n_of_labels[column] for label, column in labels.items()}
    return Region(rule_of(bounds), bounds, n, accuracy, counts, n_support)


def bounds_of(path: Any) -> dict[Any, Bounds]:
    """Return the bounds of a region by feature, given the splits on the way to it."""
    bounds: dict[Any, Bounds] = {}
    for name, element, threshold, is_above in path:
        feature = name if element < 0 else Element(name, element)
        low, high = bounds.get(feature, EVERYWHERE)
        bounds[feature] = (max(low, threshold), high) if is_above else (low, min(high, threshold))
    return bounds


def rule_of(bounds: Mapping[Any, Bounds]) -> str:
    """Return the conditions of a region as text."""
    return " and ".join(_condition(*item) for item in bounds.items()) or "everything"


def _condition(feature: Any, bounds: Bounds) -> str:
    low, high = bounds
    if type(feature) is Category:  # The threshold is between 0, for an example without it, and 1.
        return f"{feature[0]} is{' not' if low == -math.inf else ''} {feature[1]}"
    name = f"{feature.name}[{feature.place}]" if type(feature) is Element else feature
    if low == -math.inf:
        return f"{name} <= {high:.6g}"
    return f"{name} > {low:.6g}" if high == math.inf else f"{low:.6g} < {name} <= {high:.6g}"
