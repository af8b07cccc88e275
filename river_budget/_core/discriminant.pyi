from typing import Any

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
    def set_scales(self, factors: dict[Any, float], pooled: float, gamma: float) -> None: ...
    def relearn(self, factors: dict[Any, float], pooled: float, gamma: float) -> None: ...
    def end_buffer(self) -> None: ...
