# cython: language_level=3, infer_types=True, wraparound=False, cdivision=True, initializedcheck=False
"""The vectors of a model under its kernels, beside one example; see `store.pxd`."""

from collections.abc import Mapping
import contextlib
import os
import sys

import numpy as np

from river_budget._features import dict_of, invalid_example, is_array, pack_rows
from river_budget._state import count, require
from river_budget._vectors import restored_kernels, restored_sizes, restored_vectors, state_of
from river_budget.kernels import Category

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport PyObject
from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from river_budget._core.example cimport as_dict, check_names
from river_budget._core.features cimport Features, Matrices

cdef enum:
    # Names that no vector has are forgotten if there are this many more of them than of others.
    MOST_UNUSED = 256

# The number of forks from the first process to this one, and the thread that made the last of them. It is the only
# thread of this process at first; later ones may get the identifiers of threads of the process before.
cdef int64_t n_forks = 0
cdef unsigned long forker = 0

IN_USE = "the model is in use, by another thread or its own kernel: two threads need two models, or a lock"
LEFT_IN_USE = (
    "the model was in use when this process was forked, so its copy here may be half changed: load it from a "
    "checkpoint, or copy it before the fork, while no other thread uses it"
)


def _count_fork():
    global n_forks, forker
    n_forks, forker = n_forks + 1, PyThread_get_thread_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


cdef class Block:

    def __cinit__(self, list names, rows, bint has_numbers):
        self.n_rows, self.names, self.rows = len(rows), names, rows
        self.numbers = rows if has_numbers else None

    def __getitem__(self, Py_ssize_t i):
        row = self.rows[i]
        # Functions get Python's numbers, as from a dict: NumPy's are added up by `sum` in another way.
        values = row.tolist() if row.dtype.kind in "biuf" else row
        return dict(zip(self.names, values, strict=True))

    def begin(self, labels, weights):
        has_all = len(labels) == len(weights) == self.n_rows
        require(has_all, "labels or weights are not those of the rows")
        self.labels, self.weights, self.row = labels, weights, 0


cdef class Store:
    """Vectors under one or several kernels, and one example beside them."""

    def __cinit__(self, kernels, dtype="float32", scaled=None):
        scaled = [False] * len(kernels) if scaled is None else list(scaled)
        self.bank = KernelBank(tuple(kernels), scaled, Features(), Matrices(dtype))
        self.packed = PackedExample(self.bank)
        self.vectors = Vectors(self.bank, self.packed, tuple(kernels))

    # The guard.

    cdef int begin(self) except -1 nogil:
        self.require_free(self.is_busy)
        self.is_busy = True

    cdef int require_free(self, bint is_busy) except -1 nogil:
        if is_busy or (self.owner != 0 and self.is_foreign()):
            with gil:
                raise RuntimeError(IN_USE if self.process == n_forks else LEFT_IN_USE)
        self.process = n_forks

    cdef bint is_foreign(self) noexcept nogil:
        """Return whether the owner is another thread than this one."""
        cdef bint is_after_fork = self.process != n_forks
        thread = PyThread_get_thread_ident()
        return self.owner != thread or (is_after_fork and thread != forker)

    def __enter__(self):
        self.begin()

    def __exit__(self, *error):
        self.is_busy = False

    # The example.

    cpdef int evaluate(self, object x) except -1:
        self.begin()
        try:
            if type(x) is not dict:
                if not isinstance(x, Mapping):
                    raise invalid_example(x, False)
                x = dict_of(x)
            if self.vectors.objects is not None and self.packed.take_snapshot(x):
                self.bank.call_functions(self.packed.snapshot, self.vectors.objects, self.bank.rows)
                self.bank.call_functions(self.packed.snapshot, None, self.bank.own_values)
            if self.bank.n_inner:
                self.packed.pack(x)
            self.set_example_and_rows()
        finally:
            self.is_busy = False

    cpdef int evaluate_row(self, Block block, Py_ssize_t i) except -1 nogil:
        if not 0 <= i < block.n_rows:
            with gil:
                raise IndexError(f"row {i} of {block.n_rows}")
        if block.numbers is None:
            with gil:
                return self.evaluate(block[i])
        return self.evaluate_values(block.names, &block.numbers[i, 0])

    cdef int evaluate_like(self, Store other) except -1 nogil:
        if other.packed.arrays is not None or other.vectors.objects is not None:
            with gil:
                return self.evaluate(other.example())
        return self.evaluate_values(other.packed.layout.names, other.packed.point.values)

    cdef int evaluate_values(self, list names, const double *values) except -1 nogil:
        """Evaluate an example of valid numbers."""
        cdef bint needs_packing
        self.begin()
        try:
            needs_packing = (
                self.bank.matrices.n or self.packed.arrays is not None or self.packed.filled is not None
            )
            if needs_packing or <PyObject *> names != <PyObject *> self.packed.layout.names:
                with gil:
                    if needs_packing or self.bank.hides(names):
                        self.packed.pack(as_dict(names, values, None, None))
                        return self.set_example_and_rows()
                    self.packed.set_layout(names)
            memcpy(self.packed.fresh, values, self.packed.layout.m * sizeof(double))
            self.set_example_and_rows()
        finally:
            self.is_busy = False

    cdef int set_example_and_rows(self) except -1 nogil:
        """Make what was packed the example, and compute its kernel rows, unless it is equal to the last one."""
        if self.packed.is_last():
            return 0
        self.set_example()
        self.bank.write_rows(self.packed.point, self.bank.rows)
        self.packed.has_rows = True
        self.stamp += 1

    cdef int set_example(self) except -1 nogil:
        """Make what was packed the example, without kernel rows. Raises ValueError if a self value overflows."""
        self.packed.has_rows = False
        memcpy(self.packed.point.values, self.packed.fresh, self.packed.layout.m * sizeof(double))
        if self.packed.has_found:
            self.bank.measure(self.packed.point)
        else:
            with gil:
                self.vectors.forget_names(self.bank.features.n_used + MOST_UNUSED)
                self.packed.find_rows()
        if not self.bank.take_self_values(self.packed.point):
            with gil:
                raise self.packed.invalid(self.example())

    cdef double *rows_of(self, Py_ssize_t slot) except NULL nogil:
        self.begin()
        try:
            self.check_slot(slot)
            self.vectors.load(slot)
            self.bank.write_rows(self.vectors.loaded, self.bank.other_rows)
            if self.vectors.objects is not None:
                with gil:
                    objects = self.vectors.objects
                    self.bank.call_functions(objects[slot], objects, self.bank.other_rows)
        finally:
            self.is_busy = False
        return self.bank.other_rows

    cdef double self_value_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1 nogil:
        if self.bank.z[kernel].inner < 0:
            with gil:
                return self.function_of(slot, kernel)
        return self.bank.self_value_of(slot, kernel)

    cdef double function_of(self, Py_ssize_t slot, Py_ssize_t kernel) except? -1:
        """Return k(s, s) by a Python function. It is apart, as a local object would take the GIL in each call."""
        with self:
            vector = self.vectors.objects[slot]
            return self.bank.kernels[kernel](vector, vector)

    # Changes of vectors.

    cpdef int put(self, Py_ssize_t slot) except -1 nogil:
        self.begin()
        try:
            if not 0 <= slot <= self.vectors.n:
                with gil:
                    raise IndexError(f"slot {slot} cannot be filled: there are {self.vectors.n}")
            self.packed.has_rows = False
            self.stamp += 1
            with gil:
                self.vectors.put(slot)
        finally:
            self.is_busy = False

    def remove(self, slots):
        """Remove vectors; return the former slots of the others, in their new order (n,)."""
        with self:
            for slot in slots:
                self.check_slot(slot)
            kept = np.setdiff1d(np.arange(self.vectors.n), list(slots)).astype(np.int64)
            self.stamp += 1
            self.vectors.keep(kept)
        return kept

    def rescale(self, kernels, factors, pooled, relevances=()):
        with self:
            require(len(kernels) == self.bank.n_kernels, f"expected {self.bank.n_kernels} kernels")
            self.stamp += 1
            self.vectors.rescale(tuple(kernels), dict(factors), pooled, dict(relevances))

    cdef int rescale_like(self, Store other) except -1:
        bank = other.bank
        self.rescale(bank.kernels, bank.factors, bank.pooled, bank.relevances)

    def empty_like(self):
        bank = self.bank
        store = Store(bank.kernels, self.dtype, bank.scaled)
        store.__setstate__(
            ([], 0, bank.factors, bank.pooled, bank.relevances, bank.array_sizes, self.means)
        )
        return store

    cpdef tuple save(self, Py_ssize_t slot):
        self.begin()
        try:
            return self.vectors.save(slot)
        finally:
            self.is_busy = False

    def undo(self, saved):
        with self:
            self.stamp += 1
            self.vectors.undo(saved)

    # Blocks.

    def block(self, columns, rows):
        """Return validated rows of a frame. Raises ValueError that names the row."""
        names, sizes = list(columns), {}
        numbers = pack_rows(rows) if self.vectors.objects is None and rows.size else None
        block = Block(names, rows if numbers is None else numbers, numbers is not None)
        with self:
            if numbers is not None:
                # Statistics grow with the sizes of values: if an example of the largest ones is valid, all are.
                with contextlib.suppress(ValueError):
                    # Column after column, which is ten times as fast.
                    largest = abs(np.asfortranarray(numbers)).max(axis=0)
                    self.packed.pack(dict(zip(names, largest.tolist())))
                    self.set_example()
                    return block
            for i in range(block.n_rows):
                try:
                    self.check_row(block[i], sizes)
                except ValueError as error:
                    raise ValueError(f"row {i}: {error}") from None
        return block

    cdef int check_row(self, dict x, dict sizes) except -1:
        """Raise ValueError if an example is invalid, or an array has another shape than in the rows before."""
        self.packed.has_rows = False
        if self.vectors.objects is not None:
            self.bank.call_functions(x, None, self.bank.own_values)
        if not self.bank.n_inner:
            return 0
        self.packed.pack(x)
        self.set_example()
        for name, value in x.items():
            shape = value.shape if is_array(value) else ()
            if sizes.setdefault(name, shape) != shape:
                raise ValueError(f"feature {name!r} is an array of another length, or a number, in a row before")

    # What Python asks.

    @property
    def n(self):
        return self.vectors.n

    @property
    def n_inserted(self):
        return self.vectors.n_inserted

    @property
    def capacity(self):
        return self.bank.capacity

    @property
    def kernels(self):
        return self.bank.kernels

    @property
    def n_kernels(self):
        return self.bank.n_kernels

    @property
    def means(self):
        return self.packed.means

    @means.setter
    def means(self, means):
        self.packed.means = means

    @property
    def dtype(self):
        return self.bank.matrices.dtype.name

    @property
    def names(self):
        features = self.bank.features
        with self:
            numbers = [name for name in features.index if features.has_name(name)]
        return dict.fromkeys([*numbers, *self.bank.matrices.place_of]).keys()

    @property
    def insertion_order(self):
        with self:
            return self.vectors.order[: self.vectors.n].copy()

    @property
    def by_age(self):
        return np.argsort(self.insertion_order)

    cdef int check_slot(self, Py_ssize_t slot) except -1 nogil:
        if not 0 <= slot < self.vectors.n:
            with gil:
                raise IndexError(f"slot {slot} is not in use: there are {self.vectors.n}")

    cdef int check_kernel(self, Py_ssize_t kernel) except -1:
        if not 0 <= kernel < self.bank.n_kernels:
            raise IndexError(f"kernel {kernel} of {self.bank.n_kernels}")

    def example(self):
        return self.packed.as_dict()

    def self_value(self, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        return self.bank.own_values[kernel]

    def row(self, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        return self.bank.by_slot[kernel, : self.vectors.n].copy()

    def is_flat(self, double low, double high):
        least, most = INFINITY, -INFINITY
        for i in range(self.vectors.n):
            least, most = min(least, self.bank.rows[i]), max(most, self.bank.rows[i])
        return self.vectors.n > 0 and (most < low or least > high)

    def vector(self, Py_ssize_t slot):
        with self:
            self.check_slot(slot)
            names, values, arrays, snapshot, _ = self.vectors.at(slot)
        return as_dict(names, <const double *> PyBytes_AS_STRING(values), arrays, snapshot)

    def row_of(self, Py_ssize_t slot, Py_ssize_t kernel=0):
        self.check_kernel(kernel)
        self.rows_of(slot)
        return self.bank.by_slot[self.bank.n_kernels + kernel, : self.vectors.n].copy()

    def gram(self, Py_ssize_t kernel=0):
        n = self.vectors.n
        rows = [self.row_of(slot, kernel) for slot in range(n)]
        return np.array(rows).reshape(n, n)

    def self_values(self, Py_ssize_t kernel=0):
        cdef double[::1] values = np.empty(self.vectors.n)
        self.check_kernel(kernel)
        for slot in range(values.shape[0]):
            values[slot] = self.self_value_of(slot, kernel)
        return values.base

    def distances(self, slot=None):
        """Return squared distances of the example, or of a vector, to all vectors (n,)."""
        cdef Py_ssize_t n = self.vectors.n
        cdef double[::1] distances = np.zeros(n + 8)
        if self.bank.z[0].inner < 0:
            # In the feature space of a Python function, less k(x, x), which is the same for all.
            return self.self_values() - 2 * (self.row() if slot is None else self.row_of(slot))
        with self:
            if slot is None:
                if not self.packed.has_found:
                    self.packed.find_rows()
                self.bank.write_distances(self.packed.point, &distances[0])
            else:
                self.check_slot(slot)
                self.vectors.load(slot)
                self.bank.write_distances(self.vectors.loaded, &distances[0])
        return distances.base[:n]

    @property
    def nbytes(self):
        with self:
            self.vectors.forget_names(0)
            features, snapshots = self.bank.features, self.vectors.objects
            index = features.index
            objects = [self, self.bank, self.packed, self.vectors, index, *index, *features.layouts]
            objects += [name[1] for name in index if type(name) is Category]
            if snapshots is not None:
                objects += [snapshots, *snapshots, *[value for x in snapshots for value in x.values()]]
            arrays = [self.bank.by_slot, self.vectors.order]
            arrays += [array for pair in self.bank.matrices.tables.values() for array in pair]
            of_arrays = sum([array.nbytes for array in arrays])
            of_layouts = 8 * self.bank.capacity  # the addresses in their list
            of_objects = sum({id(part): sys.getsizeof(part) for part in objects}.values())
            return features.n_bytes() + of_arrays + of_layouts + of_objects

    # State.

    def __reduce__(self):
        bank = self.bank
        with self:
            learned = (
                self.vectors.all(), self.vectors.n_inserted, bank.factors, bank.pooled, bank.relevances,
                bank.array_sizes, self.means,
            )
        return Store, (bank.kernels, self.dtype, bank.scaled), learned

    def __setstate__(self, state):
        vectors, n_inserted, factors, pooled, relevances, array_sizes, means = state
        with self:
            self.bank.factors, self.bank.pooled, self.bank.relevances = factors, pooled, relevances
            self.bank.array_sizes, self.means = array_sizes, means
            self.stamp += 1
            self.vectors.rebuild(vectors, self.bank.kernels, n_inserted, len(vectors))

    def state(self):
        kernels = self.bank.kernels
        for kernel in kernels:
            require(kernel.spec is not None, f"{kernel} cannot be stored: its function is code")
        with self:
            vectors, sizes = self.vectors.all(), self.bank.array_sizes
        counts = {"n_inserted": self.vectors.n_inserted, "array_sizes": sizes}
        return {"kernels": kernels, **state_of(vectors), **counts}

    def restore(self, state):
        kernels, sizes = restored_kernels(state, self.bank.kernels), restored_sizes(state)
        vectors = restored_vectors(state, self.bank.matrices.dtype)
        check_names(list(state["names"]))
        with self:
            self.bank.array_sizes = sizes
            self.stamp += 1
            self.vectors.rebuild(vectors, kernels, count(state["n_inserted"]), len(vectors))
            are_hidden = self.bank.hides([*state["names"], *self.bank.matrices.sizes])
            require(not are_hidden, "a vector has a feature that no kernel reads")
            check_sizes(self)


cdef int check_sizes(Store store) except -1:
    """Raise ValueError if a vector is too large for the kernels."""
    for slot in range(store.vectors.n):
        store.vectors.load(slot)
        is_small = store.bank.take_self_values(store.vectors.loaded)
        require(is_small, "a vector is too large for the kernel")
