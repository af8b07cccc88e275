"""What one event does to the policy of its key: decisions, and their rewards."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from river_budget.base import Labels, plain_label
from river_budget.checkpoint.codec import Writer
from river_budget.keyed.answers import check_given, stored
from river_budget.keyed.learner import Event, KeyedLearner, KeyedModel, Prediction

if TYPE_CHECKING:
    from river_budget.bandit import ArmClassifiers


class PolicyLearner(KeyedLearner):
    """Chooses among the arms of each event, and learns the reward that comes later.

    Take it for one `bandit.ArmClassifiers` per user. It runs wherever a `KeyedLearner` does. A new
    event has the `arms` to choose from, and is answered with the arm as `y_pred`. Its number is the
    ticket: the reward, 1 or 0, is the label `y` of a later event with the same number, which needs no
    features. A decision that is delivered again is answered with the same arm while its reward is
    missing; a reward is learned once, and those that are unknown or too late are answered with None.
    `accuracy` is the share of successes among the rewards.

    Parameters
    ----------
    factory
        Returns the policy of a new key. It needs a seed: after a crash, events that are delivered
        again have to get the arms that they had.
    max_state_bytes
        Largest size of the state of a key.
    max_jump
        As in `KeyedLearner`.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or the factory returns no policy with a seed.
    CheckpointError
        If the factory's policies cannot be serialized.

    Examples
    --------

    >>> from river_budget import keyed
    >>> import river_budget as rb

    >>> learner = keyed.PolicyLearner(lambda: rb.bandit.ArmClassifiers(seed=1))
    >>> event = keyed.Event("ann", 0, {"length": 0.3}, arms=["small", "large"])
    >>> state, choice = learner.step(None, event)
    >>> choice.y_pred
    'small'
    >>> state, rewarded = learner.step(state, keyed.Event("ann", 0, y=1))
    >>> rewarded.accuracy
    1.0
    """

    def __init__(
        self,
        factory: Callable[[], ArmClassifiers],
        max_state_bytes: int = 900_000,
        max_jump: int = 10**9,
    ) -> None:
        super().__init__(factory, max_state_bytes, max_jump=max_jump)

    def advance(self, keyed: KeyedModel, event: Event) -> Prediction:
        """Return the arm of a decision, new or waiting for its reward, which is learned if it is given.

        Raises ValueError if a new event lacks features or arms, has a reward already or a number that
        is refused, or if a value, an arm or a reward is refused. The policy does not change.
        """
        self._check_event(keyed, event)
        policy = keyed.model
        if event.seq > keyed.last_seq:
            context = _checked_context(event)
            arm = policy.decide(event.arms, context, event.seq).arm
            keyed.last_seq = event.seq
            keyed.n_seen += 1
        else:
            arm = policy.waits_for(event.seq)
            if event.y is not None and policy.reward(event.seq, event.y):
                keyed.n_labelled += 1
                keyed.n_right += bool(event.y)
        return self._prediction(keyed, event, arm, None)

    def _check_model(self, model: Any) -> None:
        from river_budget.bandit import ArmClassifiers  # slow to import

        if not isinstance(model, ArmClassifiers) or model.seed is None:
            raise ValueError(f"factory must return ArmClassifiers with a seed, got {self._outline}")

    def _advice(self, model: Any, state: bytes) -> str:
        return "use a model with a smaller budget, fewer arms or a smaller max_pending"


def _checked_context(event: Event) -> dict[Any, Any]:
    """Return the features of a decision; raise ValueError unless it can be made and stored."""
    name = f"event {event.seq} of {event.key!r}"
    if event.x is None:
        raise ValueError(f"{name} is new and has no features")
    if not isinstance(event.arms, list | tuple) or not event.arms:
        raise ValueError(f"{name} needs a list of arms to choose from, got {event.arms!r}")
    if event.y is not None:
        raise ValueError(f"{name} has a reward before its decision")
    check_given(event.x)
    for arm in event.arms:
        Labels(1, "").check(arm)
        Writer().value(plain_label(arm))
    return stored(event.x)
