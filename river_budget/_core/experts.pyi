from collections.abc import Sequence

from river_budget._arrays import Floats
from river_budget._core.discriminant import Discriminant
from river_budget._core.engine import Engine
from river_budget._core.posteriors import Posteriors
from river_budget._core.store import Store
from river_budget.kernels import Features

class Experts(Engine):
    """Gaussian process experts over one store."""

    posteriors: Posteriors
    n_rebuilds: int
    def __init__(
        self,
        store: Store,
        pairs: Sequence[Sequence[tuple[float, float]]],
        budget: int,
        novelty: float,
        repeats: bool,
        archive: Discriminant | None,
    ) -> None: ...
    def probabilities(self, x: Features) -> list[float]: ...
    def projections(self, x: Features) -> list[float]: ...
    @property
    def hedge(self) -> Floats: ...
    @property
    def layers(self) -> Floats: ...
    def grams(self) -> Floats: ...
    def grams_before(self) -> Floats: ...
    def set_posteriors(self, inverses: Floats, covariances: Floats, means: Floats) -> None: ...
