# cython: language_level=3, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""The statistics from which the split of a region is chosen; see `splits.pxd`."""

from libc.stdint cimport int64_t, uint64_t

import numpy as np

from cpython.object cimport PyObject

from river_budget._core.example cimport PackedExample
from river_budget._core.features cimport mixed
from river_budget._core.readings cimport Readings

from river_budget._arrays import padded
from river_budget._core.readings import restored_readings
from river_budget._state import count, floats, require

cdef enum:
    MOST_FEATURES = 1024
    MOST_CANDIDATES = 32
    MOST_ELEMENTS = 32                     # of an array
    N_BINS = 16
    N_CODES = 8                            # up to so many labels have unit vectors

# The quantiles of a normal distribution, of 1/16 to 15/16.
QUANTILES = (
    -1.534, -1.150, -0.887, -0.674, -0.489, -0.319, -0.157, 0.0, 0.157, 0.319, 0.489, 0.674, 0.887, 1.150, 1.534,
)
cdef double LEAST_SIDE = 0.1               # the share of the examples that each side of a split has
cdef double LEAST_DEVIATION = 1e-12        # below it, a feature does not vary
cdef double LEAST_GAIN = 1e-9
cdef uint64_t GOLDEN = 0x9E3779B97F4A7C15ULL


cdef inline float sign(Py_ssize_t label, int code) noexcept nogil:
    return 1.0 if mixed(label + 1) >> code & 1 else -1.0


cdef class Splits:

    def __init__(self, Py_ssize_t n_labels):
        self.n_labels, self.features, self.moments = n_labels, Readings([], []), np.zeros((0, 2))
        self.edges, self.counts, self.sums = self.new_tables(0)

    def new_tables(self, Py_ssize_t n):
        """Return edges, counts and sums for a number of candidates."""
        counts = np.zeros((n, N_BINS), np.float32)
        return np.zeros((n, N_BINS - 1)), counts, np.zeros((n, N_BINS, min(self.n_labels, N_CODES)), np.float32)

    cdef int stage(self, PackedExample packed, uint64_t n_draws) except -1 nogil:
        cdef bint is_known = <PyObject *> packed.layout.names == <PyObject *> self.features.columns
        self.n_draws = n_draws
        if self.staged is not None:  # by a round that failed
            with gil:
                self.staged = None
        if self.n >= N_MEASURED:
            self.features.read(packed)
        elif is_known and packed.arrays is None and self.n != N_MEASURED - 1:
            self.features.read(packed)
        else:
            with gil:
                self.prepare(packed, n_draws)

    cdef int prepare(self, PackedExample packed, uint64_t n_draws) except -1:
        """Stage new features, and at the end of the first phase the candidates."""
        features = self.with_new(packed)
        features.read(packed)
        moments = padded(self.moments.base, features.n)
        if self.n == N_MEASURED - 1:
            learn_moments(moments, features.values.base, N_MEASURED)
            self.staged = self.candidates(features, moments)
        elif features is not self.features:
            self.staged = features, moments, *self.new_tables(0)

    cdef Readings with_new(self, PackedExample packed):
        """Return the features with those of an example that are new."""
        known, names, elements = set(self.features.names), [], []
        for name in packed.layout.names:
            if name not in known:
                names.append(name)
                elements.append(-1)
        for name, array in (packed.arrays or {}).items():
            if name not in known:
                own = self.drawn(len(array))[:MOST_ELEMENTS]
                names += [name] * len(own)
                elements += own
        room = MOST_FEATURES - self.features.n
        if not names[:room]:
            return self.features
        return self.features.extended(names[:room], elements[:room])

    cdef list drawn(self, Py_ssize_t n):
        """Return the numbers from 0 to n - 1; of more than 32, 32 at random come first."""
        items = list(range(n))
        for i in range(MOST_CANDIDATES if n > MOST_CANDIDATES else 0):
            self.n_draws += 1
            j = i + mixed(self.n_draws * GOLDEN) % <uint64_t> (n - i)
            items[i], items[j] = items[j], items[i]
        return items

    cdef tuple candidates(self, Readings features, moments):
        """Return the candidates, and tables for them."""
        means, deviations = moments[:, 0], np.sqrt(moments[:, 1] / N_MEASURED)
        varying = np.flatnonzero(deviations > LEAST_DEVIATION)
        chosen = varying[self.drawn(len(varying))[:MOST_CANDIDATES]]
        names = [features.names[j] for j in chosen]
        edges, counts, sums = self.new_tables(len(names))
        edges[:] = means[chosen, None] + deviations[chosen, None] * QUANTILES
        return Readings(names, features.elements.base[chosen]), np.zeros((0, 2)), edges, counts, sums

    cdef void finish(self, Py_ssize_t label) noexcept nogil:
        cdef Py_ssize_t bin
        if self.staged is not None:
            self.take_staged()
        self.n += 1
        if self.n < N_MEASURED:
            for j in range(self.features.n):
                moments, value = &self.moments[j, 0], self.features.values[j]
                change = value - moments[0]
                moments[0] += change / self.n
                moments[1] += change * (value - moments[0])
        elif self.n > N_MEASURED:
            for j in range(self.features.n):
                bin, value = 0, self.features.values[j]
                for i in range(N_BINS - 1):
                    bin += value > self.edges[j, i]
                self.counts[j, bin] += 1.0
                if self.n_labels <= N_CODES:
                    self.sums[j, bin, label] += 1.0
                else:
                    for i in range(N_CODES):
                        self.sums[j, bin, i] += sign(label, i)

    cdef void take_staged(self) noexcept with gil:
        self.features, self.moments, self.edges, self.counts, self.sums = self.staged
        self.staged = None

    def best(self):
        """Return the name, the element and the threshold of the split with the largest gain; None without a gain."""
        n, counts = self.n - N_MEASURED, np.cumsum(self.counts.base, axis=1, dtype=np.float64)[:, :-1]
        sums = np.cumsum(self.sums.base, axis=1, dtype=np.float64)
        totals, sums = sums[:, -1:], sums[:, :-1]
        with np.errstate(all="ignore"):  # a side may be empty
            gains = (sums**2).sum(axis=2) / counts + ((totals - sums) ** 2).sum(axis=2) / (n - counts)
        gains -= (totals**2).sum(axis=2) / n
        gains[(counts < LEAST_SIDE * n) | (counts > (1.0 - LEAST_SIDE) * n)] = -1.0
        if not gains.max(initial=0.0) > LEAST_GAIN:
            return None
        j, edge = map(int, np.unravel_index(gains.argmax(), gains.shape))
        return self.features.names[j], self.features.elements[j], self.edges[j, edge]

    cdef object widened(self, Py_ssize_t n_labels):
        sums = self.sums.base
        if self.n_labels <= N_CODES < n_labels:  # from unit vectors to codes
            codes = [[sign(label, i) for i in range(N_CODES)] for label in range(self.n_labels)]
            return sums @ np.array(codes, np.float32)
        return padded(sums.T, min(n_labels, N_CODES)).T.copy()

    cdef int widen(self, object sums, Py_ssize_t n_labels) except -1:
        self.sums, self.n_labels = sums, n_labels

    @property
    def nbytes(self):
        tables = self.edges.nbytes + self.counts.nbytes + self.sums.nbytes
        return tables + self.moments.nbytes + self.features.nbytes

    def state(self):
        return {
            "n": self.n, **self.features.state(), "moments": self.moments.base.copy(),
            "edges": self.edges.base.copy(), "counts": self.counts.base.copy(), "sums": self.sums.base.copy(),
        }


def learn_moments(moments, values, n):
    """Add the values of the example with a number to means and sums of squares (features, 2)."""
    changes = values - moments[:, 0]
    moments[:, 0] += changes / n
    moments[:, 1] += changes * (values - moments[:, 0])


def restored_splits(state, Py_ssize_t n_labels):
    """Return statistics from their state. Raises ValueError if it is invalid."""
    cdef Splits splits = Splits(n_labels)
    features, n = restored_readings(state), count(state["n"])
    n_moments, n_candidates = (features.n, 0) if n < N_MEASURED else (0, features.n)
    is_valid = features.n <= (MOST_FEATURES if n < N_MEASURED else MOST_CANDIDATES)
    require(is_valid, "there are more features than a split looks at")
    moments = floats(state["moments"], (n_moments, 2))
    edges = floats(state["edges"], (n_candidates, N_BINS - 1))
    counts = floats(state["counts"], (n_candidates, N_BINS), dtype=np.float32)
    sums = floats(state["sums"], (n_candidates, N_BINS, min(n_labels, N_CODES)), dtype=np.float32)
    is_valid = moments[:, 1].min(initial=0.0) >= 0.0 and counts.min(initial=0.0) >= 0.0
    require(is_valid, "a count or a variance of a region is negative")
    splits.n, splits.features, splits.moments = n, features, moments
    splits.edges, splits.counts, splits.sums = edges, counts, sums
    return splits
