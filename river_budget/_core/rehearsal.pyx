# cython: language_level=3, wraparound=False
# cython: initializedcheck=False, cdivision=True
"""Which labels are absent, and what is kept for them."""

from libc.stdint cimport int64_t

import numpy as np

from river_budget._state import integers, require

from river_budget._core.store cimport Store

# What is known of a label: the rounds of its first and last example, their number, the number of its
# vectors, and the slots of its held-out examples, -1 without one.
cdef enum:
    FIRST
    LAST
    SEEN
    VECTORS
    OLDER
    NEWER
    N_FIELDS

# A label is absent if the rounds since its last example exceed this and so many times its mean gap.
cdef enum:
    SHORTEST_ABSENCE = 50
    GAPS = 5

# The first example of a label that is held out, a power of 4, as the numbers of all others.
cdef enum:
    FIRST_HELD_OUT = 16

cdef int64_t EVEN_BITS = 0x5555555555555555


cdef class Rehearsal:
    """The newest two held-out examples of each label, and which labels are absent.

    Parameters
    ----------
    store
        A store without vectors.
    budget
        The largest number of support vectors.
    """

    def __init__(self, Store store not None, Py_ssize_t budget):
        self.store = store
        self.owners, self.is_kept = np.full(budget, -1, np.int64), np.zeros(budget, np.int8)
        self.labels = np.zeros((0, N_FIELDS), np.int64)
        self.labels = self.widened(2)

    cdef bint is_absent(self, Py_ssize_t label, int64_t n_rounds) noexcept nogil:
        """Return whether a label with held-out examples has been away for long."""
        known = &self.labels[label, 0]
        cdef int64_t since = n_rounds - known[LAST]
        return (
            known[NEWER] >= 0
            and since > SHORTEST_ABSENCE
            and <double> since * (known[SEEN] - 1) > <double> GAPS * (known[LAST] - known[FIRST])
        )

    cdef bint begin(self, int64_t n_rounds) noexcept nogil:
        cdef Py_ssize_t c, i, turn, n_absent = 0, n = self.labels.shape[0]
        self.share, self.next_turn = 0.0, self.turn
        for c in range(n):
            n_absent += self.is_absent(c, n_rounds)
        if 2 * n_absent <= n:
            return False
        self.share = <double> n_absent / n
        for i in range(1, 2 * n + 1):
            turn = (self.turn + i) % (2 * n)
            c = turn % n
            if self.labels[c, OLDER + turn // n] >= 0 and self.is_absent(c, n_rounds):
                self.label, self.next_turn = c, turn
                break
        return True

    cdef dict example(self):
        """Return the example of the next rehearsal."""
        cdef Py_ssize_t age = self.next_turn // self.labels.shape[0]
        return self.store.vector(self.labels[self.label, OLDER + age])

    cdef bint hold(self, Py_ssize_t label, Store store) except -1 nogil:
        known = &self.labels[label, 0]
        cdef int64_t slot, number = known[SEEN] + 1
        if number < FIRST_HELD_OUT or number & (number - 1) or not number & EVEN_BITS:
            return False
        with gil:
            try:
                self.store.evaluate_like(store)
            except ValueError:  # a feature is an array of another length, or a number, in a held-out one
                return False
        slot = known[OLDER] if known[OLDER] >= 0 else self.store.n
        self.store.put(slot)
        known[OLDER], known[NEWER] = known[NEWER], slot
        return True

    cdef const char *kept(self, Py_ssize_t n, int64_t n_rounds) noexcept nogil:
        """Keep the vectors of absent labels that have at most their share of them."""
        cdef Py_ssize_t i, n_labels = self.labels.shape[0]
        cdef bint is_few
        if self.share == 0.0:
            return NULL
        for i in range(n):
            is_few = self.labels[self.owners[i], VECTORS] * n_labels <= n
            self.is_kept[i] = is_few and self.is_absent(self.owners[i], n_rounds)
        return &self.is_kept[0]

    cdef void place(self, Py_ssize_t slot, Py_ssize_t label) noexcept nogil:
        if self.owners[slot] >= 0:
            self.labels[self.owners[slot], VECTORS] -= 1
        self.labels[label, VECTORS] += 1
        self.owners[slot] = label

    cdef void count(self, Py_ssize_t label, int64_t n_rounds) noexcept nogil:
        known = &self.labels[label, 0]
        if known[SEEN] == 0:
            known[FIRST] = n_rounds
        known[LAST] = n_rounds
        known[SEEN] += 1
        self.turn = self.next_turn

    def widened(self, Py_ssize_t n_labels):
        """Return what is known of each label with new ones, up to a number of labels."""
        new = np.zeros((n_labels - self.labels.shape[0], N_FIELDS), np.int64)
        new[:, OLDER:] = -1
        return np.vstack((self.labels.base, new))

    @property
    def nbytes(self):
        return self.labels.nbytes + self.owners.nbytes + self.is_kept.nbytes + self.store.nbytes

    def state(self):
        """Return all but the examples."""
        owners = self.owners.base.copy()
        return {"labels": self.labels.base.copy(), "owners": owners, "turn": self.turn}

    def restore(self, state, Py_ssize_t n, int64_t n_rounds):
        """Restore a rehearsal that has its labels and examples from its state.

        Parameters
        ----------
        n
            The number of vectors of the model.
        n_rounds
            The number of its rounds.
        """
        labels, turn = integers(state["labels"], (<object> self.labels).shape), state["turn"]
        seen, slots = labels[:, SEEN], labels[:, OLDER:]
        in_order = (0 <= labels[:, FIRST]) & (labels[:, FIRST] <= labels[:, LAST])
        require(
            (in_order & (labels[:, LAST] <= n_rounds) & (seen >= 0) & (seen <= n_rounds)).all(),
            "the rounds of a label are wrong",
        )
        held = np.sort(slots[slots != -1])
        require(
            np.array_equal(held, np.arange(self.store.n)) and (slots[:, 1] >= -1).all()
            and (slots[slots[:, 1] == -1] == -1).all(),
            "the held-out examples are not those of the labels",
        )
        owners = integers(state["owners"], (self.owners.shape[0],))
        is_owned = (owners[:n] >= 0) & (owners[:n] < len(labels))
        require(is_owned.all() and (owners[n:] == -1).all(), "the label of a vector is unknown")
        n_vectors = np.bincount(owners[:n], minlength=len(labels))
        require((labels[:, VECTORS] == n_vectors).all(), "the numbers of vectors of labels are wrong")
        require(type(turn) is int and 0 <= turn < 2 * len(labels), "the turn of a label is wrong")
        self.labels, self.owners, self.turn = labels, owners, turn
