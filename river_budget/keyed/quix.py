"""One bounded model for each message key of a Quix Streams application.

It needs quixstreams, which the extra `quix` installs.

"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable
from typing import Any

from quixstreams import message_context
from quixstreams.dataframe import StreamingDataFrame
from quixstreams.sinks import BaseSink

from river_budget.keyed import Event, HotStates, KeyedLearner, Prediction

__all__ = ["apply", "event_of"]

logger = logging.getLogger(__name__)

# What the store calls the state of a key.
NAME = "model"

# Quix Streams takes a stored value that begins with eight bytes of a plausible time for one that
# expires. No such time begins like this.
MAGIC = b"river_budget:"

# What a message that is no event may raise.
BROKEN = (ValueError, TypeError, LookupError, AttributeError, OverflowError)


def event_of(value: Any, key: Any) -> Event:
    """Return the event of a message like `{"seq": 3, "x": {"a": 1.0}, "y": true}`.

    Parameters
    ----------
    value
        The message's value. `x` or `y` may be missing or None.
    key
        The message's key.

    Raises
    ------
    ValueError
        If it is none, which the message tells.

    Examples
    --------

    >>> from river_budget.keyed import quix
    >>> quix.event_of({"seq": 3, "x": {"a": 1.0}}, "ann")
    Event(key='ann', seq=3, x={'a': 1.0}, y=None)

    """
    if not isinstance(value, dict):
        raise ValueError(f"the message is {value!r}: expected an object with seq, x and y")
    seq, x = value.get("seq"), value.get("x")
    if not isinstance(seq, int) or isinstance(seq, bool):
        raise ValueError(f"seq is {seq!r}: expected a whole number")
    if x is not None and not isinstance(x, dict):
        raise ValueError(f"x is {x!r}: expected an object of features")
    return Event(key, seq, x, value.get("y"))


def apply(
    sdf: StreamingDataFrame,
    learner: KeyedLearner,
    event: Callable[[Any, Any], Event] = event_of,
    n_hot: int = 10_000,
) -> StreamingDataFrame:
    """Let a model for each key predict, and then learn, the messages of a stream.

    Each result is a dict: what `Prediction` has, or the key and an `error`. A message that is refused
    changes no model and does not stop the stream. A model whose state has become too large to be
    stored stays as it was at the last commit; the key's messages are errors from there on, until the
    partition moves or the application restarts.

    Models stay live between the commits of the application and are stored by them, in one write for
    each key that has changed.

    Parameters
    ----------
    sdf
        The stream. Its keys say which model a message is for.
    learner
        The learner.
    event
        Makes the event of a message's value and key.
    n_hot
        Largest number of live models for each partition.

    Returns
    -------
    The stream of results.

    """
    models = _Models(sdf, learner, n_hot)
    # `StreamingDataFrame.sink` does this, and then passes every message to the sink.
    sdf.processing_context.sink_manager.register(models)

    def advance(value: Any, key: Any, timestamp: Any, headers: Any, state: Any) -> dict[str, Any]:
        try:
            if key is None:
                raise ValueError("the message has no key")
            return models.advance(event(value, key))._asdict()
        except BROKEN as error:
            return {"key": key, "error": str(error) or repr(error)}

    return sdf.apply(advance, stateful=True, metadata=True)


class _Models(BaseSink):
    """The live models of an application, stored by its commits.

    It counts on four things inside Quix Streams:

    - A commit flushes the sinks, then writes the stores' transactions to the changelog, then commits
      the offsets; so it does before partitions are given up and before the application stops. What
      `flush` stores goes with the offsets of the events that were learned. If the commit fails, the
      events come again, and a live model knows those that it has seen.
    - `checkpoint.get_store_transaction(...).as_state(prefix=key)` is the state of a key. It is what
      a function with `stateful=True` is given, for the key of its message.
    - A partition of the store is one object from when it is assigned to when it is taken away. The
      models live as long as it does.
    - A flush that takes too long at a rebalance is left alone in a thread of its own. As it holds on
      to the checkpoint that it began with, it cannot reach the next one.

    """

    def __init__(self, sdf: StreamingDataFrame, learner: KeyedLearner, n_hot: int) -> None:
        super().__init__(on_client_connect_success=lambda: None)
        self._sdf = sdf
        self._learner = learner
        self._n_hot = n_hot
        self._hot: weakref.WeakKeyDictionary[Any, _Partition] = weakref.WeakKeyDictionary()

    def advance(self, event: Event) -> Prediction:
        context, stream_id = self._sdf.processing_context, self._sdf.stream_id
        number = message_context().partition
        partition = context.state_manager.get_store(stream_id).partitions[number]
        hot = self._hot.get(partition)
        if hot is None:
            hot = self._hot[partition] = _Partition(stream_id, number, self._learner, self._n_hot)
        hot.checkpoint = context.checkpoint
        return hot.advance(event)

    def flush(self) -> None:
        checkpoint = self._sdf.processing_context.checkpoint
        for hot in list(self._hot.values()):
            hot.checkpoint = checkpoint
            hot.flush()

    def add(self, *args: Any, **kwargs: Any) -> None:
        """Take no messages."""


class _Partition(HotStates):
    """The live models of a partition, and the keys whose state cannot be stored any more."""

    checkpoint: Any

    def __init__(self, stream_id: str, number: int, learner: KeyedLearner, n_hot: int) -> None:
        super().__init__(learner, self._stored, self._put, n_hot)
        self._stream_id = stream_id
        self._number = number
        self._refused: dict[Any, str] = {}

    def advance(self, event: Event) -> Prediction:
        if event.key in self._refused:
            raise ValueError(self._refused[event.key])
        return super().advance(event)

    def _store(self, key: Any) -> None:
        try:
            super()._store(key)
        except ValueError as error:
            logger.warning("the model of %r stays as it was: %s", key, error)
            self._changed.discard(key)
            self._refused[key] = str(error)

    def _state(self, key: Any) -> Any:
        transaction = self.checkpoint.get_store_transaction(self._stream_id, self._number)
        return transaction.as_state(prefix=key)

    def _stored(self, key: Any) -> bytes | None:
        stored = self._state(key).get_bytes(NAME)
        return None if stored is None else stored.removeprefix(MAGIC)

    def _put(self, key: Any, state: bytes) -> None:
        self._state(key).set_bytes(NAME, MAGIC + state)
