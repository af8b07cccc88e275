from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from river_budget._arrays import Floats
from river_budget._core.answer import Answer, Asked
from river_budget._core.store import Block, Store
from river_budget._core.sums import Sums
from river_budget.kernels import Features

# What may be due after a round, beside an update: scales or width.
SCALES: int

class Engine:
    """What a classifier learns natively: an `Expansion` in a perceptron, `Experts` in `Mnemotron`.

    Labels are columns. A round with a new label widens the engine first, so that the label is a rival from its
    first example on. A refused example raises ValueError and changes nothing. A round that asks for an update
    is open until `commit` or `roll_back`, which returns whether a round was open. From `claim` to `release`, only
    one thread may use the engine.
    """

    store: Store
    n: int  # vectors
    n_labels: int
    n_rounds: int
    n_mistakes: int
    is_balanced: bool  # whether weights are multiplied so that labels weigh the same so far
    # Unless the sums are None, each example is added to them at the end of its round. Scales are due after the
    # round with the number `scales_due_at`, and after each later one.
    sums: Sums | None
    scales_due_at: int
    def best(self, x: Features) -> int: ...  # the first column with the largest score
    def scores(self, x: Features) -> list[float]: ...
    def last_scores(self) -> list[float]: ...  # those at the last example
    def score_block(self, block: Block) -> Floats: ...
    def block(self, columns: Sequence[Any], rows: NDArray[Any]) -> Block: ...
    def claim(self) -> None: ...
    def release(self) -> None: ...
    def roll_back(self) -> bool: ...
    def widen(self, n_labels: int) -> None: ...

class Rounds:
    @property
    def n_rounds(self) -> int: ...
    def ask(self, x: Features) -> Answer: ...
    def learn(self, answer: Answer, y: Any, w: float = 1.0) -> None: ...
    def scores_one(self, x: Features) -> dict[Any, float]: ...
    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]: ...
    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> None: ...
    def predict_one(self, x: Features, **kwargs: Any) -> Any: ...
    def _learn_asked(self, x: Features, y: Any, asked: Asked, w: float = 1.0) -> None:
        """Learn an example that was asked about before."""
    def _note_prediction(self) -> None:
        """Note that the last example that was asked about was predicted; its label may be late."""
    def _learn_block(self, block: Block) -> None: ...
