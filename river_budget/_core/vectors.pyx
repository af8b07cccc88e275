# cython: language_level=3, infer_types=True, wraparound=False, cdivision=True, initializedcheck=False
"""The vectors of a model, and how they change; see `vectors.pxd`."""

import numpy as np

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from river_budget._core.features cimport Layout
from river_budget._core.loops cimport LANES

cdef extern from "Python.h":
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t i) nogil


cdef Py_ssize_t capacity_for(Py_ssize_t n_slots) except -1:
    """Return a capacity for so many slots: a power of two and a multiple of LANES, or 0."""
    return max(<Py_ssize_t> LANES, 1 << (n_slots - 1).bit_length()) if n_slots else 0


cdef dict sizes_of_arrays(list vectors, dict arrays):
    """Return the numbers of elements, by name, of all arrays of vectors, and of others."""
    sizes = {}
    for by_name in [arrays or {}, *[vector[2] or {} for vector in vectors]]:
        for name, array in by_name.items():
            sizes[name] = len(array)
    return sizes


cdef class Vectors:
    """Vectors in slots."""

    def __cinit__(self, KernelBank bank, PackedExample packed, tuple kernels):
        self.bank, self.packed, self.loaded = bank, packed, Point()
        self.features, self.matrices = bank.features, bank.matrices
        if any([kernel.spec is None for kernel in kernels]):
            self.objects = []
        self.order = np.zeros(0, np.int64)
        self.rebuild([], kernels, 0, 0)

    # One vector.

    cdef int put(self, Py_ssize_t slot) except -1:
        packed = self.packed
        self.make_room(slot)
        has_unused = self.store(slot, packed.layout, packed.point, packed.arrays, packed.snapshot)
        self.inserted[slot] = self.n_inserted
        self.n_inserted += 1
        if has_unused:
            self.reindex()

    cdef int make_room(self, Py_ssize_t slot) except -1:
        """Make room for the example in a slot, and set the parameters that kernels leave open."""
        packed, bank = self.packed, self.bank
        is_first = bank.array_sizes is None
        has_new_arrays = packed.arrays is not None and packed.arrays.keys() - self.matrices.place_of.keys()
        if slot == bank.capacity or has_new_arrays or is_first:
            if is_first:
                arrays = packed.arrays or {}
                bank.array_sizes = {name: len(arrays[name]) for name in sorted(arrays, key=repr)}
            kernels = self.resolved_kernels()
            if has_new_arrays or is_first or kernels != bank.kernels:
                n_slots = max(slot + 1, bank.capacity)
                self.rebuild(self.all(), kernels, self.n_inserted, n_slots, packed.arrays)
            else:
                self.grow(slot + 1)
        bank.look_up(packed.layout, True)
        if packed.layout.m > self.loaded.room:
            self.loaded.set_room(packed.layout.m)
        if not packed.has_found:
            packed.find_rows()

    cdef tuple resolved_kernels(self):
        """Return the kernels, whose open parameters are set from the example."""
        packed, kernels = self.packed, self.bank.kernels
        names = list(packed.layout.names if packed.snapshot is None else packed.snapshot)
        if packed.arrays is not None:
            n_elements = sum(map(len, packed.arrays.values()))
            width = 1.0 / max(packed.layout.m + n_elements, 1)
            names.extend(packed.arrays)
            kernels = [k.resolve(names, width) if k.learns_scales else k for k in kernels]
        return tuple([kernel.resolve(names) for kernel in kernels])

    cdef bint store(self, Py_ssize_t slot, Layout layout, Point point, dict arrays, dict snapshot) except -1:
        """Store a point in a slot; return whether there is a name now of which no vector has an array."""
        layouts = self.features.layouts
        cdef Layout old = layouts[slot] if slot < self.n else None
        # In an order in which each vector has all its parts if memory runs out, so that `undo` is possible.
        if self.objects is not None:
            self.objects[slot : slot + 1] = [snapshot]
        if old is None:
            layouts.append(layout)
            self.n += 1
            self.features.set_n(self.n)
        if self.features.replace(layout, point.values, old, slot):
            self.packed.has_found = False
        layouts[slot] = layout
        self.bank.derive(slot, point)
        return self.matrices.n > 0 and self.matrices.put(arrays or {}, slot, old is None)

    cdef tuple at(self, Py_ssize_t slot):
        cdef Layout layout = self.features.layouts[slot]
        values_as_bytes = PyBytes_FromStringAndSize(NULL, layout.m * sizeof(double))
        values = <double *> PyBytes_AS_STRING(values_as_bytes)
        for j in range(layout.m):
            values[j] = self.features.value(layout.rows[j], slot)
        arrays = self.matrices.at(slot) if self.matrices.n else None
        snapshot = None if self.objects is None else self.objects[slot]
        return layout.names, values_as_bytes, arrays, snapshot, self.inserted[slot]

    cdef list all(self):
        return [self.at(slot) for slot in range(self.n)]

    cdef int load(self, Py_ssize_t slot) except -1 nogil:
        layout = PyList_GET_ITEM(<PyObject *> self.features.layouts, slot)
        self.bank.place(self.loaded, <Layout> layout)
        for j in range(self.loaded.m):
            self.loaded.values[j] = self.features.value(self.loaded.rows[j], slot)
        if self.matrices.n:
            with gil:
                self.bank.unpack(self.loaded, self.matrices.at(slot))
        self.bank.measure(self.loaded)

    # Changes of all vectors.

    cdef int grow(self, Py_ssize_t n_slots) except -1:
        """Make room for more slots. If memory runs out, all is as it was."""
        capacity = capacity_for(n_slots)
        self.set_inserted(capacity)
        self.features.grow(capacity)
        self.matrices.grow(capacity)
        self.bank.grow(capacity)

    cdef int rescale(self, tuple kernels, dict factors, double pooled, dict relevances) except -1:
        # Names that cannot be looked up raise before the first change.
        dict.fromkeys(list(self.features.index))
        if self.n > 0 and kernels != self.bank.kernels:
            self.bank.array_sizes = dict(self.matrices.sizes)
        self.bank.factors, self.bank.pooled, self.bank.relevances = factors, pooled, relevances
        try:
            self.derive(kernels)
        except BaseException:
            self.derive(kernels)
            raise

    cdef int derive(self, tuple kernels) except -1:
        """Compute anew what follows from kernels and scales."""
        self.bank.set_kernels(kernels)
        self.bank.set_capacity(self.bank.capacity)
        self.set_sizes()
        self.bank.set_scales()
        for slot in range(self.n):
            self.load(slot)
            self.bank.derive(slot, self.loaded)
        self.packed.forget_rows()

    cdef int forget_names(self, Py_ssize_t most) except -1:
        has_rows = self.packed.has_rows
        if len(self.features.index) > self.features.n_used + most:
            self.reindex()
            self.packed.has_rows = has_rows

    cdef int reindex(self) except -1:
        """Forget the names and the arrays that no vector has."""
        self.rebuild(self.all(), self.bank.kernels, self.n_inserted, self.bank.capacity)

    cdef int keep(self, slots) except -1:
        n_kernels, n = self.bank.n_kernels, len(slots)
        # The kernel rows of the example stay those that it had with these vectors.
        rows = self.bank.by_slot[:n_kernels, slots]
        vectors = [self.at(slot) for slot in slots]
        self.rebuild(vectors, self.bank.kernels, self.n_inserted, self.bank.capacity)
        self.bank.by_slot[:n_kernels] = 0.0
        self.bank.by_slot[:n_kernels, :n] = rows

    cdef tuple save(self, Py_ssize_t slot):
        vector = self.at(slot) if slot < self.n else None
        return slot, vector, self.bank.kernels, self.bank.array_sizes, self.n_inserted

    cdef int undo(self, tuple saved) except -1:
        slot, vector, kernels, array_sizes, n_inserted = saved
        self.bank.array_sizes = array_sizes
        vectors = self.all()
        vectors[slot : slot + 1] = [] if vector is None else [vector]
        self.rebuild(vectors, kernels, n_inserted, len(vectors))

    cdef int rebuild(
        self, list vectors, tuple kernels, int64_t n_inserted, Py_ssize_t n_slots, dict arrays=None
    ) except -1:
        # Names that cannot be looked up raise before the first change.
        dict.fromkeys([name for vector in vectors for name in vector[0]])
        try:
            self.store_all(vectors, kernels, n_inserted, n_slots, arrays)
        except BaseException:
            # If memory ran out, there was enough for as few slots.
            self.store_all(vectors, kernels, n_inserted, len(vectors), arrays)
            raise

    cdef int store_all(self, list vectors, tuple kernels, int64_t n_inserted, Py_ssize_t n_slots, dict arrays) except -1:
        """Forget all vectors, and store others from copies."""
        self.forget_all(kernels, capacity_for(n_slots), sizes_of_arrays(vectors, arrays))
        most_features = max([8, self.packed.layout.m] + [len(vector[0]) for vector in vectors])
        self.packed.set_room(most_features)
        self.loaded.set_room(most_features)
        layouts = {}
        for names, values, vector_arrays, snapshot, inserted in vectors:
            # Vectors with the same list of names share a layout.
            if id(names) not in layouts:
                layouts[id(names)] = Layout(names)
            layout = <Layout> layouts[id(names)]
            self.bank.look_up(layout, True)
            self.bank.place(self.loaded, layout)
            memcpy(self.loaded.values, PyBytes_AS_STRING(values), len(values))
            self.bank.unpack(self.loaded, vector_arrays)
            self.bank.measure(self.loaded)
            self.store(self.n, layout, self.loaded, vector_arrays, snapshot)
            self.inserted[self.n - 1] = inserted
        self.packed.forget_rows()
        self.n_inserted = n_inserted

    cdef int forget_all(self, tuple kernels, Py_ssize_t capacity, dict sizes) except -1:
        """Forget all vectors and names, and make room for others, under other kernels."""
        self.matrices.clear(capacity, sizes)
        self.bank.set_kernels(kernels)
        self.bank.set_capacity(capacity)
        self.set_inserted(capacity)
        self.set_sizes()
        self.features.clear(capacity, self.bank.n_inner)
        self.bank.add_unseen()
        self.objects = None if self.objects is None else []
        self.n = 0

    # Memory.

    cdef int set_inserted(self, Py_ssize_t capacity) except -1:
        """Make room for the order of insertion, which stays."""
        cdef int64_t[::1] order = np.zeros(max(capacity, 8), np.int64)
        kept = self.order[:capacity]
        order.base[: len(kept)] = kept
        self.inserted, self.order = &order[0], order.base

    cdef int set_sizes(self) except -1:
        """Make room for statistics and arrays of the example and of any vector."""
        self.packed.point.set_sizes(self.bank.n_inner, self.matrices.n_elements)
        self.loaded.set_sizes(self.bank.n_inner, self.matrices.n_elements)
        # `load` leaves this as it is while no vector has arrays.
        self.bank.unpack(self.loaded, None)
