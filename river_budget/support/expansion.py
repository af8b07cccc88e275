"""A hypothesis: one coefficient for each vector of a store."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats, padded
from river_budget._state import State, finite, floats
from river_budget.kernels import Features, Kernel
from river_budget.support._compiled import TILE
from river_budget.support.numeric import NumericStore
from river_budget.support.objects import ObjectStore
from river_budget.support.query import Query
from river_budget.support.store import VectorStore, Weights

__all__ = ["Expansion", "vector_store"]

# A smaller common factor is multiplied into the coefficients, so that it cannot underflow.
SMALLEST_SCALE = 1e-100


def vector_store(kernel: Kernel) -> VectorStore:
    """Return an empty store for a kernel."""
    return ObjectStore(kernel) if kernel.spec is None else NumericStore(kernel)  # type: ignore[arg-type]


class Expansion(Weights):
    """A kernel expansion f(x) = sum_i alpha_i k(s_i, x) over the vectors s_i of a store.

    Parameters
    ----------
    kernel
        The kernel.

    Attributes
    ----------
    store
        The store of the vectors.

    """

    __slots__ = ("store",)

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(np.zeros((0, TILE)))
        self.store = vector_store(kernel)

    def query(self, x: Features) -> Query:
        """Return x with its kernel row, and f(x) as the answer; see `VectorStore.query`."""
        return self.store.query(x, self)

    def evaluate_block(self, block: Any) -> Floats:
        """Return f at each row of a block (rows,)."""
        return self.store.evaluate_block(block, self)

    def evaluate_slot(self, slot: int) -> tuple[float, Floats]:
        """Return f at the vector in a slot, and its kernel row (n,)."""
        return self.store.evaluate_slot(slot, self)

    def values(self) -> Floats:
        """Return f at each stored vector (n,), by slots."""
        return np.array([self.evaluate_slot(slot)[0] for slot in range(self.store.n)])

    @property
    def coefficients(self) -> Floats:
        """Signed coefficients (n,), by slots."""
        return self.scale * self.alphas.reshape(-1)[: self.store.n]

    def coefficient_of(self, slot: int) -> float:
        """Return the signed coefficient of the vector in a slot."""
        return self.scale * float(self.alphas[slot // TILE, slot % TILE])

    @property
    def norm(self) -> float:
        """Norm of f in the kernel's Hilbert space, computed from all pairs of vectors."""
        return math.sqrt(max(0.0, math.fsum(self.coefficients * self.values())))

    def add(self, query: Query, coefficient: float) -> None:
        """Add the example of a query as a vector."""
        self.store.add(query)
        if self.alphas.size < self.store.n_slots:
            self.alphas = padded(self.alphas, self.store.n_slots // TILE)
        slot = self.store.n - 1
        self.alphas[slot // TILE, slot % TILE] = coefficient / self.scale

    def replace(self, slot: int, query: Query, coefficient: float) -> None:
        """Replace the vector in a slot with the example of a query."""
        self.store.replace(slot, query)
        self.alphas[slot // TILE, slot % TILE] = coefficient / self.scale

    def remove(self, slots: Sequence[int]) -> None:
        """Remove the vectors in the given slots and their coefficients."""
        flat, kept = self.alphas.reshape(-1), self.store.remove(slots)
        flat[: len(kept)] = flat[kept]
        flat[len(kept) :] = 0.0

    def shrink(self, factor: float) -> None:
        """Multiply all coefficients by a factor of at most 1, in constant time as a rule."""
        self.scale *= factor
        if self.scale < SMALLEST_SCALE:
            self.alphas *= self.scale
            self.scale = 1.0
        self.store.forget_query()

    def shift(self, change: Floats) -> None:
        """Add a change to the coefficients (n,), by slots."""
        self.alphas.reshape(-1)[: self.store.n] += change / self.scale
        self.store.forget_query()

    @property
    def nbytes(self) -> int:
        """Memory of the expansion in bytes, its store included."""
        return self.alphas.nbytes + self.store.nbytes

    def state(self) -> State:
        """Return the state of the store, the coefficients and their common factor."""
        alphas = self.alphas.reshape(-1)[: self.store.n]
        return {"store": self.store.state(), "alphas": alphas.copy(), "scale": self.scale}

    def restore(self, state: State) -> None:
        """Restore an empty expansion from its state."""
        self.store.restore(state["store"])
        self.scale = finite(state["scale"], SMALLEST_SCALE, 1.0)
        self.alphas = np.zeros((self.store.n_slots // TILE, TILE))
        self.alphas.reshape(-1)[: self.store.n] = floats(state["alphas"], (self.store.n,))
