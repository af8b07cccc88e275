from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget._core.engine import Engine
from river_budget._core.store import Store

BUFFER: int

def use_lanes(most: int) -> int: ...
def frequencies_of(seed: int, name: Any, n: int) -> NDArray[np.float32]: ...

class Discriminant(Engine):
    is_kept: bool
    def __init__(
        self,
        store: Store,
        n_features: int,
        forgetting: float,
        seed: int,
        learns_scales: bool,
        scales: tuple[dict[Any, float], float, float],
    ) -> None: ...
    def set_scales(self, factors: dict[Any, float], pooled: float, gamma: float) -> None: ...
    def relearn(self, factors: dict[Any, float], pooled: float, gamma: float) -> None: ...
