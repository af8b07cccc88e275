"""One bounded model for each key of a Quix Streams application; the extra `quix` installs that."""

from __future__ import annotations

import weakref
from typing import Any

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import OffsetSpec
from quixstreams import message_context
from quixstreams.dataframe import StreamingDataFrame
from quixstreams.sinks import BaseSink
from quixstreams.utils import json

from river_budget._state import require
from river_budget.keyed.cache import ModelCache
from river_budget.keyed.learner import Event, KeyedLearner, Prediction

__all__ = ["apply"]

# The name of the state of a key in the store.
NAME = "model"

# Quix Streams treats a stored value as one that expires if its first eight bytes are a plausible
# time. These are not.
MAGIC = b"river_budget:"

# What an invalid message may raise.
ERRORS_OF_MESSAGES = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


def apply(
    sdf: StreamingDataFrame, learner: KeyedLearner, max_live: int = 10_000
) -> StreamingDataFrame:
    """Predict, then learn, the messages of a stream with one model for each key.

    A message is an object like `{"seq": 3, "x": {"a": 1.0}, "y": true}`, as JSON in bytes or
    already deserialized, where all but `seq` may be missing or None. A key in bytes is UTF-8.

    Each result is a dict: the fields of `Prediction`, or the key and an `error`. A refused message
    changes no model and does not stop the stream. So that this holds for messages that cannot be
    decoded, give the topic `key_deserializer="bytes"` and `value_deserializer="bytes"`. Keys whose
    states are too large, as `ModelCache` says, get errors until the partition moves or the
    application restarts. Each commit writes changed models.

    Parameters
    ----------
    sdf, learner, max_live
        The stream, and for each of its partitions the parameters of a `ModelCache`.
    """
    models = _Models(sdf, learner, max_live)
    # `StreamingDataFrame.sink` does this, and then passes every message to the sink.
    sdf.processing_context.sink_manager.register(models)
    if sdf.processing_context.exactly_once:
        _wait_for_open_transactions(sdf)

    def advance(value: Any, key: Any, timestamp: Any, headers: Any, state: Any) -> dict[str, Any]:
        try:
            require(key is not None, "the message has no key")
            return models.advance(_event_of(value, key))._asdict()
        except ERRORS_OF_MESSAGES as error:
            name = key.decode(errors="backslashreplace") if isinstance(key, bytes) else key
            return {"key": name, "error": str(error) or repr(error)}

    return sdf.apply(advance, stateful=True, metadata=True)


def _wait_for_open_transactions(sdf: StreamingDataFrame) -> None:
    """Let the recovery of states wait for the transactions that are open when it begins.

    Quix Streams reads a changelog up to the end that a reader of committed messages sees. That is
    before the first open transaction, which a dead worker may have left, and so before all states
    that other workers have committed since. This gives it the end of all that is written, which it
    reaches when these transactions have ended.
    """
    consumer: Any = sdf.processing_context.consumer
    committed = consumer.get_watermark_offsets
    admin = sdf._topic_manager._admin.admin_client  # noqa: SLF001

    def all_written(partition: TopicPartition, timeout: float = 30) -> tuple[int, int]:
        low, _ = committed(partition, timeout)
        latest = admin.list_offsets(
            {partition: OffsetSpec.latest()},
            isolation_level=IsolationLevel.READ_UNCOMMITTED,
            request_timeout=timeout,
        )
        return low, latest[partition].result().offset

    consumer.get_watermark_offsets = all_written


def _event_of(value: Any, key: Any) -> Event:
    """Return the event of a message, whose value and key may be bytes. Raises various errors."""
    if isinstance(key, bytes):
        key = key.decode()
    if isinstance(value, bytes):
        value = json.loads(value)
    is_object = isinstance(value, dict)
    require(is_object, f"the message is {value!r}: expected an object with seq, x and y")
    return Event(key, *map(value.get, ("seq", "x", "y", "arms")))


class _Partition(ModelCache):
    """The models of a partition, and the application's current checkpoint, which stores them."""

    checkpoint: Any

    def __init__(self, learner: KeyedLearner, max_live: int, *address: Any) -> None:
        super().__init__(learner, self._load, self._store, max_live)
        self._address = address

    def _load(self, key: Any) -> bytes | None:
        stored = self._state(key).get_bytes(NAME)
        return None if stored is None else stored.removeprefix(MAGIC)

    def _store(self, key: Any, state: bytes) -> None:
        self._state(key).set_bytes(NAME, MAGIC + state)

    def _state(self, key: Any) -> Any:
        return self.checkpoint.get_store_transaction(*self._address).as_state(prefix=key)


class _Models(BaseSink):
    """The live models of an application, stored by its commits.

    It relies on four properties of Quix Streams:

    - A commit, also that before a revocation or the end, flushes the sinks, then writes the stores'
      transactions, then commits the offsets. If it fails, live models know events that come again.
    - `checkpoint.get_store_transaction(...).as_state(prefix=key)` is the state that a function with
      `stateful=True` gets for a message with that key.
    - A partition of the store, and so its models, is one object from assignment to revocation.
    - A flush that takes too long at a rebalance is abandoned in a thread of its own. As it keeps
      the checkpoint that it began with, it cannot write to the next one.
    """

    def __init__(self, sdf: StreamingDataFrame, learner: KeyedLearner, max_live: int) -> None:
        super().__init__(on_client_connect_success=lambda: None)
        self._stream_id, self._context = sdf.stream_id, sdf.processing_context
        self._options = learner, max_live
        self._partitions: weakref.WeakKeyDictionary[Any, _Partition] = weakref.WeakKeyDictionary()

    def advance(self, event: Event) -> Prediction:
        number = message_context().partition
        stored = self._context.state_manager.get_store(self._stream_id).partitions[number]
        if stored not in self._partitions:
            self._partitions[stored] = _Partition(*self._options, self._stream_id, number)
        partition = self._partitions[stored]
        partition.checkpoint = self._context.checkpoint
        return partition.advance(event)

    def flush(self) -> None:
        checkpoint = self._context.checkpoint
        for partition in list(self._partitions.values()):
            partition.checkpoint = checkpoint
            partition.flush()

    def add(self, *args: Any, **kwargs: Any) -> None:
        """Take no messages."""
