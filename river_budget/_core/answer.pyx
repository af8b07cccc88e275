# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""What a model said of an example; see `answer.pxd`."""

cimport cython
from cpython.weakref cimport PyWeakref_NewRef
from libc.math cimport exp, fmax, INFINITY

import copy
import sys
from typing import Any, NamedTuple

from river_budget._state import finite, require


class Asked(NamedTuple):
    """What a model needs of the time when it was asked about an example, to learn that later.

    Attributes
    ----------
    gaps
        What the wrapper that was asked learns from, or None: of `Calibrated`, the gaps of the scores before it has
        calibrated them; of `PredictionSets`, by how much each probability was below the threshold.
    ticket
        What experts said, and where the labels stood, or None.
    """

    gaps: Any
    ticket: Any


class Waiting(NamedTuple):
    """What is kept of an example until its label comes, where that is not an `Answer`.

    Attributes
    ----------
    x
        Its features, as they were given.
    label
        What was predicted, or chosen.
    asked
        What the model needs of that time.
    """

    x: Any
    label: Any
    asked: Any

    @property
    def nbytes(self):
        """Memory of the features and of what was said, in bytes."""
        parts = [self, self.x, *self.x.values()]
        said = 0 if self.asked.ticket is None else self.asked.ticket.nbytes
        return sum(map(sys.getsizeof, parts)) + said


def asked_of(gaps, ticket):
    """Return what is needed of the time of an answer, as it was stored. Raises ValueError if it is wrong."""
    is_ticket = ticket is None or isinstance(ticket, Ticket)
    require(is_ticket and isinstance(gaps, (dict, type(None))), "what is kept of an answer is wrong")
    for gap in (gaps or {}).values():
        finite(gap, 0.0)
    return Asked(gaps, ticket)


def waiting_of(x, label, asked):
    """Return what is kept of an example, as it was stored. Raises ValueError if it is wrong."""
    is_asked = asked is None or isinstance(asked, Asked)
    require(is_asked and isinstance(x, dict), "what is kept of an example is wrong")
    return Waiting(x, label, asked)


@cython.freelist(8)
cdef class Answer:
    """What a model said of an example, from `ask`. `learn` takes it with the label, once.

    It keeps the example as it was, and may be pickled: an agent acts on it now, and learns when the
    outcome is known, without a table of features that wait.

    A model without scores has no margin and no novelty; to ask for them raises ValueError.

    Attributes
    ----------
    x
        The features, a copy of the dict.
    label
        The predicted label; None before the model has learned one, and where a wrapper rejects x.
    n_rounds
        Number of examples that the model had learned.
    scores
        The score of each label, as `scores_one` returns them.
    probabilities
        The probability of each label, as `predict_proba_one` returns them.
    margin
        With two labels, f(x); with more, half the difference between the two largest scores.
    novelty
        How far the example was from the support set, as `novelty_one` returns it. It is computed
        when it is read. Raises ValueError if the model has learned since then.
    gaps
        What the wrapper that was asked learns from, or None: of `Calibrated`, the gaps of the scores before it has
        calibrated them; of `PredictionSets`, by how much each probability was below the threshold.
    asked
        What is needed to learn the example later, beside its features.
    """

    def __cinit__(self, model, x, label):
        self.given = self.features = kept(x)
        self.label, self.kind = label, type(model)
        self.model = None if model is None else PyWeakref_NewRef(model, None)

    @property
    def x(self):
        return self.given

    @x.setter
    def x(self, x):
        self.given = kept(x)

    @property
    def asked(self):
        return Asked(self.gaps, self.ticket)

    @property
    def scores(self):
        return by_label(self.columns, self.own_scores())

    @property
    def probabilities(self):
        if self.known_probabilities is None:
            self.known_probabilities = self.own_probabilities()
        return self.known_probabilities

    @probabilities.setter
    def probabilities(self, probabilities):
        self.known_probabilities = probabilities

    @property
    def margin(self):
        scores = self.own_scores()
        if len(scores) == 2:
            return scores[1]
        *_, second, first = sorted(scores)
        return 0.5 * (first - second)

    @property
    def novelty(self):
        self.own_scores()
        model = self.living_model()
        is_current = model is not None and model.n_rounds == self.n_rounds
        require(is_current, "the novelty of an answer is read before its model learns or goes")
        return model.novelty_one(self.features)

    cdef list own_scores(self):
        """Return the scores by column. Raises ValueError if the model has none."""
        if self.column_scores is None:
            raise ValueError(f"{self.kind.__name__} has no scores, but probabilities")
        return self.column_scores

    cdef own_probabilities(self):
        """Return the probabilities of the model inside of all wrappers, by label."""
        if self.column_scores is None:
            return self.living_model().predict_proba_one(self.features)
        if self.column_probabilities is None or len(self.columns) < 2:
            return probabilities_of_scores(self.columns, self.column_scores)
        return by_label(self.columns, self.column_probabilities)

    cdef living_model(self):
        return None if self.model is None else self.model()

    def __repr__(self):
        return f"Answer(label={self.label!r}, n_rounds={self.n_rounds})"

    def __reduce__(self):
        # The model is not pickled, so it is asked now.
        known = self.probabilities if self.column_scores is None else self.known_probabilities
        learned = (
            self.features, self.gaps, self.n_rounds, self.columns, self.column_scores,
            self.column_probabilities, known, self.kind, self.is_learned, self.ticket,
        )
        return Answer, (None, self.given, self.label), learned

    def __setstate__(self, learned):
        (
            self.features, self.gaps, self.n_rounds, self.columns, self.column_scores,
            self.column_probabilities, self.known_probabilities, self.kind, self.is_learned, self.ticket,
        ) = learned


cdef dict by_label(dict columns, list values):
    return {label: values[<Py_ssize_t> column] for label, column in columns.items()}


cdef dict probabilities_of_scores(dict columns, list scores):
    cdef double largest = -INFINITY, total = 0.0, score
    cdef list odds = []
    if len(columns) < 2:
        return dict.fromkeys(columns, 1.0)
    for score in scores:
        largest = fmax(largest, score)
    for score in scores:
        odds.append(exp(0.5 * (score - largest)))
        total += <double> odds[len(odds) - 1]
    return {label: <double> odds[<Py_ssize_t> column] / total for label, column in columns.items()}


cpdef int check_answer(Answer answer, model) except -1:
    require(not answer.is_learned, "the answer was learned before: ask again")
    own = answer.living_model()
    is_own = own is model or own is None and type(model) is answer.kind
    is_own = is_own and answer.n_rounds <= getattr(model, "n_rounds", 0)
    require(is_own, "the answer is that of another model")


def close_answer(Answer answer not None):
    answer.is_learned = True


cpdef dict kept(x):
    """Return a copy of features that later changes of them do not reach."""
    cdef dict own = dict(x)
    for name, value in own.items():
        if not is_immutable(value):
            own[name] = copy.deepcopy(value)
    return own


cdef bint is_immutable(value):
    """Return whether a value needs no copy, and can be stored."""
    kind = type(value)
    return kind is float or kind is int or kind is str or kind is bool or value is None


def is_plain(x):
    """Return whether all names of features are texts, and all values numbers, texts or None."""
    if type(x) is not dict:
        return False
    for name, value in (<dict> x).items():
        if type(name) is not str or not is_immutable(value):
            return False
    return True
