from __future__ import annotations

import math
import sys

from river_budget._checks import check_count, shown
from river_budget._core.removal import ValidationTable
from river_budget._state import Field, require
from river_budget.base import Example, Expansion, RandomPerceptron, with_example
from river_budget.perceptrons._validation import ValidatedPerceptron


@with_example(accuracy="86.28%", budget=100, validation=100, seed=1)
class TighterPerceptron(RandomPerceptron, ValidatedPerceptron):
    """The Tighter Perceptron.

    Use it for rare positives, or for a small budget on a stream without drift. Once the budget is full, a
    misclassified example is added, and one of the support vectors is removed: the one whose removal
    gives the fewest errors on a validation set, the oldest among ties. It may be the incoming one.

    Parameters
    ----------
    validation
        The validation set. `"support"`: the support vectors themselves (Tighter^0). An integer A: a
        uniform random sample of A other past examples (Tighter^A). `"all"`: every example so far
        (Tighter^Full), so memory and the time per mistake grow with the stream.

    References
    ----------
    [^1]: [Weston, Bordes & Bottou 2005](https://proceedings.mlr.press/r5/weston05a.html)
    [^2]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), section II.A.4
    """

    _validation = Field[ValidationTable]()

    validation: str | int = "support"

    def __post_init__(self) -> None:
        super().__post_init__()
        f, most_vectors, size = self._f, self.budget + 1, self.validation
        if isinstance(size, str):
            allowed = "'support', 'all' or a whole number"
            require(size in ("support", "all"), f"validation must be {allowed}, got {shown(size)}")
            size = sys.maxsize
        check_count("validation", size, sys.maxsize)
        if self.validation != "support":
            self._examples = f.store.empty_like()
            # Correctly classified examples are offered to the validation set.
            self._threshold = math.inf
        self._validation = ValidationTable(f, most_vectors, self._examples, size)

    def _update(self, f: Expansion, y: Example) -> None:
        table, keeps_all = self._validation, self.validation == "all"
        removed, place = f.n, -1  # The incoming example, which is no vector yet.
        if keeps_all:
            place = table.m
            self._offer(f, y, removed)
        if y.margin <= 0:
            table.join(keeps_all)
            removed = table.least_loss() if f.n == self.budget else -1
        if removed >= 0 and not keeps_all and self._examples is not None:
            place = self._drawn_place(f)
            if place >= 0:
                self._offer(f, y, removed)
        table.finish(removed, place)

    def _drawn_place(self, f: Expansion) -> int:
        """Return the place of an example in a uniform random sample (algorithm R); -1 if it has none."""
        table = self._validation
        if table.m < table.most_examples:
            return table.m
        # How many were offered: all examples but those that the support set took without a removal.
        n_offered = f.n_rounds - f.n
        place = int(n_offered * self._random())
        return place if place < table.m else -1

    def _offer(self, f: Expansion, y: Example, slot: int) -> None:
        """Offer an example to the validation set: the vector in a slot, or (slot n) the incoming one."""
        if slot == f.n:
            self._validation.offer(f.store.example(), f.row, f.last_scores(), y.label)
            return
        row, matrix = f.store.row_of(slot), f.matrix
        label = int(matrix[slot].argmax())

        # The incoming example takes the slot.
        row[slot], matrix[slot] = f.row_at(slot), 0.0
        matrix[slot, y.label], matrix[slot, y.rival] = y.weight, -y.weight
        scores = (row @ matrix).tolist()
        self._validation.offer(f.store.vector(slot), row, scores, label)
