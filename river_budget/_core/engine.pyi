from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from river_budget._arrays import Floats
from river_budget._core.store import Block, Store
from river_budget._core.sums import Sums
from river_budget._state import State
from river_budget.kernels import Features

# What `round` and `scan` return, added up: the algorithm has to update; scales or width are due.
UPDATE: int
CHECK: int

class Engine:
    """What a classifier learns natively: an `Expansion` in a perceptron, `Experts` in `Mnemotron`.

    Labels are columns. `round` and `scan` widen the engine for a new one first, so it is a rival
    from its first example on. A refused example raises ValueError and changes nothing. A round that
    asks for an update is open until `commit`; until then only the thread that began it may use the
    engine.
    """

    store: Store
    n_labels: int
    n_rounds: int
    n_mistakes: int
    # Each example is added to the sums at the end of its round while they are not None. The round
    # with the number `checked_at`, or a later one, is a CHECK.
    sums: Sums | None
    checked_at: int
    @property
    def n(self) -> int: ...
    def best(self, x: Features) -> int: ...
    def scores(self, x: Features) -> list[float]: ...
    def last_scores(self) -> list[float]: ...
    def has_predicted(self, x: Features) -> bool: ...
    def forget_prediction(self) -> None: ...
    def score_block(self, block: Block) -> Floats: ...
    def block(self, columns: Sequence[Any], rows: NDArray[Any]) -> Block: ...
    def set_example(self, x: Any) -> None: ...
    def round(self, x: Features, label: int, weight: float, threshold: float) -> int: ...
    def scan(self, block: Block, threshold: float) -> int: ...
    def claim(self) -> None: ...
    def release(self) -> None: ...
    def was_refused(self) -> bool: ...
    def commit(self) -> None: ...
    def roll_back(self) -> bool: ...
    def widen(self, n_labels: int) -> None: ...
    # Defined by each subclass.
    @property
    def nbytes(self) -> int:
        """Memory of the engine and its store in bytes."""
    def state(self) -> State:
        """Return the state, with that of the store."""
    def restore(self, state: State) -> None:
        """Restore a new engine, which has its labels."""
