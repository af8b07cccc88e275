"""The maintenance of a full support set: onto which span a removed vector is projected.

Each class is one choice of the vectors V that take over the term of the removed vector. The incoming
example is always one of them, so the removal does not change its margin.

"""

from __future__ import annotations

import abc
from typing import NamedTuple

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget._state import State, count, floats
from river_budget.perceptrons._basis import IN_SPAN, Basis
from river_budget.perceptrons._gram_root import GramRoot
from river_budget.support import Expansion, Query, VectorStore

__all__ = ["Maintenance", "Nearest", "OwnProjection", "Projection", "Simple"]


class OwnProjection(NamedTuple):
    """The projection of the incoming example onto the vectors that would take over its term.

    Attributes
    ----------
    weights
        Its coefficients (n,).
    square
        Its squared norm.

    """

    weights: Floats
    square: float


class Pairs(NamedTuple):
    """Projections of vectors onto their nearest vector and the incoming example.

    Attributes
    ----------
    nearest
        The slot of the nearest vector (vectors,).
    to_nearest, to_query
        The coefficients of the two (vectors,).

    """

    nearest: Ints
    to_nearest: Floats
    to_query: Floats


class Maintenance(abc.ABC):
    """Which vectors take over the term of a removed one.

    Parameters
    ----------
    store
        The store of the vectors.

    """

    __slots__ = ("store",)

    def __init__(self, store: VectorStore) -> None:
        self.store = store

    def own(self, query: Query) -> OwnProjection:
        """Return the projection of the incoming example; 0 if no vector takes over its term."""
        return OwnProjection(np.zeros(self.store.n), 0.0)

    @abc.abstractmethod
    def squares(self, query: Query, own: OwnProjection) -> Floats:
        """Return the squared distance of each vector from the span of its V (n,)."""

    @abc.abstractmethod
    def weights(self, slot: int, query: Query, own: OwnProjection) -> Floats:
        """Return the coefficients of the projection of the vector in a slot onto its V (n,).

        That of the incoming example is in the slot itself.

        """

    @abc.abstractmethod
    def residual_scores(
        self, slot: int, weights: Floats, square: float, query: Query, hypothesis: Expansion
    ) -> Floats:
        """Return the inner product of each g_c with what the projection of a vector leaves (labels,).

        Given are the coefficients of the projection and the squared norm of what it leaves.

        """

    def on_add(self, query: Query, own: OwnProjection) -> None:
        """Update what is kept before the incoming example is added."""

    def on_replace(self, slot: int, query: Query, own: OwnProjection) -> None:
        """Update what is kept before the incoming example replaces the vector in a slot."""

    def on_rescaled(self, hypothesis: Expansion) -> None:
        """Compute anew what is kept, after the kernel has changed."""

    def error(self) -> float:
        """Return the numerical error of what is kept."""
        return 0.0

    @property
    def nbytes(self) -> int:
        """Memory of what is kept in bytes."""
        return 0

    def state(self) -> State:
        """Return what is kept."""
        return {}

    def restore(self, state: State) -> None:
        """Restore what is kept, after the store."""


class Simple(Maintenance):
    """Only the incoming example takes over the removed term."""

    __slots__ = ()

    def squares(self, query: Query, own: OwnProjection) -> Floats:
        return np.maximum(0.0, self.store.self_values - query.row * self.weights_of(query))

    def weights(self, slot: int, query: Query, own: OwnProjection) -> Floats:
        weights = np.zeros(self.store.n)
        weights[slot] = self.weights_of(query)[slot]
        return weights

    def residual_scores(
        self, slot: int, weights: Floats, square: float, query: Query, hypothesis: Expansion
    ) -> Floats:
        scores = self.store.row(slot) @ hypothesis.rows
        return scores - weights[slot] * np.array(hypothesis.scores(query))

    def weights_of(self, query: Query) -> Floats:
        """Return the coefficient of the projection of each vector onto the incoming example."""
        return query.row / self.store.self_value(query)


class Nearest(Maintenance):
    """The nearest other support vector and the incoming example take over the removed term."""

    __slots__ = ("_distances", "_gram", "_nearest")

    def __init__(self, store: VectorStore) -> None:
        super().__init__(store)
        # The Gram matrix (n, n) once the support set is full, before that (0, 0).
        self._gram: Floats = np.zeros((0, 0))
        # The slot of the vector nearest to each one, the oldest among ties, and the squared distance
        # less the vector's own squared norm (n,).
        self._nearest: Ints = np.zeros(0, np.intp)
        self._distances: Floats = np.zeros(0)

    def squares(self, query: Query, own: OwnProjection) -> Floats:
        slots = np.arange(self.store.n)
        if len(slots) == 1:
            return Simple(self.store).squares(query, own)
        pairs = self._pairs(query, slots)
        near = pairs.to_nearest * self._gram[slots, pairs.nearest]
        return np.maximum(0.0, self._gram.diagonal() - near - pairs.to_query * query.row)

    def weights(self, slot: int, query: Query, own: OwnProjection) -> Floats:
        if self.store.n == 1:
            return Simple(self.store).weights(slot, query, own)
        pairs, weights = self._pairs(query, np.array([slot])), np.zeros(self.store.n)
        weights[pairs.nearest], weights[slot] = pairs.to_nearest, pairs.to_query[0]
        return weights

    def residual_scores(
        self, slot: int, weights: Floats, square: float, query: Query, hypothesis: Expansion
    ) -> Floats:
        if self.store.n == 1:
            return Simple(self.store).residual_scores(slot, weights, square, query, hypothesis)
        nearest = self._nearest[slot]
        row = self._gram[slot] - weights[nearest] * self._gram[nearest]
        return row @ hypothesis.rows - weights[slot] * np.array(hypothesis.scores(query))

    def on_replace(self, slot: int, query: Query, own: OwnProjection) -> None:
        if not len(self._gram):
            return
        square = self.store.self_value(query)
        self._gram[slot] = self._gram[:, slot] = query.row
        self._gram[slot, slot] = square
        distances = square - 2 * query.row
        is_nearer = distances < self._distances
        is_nearer[slot] = False
        has_lost = self._nearest == slot
        has_lost[slot] = True
        self._nearest[is_nearer], self._distances[is_nearer] = slot, distances[is_nearer]
        order = self.store.by_age
        self._find_nearest(np.flatnonzero(has_lost), np.append(order[order != slot], slot))

    def on_rescaled(self, hypothesis: Expansion) -> None:
        if len(self._gram):
            self._set_gram(self.store.gram())

    def error(self) -> float:
        if not len(self._gram):
            return 0.0
        return float(np.abs(self._gram - self.store.gram()).max(initial=0.0))

    @property
    def nbytes(self) -> int:
        return self._gram.nbytes + self._nearest.nbytes + self._distances.nbytes

    def state(self) -> State:
        return {"gram": self._gram.copy()}

    def restore(self, state: State) -> None:
        n = len(state["gram"]) and self.store.n
        self._set_gram(floats(state["gram"], (n, n)))

    def _pairs(self, query: Query, slots: Ints) -> Pairs:
        """Project vectors onto their nearest vector and the incoming example."""
        if not len(self._gram):
            self._set_gram(self.store.gram())
        gram, k, row = self._gram, self.store.self_value(query), query.row
        nearest = self._nearest[slots]
        squares, between, near = gram.diagonal()[nearest], row[nearest], gram[slots, nearest]
        determinant = squares * k - between**2
        apart = determinant > IN_SPAN * squares * k
        numerator = np.where(apart, near * k - row[slots] * between, 0.0)
        to_nearest = numerator / np.where(apart, determinant, 1.0)
        return Pairs(nearest, to_nearest, (row[slots] - to_nearest * between) / k)

    def _set_gram(self, gram: Floats) -> None:
        n = len(gram)
        self._gram, self._nearest, self._distances = gram, np.zeros(n, np.intp), np.zeros(n)
        self._find_nearest(np.arange(n), self.store.by_age)

    def _find_nearest(self, slots: Ints, order: Ints) -> None:
        """Find the vectors nearest to the given ones, where `order` has all slots, oldest first."""
        if not len(slots):
            return
        distances = self._gram.diagonal()[order] - 2 * self._gram[np.ix_(slots, order)]
        distances[order == slots[:, None]] = np.inf
        self._nearest[slots] = order[distances.argmin(axis=1)]
        self._distances[slots] = distances.min(axis=1)


class Projection(Maintenance):
    """All other support vectors and the incoming example take over the removed term."""

    __slots__ = ("_n_replaced", "_root")

    def __init__(self, store: VectorStore) -> None:
        super().__init__(store)
        self._root = GramRoot()
        # Since the root was last computed anew.
        self._n_replaced = 0

    def own(self, query: Query) -> OwnProjection:
        return OwnProjection(*self._root.project(query.row))

    def squares(self, query: Query, own: OwnProjection) -> Floats:
        return self._root.squares(own.weights, self._distance(query, own))

    def weights(self, slot: int, query: Query, own: OwnProjection) -> Floats:
        return self._root.project_slot(slot, own.weights, self._distance(query, own))

    def residual_scores(
        self, slot: int, weights: Floats, square: float, query: Query, hypothesis: Expansion
    ) -> Floats:
        # All other vectors are orthogonal to the residual.
        return hypothesis.rows[slot] * square

    def on_add(self, query: Query, own: OwnProjection) -> None:
        self._root.append(own.weights, self._distance(query, own))

    def on_replace(self, slot: int, query: Query, own: OwnProjection) -> None:
        if self._n_replaced == self.store.n:
            self._root.rebuild(self.store.gram(), self.store.by_age)
            self._n_replaced, own = 0, self.own(query)
        self._root.replace(slot, own.weights, self._distance(query, own))
        self._n_replaced += 1

    def on_rescaled(self, hypothesis: Expansion) -> None:
        gram = self.store.gram()
        basis = Basis(gram, list(range(self.store.n)))
        hypothesis.remove(basis.merge_others(hypothesis.merge))
        self._root.rebuild(gram[np.ix_(basis.kept, basis.kept)], range(len(basis.kept)))
        self._n_replaced = 0

    def error(self) -> float:
        gram = self.store.gram()
        products = self._root.matrix.T @ gram
        return float(np.abs(products.T @ products - gram).max(initial=0.0))

    @property
    def nbytes(self) -> int:
        return self._root.nbytes

    def state(self) -> State:
        return {"root": self._root.state(), "n_replaced": self._n_replaced}

    def restore(self, state: State) -> None:
        self._root.restore(state["root"], self.store.n)
        self._n_replaced = count(state["n_replaced"])

    def _distance(self, query: Query, own: OwnProjection) -> float:
        """Return the squared distance of the incoming example from the span."""
        return float(self.store.self_value(query) - own.square)
