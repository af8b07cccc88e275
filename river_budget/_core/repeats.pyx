# cython: language_level=3, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True
"""The expert of repeated labels; see `repeats.pxd`."""

from libc.math cimport frexp

import numpy as np

from river_budget._arrays import padded
from river_budget._state import count, floats, require

cdef double PRIOR = 0.5                    # is added to each count of runs, so that no probability is 0


cdef inline Py_ssize_t bin_of(Py_ssize_t length) noexcept nogil:
    """Return the bin of the length of a run."""
    cdef int exponent
    frexp(<double> length, &exponent)
    return min(max(exponent, 1), N_BINS) - 1


cdef class Repeats:

    def __init__(self):
        self.counts, self.last, self.is_prompt = np.zeros((2, 2 * N_BINS + 2)), -1, True

    cdef void predict(self, double[::1] probabilities) noexcept nogil:
        n_labels, total = self.counts.shape[0], 0.0
        if self.last < 0 or not self.is_prompt:
            probabilities[:] = 1.0 / n_labels
            return
        counts, length = &self.counts[self.last, 0], bin_of(self.length)
        ended, went_on = counts[length] + PRIOR, counts[N_BINS + length] + PRIOR
        for c in range(n_labels):
            if c != self.last:
                probabilities[c] = counts[2 * N_BINS + c] + PRIOR
                total += probabilities[c]
        for c in range(n_labels):
            probabilities[c] *= ended / ((ended + went_on) * total)
        probabilities[self.last] = went_on / (ended + went_on)

    cdef void count(self, Py_ssize_t label) noexcept nogil:
        if not self.is_prompt:
            self.last, self.length, self.is_prompt = -1, 0, True
            return
        if self.last >= 0:
            counts, length = &self.counts[self.last, 0], bin_of(self.length)
            if label == self.last:
                counts[N_BINS + length] += 1.0
            else:
                counts[length] += 1.0
                counts[2 * N_BINS + label] += 1.0
        self.length = self.length + 1 if label == self.last else 1
        self.last = label

    cdef object widened(self, Py_ssize_t n_labels):
        return padded(self.counts.base, n_labels, 2 * N_BINS + n_labels)

    @property
    def nbytes(self):
        return self.counts.nbytes

    def state(self):
        return {"counts": self.counts.base.copy(), "last": self.last, "length": self.length}

    def restore(self, state):
        """Restore counts that have their labels from their state."""
        last, length = state["last"], count(state["length"])
        is_known = type(last) is int and -1 <= last < self.counts.shape[0]
        require(is_known, "the last label is unknown")
        self.counts = floats(state["counts"], (<object> self.counts).shape)
        require(self.counts.base.min() >= 0.0, "a count of runs is negative")
        self.last, self.length = last, length
