from collections.abc import Sequence

from river_budget._arrays import Floats
from river_budget._core.engine import Engine
from river_budget._core.store import Store

class Example:
    """The example of a round: columns of its label and of its rival, margin, weight, k(x, x)."""

    label: int
    rival: int
    margin: float
    weight: float
    self_value: float

class Expansion(Engine):
    """A kernel expansion for each label over the vectors of a store, and the rounds of an algorithm."""

    y: Example
    n_weighted: int  # updates with a weight other than 1
    largest_self_value: float  # k(x, x) of the examples of all updates
    # What an algorithm asks. Among vectors with equal sizes or costs, the oldest one is returned.
    oldest: int
    smallest: int  # the slot with the smallest step
    # The largest squared norm of the projections of the example onto single vectors.
    largest_projection: float
    row: Floats  # kernel values of the example and all vectors (n,)
    coefficients: Floats  # signed (n,) with two labels, (n, labels) with more
    matrix: Floats  # (n, labels)
    sizes: Floats  # half the sums of the squared coefficients of each vector (n,)
    norm: float  # computed from all pairs of vectors: ||f||^2 = sum_c ||g_c||^2 / 2
    def __init__(self, store: Store, limit: int | None = None) -> None: ...
    def cheapest(self, costs: Floats, slack: float = 0.0) -> int:
        """Return the vector with the least cost; n is the example of the round, if it has the last of n + 1 costs.

        Costs are ties if they are at most `slack` above the least one.
        """
    def row_at(self, slot: int) -> float: ...  # an element of `row`
    def step_of(self, slot: int) -> float: ...  # the largest coefficient of a vector
    def margin_of(self, slot: int) -> float: ...
    def self_value_of(self, slot: int) -> float: ...
    def overlap(self, slot: int) -> float:
        """Return the cosine of y and the vector in a slot, in label space."""
    def commit(self) -> None: ...
    # What an algorithm does.
    def add(self, y: Example, step: float = 1.0) -> None:
        """Store the example of the round. Raises ValueError if the budget is full."""
    def replace(self, slot: int, y: Example, step: float = 1.0) -> None: ...
    def remove(self, slots: Sequence[int]) -> None: ...
    def shrink(self, factor: float) -> None:
        """Multiply all coefficients by a factor from 0 to 1, in constant time as a rule."""
    def shift(self, y: Example, change: Floats) -> None:
        """Add a change (n,), times the weight, to the coefficients of the label of y, and subtract it for its rival."""
    def change(self, change: Floats) -> None:
        """Add a change to the coefficients of all labels (n, labels), whose rows sum to 0."""
