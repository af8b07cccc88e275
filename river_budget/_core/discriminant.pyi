from typing import Any

from river_budget._core.engine import Engine

BUFFER: int

class Discriminant(Engine):
    def __init__(self, *arguments: Any) -> None: ...
    def set_scales(self, factors: dict[Any, float], pooled: float, gamma: float) -> None: ...
    def relearn(self, factors: dict[Any, float], pooled: float, gamma: float) -> None: ...
