# The vectors of a model, in slots, and how they change.
#
# The n vectors are in slots 0 to n - 1, in the units of the user. What kernels read of them is in two parts, which
# the bank shares: numbers (`Features`) and arrays (`Matrices`). Python functions get deep copies of dicts.
#
# There is one method for each change. `put` stores the example in a slot. `grow` makes room for more slots and leaves
# all values where they are. `rescale` takes other kernels and scales, and measures all vectors anew. `reindex`
# forgets names and arrays that no vector has, `keep` removes vectors, and `undo` takes back a `put`. These three
# change which features there are, and so does a `put` of new arrays. They take copies of the vectors that shall
# remain, and give them to `rebuild`, which forgets all vectors and stores the copies.
#
# What always holds:
# - The bits of kernel rows follow from the vectors alone: after any changes, they are those of a store that was given
#   the same vectors at once.
# - A change happens as a whole, or not at all. If `grow` raises (out of memory, a signal, the code of a name), all
#   vectors are as they were. If `rebuild` or `rescale` raises in the middle, it is done a second time, and then the
#   exception goes on. A `put` that raises leaves all vectors whole but that of its slot, which `undo` replaces.
# - After a change of names, arrays, kernels or scales, the rows of the example are not known any more.
#
# The vectors own the values and the order of insertion. The bank owns what follows from these and the kernels.
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
    cdef list objects                 # their snapshots, for Python functions (n,); None without these
    cdef Features features
    cdef Matrices matrices
    cdef KernelBank bank
    cdef PackedExample packed         # the example
    cdef Point loaded                 # the vector that was loaded last

    # Store the example in a new slot, n, or in the place of the vector in a slot.
    cdef int put(self, Py_ssize_t slot) except -1
    # Return what `undo` needs to take back a later `put` into a slot (n: a new one).
    cdef tuple save(self, Py_ssize_t slot)
    cdef int undo(self, tuple saved) except -1
    # Remove all vectors but those in some slots, and put these in the order that is given (n,).
    cdef int keep(self, slots) except -1
    # Take other kernels, inverse scales by name and of all others, and relevances by name.
    cdef int rescale(self, tuple kernels, dict factors, double pooled, dict relevances) except -1
    # Forget the names that no vector has, if there are more than `most` of them. The example stays known.
    cdef int forget_names(self, Py_ssize_t most) except -1
    # Take other vectors, as `all` returns them, and other kernels, with room for at least so many slots, and for
    # more arrays, those of the example.
    cdef int rebuild(
        self, list vectors, tuple kernels, int64_t n_inserted, Py_ssize_t n_slots, dict arrays=*
    ) except -1

    # Make the vector in a slot the loaded one.
    cdef int load(self, Py_ssize_t slot) except -1 nogil
    # Return the names, values (as bytes), arrays, snapshot and insertion number of one vector, or of all (n,).
    cdef tuple at(self, Py_ssize_t slot)
    cdef list all(self)

    cdef int make_room(self, Py_ssize_t slot) except -1
    cdef tuple resolved_kernels(self)
    cdef int grow(self, Py_ssize_t n_slots) except -1
    cdef int reindex(self) except -1
    cdef bint store(self, Py_ssize_t slot, Layout layout, Point point, dict arrays, dict snapshot) except -1
    cdef int derive(self, tuple kernels) except -1
    cdef int forget_all(self, tuple kernels, Py_ssize_t capacity, dict sizes) except -1
    cdef int store_all(self, list vectors, tuple kernels, int64_t n_inserted, Py_ssize_t n_slots, dict arrays) except -1
    cdef int set_inserted(self, Py_ssize_t capacity) except -1
    cdef int set_sizes(self) except -1
