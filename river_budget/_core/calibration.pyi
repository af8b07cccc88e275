from collections.abc import Mapping
from typing import Any

from river_budget._state import State

LARGEST_GAP: float

def gaps_of_scores(scores: dict[Any, float]) -> dict[Any, float]:
    """Return the largest logit minus that of each label; a logit is half a score."""

def gaps_of_probabilities(probabilities: Mapping[Any, float]) -> dict[Any, float]:
    """Return the same, given probabilities."""

class Calibrator:
    weights: list[float]
    nbytes: int
    def probabilities(self, gaps: dict[Any, float]) -> dict[Any, float]: ...
    def learn(self, gaps: dict[Any, float], y: Any) -> None: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...
