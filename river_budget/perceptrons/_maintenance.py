"""The maintenance of a full support set: onto which span a removed vector is projected.

Each `Maintenance` chooses the vectors V that take over the term of the removed one. The incoming
example is always one of them, so the removal does not change its margin.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from river_budget._arrays import Floats
from river_budget._core.choices import Neighbours
from river_budget._core.expansion import Expansion
from river_budget._state import LARGEST_SUM, Count, Learned, Part, State, floats, require
from river_budget.perceptrons._span import IN_SPAN, Basis


class OwnProjection(NamedTuple):
    """A projection of the incoming example: coefficients (n,), squared norm, and squared distance."""

    weights: Floats
    square: float
    distance: float


class Maintenance(Learned):
    """Which vectors of f take over the term of a removed one: only the incoming example."""

    def __init__(self, f: Expansion) -> None:
        self.f = f
        self.forget()

    def own(self) -> OwnProjection:
        """Return the projection of the incoming example onto the vectors, if they take over its term."""
        return OwnProjection(np.zeros(self.f.n), 0.0, self.f.y.self_value)

    def squares(self, own: OwnProjection) -> Floats:
        """Return the squared distance of each vector from the span of its V (n,)."""
        row, store = self.f.row, self.f.store
        return np.maximum(0.0, store.self_values() - row * (row / self.f.y.self_value))

    def take_over(self, slot: int, own: OwnProjection, square: float) -> tuple[Floats, Floats]:
        """Return the projection of a vector onto its V, from which it has a squared distance.

        Returned are the coefficients (n,), the incoming example's in the slot of the vector, and the
        product of each g_c with what the projection leaves (labels,).
        """
        weights = np.zeros(self.f.n)
        weights[slot] = self.f.row_at(slot) / self.f.y.self_value
        return weights, self._left(self.f.store.row_of(slot), weights[slot])

    def on_put(self, own: OwnProjection, slot: int | None = None) -> None:
        """Update what is kept before the incoming example is added, or replaces a vector."""

    def on_rescaled(self) -> None:
        """Change f so that what is kept exists, after the kernel has changed."""

    def forget(self) -> None:
        """Forget what is kept, so that it is recomputed when it is needed."""

    def error(self) -> float:
        """Return the numerical error of what is kept."""
        return 0.0

    def _left(self, row: Floats, share: float) -> Floats:
        """Return the scores for a kernel row, less those of the incoming example's share (labels,)."""
        return row @ self.f.matrix - share * np.array(self.f.last_scores())


class Nearest(Maintenance):
    """The nearest other support vector and the incoming example take over the removed term."""

    def squares(self, own: OwnProjection) -> Floats:
        return self._neighbours.squares(self.f)

    def take_over(self, slot: int, own: OwnProjection, square: float) -> tuple[Floats, Floats]:
        weights, gram = np.zeros(self.f.n), self._neighbours.gram
        nearest, share, weights[slot] = self._neighbours.projection(self.f, slot)
        weights[nearest] = share
        return weights, self._left(gram[slot] - share * gram[nearest], weights[slot])

    def on_put(self, own: OwnProjection, slot: int | None = None) -> None:
        if slot is not None:
            self._neighbours.replace(self.f, slot)

    def forget(self) -> None:
        self._neighbours = Neighbours(IN_SPAN)

    def error(self) -> float:
        kept = self._neighbours.gram
        gram = self.f.store.gram() if len(kept) else kept
        return float(np.abs(kept - gram).max(initial=0.0))

    @property
    def nbytes(self) -> int:
        return self._neighbours.nbytes


class GramRoot:
    """A square root W of the inverse of a Gram matrix whose vectors are replaced, `W W' = K^-1`.

    Unlike a factor of K, it tells how far each vector is from the span of all others. An addition or
    a replacement takes O(n^2); `rebuild` removes the errors that accumulate. A vector to add is given
    by the coefficients d of its projection (n,) and its squared distance from the span, positive.
    """

    __slots__ = ("matrix",)

    def __init__(self) -> None:
        self.matrix: Floats = np.zeros((0, 0))

    @property
    def nbytes(self) -> int:
        return self.matrix.nbytes

    def project(self, row: Floats) -> tuple[Floats, float]:
        """Return the coefficients K^-1 k of a projection (n,) and its square, for a kernel row k."""
        z = row @ self.matrix
        return self.matrix @ z, float(z @ z)

    def append(self, d: Floats, square: float) -> None:
        self.matrix = np.pad(self.matrix, (0, 1))
        self.matrix[:, -1] = np.append(-d, 1.0) / math.sqrt(square)

    def squares(self, d: Floats, square: float) -> Floats:
        """Return the squared distance of each vector from all others and one to add (n,)."""
        return 1 / ((self.matrix**2).sum(axis=1) + d**2 / square)

    def project_slot(self, slot: int, d: Floats, square: float) -> Floats:
        """Return the projection of a vector onto all others and one to add (n,), that in its slot."""
        row, corner = self.matrix[slot], d[slot] / square
        weights = -(self.matrix @ row + d * corner)
        weights[slot] = corner
        return weights / (float(row @ row) + d[slot] * corner)

    def replace(self, slot: int, d: Floats, square: float) -> None:
        matrix, distance = self.matrix, math.sqrt(square)
        column = -d / distance
        # A reflection that turns the row of the vector towards the column of the other one.
        axis, last = matrix[slot].copy(), column[slot]
        length = math.hypot(float(np.linalg.norm(axis)), last)
        tip = last + math.copysign(length, last)
        share = 2 / (float(axis @ axis) + tip**2)
        along = matrix @ axis + column * tip
        along[slot] = tip / distance
        matrix[slot] = 0.0
        matrix -= np.multiply.outer(share * along, axis)

    def rebuild(self, gram: Floats, order: Any) -> None:
        """Recompute the root, where each vector is apart from the span of those before it."""
        factor: Any = np.linalg.cholesky(gram[np.ix_(order, order)])
        self.matrix = np.zeros_like(gram)
        self.matrix[order] = np.linalg.inv(factor).T

    def state(self) -> State:
        return {"root": self.matrix.copy()}

    def restore(self, state: State, f: Expansion) -> None:
        n = len(state["root"]) and f.n
        self.matrix = floats(state["root"], (n, n), LARGEST_SUM)
        require(bool(self.matrix.any(axis=1).all()), "the root of the Gram matrix is singular")


class Projection(Maintenance):
    """All other support vectors and the incoming example take over the removed term."""

    _root = Part[GramRoot](restore=["f"])
    # Replacements since the root was last recomputed.
    _n_replaced = Count()

    def own(self) -> OwnProjection:
        if len(self._root.matrix) != self.f.n:
            self._rebuild()
        weights, square = self._root.project(self.f.row)
        return OwnProjection(weights, square, self.f.y.self_value - square)

    def squares(self, own: OwnProjection) -> Floats:
        return self._root.squares(own.weights, own.distance)

    def take_over(self, slot: int, own: OwnProjection, square: float) -> tuple[Floats, Floats]:
        weights = self._root.project_slot(slot, own.weights, own.distance)
        # All other vectors are orthogonal to what is left.
        return weights, self.f.matrix[slot] * square

    def on_put(self, own: OwnProjection, slot: int | None = None) -> None:
        if slot is None:
            self._root.append(own.weights, own.distance)
            return
        if self._n_replaced == self.f.n:
            self._rebuild()
            own = self.own()
        self._root.replace(slot, own.weights, own.distance)
        self._n_replaced += 1

    def on_rescaled(self) -> None:
        basis = Basis(self.f.store.gram(), range(self.f.n))
        self.f.remove(basis.merge_others(self.f.merge))

    def forget(self) -> None:
        self._root, self._n_replaced = GramRoot(), 0

    def error(self) -> float:
        gram = self.f.store.gram() if len(self._root.matrix) else self._root.matrix
        products = self._root.matrix.T @ gram
        return float(np.abs(products.T @ products - gram).max(initial=0.0))

    def _rebuild(self) -> None:
        self._root.rebuild(self.f.store.gram(), self.f.store.by_age)
        self._n_replaced = 0
