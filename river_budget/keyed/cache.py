"""A cache of live models over a store of bytes, and a loop that needs no stream engine."""

from __future__ import annotations

import collections
import dataclasses
import logging
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any

from river_budget._checks import check_count, shown
from river_budget._features import shortened
from river_budget.keyed.learner import Event, KeyedLearner, KeyedModel, Prediction

logger = logging.getLogger(__name__)


@dataclasses.dataclass(eq=False, repr=False)
class ModelCache:
    """A write-back LRU cache of models, over a store that keeps their states as bytes.

    The most recently used models stay live. Changed ones are written when evicted, and by `flush`.
    If that raises, the model stays live, and the event that needed its place can be repeated.

    Parameters
    ----------
    learner, max_live
        The learner, and the largest number of live models.
    read, write
        Functions that return the stored state of a key, or None, and that store it.

    Attributes
    ----------
    refused
        For each key whose state is too large, the error that its later events raise. What the model
        has learned since the last write is lost. Delete the key to continue from the stored state.
    """

    learner: KeyedLearner
    read: Callable[[Any], bytes | None]
    write: Callable[[Any, bytes], None]
    max_live: int = 10_000

    def __post_init__(self) -> None:
        check_count("max_live", self.max_live)
        self.refused: dict[Any, str] = {}
        self._live: collections.OrderedDict[Any, KeyedModel] = collections.OrderedDict()
        self._changed: set[Any] = set()

    def __len__(self) -> int:
        """Return the number of live models."""
        return len(self._live)

    def advance(self, event: Event) -> Prediction:
        """Return the prediction of an event, then learn it.

        Raises CheckpointError if the stored state is invalid, ValueError if the event is refused.
        """
        try:
            reason = self.refused.get(event.key)
        except TypeError:
            raise ValueError(f"the key {shown(event.key)} is not hashable") from None
        if reason is not None:
            raise ValueError(f"cannot store the model of {shown(event.key)}: {reason}")
        model = self._model(event.key)
        try:
            prediction = self.learner.advance(model, event)
            self._changed.add(event.key)
        except ValueError:  # The event was refused: nothing has changed.
            raise
        except BaseException:  # An interrupt: the event may have been learned.
            self._changed.add(event.key)
            raise
        return prediction

    def flush(self) -> None:
        """Write all models that have changed."""
        for key in list(self._live):
            self._save(key)

    def _model(self, key: Any) -> KeyedModel:
        """Return the live model of a key, which is read from the store if it was not live."""
        if key not in self._live:
            if len(self._live) == self.max_live:
                # The least recently used model stays if writing it fails.
                oldest = next(iter(self._live))
                self._save(oldest)
                self._live.pop(oldest, None)
            self._live[key] = self.learner.deserialize(self.read(key))
        self._live.move_to_end(key)
        return self._live[key]

    def _save(self, key: Any) -> None:
        """Write the model of a key if it has changed, or drop it if it has no valid state."""
        if key not in self._changed:
            return
        try:
            state = self.learner.serialize(self._live[key])
        except ValueError as error:
            logger.warning("the model of %s is dropped: %s", shown(key), error)
            self.refused[key] = str(error)
            del self._live[key]
        else:
            self.write(key, state)
        self._changed.remove(key)


def run_local(
    events: Iterable[Event],
    learner: KeyedLearner,
    states: MutableMapping[Any, bytes] | None = None,
    max_live: int = 10_000,
) -> Iterator[Prediction]:
    """Yield the prediction of each event, without a stream engine.

    Parameters
    ----------
    events, learner, max_live
        The events; see `ModelCache`.
    states
        The states by key: those to continue from, and at the end the new ones.

    Raises
    ------
    ValueError
        If an event is refused, and at the end if a state was too large. The others are stored.

    Examples
    --------
    >>> import river_budget as rb

    >>> learner = rb.keyed.KeyedLearner(lambda: rb.Forgetron(budget=20))
    >>> events = [rb.keyed.Event(key, t, {"t": t % 3}, t % 3 > 0) for t in range(9) for key in "ab"]
    >>> *_, last = rb.keyed.run_local(events, learner)
    >>> last.key, last.seq, last.n_seen
    ('b', 8, 9)
    """
    store: MutableMapping[Any, bytes] = {} if states is None else states
    cache = ModelCache(learner, store.get, store.__setitem__, max_live)
    try:
        for event in events:
            yield cache.advance(event)
    finally:
        cache.flush()
    if cache.refused:
        names, reason = shortened(shown(list(cache.refused))), next(iter(cache.refused.values()))
        raise ValueError(f"cannot store the models of {names}, the first because {reason}")
