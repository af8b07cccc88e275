# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""Running sums of the values of features, for their scales."""

from collections import namedtuple
import sys

import numpy as np

from libc.math cimport fmax, sqrt

from river_budget._arrays import padded
from river_budget._state import LARGEST_SUM, count, finite, floats, require
from river_budget.kernels import Category

from river_budget._core.store cimport Store

# Names that are no longer in use are dropped if there are more than this many of them.
cdef Py_ssize_t MAX_UNUSED = 64

# The row of a name that has none. That of an unknown value is `UNKNOWN` minus its row.
cdef enum:
    UNSEEN = -1
    UNKNOWN = -2

# Numbers in a row of the table.
cdef Py_ssize_t N_COLUMNS = sizeof(FeatureSums) // sizeof(double)

# The largest mean in the place of an unknown value: beside the largest values, its square is nothing.
cdef double LARGEST_MEAN = 1e60

# Numbers of values since the first example with each feature, their variances and their scales. Of
# an array, variances are summed over its elements. A scale is 0 if there is none.
Measures = namedtuple("Measures", ("sizes", "variances", "scales"))


cdef class Sums:
    """Running sums of the values of each feature, and of arrays."""

    def __init__(self):
        self.rows, self.arrays, self.means = {}, {}, {}
        self.set_table(np.zeros((1, N_COLUMNS)))

    def __reduce__(self):
        return type(self), (), self.state()

    def __setstate__(self, state):
        self.restore(state)

    @property
    def names(self):
        """The names of the features, in the order of their measures."""
        return [*self.rows, *self.arrays]

    def observe(self, Store store):
        """Add the store's example; only names that some vector has get sums."""
        self.add(store)

    cdef int add(self, Store store) except -1 nogil:
        cdef const double *values
        cdef FeatureSums *own
        cdef double difference
        cdef Py_ssize_t i
        if (
            <void *> store.layout.names != <void *> self.columns
            or self.n_inserted not in (-1, store.n_inserted)
            or store.filled is not None
        ):
            with gil:
                self.look_up(store)
        if store.arrays is not None:
            with gil:
                self.add_arrays(store)
        values = store.point.values
        for i in range(self.n_columns):
            if self.slots[i] < UNSEEN:
                self.features[UNKNOWN - self.slots[i]].since += 1.0
            elif self.slots[i] >= 0:
                own = self.features + self.slots[i]
                difference = values[i] - own.reference
                own.n_present += 1.0
                own.n_nonzero += values[i] != 0.0
                own.total += difference
                own.squares += difference * difference
        self.n_observed += 1

    cdef int look_up(self, Store store) except -1:
        """Set the rows of the example's numbers, where names that some vector has get new ones."""
        cdef list columns = store.layout.names
        cdef Py_ssize_t row, n_before = len(self.rows)
        self.columns, self.n_columns = None, 0
        try:
            if not all([name in self.rows for name in columns]):
                if n_before > 2 * (store.features.n_used + store.matrices.n) + MAX_UNUSED:
                    self.drop_unused(store.names)
                    n_before = len(self.rows)
                for i, name in enumerate(columns):
                    if name not in self.rows and store.has_name(name):
                        row = len(self.rows)
                        if row == len(self.table):
                            self.set_table(padded(self.table, 2 * row))
                        # Its first value is not added yet.
                        self.features[row] = FeatureSums(
                            self.n_observed, store.point.values[i], 0.0, 0.0, 0.0, 0.0
                        )
                        self.rows[name] = row
            found = [self.rows.get(name, UNSEEN) for name in columns]
            self.n_inserted = store.n_inserted if UNSEEN in found else -1
            if store.filled is not None:
                for i, name in enumerate(columns):
                    if found[i] >= 0 and name in store.filled:
                        found[i] = UNKNOWN - found[i]
            self.slots = np.array(found, np.int64)
        except BaseException:  # A name may run Python code, where an interrupt is delivered.
            while len(self.rows) > n_before:
                self.rows.popitem()
            raise
        self.n_columns, self.columns = len(columns), columns if store.filled is None else None

    cdef int set_table(self, table) except -1:
        cdef double[:, ::1] rows = table
        self.columns, self.n_columns = None, 0
        self.table, self.features = table, <FeatureSums *> &rows[0, 0]

    cdef int add_arrays(self, Store store) except -1:
        arrays = {name: own for name, own in self.arrays.items() if name in store.matrices.place_of}
        for name, array in store.arrays.items():
            if name not in store.matrices.place_of:
                continue
            values = array.astype(np.float64)
            if name not in arrays or arrays[name][1].shape[1] != len(values):
                arrays[name] = np.zeros(N_COLUMNS), np.zeros((3, len(values)))
                arrays[name][0][0], arrays[name][1][0] = self.n_observed, values
            counts, sums = arrays[name]
            differences = values - sums[0]
            sums[1] += differences
            sums[2] += differences * differences
            counts[2:4] += 1.0, np.count_nonzero(values)
        self.arrays = arrays

    def drop_unused(self, names):
        """Drop sums of names that are not given, if there are many."""
        if len(self.rows) > 2 * len(names) + MAX_UNUSED:
            self.keep([name for name in self.rows if name in names])

    def mean(self, name):
        """Return the mean of the known values of a number, 0 where it is absent; None without one."""
        row = self.rows.get(name)
        return self.means.get(name) if row is None else self.mean_at(row)

    cdef double mean_at(self, Py_ssize_t row):
        cdef FeatureSums *own = self.features + row
        cdef double n = self.n_observed - own.since
        cdef double total = own.total - (n - own.n_present) * own.reference
        return max(-LARGEST_MEAN, min(LARGEST_MEAN, own.reference + total / n))

    def clear(self):
        """Drop all sums, and keep the means."""
        self.means = {
            name: self.mean_at(row) for name, row in self.rows.items() if type(name) is not Category
        }
        self.keep([])
        self.arrays = {}

    cdef int keep(self, list names) except -1:
        kept = self.table[[self.rows[name] for name in names]]
        # Names may run Python code, which may raise, before the first change.
        rows = {name: row for row, name in enumerate(names)}
        self.set_table(padded(kept, max(1, len(kept))))
        self.rows = rows

    def measures(self):
        """Return variances and scales, in the order of `names`. A constant has no scale.

        A scale is the standard deviation or, of a feature that is 0 in more than half of the
        examples, the root mean square of the values other than 0: a rare word is not blown up.
        """
        cdef Py_ssize_t i, e, n = len(self.rows)
        cdef FeatureSums own
        cdef double[::1] counts
        cdef double[:, ::1] sums, moments, measured = np.empty((3, n + len(self.arrays)))
        for i in range(n):
            own = self.features[i]
            variance, squares = moments_of(own, self.n_observed)
            measured[0, i], measured[1, i] = self.n_observed - own.since, variance
            measured[2, i] = scale_of(own, measured[0, i], variance, squares)
        for i, (counts, sums) in enumerate(self.arrays.values(), n):
            own = (<FeatureSums *> &counts[0])[0]
            moments = np.empty((2, sums.shape[1]))
            for e in range(sums.shape[1]):
                own.reference, own.total, own.squares = sums[0, e], sums[1, e], sums[2, e]
                moments[0, e], moments[1, e] = moments_of(own, self.n_observed)
            variance, squares = moments.base.sum(axis=1).tolist()
            measured[0, i] = (self.n_observed - own.since) * sums.shape[1]
            measured[1, i] = variance
            measured[2, i] = scale_of(own, measured[0, i], variance / sums.shape[1], squares)
        return Measures(*measured.base)

    @property
    def nbytes(self):
        """Memory of the sums in bytes."""
        of_arrays = sum([part.nbytes for own in self.arrays.values() for part in own])
        # The last names and their rows are always counted, so that the figure does not depend on them.
        containers = sys.getsizeof(self.rows) + sys.getsizeof(self.means) + 24 * len(self.means)
        return containers + self.table.nbytes + of_arrays + 16 * len(self.rows)

    def state(self):
        arrays = {name: [part.copy() for part in own] for name, own in self.arrays.items()}
        table = self.table[: len(self.rows)].copy()
        return {
            "n_observed": self.n_observed, "names": tuple(self.rows), "sums": table,
            "arrays": arrays, "means": dict(self.means),
        }

    def restore(self, state):
        n_observed, names, means = count(state["n_observed"]), state["names"], state["means"]
        table = floats(state["sums"], (None, N_COLUMNS), LARGEST_SUM)
        require(type(names) is tuple and len(names) == len(table), "sums lack names")
        arrays = {
            name: (floats(counts, (N_COLUMNS,)), floats(sums, (3, None), LARGEST_SUM))
            for name, (counts, sums) in state["arrays"].items()
        }
        checked = [(own[np.newaxis], len(sums.T), sums[2]) for own, sums in arrays.values()]
        for counts, n_elements, squares in [(table, 1, table[:, 5]), *checked]:
            since, _, present, nonzero, _, _ = counts.T
            require(
                (since >= 0).all() and (present >= 1).all() and (present + since <= n_observed).all()
                and (nonzero >= 0).all() and (nonzero <= n_elements * present).all()
                and (squares >= 0).all(),
                "the sums of a feature are wrong",
            )
        for mean in means.values():
            finite(mean, -LARGEST_MEAN, LARGEST_MEAN)
        rows = {name: row for row, name in enumerate(names)}
        require(len(rows) == len(names), "a feature has two sums")
        self.n_observed, self.rows, self.arrays, self.means = n_observed, rows, arrays, dict(means)
        self.set_table(padded(table, max(1, len(table))))


cdef (double, double) moments_of(FeatureSums own, double n_observed) noexcept nogil:
    """Return the variance of a feature since its first example, and the sum of its squares."""
    cdef double n = n_observed - own.since, n_missing = n - own.n_present
    cdef double mean = (own.total - n_missing * own.reference) / n
    cdef double mean_square = (own.squares + n_missing * own.reference * own.reference) / n
    cdef double squares = own.reference * (2.0 * own.total + own.n_present * own.reference)
    return fmax(0.0, mean_square - mean * mean), own.squares + squares


cdef double scale_of(FeatureSums own, double n, double variance, double squares) noexcept nogil:
    """Return the scale of a feature, given its number of values, their variance and sum of squares."""
    if 2.0 * own.n_nonzero >= n:
        return sqrt(variance)
    return sqrt(fmax(0.0, squares) / fmax(own.n_nonzero, 1.0))
