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
from river_budget._core.answer import kept
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
    # Of each ticket that waits, oldest first: the arm, the context, and how many rewards the arm had.
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
        contexts = [context for _, context, _ in self._pending.values()]
        parts = [self._pending, *contexts, *(v for context in contexts for v in context.values())]
        return sum(map(sys.getsizeof, parts)) + sum(
            Chain(model).memory_bytes for model in self._models.values()
        )

    def _new_model(self) -> Any:
        """Return the classifier of a new arm."""
        return Mnemotron(30, KERNELS) if self.model is None else self.model.clone()

    _wrapped_model = property(_new_model)

    @_described
    def values_one(self, arm_ids: list[Any], context: Features) -> dict[Any, float]:
        """Return what each arm is worth in a context."""
        waiting = Counter(arm for arm, *_ in self._pending.values())
        costs, n_0, values = self.costs or {}, self.prior_successes, {}
        for arm in arm_ids:
            n, chain = self._counts.get(arm, 0), self._chain_of(arm)
            p = 0.0 if chain is None else chain.ask(context).probabilities.get(True, 0.0)
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
        ticket = Ticket(int(number), *self._choose(arms, context))
        chain, oldest = self._chain_of(ticket.arm), next(iter(self._pending), None)
        n_rounds = (chain and chain.n_rounds) or 0
        waiting = ticket.arm, kept(context), n_rounds
        # No interrupt comes after the call.
        if len(self._pending) >= self.max_pending:
            del self._pending[oldest]
        self._pending[ticket.id], self._next_id = waiting, ticket.id + 1
        return ticket

    @_described
    def waits_for(self, ticket_id: int) -> Any:
        """Return the arm of a ticket that waits for its reward, or None."""
        return self._pending.get(ticket_id, (None, None, 0))[0]

    @_described
    def reward(self, ticket_id: int, reward: float) -> bool:
        """Learn the reward of a ticket as `update`, or return False if it does not wait for one."""
        is_ticket = isinstance(ticket_id, Ticket)
        require(not is_ticket, "reward takes the id of a ticket, not the ticket")
        arm, context, n_rounds = self._pending.get(ticket_id, (None, None, 0))
        if context is None:
            return False
        self._learn(arm, context, reward, ticket_id, n_rounds)
        return True

    @_described
    def update(self, arm_id: Any, context: Features, reward: float) -> None:
        """Learn the reward of an arm in a context, 1 or 0, without a ticket.

        Raises ValueError, and changes nothing, if the reward, the context or the arm is refused.
        """
        self._learn(arm_id, context, reward, None, -1)

    def _learn(
        self, arm_id: Any, context: Features, reward: Any, ticket_id: int | None, asked_at: int
    ) -> None:
        """Learn a reward, count it, and end its ticket: all of this or nothing, also at an interrupt."""
        (arm_id,) = _arms([arm_id])
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
            chain.learn(context, bool(reward), asked_at)
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
        self._pending = {i: ticket for i, ticket in self._pending.items() if ticket[0] != arm_id}

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
        for arm, context, n_rounds in self._pending.values():
            require(is_class(arm) and isinstance(context, dict), "a ticket is wrong")
            count(n_rounds)

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
        return self._choose(_arms(arm_ids), context)[0]

    def _choose(self, arms: list[Any], context: Features) -> tuple[Any, float]:
        """Return one of the best arms, and its probability among these."""
        values = self.values_one(arms, context)
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
