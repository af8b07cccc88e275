"""What one event does to the model of its key."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

from river_budget import checkpoint
from river_budget._checks import check_count
from river_budget._state import LARGEST_ID, count, require
from river_budget.base import classifier_of, forget_prediction
from river_budget.checkpoint import CheckpointError
from river_budget.keyed.answers import check_given, check_label, predict, stored


class Event(NamedTuple):
    """One example of a key, with or without its label.

    Attributes
    ----------
    key
        The key: an agent, a device, a user.
    seq
        Its number, 0 or more, which increases with each event of the key. An event that is
        delivered again has the same number. A negative number marks a query: it is only predicted.
    x
        Its features. A late label needs none.
    y
        Its label, or the reward of its decision, or None.
    arms
        The arms to choose from, for a `PolicyLearner`.
    """

    key: Any
    seq: int
    x: dict[Any, Any] | None = None
    y: Any = None
    arms: list[Any] | None = None


class Prediction(NamedTuple):
    """The prediction of an event by the model of its key.

    Attributes
    ----------
    key, seq
        Those of the event.
    y_pred
        The predicted label; None before the key's first label, and for a late label whose event is
        no longer known.
    margin
        f(x), positive for the positive class; with more than two labels, half the difference
        between the two largest scores. None without a `decision_function_one`, and where `y_pred`
        is not known.
    n_seen
        Number of events of the key so far, each counted once.
    accuracy
        Share of correct predictions among those whose label is known; None before the first.
    """

    key: Any
    seq: int
    y_pred: Any
    margin: float | None
    n_seen: int
    accuracy: float | None


class KeyedModel:
    """The model of one key, with the record that lets it learn each event once.

    Attributes
    ----------
    model
        The model.
    last_seq
        The largest sequence number so far; -1 before the first.
    pending
        Features and predictions of the events without a label yet, by sequence number.
    n_seen, n_labelled, n_right
        Number of events, of those whose label is known, and of correct predictions among these.
    accuracy
        Share of correct predictions among those whose label is known; None before the first.
    extra
        Everything but the model.
    """

    __slots__ = ("last_seq", "model", "n_labelled", "n_right", "n_seen", "pending")

    def __init__(self, model: Any, extra: dict[str, Any]) -> None:
        self.model = model
        self.last_seq: int = extra.get("last_seq", -1)
        self.pending: dict[int, tuple[dict[Any, Any], Any]] = extra.get("pending", {})
        self.n_seen: int = extra.get("n_seen", 0)
        self.n_labelled: int = extra.get("n_labelled", 0)
        self.n_right: int = extra.get("n_right", 0)

    def check(self) -> None:
        """Raise an error unless the record is that of some stream."""
        require(all(count(seq) <= self.last_seq for seq in self.pending), "its numbers are wrong")
        require(self.last_seq == -1 or count(self.last_seq) <= LARGEST_ID, "its number is wrong")
        for x, _ in self.pending.values():
            check_given(x)
        counts = [count(n) for n in (self.n_right, self.n_labelled, self.n_seen)]
        require(counts == sorted(counts), "its counts are wrong")

    @property
    def extra(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "model"}

    @property
    def accuracy(self) -> float | None:
        return self.n_right / self.n_labelled if self.n_labelled else None


class KeyedLearner:
    """Predicts each event, then learns it if it has a label, and never learns an event twice.

    Events may be delivered more than once. An event whose number does not exceed the largest so far
    is only predicted, and learned only if it brings the missing label. So the models are those of a
    stream that delivers each event once.

    Parameters
    ----------
    factory
        Returns the model of a new key: a classifier that `checkpoint.save` can store, or a pipeline
        that ends in one. A seed that it sets is the same for all keys.
    max_state_bytes
        Largest size of the state of a key.
    max_pending
        Largest number of events of a key that wait for their label. One more drops the oldest.
    max_jump
        Largest step from the largest number so far, -1 for a new key, to that of a new event. An
        event with a larger number is refused, because all later ones would count as seen. Set a
        larger one if numbers are times.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the factory's models are not classifiers.
    CheckpointError
        If the factory's models cannot be serialized.

    Examples
    --------

    >>> from river_budget import keyed
    >>> import river_budget as rb

    >>> learner = keyed.KeyedLearner(lambda: rb.Forgetron(budget=20))
    >>> state, prediction = learner.step(None, keyed.Event("ann", 0, {"a": 1.0}, y=True))
    >>> state, prediction = learner.step(state, keyed.Event("ann", 1, {"a": 1.0}))
    >>> prediction.y_pred
    True
    >>> state, prediction = learner.step(state, keyed.Event("ann", 1, None, y=False))
    >>> prediction.accuracy
    0.0
    """

    def __init__(
        self,
        factory: Callable[[], Any],
        max_state_bytes: int = 900_000,
        max_pending: int = 100,
        max_jump: int = 10**9,
    ) -> None:
        check_count("max_state_bytes", max_state_bytes)
        check_count("max_pending", max_pending)
        check_count("max_jump", max_jump)
        if not callable(factory):
            raise ValueError(f"factory must be a function that returns a model, got {factory!r}")
        self.factory = factory
        self.max_state_bytes = max_state_bytes
        self.max_pending = max_pending
        self.max_jump = max_jump
        new = self.deserialize(None)
        self.serialize(new)
        self._outline = checkpoint.outline(new.model)
        self._check_model(new.model)

    def step(self, state: bytes | None, event: Event) -> tuple[bytes, Prediction]:
        """Return the new state of the event's key, given the old one (None for a new key), and the
        prediction.

        Raises CheckpointError if the state is invalid, and ValueError if the event is refused, as
        by `advance`, or the new state is too large.
        """
        keyed = self.deserialize(state)
        prediction = self.advance(keyed, event)
        return self.serialize(keyed), prediction

    def deserialize(self, state: bytes | None) -> KeyedModel:
        """Return the live model of a state; raise CheckpointError if the state is invalid."""
        if state is None:
            return KeyedModel(self.factory(), {})
        model, extra = checkpoint.restores(state)
        found = checkpoint.outline(model)
        if found != self._outline:
            raise CheckpointError(
                f"the state is that of a {found}, but the factory returns a {self._outline}"
            )
        try:
            keyed = KeyedModel(model, extra)
            keyed.check()
        except (ValueError, TypeError, AttributeError) as error:
            raise CheckpointError(f"the record beside the model is invalid: {error}") from None
        return keyed

    def serialize(self, keyed: KeyedModel) -> bytes:
        """Return the state of a live model; raise ValueError if it is too large."""
        state = checkpoint.dumps(keyed.model, keyed.extra)
        if len(state) > self.max_state_bytes:
            raise ValueError(
                f"the state of a key takes {len(state):,} bytes, and {self.max_state_bytes:,} are "
                f"allowed: {self._advice(keyed.model, state)}"
            )
        return state

    def advance(self, keyed: KeyedModel, event: Event) -> Prediction:
        """Return the prediction of an event, then update a live model with the event.

        Raises ValueError if a value or a label is refused, a new event has no features, or its
        number is not an integer or too far from the last one. The model does not change.
        """
        self._check_event(keyed, event)
        is_new = event.seq > keyed.last_seq
        waiting = keyed.pending.get(event.seq)
        x = event.x if event.x is not None else waiting[0] if waiting else None
        if x is None:
            if is_new:
                raise ValueError(f"event {event.seq} of {event.key!r} is new and has no features")
            return self._prediction(keyed, event, None, None)
        margin, y_pred = predict(keyed.model, x)
        kept = stored(x) if is_new else x
        if event.seq < keyed.last_seq:
            forget_prediction(keyed.model)
        if event.y is not None and (is_new or waiting):
            self._learn(keyed, event, waiting or (x, y_pred))
        if is_new:
            keyed.last_seq = event.seq
            keyed.n_seen += 1
            if event.y is None:
                keyed.pending[event.seq] = (kept, y_pred)
                if len(keyed.pending) > self.max_pending:
                    del keyed.pending[next(iter(keyed.pending))]
        return self._prediction(keyed, event, y_pred, margin)

    def _check_model(self, model: Any) -> None:
        if not hasattr(classifier_of(model), "predict_one"):
            raise ValueError(f"factory must return a classifier, got {self._outline}")

    def _check_event(self, keyed: KeyedModel, event: Event) -> None:
        """Raise ValueError unless it is an event whose number may come next."""
        if not isinstance(event, Event):
            raise ValueError(f"expected a keyed.Event, got {event!r:.100}")
        seq, last = event.seq, keyed.last_seq
        if not isinstance(seq, numbers.Integral) or isinstance(seq, bool):
            raise ValueError(f"seq is {seq!r}: expected a whole number")
        if seq > min(last + self.max_jump, LARGEST_ID):
            raise ValueError(
                f"event {seq} of {event.key!r} comes after event {last}, but a number may exceed the "
                f"last one by at most max_jump={self.max_jump}"
            )

    def _learn(self, keyed: KeyedModel, event: Event, example: tuple[dict[Any, Any], Any]) -> None:
        x, y_pred = example
        # In `learn_one` a pipeline's scaler learns before the classifier sees the label.
        check_label(keyed.model, event.y)
        keyed.model.learn_one(x, event.y)
        keyed.pending.pop(event.seq, None)
        keyed.n_labelled += 1
        keyed.n_right += y_pred == event.y

    def _prediction(
        self, keyed: KeyedModel, event: Event, y_pred: Any, margin: float | None
    ) -> Prediction:
        return Prediction(event.key, event.seq, y_pred, margin, keyed.n_seen, keyed.accuracy)

    def _advice(self, model: Any, state: bytes) -> str:
        """Return which budget would fit if arrays grow with it, and texts by less than a tenth."""
        classifier = classifier_of(model)
        budget = getattr(classifier, "budget", None)
        if budget is None:
            return f"{type(classifier).__name__} has no budget: use a model that has one"
        empty = checkpoint.dumps(classifier.clone({"budget": 1}))
        fixed = len(state) - _array_bytes(state) + _array_bytes(empty)
        whole = len(checkpoint.dumps(classifier.clone()))
        reached = budget if whole > self.max_state_bytes else classifier.n_support
        room = 0.9 * self.max_state_bytes - fixed
        fitting = int(reached * room / (len(state) - fixed)) if len(state) > fixed else 0
        return f"a budget of {fitting} would fit" if fitting > 0 else "no budget would fit"


def _array_bytes(state: bytes) -> int:
    """Return the size of a state's arrays: all that follows its header, which starts with its length."""
    return len(state) - 8 - int.from_bytes(state[:8], "little")
