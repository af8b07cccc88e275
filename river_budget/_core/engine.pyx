# cython: language_level=3, wraparound=False, cdivision=True
"""The rounds of a model: what is the same whatever it learns."""

from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

from river_budget._state import count, require

from river_budget._core.features cimport reallocate
from river_budget._core.store cimport Block, PyThread_get_thread_ident

UPDATE, CHECK = DUE_UPDATE, DUE_CHECK

cdef enum:
    # `scan` returns after so many rows, so that an interrupt is heard.
    MOST_ROWS = 1024


cdef class Engine:
    """A model over a store, and its rounds."""

    def __cinit__(self, *_):
        self.stamp = -1

    def __dealloc__(self):
        free(self.answers)

    @property
    def n(self):
        """Number of vectors."""
        return self.store.n

    # Forecasts.

    def best(self, x):
        """Return the column of the largest score at x, the first among ties."""
        cdef Py_ssize_t c, best = 0
        self.evaluate(x)
        for c in range(1, self.n_labels):
            if self.answers[c] > self.answers[best]:
                best = c
        return best

    def scores(self, x):
        """Return the scores at x (labels,)."""
        self.evaluate(x)
        return self.last_scores()

    def last_scores(self):
        """Return the scores at the last example (labels,)."""
        cdef Py_ssize_t c
        return [self.answers[c] for c in range(self.n_labels)]

    def has_predicted(self, x):
        """Return whether x is the last example whose scores were computed, and they still hold."""
        self.begin()
        try:
            self.store.evaluate(x)
            return self.stamp == self.store.stamp
        finally:
            self.is_busy = False

    def forget_prediction(self):
        """Forget the scores at the last example."""
        self.stamp = -1

    def score_block(self, Block block):
        """Return the scores at each row of a block (rows, labels)."""
        cdef Py_ssize_t i
        cdef double[:, ::1] scores = np.empty((block.n_rows, self.n_labels))
        self.begin()
        self.store.owner = PyThread_get_thread_ident()
        try:
            with nogil:
                for i in range(block.n_rows):
                    self.store.evaluate_row(block, i)
                    self.forecast()
                    memcpy(&scores[i, 0], self.answers, self.n_labels * sizeof(double))
        finally:
            self.is_busy, self.store.owner = False, 0
        return scores.base

    def block(self, columns, rows):
        """Return validated rows of a frame; see `Store.block`."""
        self.begin()
        try:
            return self.store.block(columns, rows)
        finally:
            self.is_busy = False

    def set_example(self, x):
        """Evaluate an example that is learned next. Raises ValueError if it is refused."""
        self.begin_rounds()
        try:
            self.store.evaluate(x)
        finally:
            self.is_busy = False

    cdef int evaluate(self, x) except -1:
        """Compute the scores at x, unless they are known."""
        self.begin()
        try:
            self.store.evaluate(x)
            self.forecast()
        finally:
            self.is_busy = False

    cdef int forecast(self) except -1 nogil:
        """Compute the scores at the example of the store, unless they are known."""
        if self.stamp != self.store.stamp:
            self.stamp = -1
            self.answer()
            self.stamp = self.store.stamp

    cdef int answer(self) except -1 nogil:
        pass

    # Rounds.

    def round(self, x, Py_ssize_t label, double weight, double threshold):
        """Go through a round; return the sum of UPDATE and CHECK as they are due.

        If CHECK is, the model is claimed until it is released.
        """
        cdef int due
        self.begin_rounds()
        try:
            self.store.evaluate(x)
            if self.prepare():
                self.store.evaluate(x)
            due = self.learn_example(label, weight, threshold)
            if due >= DUE_CHECK:
                self.hold()
            return due
        finally:
            self.is_busy = False

    def scan(self, Block block, double threshold):
        """Go through the next rows by `round` until something is due, or for a while; return that."""
        cdef int due = 0
        cdef double weight
        cdef Py_ssize_t stop = min(block.n_rows, block.row + MOST_ROWS)
        require(block.labels is not None, "the block is not one to learn")
        self.begin_rounds()
        self.store.owner = PyThread_get_thread_ident()
        try:
            with nogil:
                while block.row < stop and due == 0:
                    self.store.evaluate_row(block, block.row)
                    if self.prepare():
                        self.store.evaluate_row(block, block.row)
                    weight = 1.0 if block.weights is None else block.weights[block.row]
                    due = self.learn_example(block.labels[block.row], weight, threshold)
                    block.row += 1
        finally:
            self.is_busy = False
            self.store.owner = self.owner if self.is_open else 0
        return due

    cdef int learn_example(
        self, Py_ssize_t label, double weight, double threshold
    ) except -1 nogil:
        """Learn the example of the store, also if its label is new."""
        if label >= self.n_labels:
            with gil:
                self.set_labels(label + 1)
        self.forecast()
        return self.learn(label, weight, threshold)

    cdef bint prepare(self) except -1 nogil:
        return False

    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil:
        return 0

    cdef Py_ssize_t rival_of_label(self, Py_ssize_t label) noexcept nogil:
        """Return the column of the largest score of another label, the first among ties."""
        cdef Py_ssize_t c, rival = label == 0
        for c in range(self.n_labels):
            if c != label and self.answers[c] > self.answers[rival]:
                rival = c
        return rival

    def commit(self):
        """End a round that asked for an update."""

    def roll_back(self):
        """Take back an open round; return whether there was one."""
        return False

    # Use, and labels.

    def claim(self):
        """Let only this thread use the model until `release`."""
        self.begin()
        self.is_busy = False
        self.hold()

    cdef void hold(self) noexcept:
        self.is_claimed, self.owner = True, PyThread_get_thread_ident()

    def release(self):
        """End the claim of this thread, if it has one."""
        if self.is_claimed and self.owner == PyThread_get_thread_ident():
            self.is_claimed = False
            if not self.is_open:
                self.owner = 0

    def was_refused(self):
        """Return, once, whether this thread wanted to learn while the model was in use."""
        cdef bint refused = self.refused == PyThread_get_thread_ident()
        if refused:
            self.refused = 0
        return refused

    cdef int require_free(self) except -1:
        """Raise RuntimeError if the model is in use by another thread, or by the code of a value."""
        cdef bint is_foreign = self.owner and self.owner != PyThread_get_thread_ident()
        if self.is_busy or self.store.is_busy or is_foreign:
            raise RuntimeError("the model is in use: two threads need two models, or a lock")

    cdef int require_closed(self) except -1:
        self.require_free()
        if self.is_open:
            raise RuntimeError("the update of the last round has not ended")

    cdef int begin(self) except -1:
        """Set that the model is in use, if it is not and no round is open."""
        self.require_closed()
        self.is_busy = True

    cdef int begin_rounds(self) except -1:
        """Begin to learn; see `was_refused`."""
        self.refused = 0
        if self.is_busy or self.is_open or self.owner or self.store.is_busy:
            self.refused = PyThread_get_thread_ident()
            self.require_closed()
            self.refused = 0
        self.is_busy = True

    def widen(self, Py_ssize_t n_labels):
        """Make room for a number of labels; fewer than there are change nothing."""
        if n_labels > self.n_labels:
            self.require_closed()
            self.set_labels(n_labels)

    cdef int set_labels(self, Py_ssize_t n_labels) except -1:
        """Make room for the scores of a number of labels."""
        cdef Py_ssize_t c
        reallocate(<void **> &self.answers, n_labels * sizeof(double))
        for c in range(self.n_labels, n_labels):
            self.answers[c] = 0.0
        self.n_labels, self.stamp = n_labels, -1

    # What is learned.

    cdef int restore_counts(self, state) except -1:
        """Restore the numbers of rounds and mistakes."""
        n_rounds, n_mistakes = count(state["n_rounds"]), count(state["n_mistakes"])
        require(n_mistakes <= n_rounds, "there are more mistakes than rounds")
        self.n_rounds, self.n_mistakes, self.stamp = n_rounds, n_mistakes, -1
