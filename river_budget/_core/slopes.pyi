from typing import Any

from river_budget._arrays import Floats

# `Posteriors` has no stub.
def mean_squared_slopes(posteriors: Any, shares: Floats) -> dict[Any, float]: ...
