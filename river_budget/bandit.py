"""A policy for contextual bandits that learns from rewards, with a classifier for each arm."""

from __future__ import annotations

import copy
import inspect
import numbers
import random
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
    number_check,
    random_of,
    shown,
)
from river_budget._core.answer import Answer, Waiting, kept
from river_budget._core.calibration import Calibrator, gaps_of_probabilities
from river_budget._state import (
    LARGEST_ID,
    Count,
    Dict,
    Field,
    Learned,
    Number,
    Random,
    count,
    finite,
    require,
)
from river_budget.base import Chain, documented, parameter
from river_budget.base.documented import describing
from river_budget.base.labels import is_class, plain_label
from river_budget.kernels import AdditiveRationalQuadratic, Features, RationalQuadratic
from river_budget.mnemotron import Mnemotron

__all__ = ["ArmClassifiers", "Ticket"]

# As good for rewards as all default kernels of Mnemotron, in two thirds of the memory.
KERNELS = (RationalQuadratic(), AdditiveRationalQuadratic())

# How far one failure more moves the threshold of a policy with a target. With 50 rewards outstanding, it
# swings by a few points; with half of this, it takes twice as long to find its place.
STEP = 0.005


_described = describing(
    {
        "arm_ids": "The names of the arms to choose from, in any sequence.",
        "arm_id": "The name of an arm.",
        "context": "The features of the decision, as a dict.",
        "ticket_id": "The id of the ticket of a decision.",
        "reward": "1 for success, 0 for failure, or a grade in between.",
        "propensity": "The probability with which that decision chose the arm, above 0.",
    }
)


class Ticket(NamedTuple):
    """A choice whose reward comes later, and its probability of being drawn among equally good arms.

    If somebody else made the decision, the probability is its propensity.
    """

    id: int
    arm: Any
    probability: float


def _check_costs(name: str, costs: Any) -> None:
    is_dict = isinstance(costs, Mapping)
    require(is_dict, f"{name} must be a dict from arms to numbers, got {shown(costs)}")
    for arm, cost in costs.items():
        check_real(f"the cost of {shown(arm)}", cost)


_check_target = number_check("a number above 0 and at most 1", lambda v: 0 < v <= 1)
_check_propensity = number_check("a probability above 0", lambda v: 0 < v <= 1)


@documented
class ArmClassifiers(Parametrized, Learned, bandit.base.ContextualPolicy):
    """A contextual bandit policy with a classifier for each arm, which predicts its reward.

    Use it for an agent that picks a tool, a model or a route, and hears later whether that worked.
    With the probability p of success in this context, by `predict_proba_one`, an arm with n rewards
    is worth `(n p + n_0) / (n + n_0)` less its cost, so new arms are tried. The best is chosen, at
    random among ties. Arms may come at any time, and go with `forget`. Rewards may be late: a ticket
    of `decide` counts as a failure until `reward`, so an arm is not tried again and again.

    With a `target`, costs are not weighed against rewards. Of the arms whose worth, without
    the cost, reaches a threshold, the cheapest is chosen; if there is none, the arm that is worth most.
    The threshold is the target, and lower while successes exceed the target: each reward r of a ticket
    moves it by `0.005 (target - r)`, though never above the target. So the share of successes comes
    down to the target, at the lowest cost, where arms that good exist. The probabilities go through one
    calibration map for all arms, as in `Calibrated`, because the cheapest arm that looks good enough is
    often one that looks better than it is.

    A reward r between 0 and 1 is learned as two examples of half the weight: as successes if u < r, and
    if (u + 1/2) mod 1 < r, where u is drawn from the seed and the number of rewards so far. Their mean
    is r in expectation. The model must take weights `w` then, and should not look for runs of labels:
    give a `Mnemotron` with `repeats=False`.

    Parameters
    ----------
    model
        The classifier of each arm, or a pipeline that ends in one. By default
        `Mnemotron(budget=30)` with `RationalQuadratic` and `AdditiveRationalQuadratic` as kernels.
    prior_successes
        n_0, the successes that each arm begins with; positive. Larger values explore longer.
    costs
        The cost of each arm, in units of rewards; 0 for those that are not named. With a target, any
        unit will do, since costs only tell which arm is cheaper.
    max_arms, max_pending
        Maximum numbers of arms, and of tickets that wait; a new ticket replaces the oldest.
    target
        The share of successes to reach at the lowest cost, above 0 and at most 1; it needs costs. By
        default, rewards less costs are maximized.

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

    With a target, an arm is good enough or it is not:

    >>> policy = rb.ArmClassifiers(costs={"small": 1, "large": 30}, target=0.9, seed=1)
    >>> for _ in range(500):
    ...     context = {"length": rng.random(), "code": rng.random() < 0.5}
    ...     ticket = policy.decide(["small", "large"], context)
    ...     works = ticket.arm == "large" or context["length"] < 0.5
    ...     is_known = policy.reward(ticket.id, works)
    >>> policy.pull(["small", "large"], {"length": 0.1, "code": True})
    'small'
    >>> round(policy.threshold, 2)
    0.67
    """

    _models = Dict()
    _rewards = Field[Any](dict)
    # Of each ticket that waits, oldest first, a `Waiting`: the context, the arm, and what its model said.
    _pending = Dict()
    # The propensities of those that others decided.
    _observed = Dict()
    _next_id = Count()
    _rng = Random()
    _calibrator = Field[Calibrator](Calibrator)
    # How far the threshold is below the target.
    _slack = Number(least=0.0)

    model: base.Classifier | None = None
    prior_successes: float = parameter(default=10.0, check=check_positive)
    costs: Mapping[Any, float] | None = parameter(default=None, check=_check_costs)
    max_arms: int = parameter(default=64, check=check_count)
    max_pending: int = parameter(default=10_000, check=check_count)
    seed: int | None = parameter(default=None, check=check_seed)
    target: float | None = parameter(default=None, check=_check_target, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        model = self.model
        is_valid = model is None or Chain(model).is_classifier
        require(is_valid, f"model must be a classifier, got {model!r}")
        is_priced = self.target is None or self.costs
        require(is_priced, "target needs costs, which tell which arm is cheaper")
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
    def models(self) -> dict[Any, Any]:
        """The classifier of each arm that was rewarded so far."""
        return dict(self._models)

    @property
    def n_pending(self) -> int:
        """Number of tickets that wait for their rewards."""
        return len(self._pending)

    @property
    def threshold(self) -> float | None:
        """What an arm has to be worth now to be good enough; None without a target."""
        return None if self.target is None else self.target - self._slack

    @property
    def memory_bytes(self) -> int:
        """Memory of models and tickets in bytes."""
        models = sum(Chain(model).memory_bytes for model in self._models.values())
        waiting = sum(w.nbytes for w in self._pending.values())
        tables = sys.getsizeof(self._pending) + sys.getsizeof(self._observed)
        return tables + waiting + models + self._calibrator.nbytes

    def _new_model(self) -> Any:
        """Return the classifier of a new arm."""
        return Mnemotron(30, KERNELS) if self.model is None else self.model.clone()

    _wrapped_model = property(_new_model)

    @_described
    def values_one(self, arm_ids: list[Any], context: Features) -> dict[Any, float]:
        """Return what each arm is worth in a context; with a target, without its cost."""
        return self._values(self._answers(arm_ids, context))

    @_described
    def probabilities_one(self, arm_ids: list[Any], context: Features) -> dict[Any, float]:
        """Return the probability of success of each arm in a context, without arms that have no rewards."""
        answers = self._answers(_arms(arm_ids), context)
        return {arm: self._success(answer) for arm, answer in answers.items() if answer is not None}

    def _answers(self, arms: list[Any], context: Features) -> dict[Any, Answer | None]:
        """Return what the model of each arm says of a context; None for an arm that has no model yet."""
        chains = {arm: self._chain_of(arm) for arm in arms}
        return {arm: None if chain is None else chain.ask(context) for arm, chain in chains.items()}

    def _values(self, answers: dict[Any, Answer | None]) -> dict[Any, float]:
        """Return what each arm is worth, given what its model says."""
        waiting = Counter(w.label for w in self._pending.values())
        # With a target, costs only tell which of the arms that are good enough is chosen.
        costs = {} if self.target is not None or self.costs is None else self.costs
        n_0, values = self.prior_successes, {}
        for arm, answer in answers.items():
            n = self._counts.get(arm, 0)
            p = 0.0 if answer is None else self._success(answer)
            values[arm] = (n * p + n_0) / (n + waiting[arm] + n_0) - costs.get(arm, 0.0)
        return values

    def _success(self, answer: Answer) -> float:
        """Return the probability of success, which is calibrated if there is a target."""
        if self.target is None:
            return answer.probabilities.get(True, 0.0)
        return self._calibrator.probabilities(_gaps(answer))[True]

    @_described
    def decide(self, arm_ids: list[Any], context: Features, ticket_id: int | None = None) -> Ticket:
        """Choose one of some arms, names in any sequence; keep the context, a dict, until `reward`.

        The id of the ticket is the given one, a whole number above all others and below 2**62 - 1; by
        default it is the next number. A decision with a single arm counts as one that was observed. If
        anything is refused, it raises ValueError and changes nothing.
        """
        arms = _arms(arm_ids)
        number = self._new_id(ticket_id)
        if self._models.keys().isdisjoint(arms):
            Chain(self._new_model()).ask(context)  # It refuses what no arm has seen yet.
        answers = self._answers(arms, context)
        ticket = Ticket(number, *self._choose(answers))
        self._keep(ticket, context, answers[ticket.arm], is_observed=len(answers) == 1)
        return ticket

    @_described
    def observe(
        self,
        arm_id: Any,
        context: Features,
        propensity: float = 1.0,
        ticket_id: int | None = None,
    ) -> Ticket:
        """Keep a decision that somebody else made until its `reward`, so that the policy learns from it.

        The propensity is kept for estimates of what a policy would have earned, as the probability of
        the ticket. It is no weight of the example: each arm has a classifier of its own, which learns
        from the contexts in which the arm was chosen, however rarely. The id is that of `decide`. If
        anything is refused, it raises ValueError and changes nothing.
        """
        (arm,) = _arms([arm_id])
        _check_propensity("propensity", propensity)
        ticket = Ticket(self._new_id(ticket_id), arm, float(propensity))
        self._keep(ticket, context, self._answers([arm], context)[arm], is_observed=True)
        return ticket

    def _new_id(self, ticket_id: int | None) -> int:
        """Return the id of a new ticket: a given one, or the next."""
        least = self._next_id
        number = least if ticket_id is None else ticket_id
        is_id = isinstance(number, numbers.Integral) and least <= number <= LARGEST_ID
        expected = f"a whole number of at least {least} below 2**62 - 1"
        require(is_id, f"the ticket {shown(number)} must be {expected}")
        return int(number)

    def _keep(
        self, ticket: Ticket, context: Features, answer: Answer | None, is_observed: bool
    ) -> None:
        """Keep a ticket until its reward, in the place of the oldest one if there are too many."""
        # What an untrained model says tells later that the reward came late.
        answer = answer or Chain(self._new_model()).ask(context)
        waiting = Waiting(kept(context), ticket.arm, answer.asked)
        oldest = next(iter(self._pending), None)
        # No interrupt comes after the call.
        if len(self._pending) >= self.max_pending:
            del self._pending[oldest]
            if oldest in self._observed:
                del self._observed[oldest]
        if is_observed:
            self._observed[ticket.id] = ticket.probability
        self._pending[ticket.id], self._next_id = waiting, ticket.id + 1

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
        """Learn the reward of an arm in a context without a ticket. The threshold stays where it is.

        Raises ValueError, and changes nothing, if the reward, the context or the arm is refused.
        """
        self._learn(Waiting(context, arm_id, asked=None), reward, None)

    def _learn(self, waiting: Waiting, reward: Any, ticket_id: int | None) -> None:
        """Learn a reward, count it, and end its ticket: all of this or nothing, also at an interrupt."""
        (arm_id,) = _arms([waiting.label])
        is_number = isinstance(reward, (numbers.Real, np.bool_))
        is_reward = is_number and 0 <= reward <= 1
        expected = "a number from 0 for failure to 1 for success"
        require(is_reward, f"the reward must be {expected}, got {shown(reward)}")
        chain = self._chain_of(arm_id)
        if chain is None:
            limit = f"at most {self.max_arms} are allowed: raise max_arms, or forget(arm_id) others"
            is_allowed = len(self._models) < self.max_arms
            require(is_allowed, f"the arm {shown(arm_id)} is one too many, {limit}")
            chain = Chain(self._new_model())
        is_learnable = reward in (0, 1) or _takes_weights(chain)
        expected = "a model that learns weights w, or 1 and 0 instead"
        require(is_learnable, f"the reward {shown(reward)} is a grade, which takes {expected}")
        mean = copy.copy(self._rewards.get(arm_id)) or stats.Mean()
        mean.update(float(reward))
        model, n = chain.model, self._counts.get(arm_id, 0) + 1
        labels = self._labels_of(float(reward))
        calibrator = self._taught(arm_id, waiting.x, labels[0])
        slack = self._slack_after(float(reward), ticket_id)
        n_rounds, is_learned = chain.n_rounds, False
        try:
            _learn_labels(chain, waiting, labels)
            is_learned = True
        finally:
            # An interrupt may come after the model has learned. None comes before the last call.
            if is_learned or chain.n_rounds != n_rounds:
                self._models[arm_id], self._rewards[arm_id], self._counts[arm_id] = model, mean, n
                self._n += 1
                self._calibrator, self._slack = calibrator, slack
                if ticket_id in self._observed:
                    del self._observed[ticket_id]
                self._pending.pop(ticket_id, None)

    def _labels_of(self, reward: float) -> list[bool]:
        """Return as which labels a reward is learned: two for a grade, whose mean is the grade on average."""
        if reward in (0.0, 1.0):
            return [bool(reward)]
        # The same again after a refusal or a replay, without a state of its own.
        u = random.Random(f"{self.seed}, {self._n}").random()
        return [u < reward, (u + 0.5) % 1.0 < reward]

    def _taught(self, arm_id: Any, context: Features, is_success: bool) -> Calibrator:
        """Return the calibration map after a reward, before the model of the arm learns it."""
        answer = None if self.target is None else self._answers([arm_id], context)[arm_id]
        if answer is None:
            return self._calibrator
        calibrator = copy.copy(self._calibrator)
        calibrator.learn(_gaps(answer), is_success)
        return calibrator

    def _slack_after(self, reward: float, ticket_id: int | None) -> float:
        """Return how far the threshold is below the target after a reward."""
        if self.target is None or ticket_id is None or ticket_id in self._observed:
            return self._slack
        return min(max(self._slack + STEP * (reward - self.target), 0.0), self.target)

    @_described
    def forget(self, arm_id: Any) -> None:
        """Forget an arm and its tickets."""
        self._models.pop(arm_id, None)
        self._chains.pop(arm_id, None)
        self._rewards.pop(arm_id, None)
        self._n -= self._counts.pop(arm_id, 0)
        self._pending = {i: w for i, w in self._pending.items() if w.label != arm_id}
        self._observed = {i: p for i, p in self._observed.items() if i in self._pending}

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
        is_known = self._observed.keys() <= self._pending.keys()
        require(is_known, "the tickets that were observed are wrong")
        for propensity in self._observed.values():
            finite(propensity, 0.0, 1.0)
        require(self._slack <= (self.target or 0.0), "the threshold is wrong")

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
        if self.threshold is not None:
            values = _cheapness(values, self.threshold, self.costs or {}) or values
        largest = max(values.values())
        best = [arm for arm, value in values.items() if value == largest]
        return self._rng.choice(best), 1.0 / len(best)


def _cheapness(values: dict[Any, float], threshold: float, costs: Mapping[Any, float]) -> Any:
    """Return how cheap each of the arms is that are worth the threshold."""
    return {arm: -costs.get(arm, 0.0) for arm, value in values.items() if value >= threshold}


def _learn_labels(chain: Chain, waiting: Waiting, labels: list[bool]) -> None:
    """Learn one example, or two with half the weight each, of which only the first can be late."""
    first, *others = labels
    if not others:  # A model of another library may take no weight.
        chain.learn(waiting.x, first, waiting.asked)
        return
    chain.learn(waiting.x, first, waiting.asked, w=1.0 / len(labels))
    for label in others:
        chain.learn(waiting.x, label, w=1.0 / len(labels))


def _takes_weights(chain: Chain) -> bool:
    """Return whether the classifier inside of everything learns examples with weights."""
    parameters = inspect.signature(chain.classifier.learn_one).parameters
    return "w" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _gaps(answer: Answer) -> dict[Any, float]:
    """Return what a calibration map reads of the probability of success."""
    p = answer.probabilities
    return gaps_of_probabilities({False: p.get(False, 0.0), True: p.get(True, 0.0)})


def _arms(arm_ids: Any) -> list[Any]:
    """Return arms as plain values. Raises ValueError if there is none, or one cannot be a name."""
    if isinstance(arm_ids, str) or not isinstance(arm_ids, Iterable):
        raise ValueError(f"arm_ids must be a list of arms, got {shown(arm_ids)}")
    arms = list(map(plain_label, arm_ids))
    require(arms, "there is no arm to choose from")
    for arm in arms:
        require(is_class(arm), f"the arm is {shown(arm)}: expected a name")
    return arms
