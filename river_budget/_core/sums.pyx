# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
"""Running sums of the values of features, for their scales."""

import sys

import numpy as np

from libc.math cimport fmax, sqrt

from river_budget._arrays import padded
from river_budget._state import LARGEST_SUM, count, finite, floats, require
from river_budget.kernels import Category

from river_budget._core.store cimport Store

# Names that are no longer in use are dropped if there are more than this many of them.
cdef Py_ssize_t MAX_UNUSED = 64

# Numbers in a row of the table.
cdef Py_ssize_t N_COLUMNS = sizeof(FeatureSums) // sizeof(double)

# The largest mean in the place of an unknown value: beside the largest values, its square is nothing.
cdef double LARGEST_MEAN = 1e60

# The rows of `moments_of`. The scales are sums of squares at first.
cdef enum: SIZES, VARIANCES, SCALES, NONZERO, ELEMENTS, N_MOMENTS


cdef class Sums:
    """Running sums of the values of each feature, and of the elements of arrays."""

    def __init__(self):
        self.rows, self.arrays, self.means = {}, {}, {}
        self.table = np.zeros((0, N_COLUMNS))

    def __reduce__(self):
        return type(self), (), self.state()

    @property
    def names(self):
        """The names of the features, in the order of their measures."""
        return [*self.rows, *self.arrays]

    cpdef int add(self, Store store) except -1 nogil:
        """Add the store's example, or nothing if that fails; only names that some vector has get sums."""
        cdef bint is_known = (
            <void *> store.packed.layout.names == <void *> self.columns
            and self.n_inserted in (-1, store.vectors.n_inserted)
            and store.packed.filled is None
        )
        if not is_known or store.packed.arrays is not None:
            with gil:
                self.add_parts(store, is_known)
        for i in range(self.slots.shape[0]):
            if self.slots[i] >= 0:
                observe(&self.table[self.slots[i], 0], store.packed.point.values[i])
            elif self.slots[i] < -1:
                self.table[-2 - self.slots[i], 0] += 1.0
        self.n_observed += 1

    cdef int add_parts(self, Store store, bint is_known) except -1:
        """Find the rows of the example's numbers, unless they are known, and add its arrays."""
        cdef Py_ssize_t n_before
        if not is_known:
            self.columns = None
            self.make_room(store)
        n_before = len(self.rows)
        try:
            if not is_known:
                self.look_up(store)
            if store.packed.arrays is not None:
                self.add_arrays(store)
        except BaseException:  # NumPy and the code of names deliver interrupts.
            self.columns = None
            while len(self.rows) > n_before:
                self.rows.popitem()
            raise

    cdef int make_room(self, Store store) except -1:
        """Drop sums of names that no vector has, if there are many and new ones come."""
        has_many = len(self.rows) > 2 * (store.bank.features.n_used + store.bank.matrices.n) + MAX_UNUSED
        if has_many and not all([name in self.rows for name in store.packed.layout.names]):
            self.drop_unused(store.names)

    cdef int look_up(self, Store store) except -1:
        """Find the rows of the example's numbers, where names that some vector has get new ones."""
        cdef list columns = store.packed.layout.names
        cdef set unknown
        cdef Py_ssize_t row
        for i, name in enumerate(columns):
            if name not in self.rows and store.bank.features.has_name(name):
                row = len(self.rows)
                if row == len(self.table):
                    self.table = padded(self.table.base, 2 * row or 1)
                # Its first value is not added yet.
                self.table[row, :] = 0.0
                self.table[row, 0], self.table[row, 1] = self.n_observed, store.packed.point.values[i]
                self.rows[name] = row
        found = [self.rows.get(name, -1) for name in columns]
        n_inserted = store.vectors.n_inserted if -1 in found else -1
        if store.packed.filled is not None:
            unknown = {self.rows[name] for name in store.packed.filled if name in self.rows}
            found = [-2 - row if row in unknown else row for row in found]
        self.slots = np.array(found, np.int64)
        self.n_inserted, self.columns = n_inserted, columns if store.packed.filled is None else None

    cdef int add_arrays(self, Store store) except -1:
        cdef double[::1] values
        cdef double[:, ::1] table
        arrays = {name: own for name, own in self.arrays.items() if name in store.bank.matrices.place_of}
        added = []
        for name, array in store.packed.arrays.items():
            if name in store.bank.matrices.place_of:
                elements = array.astype(np.float64)
                if name not in arrays or len(arrays[name]) != len(elements):
                    arrays[name] = np.zeros((len(elements), N_COLUMNS))
                    arrays[name][:, 0], arrays[name][:, 1] = self.n_observed, elements
                added.append((arrays[name], elements))
        # Nothing fails from here on.
        for table, values in added:
            for i in range(values.shape[0]):
                observe(&table[i, 0], values[i])
        self.arrays = arrays

    def drop_unused(self, names):
        """Drop sums of names that are not given, if there are many."""
        if len(self.rows) > 2 * len(names) + MAX_UNUSED:
            # Names may run Python code, which may raise, before the first change.
            kept = {name: row for name, row in self.rows.items() if name in names}
            rows = dict(zip(kept, range(len(kept))))
            self.table = self.table.base[list(kept.values())]
            self.rows, self.columns = rows, None

    def mean(self, name):
        """Return the mean of the known values of a number, 0 where it is absent; None without one."""
        if name not in self.rows:
            return self.means.get(name)
        own = <FeatureSums *> &self.table[<Py_ssize_t> self.rows[name], 0]
        n = self.n_observed - own.since
        total = own.total - (n - own.n_present) * own.reference
        return max(-LARGEST_MEAN, min(LARGEST_MEAN, own.reference + total / n))

    def clear(self):
        """Drop all sums, and keep the means."""
        self.means = {name: self.mean(name) for name in self.rows if type(name) is not Category}
        self.table, self.rows, self.arrays, self.columns = np.zeros((0, N_COLUMNS)), {}, {}, None

    def measures(self):
        """Return numbers of values, variances and scales (3, names), in the order of `names`.

        A number of values is that since the first example with a feature. Those of an array and its
        variance are summed over its elements. A scale is the standard deviation or, of a feature that is
        0 in more than half of the examples, the root mean square of the values other than 0: a rare
        word is not blown up. A constant has the scale 0.
        """
        cdef double[:, ::1] moments = moments_of(self.table[: len(self.rows)], self.n_observed)
        if self.arrays:
            tables = self.arrays.values()
            sums = [moments_of(table, self.n_observed).sum(axis=1) for table in tables]
            moments = np.column_stack((moments.base, *sums))
        for i in range(moments.shape[1]):
            if 2.0 * moments[NONZERO, i] >= moments[SIZES, i]:
                square = moments[VARIANCES, i] / moments[ELEMENTS, i]
            else:
                square = fmax(0.0, moments[SCALES, i]) / fmax(moments[NONZERO, i], 1.0)
            moments[SCALES, i] = sqrt(square)
        return moments.base[: SCALES + 1]

    @property
    def nbytes(self):
        """Memory of the sums in bytes."""
        # The last names and their rows are always counted, so that the figure does not depend on them.
        containers = sys.getsizeof(self.rows) + sys.getsizeof(self.means) + 24 * len(self.means)
        tables = self.table, *self.arrays.values()
        return containers + sum([table.nbytes for table in tables]) + 16 * len(self.rows)

    def state(self):
        return {
            "n_observed": self.n_observed, "names": tuple(self.rows),
            "sums": self.table.base[: len(self.rows)].copy(),
            "arrays": {name: table.copy() for name, table in self.arrays.items()},
            "means": dict(self.means),
        }

    def restore(self, state):
        n_observed, names, means = count(state["n_observed"]), state["names"], state["means"]
        table = checked(state["sums"], n_observed)
        require(type(names) is tuple and len(names) == len(table), "sums lack names")
        arrays = {name: checked(sums, n_observed) for name, sums in state["arrays"].items()}
        for mean in means.values():
            finite(mean, -LARGEST_MEAN, LARGEST_MEAN)
        rows = {name: row for row, name in enumerate(names)}
        require(len(rows) == len(names), "a feature has two sums")
        self.n_observed, self.rows, self.arrays, self.means = n_observed, rows, arrays, dict(means)
        self.table, self.columns = table, None

    __setstate__ = restore


cdef checked(table, n_observed):
    """Return a table of a state. Raises ValueError if it is wrong."""
    table = floats(table, (None, N_COLUMNS), LARGEST_SUM)
    since, present = table[:, 0], table[:, 2]
    is_valid = (since >= 0) & (present >= 1) & (present + since <= n_observed)
    require(is_valid.all(), "the sums of a feature are wrong")
    return table


cdef void observe(double *row, double value) noexcept nogil:
    own = <FeatureSums *> row
    difference = value - own.reference
    own.n_present += 1.0
    own.n_nonzero += value != 0.0
    own.total += difference
    own.squares += difference * difference


cdef moments_of(double[:, ::1] table, double n_observed):
    """Return the moments of the features in the rows of a table (N_MOMENTS, rows)."""
    cdef double[:, ::1] moments = np.empty((N_MOMENTS, table.shape[0]))
    for i in range(table.shape[0]):
        own = <FeatureSums *> &table[i, 0]
        n = n_observed - own.since
        n_missing = n - own.n_present
        mean = (own.total - n_missing * own.reference) / n
        mean_square = (own.squares + n_missing * own.reference * own.reference) / n
        squares = own.reference * (2.0 * own.total + own.n_present * own.reference)
        moments[SIZES, i], moments[NONZERO, i], moments[ELEMENTS, i] = n, own.n_nonzero, 1.0
        moments[VARIANCES, i] = fmax(0.0, mean_square - mean * mean)
        moments[SCALES, i] = own.squares + squares
    return moments.base
