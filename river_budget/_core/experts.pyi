from collections.abc import Sequence

from river_budget._arrays import Floats
from river_budget._core.discriminant import Discriminant
from river_budget._core.mixing import Mixture, Repeats
from river_budget._core.posteriors import Posteriors
from river_budget._core.rehearsal import Rehearsal
from river_budget._core.store import Block, Store
from river_budget._core.sums import Sums
from river_budget._state import State
from river_budget.kernels import Features

class Experts:
    """Gaussian process experts over one store, and their rounds; see `base.Engine`."""

    store: Store
    posteriors: Posteriors
    mixture: Mixture
    repeats: Repeats | None
    rehearsal: Rehearsal
    archive: Discriminant | None
    n_labels: int
    n_rounds: int
    n_mistakes: int
    n_changes: int
    n_rebuilds: int
    checked_at: int
    sums: Sums | None
    def __init__(
        self,
        store: Store,
        pairs: Sequence[Sequence[tuple[float, float]]],
        budget: int,
        novelty: float,
        repeats: bool,
        archive: Discriminant | None,
    ) -> None: ...
    @property
    def n(self) -> int: ...
    def probabilities(self, x: Features) -> list[float]: ...
    def best(self, x: Features) -> int: ...
    def scores(self, x: Features) -> list[float]: ...
    def score_block(self, block: Block) -> Floats: ...
    def projections(self, x: Features) -> list[float]: ...
    def round(self, x: Features, label: int, weight: float, threshold: float) -> int: ...
    def scan(self, block: Block, threshold: float) -> int: ...
    def commit(self) -> None: ...
    def roll_back(self) -> bool: ...
    def widen(self, n_labels: int) -> None: ...
    @property
    def hedge(self) -> Floats: ...
    def grams(self) -> Floats:
        """Return K + jitter I (kernels, n, n), with k(x, x) = 1 for every vector, even for 0."""
    def grams_before(self) -> Floats:
        """Return `grams` as they were before a change of scales, until `set_posteriors` ends it."""
    def set_posteriors(self, inverses: Floats, covariances: Floats, means: Floats) -> None: ...
    @property
    def nbytes(self) -> int: ...
    def own_state(self) -> State:
        """Return the state without vectors and held-out examples."""
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...
