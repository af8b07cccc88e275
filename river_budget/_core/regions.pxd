# A root and a tree of leaves: Mnemotron's experts, and for each region a small model of its own.
#
# `Regions` is the root: all examples are learned by its experts. A tree divides the features into regions, and
# each region has a leaf, the engine of another model, which learns the examples of its region alone. A mixture of
# two, the root and the leaf of the example, gives the forecast. Its mixers are shared by all leaves, and its
# hedges are those of the leaf.
#
# A leaf has the columns of the root, from the first moment of a label on. It gets the example that the root has
# packed. How late a label is, is known for the root, and holds for the leaf. A ticket has what the root said, and
# after it what the leaf and the mixture of both said.
#
# A round is that of the root and of the leaf: all that can fail in both is staged before either of them changes. If
# the root rehearses, the exemplar and its own leaf are weighed as well. Then the example is counted in the
# statistics of its region. Once these are complete, `grow` divides the region, or begins them anew. Both new
# regions begin with the model that was there: one takes it, the other one gets a copy. When there are as many
# regions as were asked for, the statistics are gone for good.
#
# `leaves` is what Python keeps of the leaves, whose models update their own scales after a round. It never changes:
# `grow` puts another one in its place, with all else that depends on it, at a moment when nothing can fail.
from libc.stdint cimport int64_t, uint64_t

from river_budget._core.experts cimport Experts
from river_budget._core.splits cimport Splits
from river_budget._core.switch cimport Switch
from river_budget._core.tree cimport Tree

cdef enum:
    # Log weights of a leaf, of each of the two mixtures: root and leaf in the hedge, three mixtures.
    N_HEDGES = 5


cdef class Regions(Experts):
    cdef readonly Py_ssize_t most          # regions
    cdef readonly object leaves            # of all regions, in Python
    cdef list engines                      # theirs
    cdef readonly Tree tree
    cdef readonly list statistics          # of all regions; None when there will be no more of them
    cdef uint64_t n_draws                  # random numbers so far
    cdef double[:, ::1] hedges             # of the prompt mixtures, and of the late ones (most, 2 N_HEDGES)
    # The right predictions in each region since it is there, and its examples of each label (most, 1 + labels).
    cdef int64_t[:, ::1] tallies
    cdef readonly Switch top               # between mixtures of root and leaf, with the hedges of the region `taken`
    cdef Py_ssize_t taken
    cdef Py_ssize_t n_rows_of_leaf         # in a ticket
    # The region of the last example, -1 before the first, its leaf and its statistics.
    cdef readonly Py_ssize_t region
    cdef Experts leaf
    cdef Splits splits
    # Of a round: the region of the exemplar that is rehearsed, or -1, and the steps of its hedges.
    cdef Py_ssize_t rehearsed
    cdef double[2 * N_HEDGES] rehearsed_steps

    cdef int enter(self, Py_ssize_t region) except -1 with gil
    cdef int evaluate_leaf(self) except -1 nogil
    cdef void give_ticket(self) noexcept nogil
    cdef void learn_top(self, Py_ssize_t label) noexcept nogil
    cdef void wake_hedges(self) noexcept nogil
    cdef int finish_region(self, Py_ssize_t label, bint is_right) noexcept nogil
