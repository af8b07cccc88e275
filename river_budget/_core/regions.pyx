# cython: language_level=3, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""A root and a tree of leaves; see `regions.pxd`."""

from libc.stdint cimport int64_t
from libc.string cimport memcpy

import numpy as np

from river_budget._core.engine cimport DUE_SCALES, Engine
from river_budget._core.experts cimport Experts
from river_budget._core.mixture cimport Mixture
from river_budget._core.readings cimport Readings
from river_budget._core.splits cimport N_EXAMPLES, Splits
from river_budget._core.store cimport Store
from river_budget._core.tree cimport Tree

from river_budget._arrays import padded
from river_budget._core.splits import restored_splits
from river_budget._core.tree import restored_tree
from river_budget._state import count, floats, integers, require


cdef enum:
    N_OF_EXPERTS = 7                       # arguments of the constructor of `Experts`


cdef class Regions(Experts):

    def __init__(
        self, Store store not None, Store exemplars not None, pairs, Py_ssize_t budget, double novelty,
        bint repeats, Engine archive, leaves, Py_ssize_t most,
    ):
        self.leaves, self.engines, self.most = leaves, leaves.engines, most
        self.tree, self.top = Tree(Readings([], []), [], []), Mixture(2)
        self.statistics = [Splits(2)] if most > 1 else None
        self.hedges, self.tallies = np.zeros((most, N_HEDGES)), np.zeros((most, 3), np.int64)
        self.region = self.taken = self.rehearsed = -1
        Experts.__init__(self, store, exemplars, pairs, budget, novelty, repeats, archive)
        self.arguments = (*self.arguments, leaves, most)
        self.last = self.top

    # Forecasts.

    cdef int answer(self) except -1 nogil:
        Experts.answer(self)
        region = self.tree.find(self.store.packed)
        if region != self.region:
            self.enter(region)
        if self.leaf.repeats.is_prompt != self.repeats.is_prompt:
            self.leaf.repeats.is_prompt, self.leaf.answered_at = self.repeats.is_prompt, -1
        self.evaluate_leaf()
        size = self.n_labels * sizeof(double)
        memcpy(&self.top.probabilities[0, 0], &self.mixture.mixtures[3, 0], size)
        memcpy(&self.top.probabilities[1, 0], &self.leaf.mixture.mixtures[3, 0], size)
        if self.taken != region:
            self.top.take_hedges(&self.hedges[region, 0])
            self.taken = region
        self.answer_by(self.top)
        return 0

    cdef int enter(self, Py_ssize_t region) except -1 with gil:
        """Make a region that of the example."""
        self.leaf = self.engines[region]
        self.splits = None if self.statistics is None else self.statistics[region]
        self.region = region

    cdef int evaluate_leaf(self) except -1 nogil:
        """Let the leaf answer for the example of the store."""
        self.leaf.store.evaluate_like(self.store)
        self.leaf.forecast()

    # Rounds.

    cdef bint prepare(self, int64_t asked_at) except -1 nogil:
        cdef bint is_other
        self.top.forget_steps()
        self.rehearsed = -1
        is_other = Experts.prepare(self, asked_at)
        share = self.rehearsal.share
        if is_other and share > 0.0:
            self.top.add_steps(self.rehearsal.label, share, share, 0.0)
            self.top.take_steps(&self.rehearsed_steps[0])
            self.rehearsed = self.region
        return is_other

    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil:
        cdef bint is_right = self.first_of_largest() == label
        share = 1.0 - self.rehearsal.share
        self.top.add_steps(label, share, share, 0.0)
        # A leaf rehearses for itself, too. Its label is as prompt as that of the root.
        if self.leaf.prepare(self.leaf.n_rounds if self.repeats.is_prompt else self.leaf.n_rounds - 1):
            self.leaf.answered_at = -1
        self.evaluate_leaf()
        self.stage(label, weight)
        self.leaf.stage(label, weight)
        if self.splits is not None:
            self.splits.stage(self.store.packed, self.n_draws)
        due = self.learn_archive(label, weight, threshold)
        due |= self.finish(label)
        due |= self.leaf.finish(label)
        due |= self.finish_region(label, is_right)
        self.watch()
        self.leaf.watch()
        return due

    cdef int finish_region(self, Py_ssize_t label, bint is_right) noexcept nogil:
        """Learn the weights of the leaf, and count the example; return what is due."""
        region, rehearsed = self.region, self.rehearsed
        if rehearsed == region:
            self.top.return_steps(&self.rehearsed_steps[0])
        self.top.apply()
        self.top.give_hedges(&self.hedges[region, 0])
        if 0 <= rehearsed != region:
            self.top.apply_to(&self.hedges[rehearsed, 0], &self.rehearsed_steps[0])
        self.tallies[region, 0] += is_right
        self.tallies[region, 1 + label] += 1
        if self.splits is None:
            return 0
        self.splits.finish(label)
        self.n_draws = self.splits.n_draws
        return DUE_SCALES if self.splits.n >= N_EXAMPLES else 0

    def roll_back(self):
        is_rolled_back = Experts.roll_back(self)
        if self.leaf is not None:
            self.leaf.roll_back()
        return is_rolled_back

    def grow(self):
        """Divide the region of the last example if its statistics are complete. A second call changes nothing."""
        cdef Splits low = Splits(self.n_labels), high = Splits(self.n_labels)
        if self.splits is None or self.splits.n < N_EXAMPLES:
            return
        split, region, n = self.splits.best(), self.region, self.tree.n_regions
        if split is None:
            self.statistics[region] = self.splits = low
            return
        tree, leaves = self.tree.divided(region, *split), self.leaves.with_copy(region)
        engines, arguments = leaves.engines, (*self.arguments[:N_OF_EXPERTS], leaves, self.most)
        statistics = None
        if n + 1 < self.most:
            statistics = [*self.statistics, high]
            statistics[region] = low
        else:
            low = None
        # From here on, nothing fails, and no signal is heard.
        self.tree, self.leaves, self.engines, self.arguments = tree, leaves, engines, arguments
        self.statistics, self.splits, self.answered_at = statistics, low, -1
        self.hedges[n, :] = self.hedges[region, :]
        self.tallies[region, :] = 0
        self.tallies[n, :] = 0

    cdef int set_labels(self, Py_ssize_t n_labels) except -1:
        mixed, tallies = self.top.widened(n_labels), padded(self.tallies.base, self.most, 1 + n_labels)
        statistics = self.statistics or []
        sums = [(<Splits> splits).widened(n_labels) for splits in statistics]
        for engine in self.engines:
            engine.widen(n_labels)
        Experts.set_labels(self, n_labels)
        self.top.widen(mixed)
        self.tallies = tallies
        for splits, own in zip(statistics, sums):
            (<Splits> splits).widen(own, n_labels)
        return 0

    # What is learned.

    @property
    def nbytes(self):
        """Memory of root, tree and leaves in bytes, without the archive."""
        own = self.hedges.nbytes + self.tallies.nbytes + self.top.nbytes + self.tree.nbytes
        statistics = sum([splits.nbytes for splits in self.statistics or []])
        return super().nbytes + own + statistics + self.leaves.nbytes

    @property
    def counts(self):
        """The right predictions in each region, and its examples of each label (regions, 1 + labels)."""
        return self.tallies.base[: self.tree.n_regions].copy()

    def own_state(self):
        n, mixers = self.tree.n_regions, self.top.learned.base[2:6].copy()
        statistics = [splits.state() for splits in self.statistics or []]
        regions = {
            "tree": self.tree.state(), "hedges": self.hedges.base[:n].copy(), "mixers": mixers,
            "tallies": self.counts, "statistics": statistics, "n_draws": self.n_draws,
        }
        return {**super().own_state(), "regions": regions}

    def restore_own(self, state):
        super().restore_own(state)
        regions, n = state["regions"], len(self.engines)
        tree = restored_tree(regions["tree"])
        require(tree.n_regions == n, f"a tree of {tree.n_regions} regions has {n} leaves")
        is_growing = n < self.most
        statistics = [restored_splits(splits, self.n_labels) for splits in regions["statistics"]]
        require(len(statistics) == (n if is_growing else 0), "a region has no statistics, or those of another one")
        tallies = integers(regions["tallies"], (n, 1 + self.n_labels))
        is_right = (tallies >= 0).all() and (tallies[:, 0] <= tallies[:, 1:].sum(axis=1)).all()
        require(is_right, "there are more right predictions than examples in a region")
        self.hedges.base[:n] = floats(regions["hedges"], (n, N_HEDGES))
        self.top.learned.base[2:6] = floats(regions["mixers"], (4,))
        self.tallies.base[:n], self.n_draws = tallies, count(regions["n_draws"])
        self.tree, self.statistics = tree, statistics if is_growing else None
        self.region = self.taken = -1

    def state(self):
        return {"leaves": self.leaves.state(), **super().state()}

    def restore(self, state):
        states = state["leaves"]
        is_possible = type(states) is list and 1 <= len(states) <= self.most
        require(is_possible, f"there are not from 1 to {self.most} leaves")
        leaves = self.leaves.untrained(len(states))
        self.leaves, self.engines = leaves, leaves.engines
        self.arguments = (*self.arguments[:N_OF_EXPERTS], leaves, self.most)
        for engine in self.engines:
            engine.widen(self.n_labels)
        leaves.restore(states)
        super().restore(state)
