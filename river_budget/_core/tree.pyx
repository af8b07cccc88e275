# cython: language_level=3, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""The tree that says which region an example falls into; see `tree.pxd`."""

import numpy as np

from river_budget._core.example cimport PackedExample
from river_budget._core.readings cimport Readings

from river_budget._core.readings import restored_readings
from river_budget._state import floats, integers, require


cdef class Tree:

    def __init__(self, Readings features not None, thresholds, regions):
        cdef Py_ssize_t n = features.n
        self.features, self.n_regions = features, n + 1
        self.thresholds, self.regions = np.array(thresholds, np.float64), np.array(regions, np.int64)
        self.low, self.high = np.zeros((2, n), np.intp)
        # The split and the side that lead to each region.
        cdef Py_ssize_t[:, ::1] ways = np.full((n + 1, 2), -1, np.intp)
        for k in range(n):
            region = self.regions[k]
            above = ways[region, 0]
            if above >= 0:
                side = self.high if ways[region, 1] else self.low
                side[above] = k
            self.low[k], self.high[k] = -1 - region, -2 - k
            ways[region, 0], ways[region, 1] = k, 0
            ways[k + 1, 0], ways[k + 1, 1] = k, 1

    cdef Py_ssize_t find(self, PackedExample packed) except -1 nogil:
        cdef Py_ssize_t node = 0
        cdef bint is_above
        if self.n_regions == 1:
            return 0
        self.features.locate(packed)
        while node >= 0:
            is_above = self.features.value(packed, node) > self.thresholds[node]
            node = self.high[node] if is_above else self.low[node]
        return -1 - node

    def divided(self, region, name, element, threshold):
        """Return the tree with one more split, which divides a region."""
        thresholds, regions = self.thresholds.base.tolist(), self.regions.base.tolist()
        features = self.features.extended([name], [element])
        return Tree(features, [*thresholds, threshold], [*regions, region])

    def path(self, region):
        """Return the splits on the way to a region: name, element or -1, threshold, and whether it is above."""
        steps, k = [], self.n_regions - 2
        while k >= 0:
            is_above = region == k + 1
            if is_above or region == self.regions[k]:
                split = self.features.names[k], self.features.elements[k], self.thresholds[k]
                steps.append((*split, is_above))
                region = self.regions[k]
            k -= 1
        return steps[::-1]

    @property
    def nbytes(self):
        arrays = self.thresholds.nbytes + self.regions.nbytes + self.low.nbytes + self.high.nbytes
        return arrays + self.features.nbytes

    def state(self):
        thresholds, regions = self.thresholds.base.copy(), self.regions.base.copy()
        return {**self.features.state(), "thresholds": thresholds, "regions": regions}


def restored_tree(state):
    """Return a tree from its state. Raises ValueError if it is invalid."""
    features = restored_readings(state)
    n = len(state["names"])
    thresholds, regions = floats(state["thresholds"], (n,)), integers(state["regions"], (n,))
    is_tree = ((regions >= 0) & (regions <= np.arange(n))).all()
    require(is_tree, "a split divides a region that is not there yet")
    return Tree(features, thresholds, regions)
