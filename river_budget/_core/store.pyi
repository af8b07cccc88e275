from collections.abc import Collection, Mapping, Sequence
from typing import Any, final

from river_budget._arrays import Floats, Ints
from river_budget._core.sums import Sums

class Block:
    n_rows: int
    row: int
    def begin(self, labels: Ints, weights: Floats) -> None:
        """Set labels (columns of the engine) and weights of the rows, which are learned next; 0 skips a row."""

@final
class Store:
    """Vectors under one or several kernels, and one example beside them; see the .pxd."""

    n: int
    n_kernels: int
    means: Sums | None  # in the place of unknown values; None: they are refused
    def __init__(
        self, kernels: Sequence[Any], dtype: str = "float32", scaled: Sequence[bool] | None = None
    ) -> None:
        """`scaled` says for each kernel whether it reads scaled features; None: none of them."""
    @property
    def kernels(self) -> tuple[Any, ...]:
        """The kernels; parameters left open are set from the first example that is put."""
    @property
    def names(self) -> Collection[Any]:
        """The names of all numbers and arrays that some vector has."""
    @property
    def by_age(self) -> Ints:
        """Slots, oldest first (n,)."""
    def evaluate(self, x: Any) -> None: ...
    def row(self, kernel: int = 0) -> Floats:
        """A copy of the kernel row of the example (n,)."""
    def self_value(self, kernel: int = 0) -> float: ...
    def example(self) -> dict[Any, Any]:
        """The example as a dict in the units of the user, with the names that some kernel reads."""
    def is_flat(self, low: float, high: float) -> bool:
        """Return whether there are vectors, with first kernel values all below `low`, or all above `high`."""
    def vector(self, slot: int) -> dict[Any, Any]: ...
    def row_of(self, slot: int, kernel: int = 0) -> Floats: ...
    def gram(self, kernel: int = 0) -> Floats: ...
    def self_values(self, kernel: int = 0) -> Floats: ...
    def put(self, slot: int) -> None: ...
    def rescale(
        self,
        kernels: Sequence[Any],
        factors: Mapping[Any, float],
        pooled: float,
        relevances: Mapping[Any, float] = ...,
    ) -> None:
        """Change kernels, and inverse scales: by name, and of all other features."""
    def empty_like(self) -> Store: ...
