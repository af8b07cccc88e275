from collections.abc import Sequence

from river_budget._arrays import Floats, Ints
from river_budget._core.engine import Engine
from river_budget._core.store import Store

class Example:
    """The example of a round: columns of its label and of its rival, margin, weight, k(x, x)."""

    label: int
    rival: int
    margin: float
    weight: float
    self_value: float

class Terms:
    """Step sizes, labels and rivals of the terms of f by slots, the incoming example last (n + 1,)."""

    steps: Floats
    labels: Ints
    rivals: Ints

class Expansion(Engine):
    def __init__(self, store: Store) -> None: ...
    y: Example
    scale: float
    # The number of updates with a weight other than 1.
    n_weighted: int
    largest_self_value: float
    # What an algorithm asks.
    @property
    def oldest(self) -> int: ...
    @property
    def smallest(self) -> int:
        """Slot of the vector with the smallest step size, the oldest among ties."""
    @property
    def row(self) -> Floats: ...
    def row_at(self, slot: int) -> float: ...
    def step_of(self, slot: int) -> float: ...
    def margin_of(self, slot: int) -> float: ...
    def self_value_of(self, slot: int) -> float: ...
    def overlap(self, slot: int) -> float:
        """Cosine of y and the vector in a slot, in label space."""
    def terms(self, step: float = 1.0) -> Terms: ...
    @property
    def coefficients(self) -> Floats:
        """By slots: signed (n,) with two labels, (n, labels) with more."""
    @property
    def matrix(self) -> Floats:
        """Coefficients of all labels by slots (n, labels)."""
    @property
    def norm(self) -> float: ...
    def values(self) -> Floats:
        """Scores at each vector (n, labels)."""
    # What an algorithm does.
    def add(self, y: Example, step: float = 1.0) -> None: ...
    def replace(self, slot: int, y: Example, step: float = 1.0) -> None: ...
    def remove(self, slots: Sequence[int]) -> None: ...
    def merge(self, slot: int, others: Sequence[int], weights: Floats) -> None: ...
    def shrink(self, factor: float) -> None: ...
    def shift(self, y: Example, change: Floats) -> None: ...
    def change(self, change: Floats) -> None:
        """Add a change to the coefficients of all labels (n, labels), whose rows sum to 0."""
