from typing import Any

from river_budget._arrays import Ints
from river_budget._core.experts import Experts

class Regions(Experts):
    leaves: Any
    tree: Any
    top: Any
    region: int
    @property
    def counts(self) -> Ints: ...
    def grow(self) -> None: ...
