"""Hashes of what models answer, which are equal on all machines.

    python tests/bits.py bits.txt

writes one line for each class, from 500 rounds. Left out are classes that also compute with functions of the C library
or with BLAS, whose last bits differ from system to system: `exp` and `log` in `Mnemotron`, for example.
"""

from __future__ import annotations

import hashlib
import pathlib
import random
import sys

import river_budget as rb
from river_budget.catalog import ALGORITHMS

N_ROUNDS = 500
BUDGET = 40

# Their rounds are additions, products, quotients and roots, which IEEE 754 defines, and the own exp of the core.
EXACT = [
    rb.KernelPerceptron, rb.Stoptron, rb.RemoveOldestPerceptron, rb.RandomizedBudgetPerceptron,
    rb.FixedBudgetPerceptron, rb.Forgetron, rb.SimplifiedForgetron,
    rb.ModifiedRandomizedBudgetPerceptron, rb.KernelPAClassifier, rb.BudgetedOGD,
]  # fmt: skip


def examples():
    """Yield examples of three labels, some of which lack a feature, without a function of the C library."""
    rng = random.Random(1)
    for _ in range(N_ROUNDS):
        x = {name: rng.random() for name in "abcdefg" if rng.random() < 0.9}
        squares = int(4 * x.get("a", 0.0)) + int(4 * x.get("b", 0.0))
        yield x, squares % 3


def bits(model):
    """Return the hash of all scores while a model learns."""
    found = hashlib.sha256()
    for x, y in examples():
        scores = model.scores_one(x)
        found.update(repr([(label, score.hex()) for label, score in scores.items()]).encode())
        model.learn_one(x, y)
    return found.hexdigest()


def build(kind):
    """Return a model of a class with a budget and a seed, where it takes them."""
    return ALGORITHMS[kind.__name__].build(budget=BUDGET, seed=1)


def write(path):
    """Write a line for each class, with the same ends of lines on all systems."""
    lines = [f"{kind.__name__} {bits(build(kind))}\n" for kind in EXACT]
    pathlib.Path(path).write_text("".join(lines), newline="\n")


if __name__ == "__main__":
    write(sys.argv[1])
