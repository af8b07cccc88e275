from typing import Any

from river_budget._arrays import Floats
from river_budget._core.engine import Engine
from river_budget.kernels import Features

class Experts(Engine):
    posteriors: Any
    mixture: Any
    rehearsal: Any
    shares: Floats
    switch: Any
    tickets: Any
    def __init__(self, *arguments: Any) -> None: ...
    def predict_probabilities(self, x: Features) -> list[float]:
        """Return the probability of each label at x (labels,), and note that x was predicted."""
