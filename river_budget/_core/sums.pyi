from collections.abc import Collection
from typing import Any, NamedTuple

from river_budget._arrays import Floats
from river_budget._state import State

class Measures(NamedTuple):
    sizes: Floats
    variances: Floats
    scales: Floats

class Sums:
    names: list[Any]
    nbytes: int
    def measures(self) -> Measures: ...
    def drop_unused(self, names: Collection[Any]) -> None: ...
    def clear(self) -> None: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...
