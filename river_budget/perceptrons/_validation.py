"""Validation sets: labelled examples on which the removal of each support vector is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from river_budget._core.removal import ValidationTable
from river_budget._state import Field, State, require
from river_budget.base import BudgetPerceptron


class ValidatedPerceptron(BudgetPerceptron):
    """A perceptron with a validation set."""

    _validation = Field[Any]()

    def numerical_errors(self) -> dict[str, float]:
        return self._validation.errors()

    def _check_restored(self) -> None:
        super()._check_restored()
        self._validation.check()

    def _on_rescaled(self) -> None:
        self._validation.derive(self._validation.exact())


class SupportVectors(ValidationTable):
    """The support vectors themselves as validation set, and the base of other ones.

    `draw` returns a random number of at least 0 and below 1 for the round.
    """

    def on_correct(self, draw: Callable[[], float]) -> None:
        """End a round whose example was classified correctly."""

    def on_mistake(self, is_full: bool, draw: Callable[[], float]) -> None:
        """End a round whose example is added; if the budget is full, a vector is removed."""
        self.join()
        self.finish(self.least_loss() if is_full else -1)


class Reservoir(SupportVectors):
    """A uniform random sample of the examples seen so far that are not support vectors."""

    def on_correct(self, draw: Callable[[], float]) -> None:
        place = self._place(draw)
        if place < self.most_examples:
            self.offer_example()
            self.finish(self.n, place)

    def on_mistake(self, is_full: bool, draw: Callable[[], float]) -> None:
        f, y = self.f, self.f.y
        self.join()
        if not is_full:
            self.finish()
            return
        place, slot = self._place(draw), self.least_loss()
        if place >= self.most_examples:
            self.finish(slot)
            return
        x, row, matrix, label = f.store.example(), f.row, f.matrix, y.label
        if slot < f.n:
            x, row, label = f.store.vector(slot), f.store.row_of(slot), int(matrix[slot].argmax())
            row[slot], matrix[slot] = f.row_at(slot), 0.0
            matrix[slot, y.label], matrix[slot, y.rival] = y.weight, -y.weight
        self.offer(x, row, row @ matrix, label)
        self.finish(slot, place)

    def _place(self, draw: Callable[[], float]) -> int:
        """Return the place for the next example, by algorithm R; at least the size to discard it."""
        n = self._n_offered - 1
        return n if n < self.most_examples else int((n + 1) * draw())

    @property
    def _n_offered(self) -> int:
        # Every example is one, or it is added as a support vector without a removal.
        return self.f.n_rounds - self.f.n

    def restore(self, state: State) -> None:
        super().restore(state)
        has_size = self.m == min(self.most_examples, self._n_offered)
        require(has_size, "the reservoir has the wrong size")


class AllExamples(SupportVectors):
    """All examples seen so far, the current one included. Its size is unbounded."""

    def on_correct(self, draw: Callable[[], float]) -> None:
        self.offer_example()
        self.finish(self.n, self.m)

    def on_mistake(self, is_full: bool, draw: Callable[[], float]) -> None:
        self.offer_example()
        self.join(is_offered=True)
        self.finish(self.least_loss() if is_full else -1, self.m)
