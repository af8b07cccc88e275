# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
"""Running sums of the values of features, for their scales; see `sums.pxd`."""

import sys

import numpy as np

from libc.math cimport fmax, sqrt

from river_budget._arrays import padded
from river_budget._state import LARGEST_SUM, count, finite, floats, require
from river_budget.kernels import Category

from river_budget._core.store cimport Store

# Names are dropped if there are more than twice as many as are in use, and this number.
cdef Py_ssize_t MAX_UNUSED = 64

# Numbers in a row of the table.
cdef Py_ssize_t N_COLUMNS = sizeof(FeatureSums) // sizeof(double)

# The largest mean in the place of an unknown value. Its square is nothing beside that of the largest values.
cdef double LARGEST_MEAN = 1e60

# The rows of `moments_of`. That of the scales holds sums of squares, in the place of which `measures` puts scales.
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
        """Add the example of the store, or nothing if that fails. Only names that some vector has get sums."""
        cdef bint is_known = (
            <void *> store.packed.layout.names == <void *> self.last_names
            and self.n_inserted in (-1, store.vectors.n_inserted)
            and store.packed.filled is None
        )
        if not is_known or store.packed.arrays is not None:
            with gil:
                self.add_parts(store, is_known)
        for i in range(self.last_rows.shape[0]):
            if self.last_rows[i] >= 0:
                observe(&self.table[self.last_rows[i], 0], store.packed.point.values[i])
            elif self.last_rows[i] < -1:
                self.table[-2 - self.last_rows[i], 0] += 1.0  # `since` counts unknown values.
        self.n_observed += 1

    cdef int add_parts(self, Store store, bint is_known) except -1:
        """Find the rows of the example's numbers, unless they are known, and add its arrays."""
        cdef Py_ssize_t n_before
        if not is_known:
            self.last_names = None
            self.make_room(store)
        n_before = len(self.rows)
        try:
            if not is_known:
                self.look_up(store)
            if store.packed.arrays is not None:
                self.add_arrays(store)
        except BaseException:
            # An interrupt may come in NumPy, and in the code of names.
            self.last_names = None
            while len(self.rows) > n_before:
                self.rows.popitem()
            raise

    cdef int make_room(self, Store store) except -1:
        """Drop sums of names that no vector has, if there are many and new ones come."""
        has_many = len(self.rows) > 2 * (store.bank.features.n_used + store.bank.matrices.n) + MAX_UNUSED
        if has_many and not all([name in self.rows for name in store.packed.layout.names]):
            self.drop_unused(store.names)

    cdef int look_up(self, Store store) except -1:
        """Find the rows of the numbers of the example. Names that some vector has get new ones."""
        cdef list names = store.packed.layout.names
        cdef set unknown
        cdef Py_ssize_t row
        for i, name in enumerate(names):
            if name not in self.rows and store.bank.features.has_name(name):
                row = len(self.rows)
                if row == len(self.table):
                    self.table = padded(self.table.base, max(1, 2 * row))
                # Its reference is the first value, which is not added yet.
                self.table[row, :] = 0.0
                self.table[row, 0], self.table[row, 1] = self.n_observed, store.packed.point.values[i]
                self.rows[name] = row
        found = [self.rows.get(name, -1) for name in names]
        n_inserted = store.vectors.n_inserted if -1 in found else -1
        if store.packed.filled is not None:
            unknown = {self.rows[name] for name in store.packed.filled if name in self.rows}
            found = [-2 - row if row in unknown else row for row in found]
            names = None  # The next example may know their values.
        self.last_rows = np.array(found, np.int64)
        self.n_inserted, self.last_names = n_inserted, names

    cdef int add_arrays(self, Store store) except -1:
        """Add the arrays of the example whose names some vector has, and drop the sums of other names."""
        cdef double[::1] values
        cdef double[:, ::1] table
        in_use = store.bank.matrices.place_of
        arrays = {name: sums for name, sums in self.arrays.items() if name in in_use}
        added = []
        for name, array in store.packed.arrays.items():
            if name in in_use:
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
            # The code of names may raise, so it runs before the first change.
            kept = {name: row for name, row in self.rows.items() if name in names}
            rows = dict(zip(kept, range(len(kept))))
            self.table = self.table.base[list(kept.values())]
            self.rows, self.last_names = rows, None

    def mean(self, name):
        """Return the mean of the known values of a number, which is 0 where it is absent; None without values."""
        if name not in self.rows:
            return self.means.get(name)
        sums = <FeatureSums *> &self.table[<Py_ssize_t> self.rows[name], 0]
        n = self.n_observed - sums.since
        total = sums.total - (n - sums.n_present) * sums.reference  # of differences from the reference
        return max(-LARGEST_MEAN, min(LARGEST_MEAN, sums.reference + total / n))

    def clear(self):
        """Drop all sums, and keep the means."""
        self.means = {name: self.mean(name) for name in self.rows if type(name) is not Category}
        self.table, self.rows, self.arrays, self.last_names = np.zeros((0, N_COLUMNS)), {}, {}, None

    def measures(self):
        """Return numbers of values, variances and scales (3, names), in the order of `names`.

        Values are counted from the first example with a feature on. Of an array, the numbers of values and the
        variances are summed over its elements. A scale is the standard deviation or, if a feature is 0 in more
        than half of the examples, the root mean square of the values other than 0, so that a rare word is not
        blown up. A constant has the scale 0.
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
        containers = sys.getsizeof(self.rows) + sys.getsizeof(self.means) + 24 * len(self.means)
        tables = self.table, *self.arrays.values()
        # As if all names were in the last example, so that the figure does not depend on that.
        of_last_names = 16 * len(self.rows)
        return containers + sum([table.nbytes for table in tables]) + of_last_names

    def state(self):
        return {
            "n_observed": self.n_observed, "names": tuple(self.rows),
            "sums": self.table.base[: len(self.rows)].copy(),
            "arrays": {name: table.copy() for name, table in self.arrays.items()},
            "means": dict(self.means),
        }

    def restore(self, state):
        n_observed, names, means = count(state["n_observed"]), state["names"], state["means"]
        table = valid_table(state["sums"], n_observed)
        require(type(names) is tuple and len(names) == len(table), "sums lack names")
        arrays = {name: valid_table(sums, n_observed) for name, sums in state["arrays"].items()}
        for mean in means.values():
            finite(mean, -LARGEST_MEAN, LARGEST_MEAN)
        rows = {name: row for row, name in enumerate(names)}
        require(len(rows) == len(names), "a feature has two sums")
        self.n_observed, self.rows, self.arrays, self.means = n_observed, rows, arrays, dict(means)
        self.table, self.last_names = table, None

    __setstate__ = restore


cdef valid_table(table, n_observed):
    """Return a table of a state. Raises ValueError if it is wrong."""
    table = floats(table, (None, N_COLUMNS), LARGEST_SUM)
    since, present = table[:, 0], table[:, 2]
    is_valid = (since >= 0) & (present >= 1) & (present + since <= n_observed)
    require(is_valid.all(), "the sums of a feature are wrong")
    return table


cdef void observe(double *row, double value) noexcept nogil:
    """Add a value to the sums in a row of a table."""
    sums = <FeatureSums *> row
    difference = value - sums.reference
    sums.n_present += 1.0
    sums.n_nonzero += value != 0.0
    sums.total += difference
    sums.squares += difference * difference


cdef moments_of(double[:, ::1] table, double n_observed):
    """Return the moments of the features in the rows of a table (N_MOMENTS, rows)."""
    cdef double[:, ::1] moments = np.empty((N_MOMENTS, table.shape[0]))
    for i in range(table.shape[0]):
        sums = <FeatureSums *> &table[i, 0]
        n = n_observed - sums.since
        n_absent = n - sums.n_present
        # Of differences from the reference.
        mean = (sums.total - n_absent * sums.reference) / n
        mean_square = (sums.squares + n_absent * sums.reference * sums.reference) / n
        # The squares of the values, less those of the differences.
        more = sums.reference * (2.0 * sums.total + sums.n_present * sums.reference)
        moments[SIZES, i], moments[NONZERO, i], moments[ELEMENTS, i] = n, sums.n_nonzero, 1.0
        moments[VARIANCES, i] = fmax(0.0, mean_square - mean * mean)
        moments[SCALES, i] = sums.squares + more
    return moments.base
