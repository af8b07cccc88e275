# cython: language_level=3, wraparound=False, initializedcheck=False
"""Which vector to remove: validation examples, and their losses after each removal.

A `ValidationTable` has kernel values of examples (rows) and vectors (columns), and the scores of
the examples. The example of a round *joins* as the last vector, all removals are evaluated, and one
vector is removed, whose slot the last one takes. In a `VectorTable` the examples are the vectors; in
a `CountedTable` they also count the labels of the examples that were nearest to them.

All but the labels of examples and the counts follows from the hypothesis: `derive` sets it anew
after a change of the kernel. `take_back` takes back the last round exactly, without a kernel value.
The tables follow the number of labels of the hypothesis whenever an example comes.
"""

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer
from libc.math cimport NAN, isnan
from libc.stdint cimport int64_t

import numpy as np

from river_budget._arrays import padded
from river_budget._state import LARGEST_SUM, ROUNDING, floats, integers, require

from river_budget._core.expansion cimport Expansion

cdef extern from "removal.h":
    struct Examples "examples":
        const double *table
        const double *scores
        const double *weights
        const int64_t *columns
        const double *steps
        const double *alphas
        const int64_t *labels
        const int64_t *rivals
        long m, n, stride, room, n_labels
    ctypedef void (*Losses)(const Examples *, double *, double *) noexcept nogil
    struct Loops "removals":
        Losses errors[2]
        Losses losses[2]
        long (*unique_largest)(const double *, long) noexcept nogil
    void choose_removals(Loops *, int most)

cdef Loops loops

# Kernel values far above 1 multiply the counts with every removal, until they overflow. SciPy's
# Beta distribution returns NaN for parameters above about 1e15.
cdef double LARGEST_COUNT = 1e12


def use_lanes(int most):
    """Compute with vectors of at most `most` doubles."""
    choose_removals(&loops, most)


use_lanes(8)


# SciPy's regularized incomplete Beta function; its last argument is Cython's "skip dispatch".
ctypedef double (*Beta)(double, double, double, int) noexcept nogil
cdef Beta betainc = NULL


cdef int load_betainc() except -1:
    """Look up the function in SciPy, which is slow to import."""
    global betainc
    from scipy.special import cython_special

    for name, capsule in cython_special.__pyx_capi__.items():
        signature = PyCapsule_GetName(capsule)
        if name.endswith("betainc") and signature.startswith(b"double (double, double, double, i"):
            betainc = <Beta> PyCapsule_GetPointer(capsule, signature)
    require(betainc != NULL, "this version of SciPy has no betainc for doubles")
    return 0


cdef struct Term:                         # what a vector adds to the score of its label, and takes from
    double step                           # that of its rival
    Py_ssize_t label, rival


cdef Py_ssize_t extended(Py_ssize_t size, Py_ssize_t needed, Py_ssize_t limit):
    """Return a size of at least `needed`: the present one, or twice that up to a limit."""
    return size if needed <= size else max(needed, min(2 * size, limit))


cdef class ValidationTable:
    """Kernel values of examples (rows) and vectors (columns), and the scores of the examples.

    Parameters
    ----------
    most_vectors
        How many vectors there may be, the incoming one included.
    most_examples
        How many examples there may be.
    """

    cdef readonly Py_ssize_t m, n, n_labels
    cdef readonly Py_ssize_t most_vectors, most_examples
    cdef readonly dict arrays             # owns the arrays below, by name; their lengths are room
    cdef double[:, ::1] table             # kernel values (examples, vectors in groups of 8)
    cdef double[:, ::1] scores            # (labels, examples)
    cdef int64_t[::1] columns             # the labels of the examples
    # Scratch of `least`: what each vector adds to the score of its label and takes from that of its
    # rival, and the loss after its removal.
    cdef double[::1] steps, alphas, sums
    cdef int64_t[::1] labels, rivals

    # What the last round has changed, before that: sizes, all scores, the column of a removed vector,
    # and the row and the label of an example; slots that are new stand for none.
    cdef int64_t changed_in               # the number of the round; 0: nothing is kept
    cdef Py_ssize_t old_m, old_n, old_slot, old_example
    cdef double[:, ::1] old_scores
    cdef double[::1] old_column, old_row
    cdef int64_t old_label

    def __init__(self, Py_ssize_t most_vectors, Py_ssize_t most_examples):
        self.most_vectors, self.most_examples = most_vectors, most_examples
        self.n_labels = 2
        # With room for an example, so that a first one has an address.
        self.arrays = {
            name: np.zeros(shape, np.int64 if name in ("columns", "labels", "rivals") else float)
            for name, shape in self.shapes(1, 0, 2).items()
        }
        self.bind()

    def __reduce__(self):
        sizes = self.m, self.n, self.n_labels
        return type(self), (self.most_vectors, self.most_examples), (sizes, self.arrays)

    def __setstate__(self, state):
        (self.m, self.n, self.n_labels), arrays = state
        self.arrays = {name: array.copy() for name, array in arrays.items()}
        self.bind()

    def shapes(self, rows, stride, n_labels):
        """Return the shapes of all arrays, by name."""
        return {
            "table": (rows, stride),
            "scores": (n_labels, rows),
            "columns": (rows,),
            **dict.fromkeys(("steps", "alphas", "labels", "rivals", "sums"), (stride,)),
            "old_scores": (n_labels, rows),
            "old_column": (rows,),
            "old_row": (stride,),
        }

    def bind(self):
        """Take the arrays."""
        arrays = self.arrays
        self.table, self.scores, self.columns = arrays["table"], arrays["scores"], arrays["columns"]
        self.steps, self.alphas, self.sums = arrays["steps"], arrays["alphas"], arrays["sums"]
        self.labels, self.rivals = arrays["labels"], arrays["rivals"]
        self.old_scores, self.old_column = arrays["old_scores"], arrays["old_column"]
        self.old_row = arrays["old_row"]

    @property
    def nbytes(self):
        """Memory of the table in bytes."""
        return sum(array.nbytes for array in self.arrays.values())

    def scores_of_examples(self, Expansion f):
        """Return the scores of the examples (m, labels)."""
        self.reserve(self.m, self.n, f.n_labels)
        return self.arrays["scores"].T[: self.m]

    @property
    def kernel_values(self):
        """The kernel values of the examples (m, n)."""
        return self.arrays["table"][: self.m, : self.n]

    def errors(self, Expansion f, scores, table):
        """Return the largest errors of scores and kernel values, given those from scratch."""
        return {
            "validation scores": abs(self.scores_of_examples(f) - scores).max(initial=0.0).item(),
            "validation table": abs(self.kernel_values - table).max(initial=0.0).item(),
        }

    def state(self, Expansion f):
        """Return the scores, the kernel values and the labels of the examples."""
        return {
            "scores": self.scores_of_examples(f).copy(),
            "kernel_values": self.kernel_values.copy(),
            "columns": self.arrays["columns"][: self.m].copy(),
        }

    def restore(self, state, Expansion f, m=None):
        """Restore a new table of m examples, before the rest is derived."""
        scores = floats(state["scores"], (m, f.n_labels), LARGEST_SUM)
        columns = integers(state["columns"], (len(scores),))
        is_valid = ((columns >= 0) & (columns < f.n_labels)).all()
        require(is_valid, "the labels of a validation set are wrong")
        fits = f.store.n < self.most_vectors and len(scores) <= self.most_examples
        require(fits, "a validation set has too many vectors or examples")
        table = floats(state["kernel_values"], (len(scores), f.store.n))
        self.reserve(len(scores), f.store.n, f.n_labels)
        self.m, self.n = len(scores), f.store.n
        self.scores_of_examples(f)[:] = scores
        self.kernel_values[:] = table
        self.arrays["columns"][: self.m] = columns

    def put(self, Expansion f, Py_ssize_t i, row, scores, label):
        """Write an example with its kernel row (n,), scores (labels,) and label; m is a new one."""
        is_valid = 0 <= i <= self.m and len(row) == self.n and len(scores) == f.n_labels
        require(is_valid, "an example has another size")
        self.reserve(i + 1, self.n, f.n_labels)
        self.keep(f)
        self.keep_row(i)
        self.arrays["table"][i, : self.n] = row
        self.arrays["scores"][: len(scores), i] = scores
        self.columns[i] = label
        self.m = max(self.m, i + 1)

    def join(self, Expansion f, column):
        """Add the example of the round as the last vector, given its kernel values (m,)."""
        require(len(column) == self.m, "a column has another size")
        self.reserve(self.m, self.n + 1, f.n_labels)
        self.keep(f)
        self.arrays["table"][: self.m, self.n] = column
        self.add_last(f)

    def fewest_errors(self, Expansion f):
        """Return the vector without which the examples have the least 0-1 loss, the oldest of them.

        A margin of 0 is an error. The incoming example is the youngest vector.
        """
        return least(self, f, loops.errors[self.n_labels > 2], NULL)

    def remove(self, Expansion f, Py_ssize_t slot):
        """Remove a vector after one has joined, which takes its slot, before it does so in f."""
        cdef Py_ssize_t i, last = self.n - 1
        require(0 <= slot <= last and last == self.old_n, "there is no such vector")
        self.add_term(slot, term_of(f, slot), -1.0)
        self.old_slot = slot
        for i in range(self.m):
            self.old_column[i] = self.table[i, slot]
            self.table[i, slot] = self.table[i, last]
        self.n = last

    def take_back(self, Expansion f):
        """Take back what happened in a round that the hypothesis has taken back."""
        if self.changed_in <= f.n_rounds:
            return
        self.m, self.n, self.changed_in = self.old_m, self.old_n, 0
        if self.old_example < self.m:
            self.table[self.old_example, :] = self.old_row
            self.columns[self.old_example] = self.old_label
        if self.old_slot < self.n:
            self.table[: self.m, self.old_slot] = self.old_column[: self.m]
        self.scores[:, : self.m] = self.old_scores[:, : self.m]

    def derive(self, Expansion f, scores, table):
        """Set all but the labels of the examples: scores (m, labels) and kernel values (m, n)."""
        m, n = table.shape
        self.reserve(m, n, f.n_labels)
        self.m, self.n = m, n
        self.scores_of_examples(f)[:] = scores
        self.kernel_values[:] = table

    def derive_restored(self, Expansion f, table):
        """Derive what a checkpoint does not have, given the kernel values from scratch (m, n).

        Their last bits depend on which came first, example or vector, so the stored ones remain.
        """
        tolerance = ROUNDING * abs(table).max(initial=1.0)
        is_right = (abs(self.kernel_values - table) <= tolerance).all()
        require(is_right, "the kernel values of a validation set are wrong")
        self.derive(f, self.scores_of_examples(f).copy(), self.kernel_values.copy())

    cdef int reserve(self, Py_ssize_t m, Py_ssize_t n, Py_ssize_t n_labels) except -1:
        """Make room for some examples, vectors and labels."""
        cdef Py_ssize_t rows = self.table.shape[0], stride = self.table.shape[1]
        if m <= rows and n <= stride and n_labels <= self.n_labels:
            return 0
        rows = extended(rows, m, self.most_examples)
        # The loops go through groups of 8 vectors.
        stride = (extended(stride, n, self.most_vectors) + 7) // 8 * 8
        n_labels = max(n_labels, self.n_labels)
        shapes = self.shapes(rows, stride, n_labels)
        self.arrays = {name: padded(self.arrays[name], *shape) for name, shape in shapes.items()}
        self.n_labels = n_labels
        self.bind()
        return 0

    cdef void keep(self, Expansion f) noexcept:
        """Keep what the round of the expansion is about to change, for `take_back`."""
        if self.changed_in == f.n_rounds:
            return
        self.changed_in, self.old_m, self.old_n = f.n_rounds, self.m, self.n
        self.old_slot, self.old_example = self.n, self.m
        self.old_scores[:, : self.m] = self.scores[:, : self.m]

    cdef void keep_row(self, Py_ssize_t i) noexcept:
        """Keep the row of an example, unless it is new."""
        if i < self.old_m:
            self.old_example, self.old_label = i, self.columns[i]
            self.old_row[:] = self.table[i, :]

    cdef void add_last(self, Expansion f) noexcept:
        """Add the term of the example of the round, whose kernel values are there."""
        self.add_term(self.n, term_of_example(f), 1.0)
        self.n += 1

    cdef void add_term(self, Py_ssize_t slot, Term term, double sign) noexcept:
        """Add the term of a vector to the scores of all examples, or take it away."""
        cdef double change, step = sign * term.step
        cdef Py_ssize_t i
        cdef double *own = &self.scores[term.label, 0]
        cdef double *rival = &self.scores[term.rival, 0]
        for i in range(self.m):
            change = step * self.table[i, slot]
            own[i] += change
            rival[i] -= change


cdef Term term_of_example(Expansion f) noexcept:
    return Term(f.y.weight, f.y.label, f.y.rival)


cdef Term term_of(Expansion f, Py_ssize_t slot) noexcept:
    """Return the term of a vector; beyond those of f, it is the example of the round."""
    cdef Py_ssize_t label, rival
    if slot >= f.store.n:
        return term_of_example(f)
    label = f.label_of(slot)
    rival = 1 - label if f.n_labels == 2 else f.rival_of(slot)
    return Term(f.scale * f.table[label, slot], label, rival)


cdef void set_terms(ValidationTable v, Expansion f) noexcept:
    """Set what each vector adds to scores: with two labels, alphas alone are read."""
    cdef double[:, ::1] table = f.table
    cdef double[::1] alphas = v.alphas
    cdef Py_ssize_t j
    cdef Term term
    if v.n_labels == 2:
        for j in range(v.n):
            is_last = j >= f.store.n
            alphas[j] = f.y.weight * (f.y.label - f.y.rival) if is_last else f.scale * table[1, j]
        return
    for j in range(v.n):
        term = term_of(f, j)
        v.steps[j], v.labels[j], v.rivals[j] = term.step, term.label, term.rival


cdef Py_ssize_t least(
    ValidationTable v, Expansion f, Losses losses, const double *weights
) except? -1:
    """Return the vector without which a loss of the examples is least, the oldest among ties."""
    cdef Py_ssize_t j, best = v.n - 1
    cdef int64_t *inserted = f.store.inserted
    cdef double[::1] sums = v.sums, scratch = np.empty(2 * v.n_labels)
    cdef Examples e
    set_terms(v, f)
    e.m, e.n, e.n_labels = v.m, v.n, v.n_labels
    e.room, e.stride = v.table.shape[0], v.table.shape[1]
    e.table, e.scores, e.weights, e.columns = &v.table[0, 0], &v.scores[0, 0], weights, &v.columns[0]
    e.steps, e.alphas, e.labels, e.rivals = &v.steps[0], &v.alphas[0], &v.labels[0], &v.rivals[0]
    sums[:] = 0.0
    losses(&e, &sums[0], &scratch[0])
    for j in range(v.n - 1):
        if sums[j] < sums[best] or sums[j] == sums[best] and (
            best == v.n - 1 or inserted[j] < inserted[best]
        ):
            best = j
    return best


cdef class VectorTable(ValidationTable):
    """The vectors themselves as examples: the table is their Gram matrix."""

    def __init__(self, Py_ssize_t most_vectors, Py_ssize_t most_examples=0):
        super().__init__(most_vectors, most_vectors)

    def join(self, Expansion f, column=None):
        """Add the example of the round as the last vector and example."""
        cdef Py_ssize_t i, n = self.n
        cdef double *row = f.store.rows
        require(0 <= f.store.n - n <= 1, "the table has other vectors than the hypothesis")
        self.reserve(n + 1, n + 1, f.n_labels)
        self.keep(f)
        for i in range(n):
            self.table[n, i] = self.table[i, n] = row[i]
        self.table[n, n] = f.store.own_values[0]
        for i in range(f.n_labels):
            self.scores[i, n] = f.answers[i]
        self.columns[n] = f.y.label
        self.m = n + 1
        self.add_last(f)

    def remove(self, Expansion f, Py_ssize_t slot):
        cdef Py_ssize_t c, last = self.n - 1
        require(0 <= slot <= last, "there is no such vector")
        self.keep_row(slot)
        super().remove(f, slot)
        self.table[slot, :] = self.table[last, :]
        for c in range(self.n_labels):
            self.scores[c, slot] = self.scores[c, last]
        self.columns[slot] = self.columns[last]
        self.m = last

    def derive(self, Expansion f, scores, table):
        """Set all: scores (n, labels) and the Gram matrix (n, n)."""
        super().derive(f, scores, table)
        self.arrays["columns"][: self.n] = f.matrix.argmax(axis=1)

    def state(self, Expansion f):
        """Return the scores and the labels of the vectors, and half of their Gram matrix."""
        half = self.kernel_values[np.tril_indices(self.n)]
        return {**super().state(f), "kernel_values": half}

    def restore(self, state, Expansion f, m=None):
        n = f.store.n
        table, below = np.zeros((n, n)), np.tril_indices(n)
        table[below] = table.T[below] = floats(state["kernel_values"], (len(below[0]),))
        super().restore({**state, "kernel_values": table}, f, n)


cdef class CountedTable(VectorTable):
    """Vectors that count the labels of the examples that were nearest to them.

    Parameters
    ----------
    ranks
        Whether a larger kernel value always means a smaller distance.
    """

    cdef readonly bint ranks
    cdef double[:, ::1] counts, weights   # (labels, vectors); weights to compute anew are NaN
    # The last change of counts: its round, the slots, and their counts before (2, labels).
    cdef int64_t counted_in
    cdef Py_ssize_t[2] counted
    cdef double[:, ::1] old_counts

    def __init__(self, Py_ssize_t most_vectors, bint ranks):
        self.ranks = ranks
        super().__init__(most_vectors)

    def __reduce__(self):
        _, _, state = super().__reduce__()
        return type(self), (self.most_vectors, self.ranks), state

    def shapes(self, rows, stride, n_labels):
        by_labels = {"counts": (n_labels, rows), "weights": (n_labels, rows)}
        by_labels["old_counts"] = 2, n_labels
        return {**super().shapes(rows, stride, n_labels), **by_labels}

    def bind(self):
        """Take the arrays; all weights have to be computed anew."""
        super().bind()
        self.counts, self.weights = self.arrays["counts"], self.arrays["weights"]
        self.old_counts = self.arrays["old_counts"]
        self.weights[:] = NAN

    cpdef Py_ssize_t nearest_to_example(self, Expansion f) except -2:
        """Return the vector nearest to the example of the expansion; -1 if it is not known."""
        require(self.n == f.store.n, "the table has other vectors than the hypothesis")
        return loops.unique_largest(f.store.rows, self.n) if self.ranks else -1

    def count(self, Expansion f):
        """Count the example of the round at the nearest vector; return False if it is not known."""
        cdef Py_ssize_t nearest = self.nearest_to_example(f)
        if nearest >= 0:
            self.count_at(f, nearest)
        return nearest >= 0

    cpdef int count_at(self, Expansion f, Py_ssize_t slot) except -1:
        """Count the example of the round at a vector, times the kernel value."""
        cdef Py_ssize_t c
        require(0 <= slot < self.n, "there is no such vector")
        self.reserve(self.m, self.n, f.n_labels)
        self.keep_counts(f, slot, slot)
        self.counts[f.y.label, slot] += f.y.weight * max(0.0, f.store.rows[slot])
        for c in range(self.n_labels):
            self.weights[c, slot] = NAN
        return 0

    def join(self, Expansion f, column=None):
        """Add the example of the round, which counts its own label."""
        super().join(f)
        cdef Py_ssize_t c, last = self.n - 1
        for c in range(self.n_labels):
            self.counts[c, last], self.weights[c, last] = 0.0, NAN
        self.counts[f.y.label, last] = f.y.weight

    @property
    def stale(self):
        """Slots of the vectors whose weights have to be computed anew."""
        return np.flatnonzero(np.isnan(self.arrays["weights"][0, : self.n]))

    def counts_of(self, slots):
        """Return the counts of vectors (slots, labels)."""
        return self.arrays["counts"].T[slots]

    def renew(self, double prior):
        """Compute the weights of two labels anew where they have to be."""
        cdef Py_ssize_t i
        cdef double a, b, divisor
        require(self.n_labels == 2, "there are more than two labels")
        if betainc == NULL:
            load_betainc()
        for i in range(self.n):
            if isnan(self.weights[0, i]):
                a, b = self.counts[0, i] + prior, self.counts[1, i] + prior
                divisor = max(1.0, max(a, b) / LARGEST_COUNT)
                self.weights[1, i] = betainc(a / divisor, b / divisor, 0.5, 0)
                self.weights[0, i] = 1.0 - self.weights[1, i]

    def weigh(self, slots, weights):
        """Set the weights of vectors (slots, labels)."""
        self.arrays["weights"].T[slots] = weights

    def least_loss(self, Expansion f):
        """Return the vector without which the expected hinge loss is least, the oldest of them."""
        return least(self, f, loops.losses[self.n_labels > 2], &self.weights[0, 0])

    def nearest(self, Py_ssize_t slot):
        """Return the vector nearest to another one; -1 if it is not known."""
        require(0 <= slot < self.n, "there is no such vector")
        if not self.ranks:
            return -1
        row = self.arrays["table"][slot, : self.n].copy()
        row[slot] = 0.0
        cdef double[::1] values = row
        return loops.unique_largest(&values[0], self.n)

    def move_counts(self, Expansion f, Py_ssize_t slot, Py_ssize_t nearest):
        """Remove a vector, and add its counts, times the kernel value, to those of the nearest one."""
        cdef Py_ssize_t c, last = self.n - 1
        cdef double factor, largest = 0.0
        is_valid = 0 <= slot <= last and 0 <= nearest <= last and nearest != slot
        require(is_valid, "there is no such vector")
        self.keep_counts(f, nearest, slot)
        for c in range(self.n_labels):
            largest = max(largest, self.counts[c, slot])
        factor = max(0.0, self.table[nearest, slot]) / max(1.0, largest / LARGEST_COUNT)
        for c in range(self.n_labels):
            self.counts[c, nearest] += factor * self.counts[c, slot]
            self.weights[c, nearest] = NAN
            self.counts[c, slot] = self.counts[c, last]
            self.weights[c, slot] = self.weights[c, last]
        self.remove(f, slot)

    def start_again(self):
        """Set all counts to 0."""
        self.arrays["counts"][:] = 0.0
        self.weights[:] = NAN

    def take_back(self, Expansion f):
        if self.counted_in > f.n_rounds:
            self.arrays["counts"].T[list(self.counted)] = self.arrays["old_counts"]
            self.counted_in = 0
            self.weights[:] = NAN
        super().take_back(f)

    def state(self, Expansion f):
        """Return the scores, labels and counts of the vectors."""
        return {**super().state(f), "counts": self.counts_of(slice(self.n)).copy()}

    def restore(self, state, Expansion f, m=None):
        super().restore(state, f)
        counts = floats(state["counts"], (self.n, f.n_labels), LARGEST_SUM)
        require((counts >= 0).all(), "a count is negative")
        self.counts_of(slice(self.n))[:] = counts

    cdef void keep_counts(self, Expansion f, Py_ssize_t first, Py_ssize_t second) noexcept:
        """Keep the counts of two vectors that are about to change."""
        cdef Py_ssize_t c
        for c in range(self.n_labels):
            self.old_counts[0, c] = self.counts[c, first]
            self.old_counts[1, c] = self.counts[c, second]
        self.counted, self.counted_in = [first, second], f.n_rounds
