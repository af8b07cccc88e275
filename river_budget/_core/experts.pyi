from collections.abc import Sequence

from river_budget._arrays import Floats
from river_budget._core.discriminant import Discriminant
from river_budget._core.engine import Engine
from river_budget._core.mixing import Mixture, Repeats
from river_budget._core.posteriors import Posteriors
from river_budget._core.rehearsal import Rehearsal
from river_budget._core.store import Store
from river_budget._state import State
from river_budget.kernels import Features

class Experts(Engine):
    """Gaussian process experts over one store."""

    posteriors: Posteriors
    mixture: Mixture
    repeats: Repeats | None
    rehearsal: Rehearsal
    archive: Discriminant | None
    n_changes: int
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
    def grams(self) -> Floats:
        """Return K + jitter I (kernels, n, n), with k(x, x) = 1 for every vector, even for 0."""
    def grams_before(self) -> Floats:
        """Return `grams` as they were before a change of scales, until `set_posteriors` ends it."""
    def set_posteriors(self, inverses: Floats, covariances: Floats, means: Floats) -> None: ...
    def own_state(self) -> State:
        """Return the state without vectors and held-out examples."""
