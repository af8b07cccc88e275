# The vectors of a model, in slots, and how they change.
#
# n vectors are in slots 0 to n - 1, in the units of the user. What kernels read of them is in two parts, which
# the bank shares: numbers (`Features`) and arrays (`Matrices`). Python functions get deep copies of dicts.
#
# There is one method for each change. `put` stores the example in a slot; `grow` makes room for more slots and
# leaves all values where they are; `rescale` takes other kernels and scales, and measures all vectors anew;
# `reindex` forgets names and arrays that no vector has, and `undo` takes back a `put`. What changes the
# features themselves goes through `rebuild`, which stores all vectors again from copies.
#
# What always holds:
# - The bits of kernel rows follow from the vectors alone: after any changes, they are those of a store that was
#   given the same vectors at once.
# - A change happens as a whole, or not at all. If `grow` raises (memory lacks, a signal, the code of a name), all
#   vectors are as they were. If `rebuild` or `rescale` raises in the middle, it is done a second time, and then
#   the exception goes on. A `put` that raises leaves every vector whole but that of its slot, which `undo` replaces.
# - After a change of names, arrays, kernels or scales, the rows of the example are not known any more.
#
# The vectors own the values and the order of insertion. The bank owns what follows from them and the kernels.
cimport cython
from libc.stdint cimport int64_t

from river_budget._core.example cimport PackedExample
from river_budget._core.features cimport Features, Layout, Matrices
from river_budget._core.kernel_bank cimport KernelBank, Point


@cython.final
cdef class Vectors:
    cdef readonly Py_ssize_t n
    cdef readonly int64_t n_inserted
    cdef int64_t *inserted            # (capacity,) insertion order, larger for younger vectors
    cdef object order                 # the array that owns it
    cdef list objects                 # deep copies for Python functions; None without them
    cdef Features features
    cdef Matrices matrices
    cdef KernelBank bank
    cdef PackedExample packed         # the example
    cdef Point loaded                 # the vector that was loaded last

    # Store the example in a slot: n is a new one, another one is overwritten.
    cdef int put(self, Py_ssize_t slot) except -1
    # Return what `undo` needs to take back a later `put` into a slot (n: a new one).
    cdef tuple save(self, Py_ssize_t slot)
    cdef int undo(self, tuple saved) except -1
    # Remove all vectors but those in some slots (n,), which are in this order then.
    cdef int keep(self, slots) except -1
    # Take other kernels, and inverse scales: by name, and of all others.
    cdef int rescale(self, tuple kernels, dict factors, double pooled, dict relevances) except -1
    # Forget the names that no vector has, if there are more of them than so many. The example stays known.
    cdef int forget_names(self, Py_ssize_t most) except -1
    # Take other vectors, as `all` returns them, and kernels; make room for so many slots at least, and for
    # arrays of the example.
    cdef int rebuild(
        self, list vectors, tuple kernels, int64_t n_inserted, Py_ssize_t n_slots, dict arrays=*
    ) except -1

    # Make the vector in a slot the loaded one.
    cdef int load(self, Py_ssize_t slot) except -1 nogil
    # Return the names, values, arrays, object and insertion number of the vector in a slot.
    cdef tuple at(self, Py_ssize_t slot)
    cdef list all(self)

    cdef int make_room(self, Py_ssize_t slot) except -1
    cdef tuple resolved_kernels(self)
    cdef int grow(self, Py_ssize_t n_slots) except -1
    cdef int reindex(self) except -1
    cdef bint store(self, Py_ssize_t slot, Layout layout, Point p, dict arrays, dict own) except -1
    cdef int derive(self, tuple kernels) except -1
    cdef int build(
        self, list vectors, tuple kernels, int64_t n_inserted, Py_ssize_t n_slots, dict arrays
    ) except -1
    cdef int set_inserted(self, Py_ssize_t capacity) except -1
    cdef int set_sizes(self) except -1
