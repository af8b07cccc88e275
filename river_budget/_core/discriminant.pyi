from typing import Any

from river_budget._arrays import Floats
from river_budget._core.engine import Engine
from river_budget._core.store import Store

BUFFER: int

class Discriminant(Engine):
    """A linear discriminant on random features."""

    n_features: int
    is_kept: bool
    def __init__(
        self, store: Store, n_features: int, forgetting: float, seed: int, learns_scales: bool
    ) -> None: ...
    def set_scales(self, factors: dict[Any, float], pooled: float, gamma: float) -> None:
        """Set the inverse scales of names, that of all others, and gamma."""
    def relearn(self, factors: dict[Any, float], pooled: float, gamma: float) -> None:
        """Learn the examples that are kept anew, with other scales and another width."""
    def end_buffer(self) -> None:
        """Drop the examples that were kept."""
    @property
    def statistics(self) -> tuple[Floats, Floats, Floats, Floats, float]:
        """P (features, features), W (features, labels), K (labels, labels), counts (labels,), beta."""
