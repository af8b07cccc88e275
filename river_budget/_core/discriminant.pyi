from typing import Any

from river_budget._arrays import Floats
from river_budget._core.store import Block, Store
from river_budget._core.sums import Sums
from river_budget._state import State
from river_budget.kernels import Features

BUFFER: int

class Discriminant:
    """A linear discriminant on random features, and its rounds; see `base.Engine`."""

    store: Store
    n_features: int
    n_labels: int
    n_rounds: int
    n_mistakes: int
    checked_at: int
    sums: Sums | None
    is_kept: bool
    def __init__(
        self, store: Store, n_features: int, forgetting: float, seed: int, learns_scales: bool
    ) -> None: ...
    def best(self, x: Features) -> int: ...
    def scores(self, x: Features) -> list[float]: ...
    def score_block(self, block: Block) -> Floats: ...
    def round(self, x: Features, label: int, weight: float, threshold: float) -> int: ...
    def scan(self, block: Block, threshold: float) -> int: ...
    def commit(self) -> None: ...
    def roll_back(self) -> bool: ...
    def widen(self, n_labels: int) -> None: ...
    def set_scales(self, factors: dict[Any, float], pooled: float, gamma: float) -> None:
        """Set the inverse scales of names, that of all others, and gamma."""
    def relearn(self, factors: dict[Any, float], pooled: float, gamma: float) -> None:
        """Learn the examples that are kept anew, with other scales and another width."""
    def end_buffer(self) -> None:
        """Drop the examples that were kept."""
    @property
    def statistics(self) -> tuple[Floats, Floats, Floats, Floats, float]:
        """P (features, features), W (features, labels), K (labels, labels), counts (labels,), beta."""
    @property
    def nbytes(self) -> int: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...
