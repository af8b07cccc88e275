"""One bounded model for each key: agents, devices, users.

The core knows no engine. A stream engine that keeps bytes for each key calls `KeyedLearner.step`, or
keeps models live with `HotStates`; `run_local` needs no engine at all and gives the same results.

"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any, NamedTuple

from river_budget import checkpoint
from river_budget._checks import check_count
from river_budget.base import classifier_of, predict_with_margin

__all__ = ["Event", "HotStates", "KeyedLearner", "KeyedModel", "Prediction", "run_local"]


class Event(NamedTuple):
    """Something that happened to the agent of a key.

    Attributes
    ----------
    key
        Whose it is.
    seq
        Its number, from 0 on. The events of a key come with growing numbers; one that comes again has
        the number that it had. A negative number is a query: it is predicted, and neither counted nor
        learned.
    x
        Its features. A label that comes later, with the number of the event that it belongs to, may
        leave them out.
    y
        Its label, or None.

    """

    key: Any
    seq: int
    x: dict[Any, Any] | None
    y: Any = None


class Prediction(NamedTuple):
    """What the model of a key made of an event.

    Attributes
    ----------
    key, seq
        Those of the event.
    y_pred, margin
        The prediction, and f(x), positive for the positive class; None for a label whose event is not
        known any more.
    n_seen
        Number of events of the key so far, each counted once.
    accuracy
        Share of right predictions among those whose label is known; 0 before there is one.

    """

    key: Any
    seq: int
    y_pred: Any
    margin: float | None
    n_seen: int
    accuracy: float


class KeyedModel:
    """The model of one key, and what it takes to learn each event once.

    Attributes
    ----------
    model
        The model.
    last_seq
        The largest number of an event so far; -1 before the first.
    pending
        Features and predictions of events that wait for their label, by number.
    n_seen, n_labelled, n_right
        Number of events, of those whose label is known, and of right predictions among these.

    """

    __slots__ = ("last_seq", "model", "n_labelled", "n_right", "n_seen", "pending")

    def __init__(self, model: Any, extra: dict[str, Any]) -> None:
        self.model = model
        self.last_seq: int = extra.get("last_seq", -1)
        self.pending: dict[int, tuple[dict[Any, Any], Any]] = extra.get("pending", {})
        self.n_seen: int = extra.get("n_seen", 0)
        self.n_labelled: int = extra.get("n_labelled", 0)
        self.n_right: int = extra.get("n_right", 0)

    @property
    def extra(self) -> dict[str, Any]:
        """What is kept beside the model."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "model"}

    @property
    def accuracy(self) -> float:
        """Share of right predictions among those whose label is known."""
        return self.n_right / self.n_labelled if self.n_labelled else 0.0


class KeyedLearner:
    """What happens to an event: predict, then learn if a label is there, and no event twice.

    Delivery may be at least once. An event whose number is not above the last one has been seen: it is
    predicted, and learned only if it brings the label that its first coming lacked. So the models are
    those of a stream in which each event came once.

    Parameters
    ----------
    factory
        Makes the model of a new key: a classifier of this package, or a pipeline of
        `StandardScaler` and one. Seeds, if it sets any, are the same for all keys.
    max_state_bytes
        Largest size of the state of a key.
    max_pending
        Largest number of events of a key that wait for their label; the one that waited longest goes
        without.

    Raises
    ------
    ValueError
        If a parameter is out of its range.
    CheckpointError
        If such a model cannot be stored.

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
    ) -> None:
        check_count("max_state_bytes", max_state_bytes)
        check_count("max_pending", max_pending)
        self.factory = factory
        self.max_state_bytes = max_state_bytes
        self.max_pending = max_pending
        self.close(self.open(None))

    def step(self, state: bytes | None, event: Event) -> tuple[bytes, Prediction]:
        """Return the state of the event's key after the event, and the prediction.

        Parameters
        ----------
        state
            The state before it; None for a new key.
        event
            The event.

        Raises
        ------
        CheckpointError
            If the state is not what `step` returned.
        ValueError
            If a value or a label is refused, or the new state is too large.

        """
        keyed = self.open(state)
        prediction = self.advance(keyed, event)
        return self.close(keyed), prediction

    def open(self, state: bytes | None) -> KeyedModel:
        """Return the live model of a state, or raise CheckpointError if it is none."""
        if state is None:
            return KeyedModel(self.factory(), {})
        return KeyedModel(*checkpoint.loads(state))

    def close(self, keyed: KeyedModel) -> bytes:
        """Return the state of a live model; raise ValueError if it is too large."""
        state = checkpoint.dumps(keyed.model, keyed.extra)
        if len(state) > self.max_state_bytes:
            raise ValueError(
                f"the state of a key takes {len(state):,} bytes, and {self.max_state_bytes:,} are "
                f"allowed: {self._advice(keyed.model, state)}"
            )
        return state

    def advance(self, keyed: KeyedModel, event: Event) -> Prediction:
        """Change a live model by an event, and return the prediction that was made before.

        Raises
        ------
        ValueError
            If a value or a label is refused, or a new event has no features. The model stays as it was.

        """
        is_new = event.seq > keyed.last_seq
        waiting = None if is_new else keyed.pending.get(event.seq)
        x = event.x if event.x is not None else waiting[0] if waiting else None
        if x is None:
            if is_new:
                raise ValueError(f"event {event.seq} of {event.key!r} is new and has no features")
            return self._prediction(keyed, event, None, None)
        margin, y_pred = predict_with_margin(keyed.model, x)
        if event.y is not None and (is_new or waiting):
            self._learn(keyed, event, waiting or (x, y_pred))
        if is_new:
            keyed.last_seq = event.seq
            keyed.n_seen += 1
            if event.y is None:
                self._wait(keyed, event.seq, (x, y_pred))
        return self._prediction(keyed, event, y_pred, margin)

    def _learn(self, keyed: KeyedModel, event: Event, example: tuple[dict[Any, Any], Any]) -> None:
        x, y_pred = example
        _check_label(keyed.model, event.y)
        keyed.model.learn_one(x, event.y)
        keyed.pending.pop(event.seq, None)
        keyed.n_labelled += 1
        keyed.n_right += y_pred == event.y

    def _wait(self, keyed: KeyedModel, seq: int, example: tuple[dict[Any, Any], Any]) -> None:
        keyed.pending[seq] = example
        if len(keyed.pending) > self.max_pending:
            del keyed.pending[next(iter(keyed.pending))]

    def _prediction(
        self, keyed: KeyedModel, event: Event, y_pred: Any, margin: float | None
    ) -> Prediction:
        return Prediction(event.key, event.seq, y_pred, margin, keyed.n_seen, keyed.accuracy)

    def _advice(self, model: Any, state: bytes) -> str:
        """Return which budget would fit.

        The texts of a state are taken to stay as long as they are, and its arrays to grow no slower
        than in proportion to the budget. A tenth is kept free for texts that grow.

        """
        classifier = classifier_of(model)
        budget = getattr(classifier, "budget", None)
        if budget is None:
            return f"{type(classifier).__name__} has no budget, take a model that has one"
        empty = checkpoint.dumps(classifier.clone({"budget": 1}))
        fixed = len(state) - _array_bytes(state) + _array_bytes(empty)
        whole = len(checkpoint.dumps(classifier.clone()))
        reached = budget if whole > self.max_state_bytes else classifier.n_support
        room = 0.9 * self.max_state_bytes - fixed
        fitting = int(reached * room / (len(state) - fixed)) if len(state) > fixed else 0
        return f"a budget of {fitting} would fit" if fitting > 0 else "no budget would fit"


def _array_bytes(state: bytes) -> int:
    """Return how much of a state is arrays: what follows its head, which begins with its length."""
    return len(state) - 8 - int.from_bytes(state[:8], "little")


def _check_label(model: Any, y: Any) -> None:
    """Raise ValueError if the classifier would refuse a label: by then a scaler has learned."""
    classifier_of(model).check_label(y)


class HotStates:
    """Live models of the keys that were used last, over a store of bytes.

    A model is not made of bytes for every event as long as it stays here. What has changed is written
    when it has to make room, and by `flush`.

    Parameters
    ----------
    learner
        The learner.
    read
        Returns the state of a key, or None.
    write
        Stores the state of a key.
    n_hot
        Largest number of live models.

    """

    def __init__(
        self,
        learner: KeyedLearner,
        read: Callable[[Any], bytes | None],
        write: Callable[[Any, bytes], None],
        n_hot: int = 10_000,
    ) -> None:
        check_count("n_hot", n_hot)
        self.learner = learner
        self._read = read
        self._write = write
        self._n_hot = n_hot
        self._live: collections.OrderedDict[Any, KeyedModel] = collections.OrderedDict()
        self._changed: set[Any] = set()

    def advance(self, event: Event) -> Prediction:
        """Change the model of the event's key by the event, and return the prediction."""
        keyed = self._live.get(event.key)
        if keyed is None:
            keyed = self._live[event.key] = self.learner.open(self._read(event.key))
            if len(self._live) > self._n_hot:
                self._evict()
        self._live.move_to_end(event.key)
        prediction = self.learner.advance(keyed, event)
        self._changed.add(event.key)
        return prediction

    def flush(self) -> None:
        """Write all that has changed.

        Raises
        ------
        ValueError
            If a state is too large. By then all others are written.

        """
        refused = None
        for key in list(self._changed):
            try:
                self._store(key)
            except ValueError as error:
                refused = error
        if refused is not None:
            raise refused

    def _evict(self) -> None:
        key = next(iter(self._live))
        if key in self._changed:
            self._store(key)
        del self._live[key]

    def _store(self, key: Any) -> None:
        self._write(key, self.learner.close(self._live[key]))
        self._changed.discard(key)


def run_local(
    events: Iterable[Event],
    learner: KeyedLearner,
    states: MutableMapping[Any, bytes] | None = None,
    n_hot: int = 10_000,
) -> Iterator[Prediction]:
    """Yield the prediction of each event, with no engine.

    Parameters
    ----------
    events
        The events.
    learner
        The learner.
    states
        The states by key: where to go on from, and where they are at the end.
    n_hot
        Largest number of live models; the others are kept as bytes.

    Raises
    ------
    ValueError
        If an event is refused, or a state is too large, which is found when it is stored. What has
        changed is stored in any case.

    Examples
    --------

    >>> from river_budget import keyed
    >>> import river_budget as rb

    >>> learner = keyed.KeyedLearner(lambda: rb.Forgetron(budget=20))
    >>> events = [keyed.Event(key, t, {"t": t % 3}, t % 3 == 0) for t in range(9) for key in "ab"]
    >>> *_, last = keyed.run_local(events, learner)
    >>> last.key, last.seq, last.n_seen
    ('b', 8, 9)

    """
    store: MutableMapping[Any, bytes] = {} if states is None else states
    hot = HotStates(learner, store.get, store.__setitem__, n_hot)
    try:
        for event in events:
            yield hot.advance(event)
    finally:
        hot.flush()
