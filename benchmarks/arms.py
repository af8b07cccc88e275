"""The memory of `ArmClassifiers` with embeddings: mean reward, bytes live and stored.

    python -m benchmarks.arms [--seeds 3]

The stream is that of ten intents of clinc150 in `benchmarks.rewards`, with its 384 numbers by names or as
one array, and with several models for the arms. The data are read from the directory given by
RIVER_BUDGET_DATA.

"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import river_budget as rb
from benchmarks import rewards
from benchmarks.multiclass import markdown
from river_budget import checkpoint

LIMIT = 3000


class Setup(NamedTuple):
    """What a context is made of its numbers, and the model of each arm."""

    context: Callable[[dict], dict]
    model: Any


def as_array(x: dict) -> dict:
    return {"text": np.array(list(x.values()), np.float32)}


ONE_KERNEL = (rb.RationalQuadratic(),)
SETUPS = {
    "numbers": Setup(dict, None),
    "array": Setup(as_array, None),
    "array, all kernels of Mnemotron": Setup(as_array, rb.Mnemotron(30)),
    "array, one kernel": Setup(as_array, rb.Mnemotron(30, ONE_KERNEL)),
    "array, one kernel, budget 20": Setup(as_array, rb.Mnemotron(20, ONE_KERNEL)),
    "array, budget 15": Setup(as_array, rb.Mnemotron(15, rb.bandit.KERNELS)),
    "array, KernelLDA(200)": Setup(as_array, rb.KernelLDA(200)),
    "array, Calibrated(Ahpatron(30))": Setup(as_array, rb.Calibrated(rb.Ahpatron(budget=30))),
}


class Figures(NamedTuple):
    """The mean reward, and the bytes live and stored."""

    reward: float
    n_live: int
    n_stored: int


def measured(task: tuple[str, int]) -> Figures:
    name, seed = task
    context, model = SETUPS[name]
    policy = rb.ArmClassifiers(model, seed=seed)
    total = 0.0
    requests = rewards.of_labels(rewards.intents(), seed, LIMIT)
    for x, arms, works in requests:
        given = context(x)
        arm = policy.pull(arms, given)
        total += works[arm]
        policy.update(arm, given, works[arm])
    return Figures(total / len(requests), policy.memory_bytes, len(checkpoint.dumps(policy)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    found = rewards.in_parallel(measured, SETUPS, range(given.seeds))
    rows = {}
    for name in SETUPS:
        mean = Figures(*np.mean([f for task, f in found.items() if task[0] == name], axis=0))
        rows[name] = {
            "mean reward": f"{mean.reward:.3f}",
            "MB live": f"{mean.n_live / 1e6:.2f}",
            "MB stored": f"{mean.n_stored / 1e6:.2f}",
        }
    print(markdown(rows))


if __name__ == "__main__":
    main()
