"""An expert that knows only the labels: it predicts from the last label and how often it came."""

from __future__ import annotations

import numpy as np

from river_budget._arrays import Floats, Ints, padded
from river_budget._state import State, floats, integers, require
from river_budget.mnemotron._repeats_compiled import N_BINS


class Repeats:
    """Counts of the next label, given the last one and the length of its run, which are in `recent`.

    For each label, they are the number of times that a run of it ended at each length, that it went
    on, and that each other label followed (labels, 2 bins + labels); (0, 0) if nothing is counted.
    """

    __slots__ = ("counts", "recent")

    def __init__(self, is_used: bool) -> None:
        self.counts: Floats = np.zeros((2, 2 * N_BINS + 2) if is_used else (0, 0))
        self.recent: Ints = np.array([-1, 0], np.int64)

    def widen(self, n_labels: int) -> None:
        """Add new labels, up to a number of labels."""
        if len(self.counts):
            columns = padded(self.counts.T, 2 * N_BINS + n_labels)
            self.counts = padded(columns.T, n_labels)

    def state(self) -> State:
        return {"counts": self.counts.copy(), "recent": self.recent.copy()}

    def restore(self, state: State) -> None:
        self.counts = floats(state["counts"], self.counts.shape)
        self.recent = integers(state["recent"], (2,))
        require((self.counts >= 0).all(), "a count of labels is negative")
        last, length = self.recent.tolist()
        require(-1 <= last < max(1, len(self.counts)) and length >= 0, "the last label is unknown")
