# cython: language_level=3, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""A root and a tree of leaves; see `regions.pxd`."""

from libc.stdint cimport int64_t
from libc.string cimport memcpy

import numpy as np

from river_budget._core.engine cimport DUE_SCALES, Engine
from river_budget._core.experts cimport Experts
from river_budget._core.readings cimport Readings
from river_budget._core.splits cimport N_EXAMPLES, Splits
from river_budget._core.store cimport Store
from river_budget._core.switch cimport Switch
from river_budget._core.tickets cimport Ticket
from river_budget._core.tree cimport Tree

from river_budget._arrays import padded
from river_budget._core.splits import restored_splits
from river_budget._core.tree import restored_tree
from river_budget._state import count, floats, integers, require


cdef enum:
    N_OF_EXPERTS = 8                       # arguments of the constructor of `Experts`


cdef class Regions(Experts):

    def __init__(
        self, Store store not None, Store exemplars not None, pairs, Py_ssize_t budget, double novelty,
        bint repeats, Engine archive, Py_ssize_t most_pending, leaves, Py_ssize_t most,
    ):
        self.leaves, self.engines, self.most = leaves, leaves.engines, most
        self.tree, self.top = Tree(Readings([], []), [], []), Switch(2)
        self.statistics = [Splits(2)] if most > 1 else None
        self.hedges, self.tallies = np.zeros((most, 2 * N_HEDGES)), np.zeros((most, 3), np.int64)
        self.region = self.taken = self.rehearsed = -1
        self.n_rows_of_leaf = (<Experts> self.engines[0]).switch.n_rows
        Experts.__init__(self, store, exemplars, pairs, budget, novelty, repeats, archive, most_pending)
        self.arguments = (*self.arguments, leaves, most)
        self.last = self.top

    # Forecasts.

    cdef int answer(self) except -1 nogil:
        Experts.answer(self)
        region = self.tree.find(self.store.packed)
        if region != self.region:
            self.enter(region)
        self.evaluate_leaf()
        size = self.n_labels * sizeof(double)
        memcpy(&self.top.prompt.probabilities[0, 0], &self.switch.forecast[0], size)
        memcpy(&self.top.prompt.probabilities[1, 0], &self.leaf.switch.forecast[0], size)
        if self.taken != region:
            self.top.take_hedges(&self.hedges[region, 0])
            self.taken = region
        self.answer_by(self.top)
        return 0

    cdef int enter(self, Py_ssize_t region) except -1 with gil:
        """Make a region that of the example."""
        self.leaf = self.engines[region]
        self.leaf.first_row = self.switch.n_rows
        self.splits = None if self.statistics is None else self.statistics[region]
        self.region = region

    cdef int evaluate_leaf(self) except -1 nogil:
        """Let the leaf answer for the example of the store."""
        self.leaf.store.evaluate_like(self.store)
        self.leaf.forecast()

    # Tickets.

    cdef Py_ssize_t n_rows(self) noexcept nogil:
        return self.switch.n_rows + self.n_rows_of_leaf + self.top.n_rows

    cdef void write(self, float *said) noexcept:
        self.switch.write(said)
        said += self.switch.n_rows * self.n_labels
        self.leaf.switch.write(said)
        said += self.n_rows_of_leaf * self.n_labels
        self.top.write(said)

    # Rounds.

    cdef bint prepare(self, Ticket ticket) except -1 nogil:
        cdef bint is_other
        self.top.forget_steps()
        self.rehearsed = -1
        is_other = Experts.prepare(self, ticket)
        share = self.rehearsal.share
        if is_other and share > 0.0:
            self.top.add_steps(self.rehearsal.label, share, share, 0.0)
            self.top.take_steps(&self.rehearsed_steps[0])
            self.rehearsed = self.region
        return is_other

    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil:
        cdef bint is_right = self.first_of_largest() == label
        # A leaf rehearses for itself, too.
        if self.leaf.prepare(None):
            self.leaf.answered_at = -1
        self.give_ticket()
        self.evaluate_leaf()
        self.stage(label, weight)
        self.leaf.stage(label, weight)
        if self.splits is not None:
            self.splits.stage(self.store.packed, self.n_draws)
        due = self.learn_archive(label, weight, threshold)
        self.learn_top(label)
        due |= self.finish(label)
        due |= self.leaf.finish(label)
        due |= self.finish_region(label, is_right)
        self.watch()
        self.leaf.watch()
        return due

    cdef void give_ticket(self) noexcept nogil:
        """Let the leaf know how late the label is, and what was said."""
        self.leaf.age = self.age
        if self.ticket is not None:
            with gil:
                self.leaf.ticket = self.ticket

    cdef void learn_top(self, Py_ssize_t label) noexcept nogil:
        """Add what the label changes in the mixtures of root and leaf."""
        if self.age > 0 and not self.top.is_awake:
            self.wake_hedges()
        self.learn_weights(self.top, label, 1.0 - self.rehearsal.share, self.switch.n_rows + self.n_rows_of_leaf)

    cdef void wake_hedges(self) noexcept nogil:
        """Let the hedges of the late mixture begin as those of the prompt one, in all regions."""
        self.hedges[:, N_HEDGES:] = self.hedges[:, :N_HEDGES]
        memcpy(&self.rehearsed_steps[N_HEDGES], &self.rehearsed_steps[0], N_HEDGES * sizeof(double))

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
        n, top = self.tree.n_regions, self.top.state()
        # Hedges are those of the region that was asked about last, which is not learned.
        for weights in (top["prompt"], top["late"]):
            weights[:2] = weights[6:] = 0.0
        statistics = [splits.state() for splits in self.statistics or []]
        regions = {
            "tree": self.tree.state(), "hedges": self.hedges.base[:n].copy(), "top": top,
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
        self.hedges.base[:n] = floats(regions["hedges"], (n, 2 * N_HEDGES))
        self.top.restore(regions["top"])
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
