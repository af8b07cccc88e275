"""Policies for contextual bandits: mean reward, microseconds a decision, and bytes.

    python -m benchmarks.rewards [--seeds 10] [--limit 3000]

A stream of a classifier is a bandit whose arms are the labels: the arm that is the label is a success.
Each cell is the mean over seeds, which order the rows and break ties. Streams whose data sets are not
part of River are read from the directory given by RIVER_BUDGET_DATA, and left out where they are absent.

"""

from __future__ import annotations

import argparse
import collections
import functools
import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from river import bandit, datasets, linear_model, preprocessing

import river_budget as rb
from benchmarks import streams
from benchmarks.local import load
from benchmarks.multiclass import markdown
from river_budget import synth
from river_budget.base import Chain
from river_budget.datasets import DatasetError

LATE = 50
DECAY = 0.995
TEN_ARMS, TEXT = "Pendigits", "clinc150, 10 intents"
FEWEST_FEATURES_OF_TEXT = 100


class Request(NamedTuple):
    """A context, the arms to choose from, and whether each of them would be a success."""

    context: dict
    arms: list
    works: dict


class Setup(NamedTuple):
    """A stream of requests for a seed, what arms cost, and by how many rounds rewards are late."""

    requests: Callable[[int, int], Iterable[Request]]
    costs: dict
    late: int = 0


def of_labels(examples: list, seed: int, limit: int) -> list[Request]:
    """Return a classifier's examples, in random order, as requests."""
    examples = list(examples)
    random.Random(seed).shuffle(examples)
    arms = sorted({y for _, y in examples}, key=repr)
    return [Request(x, arms, {arm: arm == y for arm in arms}) for x, y in examples[:limit]]


def labels_of(read: Callable[[], list]) -> Callable[[int, int], list[Request]]:
    return lambda seed, limit: of_labels(read(), seed, limit)


def swapped(read: Callable[[], list]) -> Callable[[int, int], list[Request]]:
    """Return requests whose labels change places in mid-stream."""

    def requests(seed: int, limit: int) -> list[Request]:
        rows = of_labels(read(), seed, limit)
        after = dict(zip(rows[0].arms, [*rows[0].arms[1:], rows[0].arms[0]], strict=True))
        half = len(rows) // 2
        return rows[:half] + [
            Request(x, arms, {after[arm]: works[arm] for arm in arms})
            for x, arms, works in rows[half:]
        ]

    return requests


def growing(read: Callable[[], list]) -> Callable[[int, int], list[Request]]:
    """Return requests of whose arms the second half comes in mid-stream."""

    def requests(seed: int, limit: int) -> list[Request]:
        rows = of_labels(read(), seed, limit)
        first = rows[0].arms[: len(rows[0].arms) // 2]
        return [
            Request(x, first if t < len(rows) // 2 else arms, works)
            for t, (x, arms, works) in enumerate(rows)
        ]

    return requests


def routed(seed: int, limit: int, change_at: int | None = None) -> Iterator[Request]:
    router = synth.Router(n_samples=limit, change_at=change_at, seed=seed)
    return (Request(x, router.arms, works) for x, works in router)


def routed_with_a_change(seed: int, limit: int) -> Iterator[Request]:
    return routed(seed, limit, change_at=max(1, limit // 2))


def one_good_arm(seed: int, limit: int) -> Iterator[Request]:
    """Yield requests whose contexts say nothing: one arm of forty succeeds often, the others seldom."""
    rng, arms = random.Random(seed), list(range(40))
    for _ in range(limit):
        works = {arm: rng.random() < (0.9 if arm == 0 else 0.3) for arm in arms}
        yield Request({"u": rng.random(), "v": rng.random()}, arms, works)


@functools.cache
def pendigits() -> list:
    data = load("pendigits")
    return list(zip(streams.dense(data["X_train"]), data["y_train"].tolist(), strict=True))


@functools.cache
def covertype() -> list:
    data = load("covtype")
    return list(zip(streams.dense(data["X"][:20_000]), data["y"][:20_000].tolist(), strict=True))


@functools.cache
def intents() -> list:
    """Return ten intents of clinc150, with the elements of their vectors as numbers."""
    data = load("clinc150_lsa384")
    chosen = np.flatnonzero(data["y_train"] < 10)
    X = data["X_train"][chosen].astype(float)
    return list(zip(streams.dense(X), data["y_train"][chosen].tolist(), strict=True))


@functools.cache
def segments() -> list:
    return list(datasets.ImageSegments())


SETUPS = {
    "ImageSegments": Setup(labels_of(segments), {}),
    "Phishing": Setup(labels_of(lambda: list(datasets.Phishing())), {}),
    TEN_ARMS: Setup(labels_of(pendigits), {}),
    "Covertype": Setup(labels_of(covertype), {}),
    TEXT: Setup(labels_of(intents), {}),
    "swap of labels": Setup(swapped(segments), {}),
    "50 rounds late": Setup(labels_of(segments), {}, LATE),
    "arms added": Setup(growing(segments), {}),
    "one good arm of 40": Setup(one_good_arm, {}),
    "Router": Setup(routed, synth.Router().costs),
    "Router, 50 rounds late": Setup(routed, synth.Router().costs, LATE),
    "Router, a change": Setup(routed_with_a_change, synth.Router().costs),
}


class Uniform(bandit.base.ContextualPolicy):
    def __init__(self, seed: int) -> None:
        super().__init__()
        self._rng = random.Random(seed)

    def _pull(self, arm_ids: list, context: dict) -> Any:
        return self._rng.choice(arm_ids)


class WithoutContext(Uniform):
    """River's UCB, which knows no context."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.policy = bandit.UCB(delta=1.0, seed=seed)

    def _pull(self, arm_ids: list, context: dict) -> Any:
        return self.policy.pull(arm_ids)

    def update(self, arm_id: Any, context: dict, reward: float) -> None:
        self.policy.update(arm_id, reward)


class LinUCB(Uniform):
    """River's LinUCB, mended: `update` learns, contexts are scaled, and the bonus has a factor."""

    def __init__(self, seed: int, factor: float) -> None:
        super().__init__(seed)
        self.factor = factor
        self._scaler = preprocessing.StandardScaler()
        self._models: dict = collections.defaultdict(linear_model.BayesianLinearRegression)

    def _pull(self, arm_ids: list, context: dict) -> Any:
        self._scaler.learn_one(context)
        x = self._scaler.transform_one(context)
        bounds = {}
        for arm in arm_ids:
            forecast = self._models[arm].predict_one(x, with_dist=True)
            bounds[arm] = forecast.mu + self.factor * forecast.sigma
        best = max(bounds.values())
        return self._rng.choice([arm for arm, bound in bounds.items() if bound == best])

    def update(self, arm_id: Any, context: dict, reward: float) -> None:
        self._models[arm_id].learn_one(self._scaler.transform_one(context), reward)


class Decaying(rb.ArmClassifiers):
    """Its counts lose a share with each reward, so that all arms are tried again."""

    def update(self, arm_id: Any, context: dict, reward: float) -> None:
        super().update(arm_id, context, reward)
        for arm in self._counts:
            self._counts[arm] *= DECAY


def logistic() -> Any:
    return preprocessing.StandardScaler() | linear_model.LogisticRegression()


POLICIES: dict[str, Callable[[int, dict], Any]] = {
    "uniform": lambda seed, costs: Uniform(seed),
    "UCB": lambda seed, costs: WithoutContext(seed),
    "LinUCB, mended": lambda seed, costs: LinUCB(seed, 1.0),
    "LinUCB, tuned": lambda seed, costs: LinUCB(seed, 0.3),
    "LogisticRegression an arm": lambda seed, costs: rb.ArmClassifiers(
        logistic(), 1e-9, costs, seed=seed
    ),
    "... with the bonus": lambda seed, costs: rb.ArmClassifiers(logistic(), costs=costs, seed=seed),
    "Mnemotron(30) an arm, with the bonus": lambda seed, costs: rb.ArmClassifiers(
        costs=costs, seed=seed
    ),
    "... with all its kernels": lambda seed, costs: rb.ArmClassifiers(
        rb.Mnemotron(budget=30), costs=costs, seed=seed
    ),
    "... with counts that decay": lambda seed, costs: Decaying(costs=costs, seed=seed),
}
FULL = "Mnemotron(30), full information"


class Figures(NamedTuple):
    """The mean reward less costs, microseconds a decision with its reward, and bytes."""

    reward: float
    microseconds: float
    n_bytes: int


def played(setup: Setup, policy: Any, seed: int, limit: int, is_told_all: bool) -> Figures:
    """Return the figures of a policy on a stream; it hears of one arm, or of all."""
    total = n = 0.0
    seconds, waiting = 0.0, collections.deque()
    for x, arms, works in setup.requests(seed, limit):
        start = time.thread_time()
        arm = policy.pull(arms, x)
        seconds += time.thread_time() - start
        waiting.append([(a, x, float(works[a])) for a in (arms if is_told_all else [arm])])
        total += works[arm] - setup.costs.get(arm, 0.0)
        n += 1
        if len(waiting) > setup.late:
            start = time.thread_time()
            for told in waiting.popleft():
                policy.update(*told)
            seconds += time.thread_time() - start
    # The weights of River's models are not counted.
    is_own = isinstance(policy, rb.ArmClassifiers) and hasattr(policy._new_model(), "memory_bytes")
    n_bytes = Chain(policy).memory_bytes if is_own else 0
    return Figures(total / n, 1e6 * seconds / n, n_bytes)


def measured(task: tuple[str, str, int, int]) -> Figures | None:
    name, policy_name, seed, limit = task
    setup = SETUPS[name]
    try:
        (first,) = itertools.islice(setup.requests(seed, 1), 1)
    except DatasetError:
        return None
    is_text = len(first.context) > FEWEST_FEATURES_OF_TEXT
    if is_text and policy_name.startswith("LinUCB"):
        return None
    make = POLICIES.get(policy_name, POLICIES["Mnemotron(30) an arm, with the bonus"])
    return played(setup, make(seed, setup.costs), seed, limit, policy_name == FULL)


def in_parallel(measure: Callable[[tuple], Any], *axes: Iterable[Any]) -> dict[tuple, Any]:
    """Return what is measured for each combination of values, by their tuple, in several processes."""
    tasks = list(itertools.product(*axes))
    with ProcessPoolExecutor() as pool:
        return dict(zip(tasks, pool.map(measure, tasks), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--limit", type=int, default=3000)
    given = parser.parse_args()
    figures = in_parallel(measured, SETUPS, [*POLICIES, FULL], range(given.seeds), [given.limit])
    rows: dict[str, dict[str, str]] = {}
    for policy in [*POLICIES, FULL]:
        found = {
            name: [f for task, f in figures.items() if task[:2] == (name, policy) and f]
            for name in SETUPS
        }
        cells = {
            name: f"{np.mean([f.reward for f in runs]):.3f}" if runs else "-"
            for name, runs in found.items()
        }
        for name in (TEN_ARMS, TEXT):
            first, *_ = found[name] or [Figures(0.0, 0.0, 0)]
            cells[f"us, {name}"] = f"{first.microseconds:.0f}" if found[name] else "-"
            cells[f"kB, {name}"] = f"{first.n_bytes / 1e3:.0f}" if first.n_bytes else "-"
        rows[policy] = cells
    print(markdown(rows))


if __name__ == "__main__":
    main()
