# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
# cython: annotation_typing=False, infer_types=True
"""The rounds of a model, as far as they are the same whatever it learns; see `engine.pxd`."""

from typing import Any

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

import numpy as np

from river_budget._arrays import padded
from river_budget._checks import weight_of
from river_budget._state import count, integers, require
# For annotations, which are evaluated as texts in this module.
from river_budget._core import answer as answers
from river_budget.kernels import Features

from river_budget._core.answer cimport Answer, by_label, check_answer, probabilities_of_scores
from river_budget._core.features cimport reallocate
from river_budget._core.store cimport Block, PyThread_get_thread_ident
from river_budget._core.tickets cimport Ticket

UPDATE, SCALES = DUE_UPDATE, DUE_SCALES

cdef enum:
    # `scan` returns after so many rows at the latest, so that an interrupt is noticed.
    MOST_ROWS = 1024


cdef class Engine:

    def __cinit__(self, *_):
        self.answered_at, self.rounds_of = -1, np.zeros(0, np.int64)

    def __dealloc__(self):
        free(self.answers)

    @property
    def n(self):
        return self.store.vectors.n

    # Forecasts.

    cpdef Py_ssize_t best(self, x) except -1:
        self.evaluate(x)
        return self.first_of_largest()

    cdef int predict(self, x) except -1:
        """Compute the scores at x, and note that it was predicted."""
        self.begin()
        try:
            self.store.evaluate(x)
            self.forecast()
            self.note_prediction()
        finally:
            self.is_busy = False

    cdef Py_ssize_t first_of_largest(self) noexcept nogil:
        """Return the first column with the largest score."""
        cdef Py_ssize_t best = 0
        for c in range(1, self.n_labels):
            if self.answers[c] > self.answers[best]:
                best = c
        return best

    def scores(self, x):
        self.evaluate(x)
        return self.last_scores()

    def last_scores(self):
        return [self.answers[c] for c in range(self.n_labels)]

    cdef list last_probabilities(self):
        return None

    def score_block(self, Block block):
        cdef double[:, ::1] scores
        self.begin()
        owner, self.store.owner = self.store.owner, PyThread_get_thread_ident()
        try:
            # Made within the call: before it, garbage collection may run code that adds a label.
            scores = np.empty((block.n_rows, self.n_labels))
            with nogil:
                for i in range(block.n_rows):
                    self.store.evaluate_row(block, i)
                    self.forecast()
                    memcpy(&scores[i, 0], self.answers, self.n_labels * sizeof(double))
        finally:
            self.is_busy, self.store.owner = False, owner
        return scores.base

    def block(self, columns, rows):
        self.require_closed()
        return self.store.block(columns, rows)

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
        if self.answered_at != self.store.stamp:
            self.answered_at = -1
            self.answer()
            self.answered_at = self.store.stamp

    cdef int answer(self) except -1 nogil:
        pass

    cdef int require_own(self, Ticket ticket) except -1:
        pass

    cdef Ticket ticket_of(self, uint64_t fingerprint):
        return None

    cdef int note_prediction(self) except -1:
        pass

    # Rounds.

    cpdef int round(self, x, Py_ssize_t label, double weight, double threshold, Ticket ticket=None) except -1:
        self.begin()
        try:
            self.store.evaluate(x)
            if self.prepare(ticket):
                self.store.evaluate(x)
            return learn_example(self, label, weight, threshold)
        finally:
            self.is_busy = False

    cpdef int scan(self, Block block, double threshold) except -1:
        if block.labels is None:
            raise ValueError("the block is not one to learn")
        stop = min(block.n_rows, block.row + MOST_ROWS)
        self.begin()
        try:
            # The first row with the GIL: where each round is an update, it would take longer to give it up.
            due = learn_rows(self, block, min(stop, block.row + 1), threshold)
            if due == 0:
                with nogil:
                    due = learn_rows(self, block, stop, threshold)
        finally:
            self.is_busy = False
        return due

    cdef bint prepare(self, Ticket ticket) except -1 nogil:
        return False

    cdef int learn(self, Py_ssize_t label, double weight, double threshold) except -1 nogil:
        return 0

    cdef Py_ssize_t rival_of_label(self, Py_ssize_t label) noexcept nogil:
        """Return the column of the largest score of another label, the first among ties."""
        cdef Py_ssize_t rival = label == 0
        for c in range(self.n_labels):
            if c != label and self.answers[c] > self.answers[rival]:
                rival = c
        return rival

    cdef int end_round(self, Py_ssize_t label) noexcept nogil:
        """Count a round; return what is due after it."""
        self.answered_at = -1
        self.n_rounds += 1
        self.rounds_of[label] += 1
        self.n_mistakes += self.answers[self.rival_of_label(label)] >= self.answers[label]
        return DUE_SCALES if self.n_rounds >= self.scales_due_at else 0

    def roll_back(self):
        return False

    # Use, and labels.

    cpdef claim(self):
        self.require_closed()
        self.store.owner = PyThread_get_thread_ident()

    cpdef release(self):
        if self.store.owner == PyThread_get_thread_ident():
            self.store.owner = 0

    cdef int require_free(self) except -1:
        """Raise RuntimeError if the model is in use by another thread, or by the code of a value."""
        self.store.require_free(self.is_busy or self.store.is_busy)

    cdef int require_closed(self) except -1:
        """Raise RuntimeError also if a round is open."""
        self.require_free()
        if self.is_open:
            raise RuntimeError("the update of the last round has not ended")

    cdef int begin(self) except -1:
        """Begin a call, which the caller ends by `is_busy = False`."""
        self.require_closed()
        self.is_busy = True

    def widen(self, Py_ssize_t n_labels):
        if n_labels > self.n_labels:
            self.require_closed()
            self.set_labels(n_labels)

    cdef int set_labels(self, Py_ssize_t n_labels) except -1:
        """Make room for the scores of a number of labels."""
        cdef int64_t[::1] rounds_of = padded(self.rounds_of.base, n_labels)
        reallocate(<void **> &self.answers, n_labels * sizeof(double))
        for c in range(self.n_labels, n_labels):
            self.answers[c] = 0.0
        self.n_labels, self.answered_at, self.rounds_of = n_labels, -1, rounds_of

    # What is learned.

    def learned(self):
        """Return the state without the store."""
        self.require_closed()
        rounds = self.rounds_of.base.copy()
        return {"rounds": rounds, "n_mistakes": self.n_mistakes, **self.own_state()}

    def restore(self, state):
        """Restore what is learned, in an engine that has its labels; the store too if the state has one."""
        if "store" in state:
            self.store.restore(state["store"])
        rounds, n_mistakes = integers(state["rounds"], (self.n_labels,)), count(state["n_mistakes"])
        n_rounds = count(sum(map(count, rounds.tolist())))
        require(n_mistakes <= n_rounds, "there are more mistakes than rounds")
        self.rounds_of, self.n_rounds, self.n_mistakes = rounds, n_rounds, n_mistakes
        self.answered_at = -1
        self.restore_own(state)

    def __reduce__(self):
        learned = self.learned(), self.n_labels, self.scales_due_at, self.sums, self.is_balanced
        return type(self), self.arguments, learned

    def __setstate__(self, learned):
        state, n_labels, self.scales_due_at, self.sums, self.is_balanced = learned
        self.widen(n_labels)
        Engine.restore(self, state)

    def state(self):
        return {**self.learned(), "store": self.store.state()}


cdef int learn_rows(Engine engine, Block block, Py_ssize_t stop, double threshold) except -1 nogil:
    """Learn rows of a block up to one after which something is due; return what is due."""
    due = 0
    while block.row < stop and due == 0:
        if block.weights[block.row] > 0.0:
            engine.store.evaluate_row(block, block.row)
            if engine.prepare(None):
                engine.store.evaluate_row(block, block.row)
            due = learn_example(engine, block.labels[block.row], block.weights[block.row], threshold)
        block.row += 1
    return due


cdef int learn_example(Engine engine, Py_ssize_t label, double weight, double threshold) except -1 nogil:
    """Learn the example of the store, whose label may be new; return what is due."""
    if label >= engine.n_labels:
        with gil:
            engine.set_labels(label + 1)
    engine.forecast()
    if engine.is_balanced:
        weight *= balance(engine, label)
    return engine.learn(label, weight, threshold)


cdef double balance(Engine engine, Py_ssize_t label) noexcept nogil:
    """Return the mean number of rounds of the labels so far, divided by that of the label of this round."""
    cdef Py_ssize_t n_seen = 0
    for c in range(engine.n_labels):
        n_seen += c == label or engine.rounds_of[c] > 0
    return (engine.n_rounds + 1.0) / (n_seen * (engine.rounds_of[label] + 1))


class Rounds:
    """The methods of a classifier that lead to the rounds of its engine `_f`.

    They are compiled because, in Python, the way to a round took longer than the round itself.
    """

    @property
    def n_rounds(self):
        """Number of examples learned, without those with a weight of 0."""
        cdef Engine engine = self._f
        return engine.n_rounds

    def ask(self, x: Features) -> answers.Answer:
        """Return what the model says of an example, to `learn` it when its label is known.

        Nothing in the model changes.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is refused.
        """
        cdef Engine engine = self._f
        cdef Answer answer
        labels = self._labels
        engine.evaluate(x)
        # The copy of x may run code that learns, so all else is read before.
        n_rounds, columns, scores = engine.n_rounds, labels.column, engine.last_scores()
        probabilities, label = engine.last_probabilities(), labels.names[engine.first_of_largest()]
        ticket = engine.ticket_of(0)
        answer = Answer(self, x, label)
        answer.n_rounds, answer.columns, answer.ticket = n_rounds, columns, ticket
        answer.column_scores, answer.column_probabilities = scores, probabilities
        return answer

    def learn(self, Answer answer not None, y: Any, w: float = 1.0) -> None:
        """Learn the example of an answer.

        Parameters
        ----------
        answer
            What `ask` returned, possibly long ago, in another process, or before a checkpoint.
        y
            A label.
        w
            Weight of the example, as in `learn_one`.

        Raises
        ------
        ValueError
            If the answer is that of another model or was learned before, or as `learn_one`. Then
            nothing is learned.
        """
        check_answer(answer, self)
        learn_given(self, answer.given, y, w, answer.ticket)
        answer.is_learned = True

    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> None:
        """Learn an example.

        Parameters
        ----------
        x
            A dictionary of features.
        y
            A label.
        w
            Weight of the example, which multiplies its update. With 0, nothing is learned.

        Raises
        ------
        ValueError
            If a value, the label or the weight is refused. The model does not change.
        """
        learn_given(self, x, y, w, None)

    def scores_one(self, x: Features) -> dict[Any, float]:
        """Return the score g_c(x) of each label c; with two labels, -f(x) and f(x).

        The label with the largest score is predicted, the first of `classes` among ties.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is refused, or is too large for the kernel.
        """
        cdef Engine engine = self._f
        engine.evaluate(x)
        return by_label(self._labels.column, engine.last_scores())

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        """Return the softmax of half the scores, with two labels the logistic function of f.

        It ranks examples; for calibrated probabilities, see `Calibrated`.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is refused.
        """
        cdef Engine engine = self._f
        engine.evaluate(x)
        return probabilities_of_scores(self._labels.column, engine.last_scores())

    def _learn_asked(self, x, y, asked, w=1.0):
        learn_given(self, x, y, w, asked.ticket)

    def _note_prediction(self):
        cdef Engine engine = self._f
        engine.begin()
        try:
            engine.note_prediction()
        finally:
            engine.is_busy = False

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        """Predict the label of a set of features, a dict.

        Raises ValueError if a value is refused.
        """
        cdef Engine engine = self._f
        engine.predict(x)
        column = engine.first_of_largest()
        return self._labels.names[column]

    def _learn_block(self, Block block):
        cdef Engine engine = self._f
        cdef double threshold = self._threshold
        while block.row < block.n_rows:
            due = engine.scan(block, threshold)
            if due:
                self._follow(due)
            PyErr_CheckSignals()


cdef int learn_given(classifier, x, y, w, Ticket ticket) except -1:
    """Let a classifier learn an example, given the ticket that it had when it was asked about, or None."""
    cdef Engine engine = classifier._f
    cdef Py_ssize_t label
    cdef double weight = 1.0
    engine.claim()
    try:
        if ticket is not None:
            engine.require_own(ticket)
        if type(w) is not float or w != 1.0:
            weight = weight_of(w)
            if weight == 0.0:
                # Nothing is learned, but what is wrong is refused.
                engine.store.evaluate(x)
                classifier._labels.check(y)
                return 0
        try:
            label = classifier._labels.column[y]
        except (KeyError, TypeError):
            # A label is only registered if x is valid.
            engine.store.evaluate(x)
            label = classifier._labels.add(y)
        if classifier._given_weights:
            weight *= classifier._given_weights.get(classifier._labels.names[label], 1.0)
        due = engine.round(x, label, weight, classifier._threshold, ticket)
        if due:
            classifier._follow(due)
    except BaseException:
        classifier._recover()
        raise
    finally:
        engine.release()
