from collections.abc import Sequence
from typing import Any

from river_budget._arrays import Floats, Ints
from river_budget._core.store import Block, Store
from river_budget._core.sums import Sums
from river_budget._state import State

# What `round` and `scan` return, added up: the algorithm has to update; scales or width are due.
UPDATE: int
CHECK: int

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

class Expansion:
    def __init__(self, store: Store) -> None: ...
    store: Store
    n_labels: int
    y: Example
    scale: float
    # Counts of rounds; n_weighted are the updates with a weight other than 1. Settable.
    n_rounds: int
    n_mistakes: int
    n_weighted: int
    largest_self_value: float
    # Observed after each round while it is not None; `checked_at` is the next round that is a CHECK.
    sums: Sums | None
    checked_at: int
    # The round.
    def best(self, x: Any) -> int:
        """Column of the largest score at x, the first among ties."""
    def scores(self, x: Any) -> list[float]: ...
    def round(self, x: Any, label: int, weight: float, threshold: float) -> int:
        """Count a round; return UPDATE if the margin is at most the threshold, CHECK if that is due."""
    def scan(self, block: Block, threshold: float) -> int:
        """Go through the next rows by `round` until something is due, or for a while; return that."""
    def score_block(self, block: Block) -> Floats:
        """Scores (rows, labels)."""
    def commit(self) -> None:
        """End an update that `round` or `scan` asked for."""
    def roll_back(self) -> bool:
        """Take back all since the round that asked for an update, and it; return whether it was open."""
    # What an algorithm asks.
    @property
    def n(self) -> int: ...
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
    def last_scores(self) -> list[float]:
        """Scores at the example of the round."""
    # What an algorithm does.
    def add(self, y: Example, step: float = 1.0) -> None: ...
    def replace(self, slot: int, y: Example, step: float = 1.0) -> None: ...
    def remove(self, slots: Sequence[int]) -> None: ...
    def merge(self, slot: int, others: Sequence[int], weights: Floats) -> None: ...
    def shrink(self, factor: float) -> None: ...
    def shift(self, y: Example, change: Floats) -> None: ...
    def change(self, change: Floats) -> None:
        """Add a change to the coefficients of all labels (n, labels), whose rows sum to 0."""
    def widen(self, n_labels: int) -> None: ...
    @property
    def nbytes(self) -> int: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...
