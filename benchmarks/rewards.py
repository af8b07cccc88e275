"""Policies for contextual bandits: mean reward less costs, microseconds, and memory.

Each cell is the mean over three seeds, which order the requests and break ties, of 2,000 requests. Where a stream
is that of a classifier, the arms are its labels, and the arm that is the label is a success. Rewards of
`ArmClassifiers` come by `update`, without tickets. The rivals know the costs of the arms, too. LinUCB has a number of
standard deviations as bonus.

"""

from __future__ import annotations

import collections
import functools
import random
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from river import bandit, compose, datasets, linear_model, preprocessing

import river_budget as rb
from benchmarks import streams
from benchmarks.cells import Cell, Found, Section
from benchmarks.local import load
from benchmarks.tables import markdown, means
from river_budget import synth

N_SEEDS, N_REQUESTS = 3, 2_000
LATE = 50


class Request(NamedTuple):
    """A context, the arms to choose from, and the reward of each."""

    context: dict
    arms: list
    rewards: dict


class Setup(NamedTuple):
    """A stream of requests for a seed and a number, what arms cost, and by how many rounds rewards are late."""

    requests: Callable[[int, int], Iterable[Request]]
    costs: dict
    late: int = 0


def of_labels(read: Callable[[], list], seed: int, n: int) -> list[Request]:
    """Return a classifier's examples, in random order, as requests."""
    examples = list(read())
    random.Random(seed).shuffle(examples)
    arms = sorted({y for _, y in examples}, key=repr)
    return [Request(x, arms, {arm: arm == y for arm in arms}) for x, y in examples[:n]]


def swapped(
    requests: Callable[[int, int], Iterable[Request]], n_arms: int, seed: int, n: int
) -> Iterator[Request]:
    """Yield requests that find the first arms in the reverse order from mid-stream on."""
    for t, (x, arms, rewards) in enumerate(requests(seed, n)):
        found = [*reversed(arms[:n_arms]), *arms[n_arms:]] if t >= n // 2 else arms
        yield Request(x, arms, {arm: rewards[at] for arm, at in zip(arms, found, strict=True)})


def routed(seed: int, n: int, change_at: int | None = None) -> Iterator[Request]:
    router = synth.Router(n_samples=n, change_at=change_at, seed=seed)
    return (Request(x, router.arms, works) for x, works in router)


def routed_with_a_change(seed: int, n: int) -> Iterator[Request]:
    return routed(seed, n, change_at=max(1, n // 2))


def one_good_arm(seed: int, n: int) -> Iterator[Request]:
    """Yield requests whose contexts say nothing: one arm of forty succeeds often, the others seldom."""
    rng, arms = random.Random(seed), list(range(40))
    for _ in range(n):
        works = {arm: rng.random() < (0.9 if arm == 0 else 0.3) for arm in arms}
        yield Request({"u": rng.random(), "v": rng.random()}, arms, works)


def intents() -> list:
    """Return ten intents of clinc150, each embedding as one array."""
    data = load("clinc150_lsa384")
    pairs = zip(data["X_train"].astype(np.float32), data["y_train"].tolist(), strict=True)
    return [({"text": vector}, y) for vector, y in pairs if y < 10]


segments = functools.partial(of_labels, datasets.ImageSegments)
digits = functools.partial(of_labels, functools.partial(streams.labelled, "Pendigits"))
SETUPS = {
    "ImageSegments": Setup(segments, {}),
    "... with a swap of labels": Setup(functools.partial(swapped, segments, 7), {}),
    "... 50 rounds late": Setup(segments, {}, LATE),
    "Pendigits": Setup(digits, {}),
    "clinc150, 10 intents": Setup(functools.partial(of_labels, intents), {}),
    "one good arm of 40": Setup(one_good_arm, {}),
    "Router": Setup(routed, synth.Router().costs),
    "Router, with a change": Setup(routed_with_a_change, synth.Router().costs),
}


class Uniform:
    def __init__(self, seed: int, costs: dict) -> None:
        self.rng, self.costs = random.Random(seed), costs

    def pull(self, arms: list, context: dict) -> Any:
        return self.rng.choice(arms)

    def update(self, arm: Any, context: dict, reward: float) -> None:
        pass


class WithoutContext(Uniform):
    """River's UCB, which knows no context."""

    def __init__(self, seed: int, costs: dict) -> None:
        super().__init__(seed, costs)
        self.policy = bandit.UCB(delta=1.0, seed=seed)

    def pull(self, arms: list, context: dict) -> Any:
        return self.policy.pull(arms)

    def update(self, arm: Any, context: dict, reward: float) -> None:
        self.policy.update(arm, reward - self.costs.get(arm, 0.0))


def vector_of(context: dict, scaler: preprocessing.StandardScaler) -> np.ndarray:
    """Return an intercept, and the numbers of a context, scaled, or an embedding with a norm of 3."""
    if "text" in context:  # 3 was better for LinUCB than 1.
        return np.append(1.0, 3.0 * context["text"] / np.linalg.norm(context["text"]))
    scaler.learn_one(context)
    return np.append(1.0, list(scaler.transform_one(context).values()))


class LinUCB(Uniform):
    """Ridge regression of rewards for each arm, and a bonus of so many standard deviations."""

    def __init__(self, seed: int, costs: dict, bonus: float) -> None:
        super().__init__(seed, costs)
        self.bonus, self.scaler, self.models = bonus, preprocessing.StandardScaler(), {}

    def values(self, arms: list, context: dict) -> dict:
        z, values = vector_of(context, self.scaler), {}
        for arm in arms:
            inverse, sums = self.models.setdefault(arm, (np.eye(len(z)), np.zeros(len(z))))
            moved = inverse @ z
            values[arm] = float(sums @ moved + self.bonus * np.sqrt(z @ moved))
        return values

    def pull(self, arms: list, context: dict) -> Any:
        values = self.values(arms, context)
        worth = {arm: value - self.costs.get(arm, 0.0) for arm, value in values.items()}
        return max(arms, key=lambda arm: (worth[arm], self.rng.random()))

    def update(self, arm: Any, context: dict, reward: float) -> None:
        z = vector_of(context, self.scaler)
        inverse, sums = self.models[arm]
        moved = inverse @ z
        inverse -= np.outer(moved, moved) / (1.0 + z @ moved)
        sums += reward * z


def numbers(context: dict) -> dict:
    """Return a context with each element of an array as a number of its own."""
    return dict(enumerate(np.hstack(list(context.values())).tolist()))


def logistic(seed: int, costs: dict) -> rb.ArmClassifiers:
    model = (
        compose.FuncTransformer(numbers)
        | preprocessing.StandardScaler()
        | linear_model.LogisticRegression()
    )
    return rb.ArmClassifiers(model, costs=costs, seed=seed)


def default(seed: int, costs: dict) -> rb.ArmClassifiers:
    return rb.ArmClassifiers(costs=costs, seed=seed)


FULL = "ArmClassifiers, told of all arms"
POLICIES: dict[str, Callable[[int, dict], Any]] = {
    "uniform": Uniform,
    "UCB": WithoutContext,
    "LinUCB(1)": functools.partial(LinUCB, bonus=1.0),
    "LinUCB(0.3)": functools.partial(LinUCB, bonus=0.3),
    "ArmClassifiers(LogisticRegression)": logistic,
    "ArmClassifiers": default,
    FULL: default,
}


class Figures(NamedTuple):
    """Mean reward and cost, microseconds of a decision with its reward, and bytes; 0 if it does not know."""

    reward: float
    cost: float
    microseconds: float
    n_bytes: float


def played(setup: Setup, policy: Any, requests: Iterable[Request], is_told_all: bool) -> Figures:
    """Return the figures of a policy on a stream; it hears of one arm, or of all."""
    earned, paid, seconds, waiting = [], [], 0.0, collections.deque()
    for x, arms, rewards in requests:
        start = time.thread_time()
        arm = policy.pull(arms, x)
        seconds += time.thread_time() - start
        waiting.append([(a, x, float(rewards[a])) for a in (arms if is_told_all else [arm])])
        earned.append(rewards[arm])
        paid.append(setup.costs.get(arm, 0.0))
        if len(waiting) > setup.late:
            start = time.thread_time()
            for told in waiting.popleft():
                policy.update(*told)
            seconds += time.thread_time() - start
    n_bytes = getattr(policy, "memory_bytes", 0)
    return Figures(fmean(earned), fmean(paid), 1e6 * seconds / len(earned), n_bytes)


def measured(stream: str, policy: str, n_seeds: int, n_requests: int) -> dict[str, float]:
    """Return the means of the figures over the seeds."""
    setup, runs = SETUPS[stream], []
    for seed in range(n_seeds):
        made = POLICIES[policy](seed, setup.costs)
        figures = played(setup, made, setup.requests(seed, n_requests), policy == FULL)
        runs.append(figures._asdict())
    return means(runs)


def cells(is_quick: bool) -> list[Cell]:
    names, *size = (["Router"], 1, 60) if is_quick else (SETUPS, N_SEEDS, N_REQUESTS)
    return [Cell(*place, measured, (*place, *size)) for place in product(names, POLICIES)]


def by_stream(found: Found) -> str:
    """Return the table of rewards less costs, and of what `ArmClassifiers` takes."""
    return markdown({
        stream: {policy: f"{each['reward'] - each['cost']:.3f}" for policy, each in row.items()}
        | {
            "µs, ArmClassifiers": f"{row['ArmClassifiers']['microseconds']:,.0f}",
            "kB, ArmClassifiers": f"{row['ArmClassifiers']['n_bytes'] / 1e3:,.0f}",
        }
        for stream, row in found.items()
    })  # fmt: skip


SECTION = Section("rewards", cells, {"rewards": by_stream}, minutes=2)
