"""The maintenance of a full support set: what happens to the term of a vector that is removed.

The term is projected onto the span of some vectors V, which take it over. Each class here chooses V in
its own way. The incoming example is always in V, so the removal does not change its margin.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._core.expansion import Expansion
from river_budget._core.maintenance import Neighbours
from river_budget._state import ROUNDING, Array, Count, Learned, require
from river_budget.perceptrons._span import basis_of


class Maintenance(Learned):
    """Only the incoming example takes over the term of a removed vector.

    An update begins with `project`. The support vectors of f are n.
    """

    def __init__(self, f: Expansion) -> None:
        self.f = f

    def project(self) -> tuple[Floats, float]:
        """Return the projection of the incoming example onto the support vectors, if these may replace it.

        Returned are its coefficients (n,) and its squared norm.
        """
        return np.zeros(self.f.n), 0.0

    def squares(self) -> Floats:
        """Return the squared distance of each support vector from the span of its V (n,)."""
        row = self.f.row
        return np.maximum(0.0, self.f.store.self_values() - row * (row / self.f.y.self_value))

    def take_over(self, slot: int) -> Floats:
        """Return the coefficients of the projection of a support vector onto its V (n,).

        The element in the slot of the vector itself is the coefficient of the incoming example.
        """
        weights = np.zeros(self.f.n)
        weights[slot] = self.f.row_at(slot) / self.f.y.self_value
        return weights

    def on_put(self, slot: int | None = None) -> None:
        """Prepare for the incoming example, which is added next or replaces the vector in a slot."""

    def on_rescaled(self) -> None:
        """Make f fit for the changed kernel."""

    def error(self) -> float:
        """Return the largest error of what is updated incrementally."""
        return 0.0

    def check(self) -> None:
        """Raise ValueError if the restored values do not follow from the vectors and the kernel."""


class Nearest(Neighbours, Maintenance):
    """The incoming example and the nearest other support vector take over the removed term."""

    def error(self) -> float:
        kept = np.asarray(self.gram)
        gram = self.f.store.gram() if len(kept) else kept
        return float(np.abs(kept - gram).max(initial=0.0))

    def check(self) -> None:
        largest = np.abs(self.gram).max(initial=1.0)
        is_right = self.error() <= ROUNDING * largest
        require(is_right, "the kernel values of the nearest vectors are wrong")


class Projection(Maintenance):
    """The incoming example and all other support vectors take over the removed term.

    It keeps a square root W of the inverse Gram matrix, `W W' = K^-1`. Unlike a factor of K, this tells
    how far each vector is from the span of all others. An update of W takes O(n^2). After every n
    replacements, W is computed anew, so that rounding errors do not accumulate.
    """

    _root = Array("f.n", "f.n", start=(0, 0))  # Empty until it is needed; as a state, it is then 0.
    _n_replaced = Count()  # How many replacements _root has followed.

    def project(self) -> tuple[Floats, float]:
        if len(self._root) != self.f.n:
            self._rebuild()
        z = self.f.row @ self._root
        square = float(z @ z)
        # The coefficients of the example's projection, and its squared distance from the span.
        self._coefficients = self._root @ z
        self._distance = self.f.y.self_value - square
        return self._coefficients, square

    def squares(self) -> Floats:
        return 1 / ((self._root**2).sum(axis=1) + self._coefficients**2 / self._distance)

    def take_over(self, slot: int) -> Floats:
        row = self._root[slot]
        corner = self._coefficients[slot] / self._distance
        weights = -(self._root @ row + self._coefficients * corner)
        weights[slot] = corner
        weights /= float(row @ row) + self._coefficients[slot] * corner
        return weights

    def on_put(self, slot: int | None = None) -> None:
        if slot is not None and self._n_replaced == self.f.n:
            self._rebuild()
            self.project()

        # With the example, the root has one more column (and a row, with one element other than 0).
        distance = math.sqrt(self._distance)
        column = -self._coefficients / distance
        if slot is None:
            self._root = np.pad(self._root, (0, 1))
            self._root[:, -1] = np.append(column, 1.0 / distance)
            return

        # A Householder reflection of the columns makes the row of the replaced vector 0 except in the new
        # column. Then both are dropped, and the row of the example takes the slot.
        root, axis, last = self._root, self._root[slot].copy(), column[slot]
        length = math.hypot(float(np.linalg.norm(axis)), last)
        tip = last + math.copysign(length, last)
        share = 2 / (float(axis @ axis) + tip**2)
        along = root @ axis + column * tip
        along[slot] = tip / distance
        root[slot] = 0.0
        root -= np.multiply.outer(share * along, axis)
        self._n_replaced += 1

    def on_rescaled(self) -> None:
        basis = basis_of(self.f.store.gram(), range(self.f.n))
        basis.project(self.f)
        self.f.remove(basis.others)

    def error(self) -> float:
        gram = self.f.store.gram() if len(self._root) else self._root
        products = self._root.T @ gram
        return float(np.abs(products.T @ products - gram).max(initial=0.0))

    def _check_restored(self) -> None:
        is_used = self._root.any(axis=1)
        require(is_used.all() or not is_used.any(), "the root of the Gram matrix is singular")
        if not is_used.any():
            self._root = np.zeros((0, 0))

    def _rebuild(self) -> None:
        """Compute the root anew. It is triangular if the vectors are ordered by age."""
        gram, order = self.f.store.gram(), self.f.store.by_age
        factor: Any = np.linalg.cholesky(gram[np.ix_(order, order)])
        self._root = np.zeros_like(gram)
        self._root[order] = np.linalg.inv(factor).T
        self._n_replaced = 0
