# cython: language_level=3, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""The values of some features in an example; see `readings.pxd`."""

import sys

import numpy as np

from cpython.object cimport PyObject

from river_budget._core.example cimport PackedExample

from river_budget._checks import is_bounded
from river_budget._state import integers, require


cdef class Readings:

    def __init__(self, list names, elements):
        n = self.n = len(names)
        self.names, self.elements = names, np.array(elements, np.int64).reshape(n)
        self.has_arrays = bool((self.elements.base >= 0).any())
        self.places, self.of_arrays, self.values = np.full(n, -1, np.intp), np.zeros(n), np.zeros(n)

    cdef int locate(self, PackedExample packed) except -1 nogil:
        if <PyObject *> packed.layout.names != <PyObject *> self.columns:
            with gil:
                self.look_up(packed)
        if self.has_arrays:
            with gil:
                self.read_arrays(packed)

    cdef int look_up(self, PackedExample packed) except -1:
        cdef dict place_of = {name: place for place, name in enumerate(packed.layout.names)}
        places = [
            place_of.get(name, -1) if element < 0 else -1
            for name, element in zip(self.names, self.elements.base.tolist())
        ]
        self.places, self.columns = np.array(places, np.intp), packed.layout.names

    cdef int read_arrays(self, PackedExample packed) except -1:
        arrays = packed.arrays or {}
        for j in range(self.n):
            if self.elements[j] >= 0:
                array = arrays.get(self.names[j], ())
                self.of_arrays[j] = array[self.elements[j]] if self.elements[j] < len(array) else 0.0

    cdef double value(self, PackedExample packed, Py_ssize_t j) noexcept nogil:
        place = self.places[j]
        return packed.point.values[place] if place >= 0 else self.of_arrays[j]

    cdef int read(self, PackedExample packed) except -1 nogil:
        self.locate(packed)
        for j in range(self.n):
            self.values[j] = self.value(packed, j)

    cdef Readings extended(self, list names, list elements):
        return Readings(self.names + names, [*self.elements.base.tolist(), *elements])

    @property
    def nbytes(self):
        arrays = self.elements.nbytes + self.places.nbytes + self.of_arrays.nbytes + self.values.nbytes
        return arrays + sum([sys.getsizeof(part) for part in (self.names, *self.names)])

    def state(self):
        return {"names": list(self.names), "elements": self.elements.base.copy()}


def restored_readings(state):
    """Return readings from their state. Raises ValueError if it is invalid."""
    names, elements = state["names"], integers(state["elements"], (None,))
    is_valid = type(names) is list and len(names) == len(elements) and (elements >= -1).all()
    require(is_valid and all(map(is_bounded, names)), "the features of regions are not names and elements")
    dict.fromkeys(names)  # Raises TypeError if one is not hashable.
    return Readings(names, elements)
