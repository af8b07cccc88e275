from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget._core.engine import Engine

BUFFER: int

def frequencies_of(seed: int, name: Any, n: int) -> NDArray[np.float32]: ...

class Discriminant(Engine):
    is_kept: bool
    def __init__(self, *arguments: Any) -> None: ...
    def set_scales(self, factors: dict[Any, float], pooled: float, gamma: float) -> None: ...
    def relearn(self, factors: dict[Any, float], pooled: float, gamma: float) -> None: ...
