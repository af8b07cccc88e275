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


cdef bint is_place(Place place, Py_ssize_t n_labels) noexcept nogil:
    return -1 <= place.label < n_labels and 0 <= place.bin < N_BINS


cdef class Repeats:

    def __init__(self):
        self.counts, self.last = np.zeros((2, 2 * N_BINS + 2)), -1
        self.stand()

    cdef void predict(self, double[::1] probabilities) noexcept nogil:
        n_labels, total, place = self.counts.shape[0], 0.0, self.place
        if place.label < 0 or self.abstains:
            probabilities[:] = 1.0 / n_labels
            return
        counts = &self.counts[place.label, 0]
        ended, went_on = counts[place.bin] + PRIOR, counts[N_BINS + place.bin] + PRIOR
        for c in range(n_labels):
            if c != place.label:
                probabilities[c] = counts[2 * N_BINS + c] + PRIOR
                total += probabilities[c]
        for c in range(n_labels):
            probabilities[c] *= ended / ((ended + went_on) * total)
        probabilities[place.label] = went_on / (ended + went_on)

    cdef void count(self, Py_ssize_t label, double share) noexcept nogil:
        place = self.place
        if place.label >= 0:
            counts = &self.counts[place.label, 0]
            if label == place.label:
                counts[N_BINS + place.bin] += share
            else:
                counts[place.bin] += share
                counts[2 * N_BINS + label] += share
        self.length = self.length + 1 if label == self.last else 1
        self.last = label
        self.stand()

    cdef void stand(self) noexcept nogil:
        self.place, self.abstains = Place(self.last, bin_of(self.length)), False

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
        self.stand()
