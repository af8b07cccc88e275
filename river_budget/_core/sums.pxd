# Running sums of the values of features, for the scales that a model learns.
from river_budget._core.store cimport Store


cdef class Sums:
    # Add the store's example. Takes the GIL only for arrays or names that differ from the last ones.
    cdef int add(self, Store store) except -1 nogil
