"""What one event does to the model or the policy of its key."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

from river_budget import checkpoint
from river_budget._checks import check_count, shown
from river_budget._core.answer import Waiting, is_plain
from river_budget._state import LARGEST_ID, Count, Dict, Field, Learned, count, require
from river_budget.base import Chain
from river_budget.base.documented import describing
from river_budget.checkpoint import CheckpointError
from river_budget.checkpoint.codec import check_storable

_described = describing(
    {
        "state": "The bytes of a key, as they were returned last; None for a new key.",
        "keyed": "The live model of the key.",
        "event": "The event.",
    }
)

# Labels of these types can be stored.
STORABLE = frozenset([bool, int, float, str])


class Event(NamedTuple):
    """One example of a key, which is an agent, a device or a user, with or without its label.

    Attributes
    ----------
    key
        The key. Equal ones, such as 1 and True, share a model.
    seq
        Its number, which increases with each event of the key, and stays the same if it is delivered
        again. A negative one marks a query, which is only predicted.
    x, y
        Its features, which a late label does not need, and its label, its reward or None.
    arms
        The arms to choose from, for a policy.
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
        The predicted label; None before the key's first, and if a late label's event is forgotten.
    margin
        f(x), positive for the positive class; with more than two labels, half the difference between
        the two largest scores. None where there are no scores.
    n_seen, accuracy
        Number of events of the key, and share of correct predictions among those whose label is known;
        None before the first of these.
    """

    key: Any
    seq: int
    y_pred: Any
    margin: float | None
    n_seen: int
    accuracy: float | None


class KeyedModel(Learned):
    """The model of one key, with the record that lets it learn each event once.

    Attributes
    ----------
    model, chain, is_policy
        The model, the chain through which it is asked and learns, and whether it is a policy.
    last_seq
        The largest number of an event so far; -1 before the first.
    pending
        Of the events without a label yet, by their numbers, what is kept of them; see `Waiting`.
    n_seen, n_labelled, n_right, accuracy
        Number of events, of those whose label is known, and number and share of correct predictions
        among these.
    """

    last_seq = Field[int](lambda: -1, lambda seq: -1 if seq == -1 else count(seq))
    pending = Dict()
    n_seen, n_labelled, n_right = Count(), Count(), Count()

    def __init__(self, model: Any) -> None:
        self.model, self.chain = model, Chain(model)
        self.is_policy = hasattr(model, "decide")

    @property
    def accuracy(self) -> float | None:
        return self.n_right / self.n_labelled if self.n_labelled else None

    def _check_restored(self) -> None:
        require(self.n_right <= self.n_labelled <= self.n_seen, "its counts are wrong")
        for waiting in self.pending.values():
            is_whole = isinstance(waiting, Waiting) and waiting.asked is not None
            require(is_whole, "an event that waits is wrong")


@dataclasses.dataclass(eq=False, repr=False)
class KeyedLearner:
    """Predicts each event, then learns it if it has a label, and never learns an event twice.

    An event whose number does not exceed the largest so far is only predicted, unless it brings the
    missing label. So the models are those of a stream that delivers each event once.

    An `ArmClassifiers` chooses among the `arms` of a new event: `y_pred` is the arm, the
    label of a later event is its reward, from 0 to 1, and `accuracy` is the share of rewards of at least
    1/2. A decision that comes again gets the same arm until its reward is known, and None after that.
    A decision that somebody else made is an event with that arm alone in its list: the policy learns
    from its reward, too.

    Parameters
    ----------
    factory
        Returns the model of a new key, which `checkpoint.save` can store: a classifier, a pipeline
        that ends in one, or an `ArmClassifiers` with a seed, so that events that come again after a
        crash get the same arms.
    max_state_bytes
        Largest size of the state of a key.
    max_pending
        Largest number of events of a key that wait for their label; a new one replaces the oldest. A
        policy has a limit of its own.
    max_jump
        Largest step from the largest number so far, -1 for a new key, to that of a new event. After a
        larger one, all others would count as seen, so it is refused. Raise it if the numbers are times.
    compress
        Whether states are compressed; see `checkpoint.save`.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the factory returns no such model.

    Examples
    --------
    >>> import river_budget as rb

    >>> learner = rb.keyed.KeyedLearner(lambda: rb.Forgetron(budget=20))
    >>> state, prediction = learner.step(None, rb.keyed.Event("ann", 0, {"a": 1.0}, y=True))
    >>> state, prediction = learner.step(state, rb.keyed.Event("ann", 1, {"a": 1.0}))
    >>> prediction.y_pred
    True
    >>> state, prediction = learner.step(state, rb.keyed.Event("ann", 1, None, y=False))
    >>> prediction.accuracy
    0.0
    """

    factory: Callable[[], Any]
    max_state_bytes: int = 900_000
    max_pending: int = 100
    max_jump: int = 10**9
    compress: bool = False

    def __post_init__(self) -> None:
        for name in ("max_state_bytes", "max_pending", "max_jump"):
            check_count(name, getattr(self, name))
        error = f"factory must be a function, got {self.factory!r}: write lambda: and the model"
        require(callable(self.factory), error)
        new = self.deserialize(None)
        self.serialize(new)
        self._outline = checkpoint.outline(new.model)
        is_chooser = hasattr(new.model, "decide") and new.model.seed is not None
        is_classifier = hasattr(new.chain.last, "predict_one")
        expected = "a classifier, or ArmClassifiers with a seed"
        require(is_classifier or is_chooser, f"factory must return {expected}, got {self._outline}")

    @_described
    def step(self, state: bytes | None, event: Event) -> tuple[bytes, Prediction]:
        """Return the new state of a key, given the old one or None, and the prediction of an event.

        Raises as `deserialize`, `advance` and `serialize`.
        """
        keyed = self.deserialize(state)
        prediction = self.advance(keyed, event)
        return self.serialize(keyed), prediction

    @_described
    def deserialize(self, state: bytes | None) -> KeyedModel:
        """Return the live model of a state; raise CheckpointError if the state is invalid."""
        if state is None:
            return KeyedModel(self.factory())
        model, record = checkpoint.restores(state)
        found, made = checkpoint.outline(model), self._outline
        if found != made:
            raise CheckpointError(
                f"the state is that of a {found}, but the factory returns a {made}"
            )
        keyed = KeyedModel(model)
        try:
            keyed.restore(record)
        except (ValueError, TypeError, LookupError) as error:
            raise CheckpointError(f"the record beside the model is invalid: {error}") from None
        return keyed

    @_described
    def serialize(self, keyed: KeyedModel) -> bytes:
        """Return the state of a live model; raise ValueError if it is too large."""
        state = checkpoint.dumps(keyed.model, keyed.state(), self.compress)
        if len(state) > self.max_state_bytes:
            raise ValueError(
                f"the state of a key takes {len(state):,} bytes, and {self.max_state_bytes:,} are "
                f"allowed: {self._advice(keyed, len(state))}"
            )
        return state

    @_described
    def advance(self, keyed: KeyedModel, event: Event) -> Prediction:
        """Return the prediction of an event, then let a live model learn it.

        Raises ValueError, and changes nothing, if any part of the event is refused.
        """
        if not isinstance(event, Event):
            raise ValueError(f"expected a keyed.Event, got {shown(event):.100}")
        seq, last = event.seq, keyed.last_seq
        if type(seq) is not int and not _is_whole(seq):
            raise ValueError(f"seq is {shown(seq)}: expected a whole number")
        if seq > last + self.max_jump or seq > LARGEST_ID:
            raise ValueError(
                f"event {shown(seq)} of {shown(event.key)} comes after event {last}, but a number may exceed "
                f"the last one by at most max_jump={self.max_jump}"
            )
        if seq > last and event.x is None:
            raise ValueError(f"event {shown(seq)} of {shown(event.key)} is new and has no features")
        answer = _decide if keyed.is_policy else self._predict
        margin, y_pred = answer(keyed, event)
        return Prediction(event.key, seq, y_pred, margin, keyed.n_seen, keyed.accuracy)

    def _predict(self, keyed: KeyedModel, event: Event) -> tuple[float | None, Any]:
        """Return the margin and the prediction of an event, and learn it if it has a label."""
        chain, seq = keyed.chain, event.seq
        is_new, waiting = seq > keyed.last_seq, keyed.pending.get(seq)
        x = event.x if waiting is None else waiting.x
        if x is None:
            return None, None
        answer = chain.ask_safely(x)
        if is_new:
            if not is_plain(x):
                check_storable("the features", x)
            waiting = Waiting(answer.x, answer.label, answer.asked)
        if waiting is not None:
            if event.y is not None:
                _learn(keyed, event, waiting)
            elif is_new:
                self._keep(keyed, seq, waiting)
        return answer.margin if chain.has_scores else None, answer.label

    def _keep(self, keyed: KeyedModel, seq: int, waiting: Waiting) -> None:
        """Let a new event wait for its label, instead of the oldest one if there are too many."""
        oldest = next(iter(keyed.pending), None)
        # No interrupt comes after the call.
        if len(keyed.pending) >= self.max_pending:
            del keyed.pending[oldest]
        keyed.pending[seq] = waiting
        keyed.n_seen += 1
        keyed.last_seq = seq

    def _advice(self, keyed: KeyedModel, n_bytes: int) -> str:
        """Return which budget would fit if arrays grow with it, and texts by less than a tenth."""
        if keyed.is_policy:
            return self._advice_for_policy(keyed.model, n_bytes)
        classifier = keyed.chain.last
        if getattr(classifier, "budget", None) is None:
            return "use a model that has a budget"
        whole = checkpoint.dumps(keyed.model, keyed.state())
        # A file begins with the length of its text, in eight bytes.
        header = 8 + int.from_bytes(whole[:8], "little")
        of_texts = n_bytes * header / len(whole)
        room = 0.9 * self.max_state_bytes - of_texts
        fitting = int(classifier.n_support * room / max(1.0, n_bytes - of_texts))
        return f"a budget of {fitting} would fit" if fitting > 0 else "no budget would fit"

    def _advice_for_policy(self, policy: Any, n_bytes: int) -> str:
        """Return what takes the bytes of a policy, and what would take less."""
        chains = list(map(Chain, policy.models.values()))
        of_models = sum(len(checkpoint.dumps(chain.model)) for chain in chains)
        model = "a smaller model"
        if chains and all(hasattr(chain.classifier, "n_support") for chain in chains):
            n_vectors = sum(chain.classifier.n_support for chain in chains) / len(chains)
            room = 0.9 * self.max_state_bytes - (n_bytes - of_models)
            fitting = int(n_vectors * room / of_models)
            model = f"a model with a budget of {fitting}" if fitting > 0 else model
        return (
            f"the models of {len(chains)} arms take {of_models:,} of them, and {policy.n_pending} "
            f"waiting tickets most of the rest. Give ArmClassifiers {model}, fewer arms, or a smaller "
            "max_pending, and an embedding as one array in the place of many numbers"
        )


def _is_whole(seq: Any) -> bool:
    return isinstance(seq, numbers.Integral) and not isinstance(seq, bool)


def _learn(keyed: KeyedModel, event: Event, waiting: Waiting) -> None:
    """Learn an event with its label, given what was kept of it."""
    chain, seq, y = keyed.chain, event.seq, event.y
    # In `learn_one` a pipeline's scaler learns before the classifier sees the label.
    chain.check_label(y)
    if type(y) not in STORABLE:
        check_storable("the label", y)
    is_right, n_rounds, is_learned = bool(waiting.label == y), chain.n_rounds, False
    try:
        chain.learn(waiting.x, y, waiting.asked)
        is_learned = True
    finally:
        # An interrupt may come after the model has learned. None comes before the last call.
        if is_learned or chain.n_rounds != n_rounds:
            keyed.n_labelled += 1
            keyed.n_right += is_right
            if seq > keyed.last_seq:
                keyed.n_seen += 1
                keyed.last_seq = seq
            keyed.pending.pop(seq, None)


def _decide(keyed: KeyedModel, event: Event) -> tuple[None, Any]:
    """Return the arm, new or waiting for its reward, which a policy learns if the event has it."""
    policy, (key, seq, x, y, arms) = keyed.model, event
    if seq <= keyed.last_seq:
        arm, is_rewarded = policy.waits_for(seq), False
        if y is None or arm is None:
            return None, arm
        try:
            policy.reward(seq, y)
            is_rewarded = True
        finally:
            # An interrupt may come after the policy has learned. None comes in between.
            if is_rewarded or policy.waits_for(seq) is None:
                keyed.n_labelled += 1
                keyed.n_right += 1 if y >= 0.5 else 0
        return None, arm
    require(y is None, f"event {shown(seq)} of {shown(key)} has a reward before its decision")
    is_listed = isinstance(arms, list | tuple)  # A set has another order in another process.
    require(
        is_listed, f"event {shown(seq)} of {shown(key)} needs a list of arms, got {shown(arms)}"
    )
    check_storable("the arms", arms)
    check_storable("the features", x)
    is_decided = False
    try:
        arm = policy.decide(arms, x, seq).arm
        is_decided = True
    finally:
        # An interrupt may come after the policy has decided. None comes in between.
        if is_decided or policy.waits_for(seq) is not None:
            keyed.n_seen += 1
            keyed.last_seq = seq
    return None, arm
