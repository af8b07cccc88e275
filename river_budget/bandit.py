"""A policy for contextual bandits that learns from rewards, with a classifier for each arm."""

from __future__ import annotations

import copy
import numbers
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from river import bandit, base, stats

from river_budget._checks import (
    Parametrized,
    check_count,
    check_positive,
    check_real,
    check_seed,
    random_of,
    shown,
)
from river_budget._core.answer import Answer, Waiting, kept
from river_budget._state import LARGEST_ID, Count, Dict, Field, Learned, Random, count, require
from river_budget.base import Chain, documented, parameter
from river_budget.base.documented import describing
from river_budget.base.labels import is_class, plain_label
from river_budget.kernels import AdditiveRationalQuadratic, Features, RationalQuadratic
from river_budget.mnemotron import Mnemotron

__all__ = ["ArmClassifiers", "Ticket"]

# As good for rewards as all default kernels of Mnemotron, in two thirds of the memory.
KERNELS = (RationalQuadratic(), AdditiveRationalQuadratic())


_described = describing(
    {
        "arm_ids": "The names of the arms to choose from, in any sequence.",
        "arm_id": "The name of an arm.",
        "context": "The features of the decision, as a dict.",
        "ticket_id": "The id of the ticket of a decision.",
        "reward": "1 for success, 0 for failure.",
    }
)


class Ticket(NamedTuple):
    """A choice whose reward comes later, and its probability among equally good ones."""

    id: int
    arm: Any
    probability: float


def _check_costs(name: str, costs: Any) -> None:
    is_dict = isinstance(costs, Mapping)
    require(is_dict, f"{name} must be a dict from arms to numbers, got {shown(costs)}")
    for arm, cost in costs.items():
        check_real(f"the cost of {shown(arm)}", cost)


@documented
class ArmClassifiers(Parametrized, Learned, bandit.base.ContextualPolicy):
    """A contextual bandit policy with a classifier for each arm, which predicts its reward.

    Use it for an agent that picks a tool, a model or a route, and hears later whether that worked.
    With the probability p of success in this context, by `predict_proba_one`, an arm with n rewards
    is worth `(n p + n_0) / (n + n_0)` less its cost, so new arms are tried. The best is chosen, at
    random among ties. Arms may come at any time, and go with `forget`. Rewards may be late: a ticket
    of `decide` counts as a failure until `reward`, so an arm is not tried again and again.

    Parameters
    ----------
    model
        The classifier of each arm, or a pipeline that ends in one. By default
        `Mnemotron(budget=30)` with `RationalQuadratic` and `AdditiveRationalQuadratic` as kernels.
    prior_successes
        n_0, the successes that each arm begins with; positive. Larger values explore longer.
    costs
        The cost of each arm, in units of rewards; 0 for those that are not named.
    max_arms, max_pending
        Maximum numbers of arms, and of tickets that wait; a new ticket replaces the oldest.

    Examples
    --------
    >>> import random
    >>> import river_budget as rb

    >>> rng = random.Random(1)
    >>> policy = rb.ArmClassifiers(costs={"large": 0.2}, seed=1)
    >>> for _ in range(500):
    ...     context = {"length": rng.random(), "code": rng.random() < 0.5}
    ...     ticket = policy.decide(["small", "large"], context)
    ...     works = ticket.arm == "large" or context["length"] < 0.5
    ...     is_known = policy.reward(ticket.id, works)
    >>> policy.pull(["small", "large"], {"length": 0.1, "code": True})
    'small'
    >>> policy.pull(["small", "large"], {"length": 0.9, "code": True})
    'large'
    """

    _models = Dict()
    _rewards = Field[Any](dict)
    # Of each ticket that waits, oldest first, a `Waiting`: the context, the arm, and what its model said.
    _pending = Dict()
    _next_id = Count()
    _rng = Random()

    model: base.Classifier | None = None
    prior_successes: float = parameter(default=10.0, check=check_positive)
    costs: Mapping[Any, float] | None = parameter(default=None, check=_check_costs)
    max_arms: int = parameter(default=64, check=check_count)
    max_pending: int = parameter(default=10_000, check=check_count)
    seed: int | None = parameter(default=None, check=check_seed)

    def __post_init__(self) -> None:
        super().__post_init__()
        model = self.model
        is_valid = model is None or Chain(model).is_classifier
        require(is_valid, f"model must be a classifier, got {model!r}")
        bandit.base.ContextualPolicy.__init__(self)
        self._rng = random_of(self.seed)
        self._chains: dict[Any, Chain] = {}

    def __repr__(self) -> str:
        # River's table of the arms needs one.
        return super().__repr__() if self._rewards else base.Base.__repr__(self)

    @property
    def arms(self) -> list[Any]:
        """The arms that were rewarded so far."""
        return list(self._models)

    @property
    def memory_bytes(self) -> int:
        """Memory of models and tickets in bytes."""
        models = sum(Chain(model).memory_bytes for model in self._models.values())
        waiting = sum(w.nbytes for w in self._pending.values())
        return sys.getsizeof(self._pending) + waiting + models

    def _new_model(self) -> Any:
        """Return the classifier of a new arm."""
        return Mnemotron(30, KERNELS) if self.model is None else self.model.clone()

    _wrapped_model = property(_new_model)

    @_described
    def values_one(self, arm_ids: list[Any], context: Features) -> dict[Any, float]:
        """Return what each arm is worth in a context."""
        return self._values(self._answers(arm_ids, context))

    def _answers(self, arms: list[Any], context: Features) -> dict[Any, Answer | None]:
        """Return what the model of each arm says of a context; None for an arm that has no model yet."""
        chains = {arm: self._chain_of(arm) for arm in arms}
        return {arm: None if chain is None else chain.ask(context) for arm, chain in chains.items()}

    def _values(self, answers: dict[Any, Answer | None]) -> dict[Any, float]:
        """Return what each arm is worth, given what its model says."""
        waiting = Counter(w.label for w in self._pending.values())
        costs, n_0, values = self.costs or {}, self.prior_successes, {}
        for arm, answer in answers.items():
            n = self._counts.get(arm, 0)
            p = 0.0 if answer is None else answer.probabilities.get(True, 0.0)
            values[arm] = (n * p + n_0) / (n + waiting[arm] + n_0) - costs.get(arm, 0.0)
        return values

    @_described
    def decide(self, arm_ids: list[Any], context: Features, ticket_id: int | None = None) -> Ticket:
        """Choose one of some arms, names in any sequence; keep the context, a dict, until `reward`.

        The ticket has the given id, a whole number above those of all others and below 2**62 - 1, or
        the next one. If anything is refused, it raises ValueError and changes nothing.
        """
        least, arms = self._next_id, _arms(arm_ids)
        number = least if ticket_id is None else ticket_id
        is_id = isinstance(number, numbers.Integral) and least <= number <= LARGEST_ID
        expected = f"a whole number of at least {least} below 2**62 - 1"
        require(is_id, f"the ticket {shown(number)} must be {expected}")
        if self._models.keys().isdisjoint(arms):
            Chain(self._new_model()).ask(context)  # It refuses what no arm has seen yet.
        answers = self._answers(arms, context)
        ticket = Ticket(int(number), *self._choose(answers))
        # What an untrained model says tells later that the reward came late.
        answer = answers[ticket.arm] or Chain(self._new_model()).ask(context)
        waiting = Waiting(kept(context), ticket.arm, answer.asked)
        oldest = next(iter(self._pending), None)
        # No interrupt comes after the call.
        if len(self._pending) >= self.max_pending:
            del self._pending[oldest]
        self._pending[ticket.id], self._next_id = waiting, ticket.id + 1
        return ticket

    @_described
    def waits_for(self, ticket_id: int) -> Any:
        """Return the arm of a ticket that waits for its reward, or None."""
        waiting = self._pending.get(ticket_id)
        return None if waiting is None else waiting.label

    @_described
    def reward(self, ticket_id: int, reward: float) -> bool:
        """Learn the reward of a ticket as `update`, or return False if it does not wait for one."""
        is_ticket = isinstance(ticket_id, Ticket)
        require(not is_ticket, "reward takes the id of a ticket, not the ticket")
        waiting = self._pending.get(ticket_id)
        if waiting is None:
            return False
        self._learn(waiting, reward, ticket_id)
        return True

    @_described
    def update(self, arm_id: Any, context: Features, reward: float) -> None:
        """Learn the reward of an arm in a context, 1 or 0, without a ticket.

        Raises ValueError, and changes nothing, if the reward, the context or the arm is refused.
        """
        self._learn(Waiting(context, arm_id, asked=None), reward, None)

    def _learn(self, waiting: Waiting, reward: Any, ticket_id: int | None) -> None:
        """Learn a reward, count it, and end its ticket: all of this or nothing, also at an interrupt."""
        (arm_id,) = _arms([waiting.label])
        is_reward = isinstance(reward, (numbers.Real, np.bool_)) and reward in (0, 1)
        require(
            is_reward, f"the reward must be 1 or 0, for success or failure, got {shown(reward)}"
        )
        chain = self._chain_of(arm_id)
        if chain is None:
            limit = f"at most {self.max_arms} are allowed: raise max_arms, or forget(arm_id) others"
            is_allowed = len(self._models) < self.max_arms
            require(is_allowed, f"the arm {shown(arm_id)} is one too many, {limit}")
            chain = Chain(self._new_model())
        mean = copy.copy(self._rewards.get(arm_id)) or stats.Mean()
        mean.update(float(reward))
        model, n = chain.model, self._counts.get(arm_id, 0) + 1
        n_rounds, is_learned = chain.n_rounds, False
        try:
            chain.learn(waiting.x, bool(reward), waiting.asked)
            is_learned = True
        finally:
            # An interrupt may come after the model has learned. None comes before the last call.
            if is_learned or chain.n_rounds != n_rounds:
                self._models[arm_id], self._rewards[arm_id], self._counts[arm_id] = model, mean, n
                self._n += 1
                self._pending.pop(ticket_id, None)

    @_described
    def forget(self, arm_id: Any) -> None:
        """Forget an arm and its tickets."""
        self._models.pop(arm_id, None)
        self._chains.pop(arm_id, None)
        self._rewards.pop(arm_id, None)
        self._n -= self._counts.pop(arm_id, 0)
        self._pending = {i: w for i, w in self._pending.items() if w.label != arm_id}

    def _check_restored(self) -> None:
        require(len(self._models) <= self.max_arms, "there are too many arms")
        for arm, reward in self._rewards.items():
            is_valid = isinstance(reward, stats.Mean) and reward.n == int(reward.n) >= 1
            require(is_valid and arm in self._models, f"the rewards of {shown(arm)} are wrong")
            self._counts[arm] = int(reward.n)
        self._n = self._counts.total()
        tickets = list(map(count, self._pending))
        in_order = sorted(tickets) == tickets and max(tickets, default=-1) < self._next_id
        require(in_order and len(tickets) <= self.max_pending, "the tickets are wrong")
        for waiting in self._pending.values():
            is_whole = isinstance(waiting, Waiting) and waiting.asked is not None
            require(is_whole and is_class(waiting.label), "a ticket is wrong")

    def _chain_of(self, arm: Any) -> Chain | None:
        """Return the model of an arm, or None if it has none yet."""
        model = self._models.get(arm)
        if model is None:
            return None
        chain = self._chains.get(arm)
        if chain is None or chain.model is not model:
            chain = self._chains[arm] = Chain(model)
        return chain

    def _pull(self, arm_ids: list[Any], context: Features) -> Any:  # type: ignore[override]
        return self._choose(self._answers(_arms(arm_ids), context))[0]

    def _choose(self, answers: dict[Any, Answer | None]) -> tuple[Any, float]:
        """Return one of the best arms, and its probability among these."""
        values = self._values(answers)
        largest = max(values.values())
        best = [arm for arm, value in values.items() if value == largest]
        return self._rng.choice(best), 1.0 / len(best)


def _arms(arm_ids: Any) -> list[Any]:
    """Return arms as plain values. Raises ValueError if there is none, or one cannot be a name."""
    if isinstance(arm_ids, str) or not isinstance(arm_ids, Iterable):
        raise ValueError(f"arm_ids must be a list of arms, got {shown(arm_ids)}")
    arms = list(map(plain_label, arm_ids))
    require(arms, "there is no arm to choose from")
    for arm in arms:
        require(is_class(arm), f"the arm is {shown(arm)}: expected a name")
    return arms
