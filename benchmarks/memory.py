"""Whether memory stays where it was when feature names never repeat.

python -m benchmarks.memory [rounds]

"""

from __future__ import annotations

import gc
import itertools
import sys
from pathlib import Path

import river_budget as rb

BUDGET, N_FEATURES = 100, 10


def resident_bytes() -> int:
    """Return the process's resident size (Linux)."""
    status = Path("/proc/self/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return 1024 * int(line.split()[1])


def main() -> None:
    n_rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    for model in [
        rb.Stoptron(budget=BUDGET),
        rb.RemoveOldestPerceptron(budget=BUDGET),
        rb.RandomizedBudgetPerceptron(budget=BUDGET, seed=1),
        rb.FixedBudgetPerceptron(budget=BUDGET),
        rb.Forgetron(budget=BUDGET),
        rb.SimplifiedForgetron(budget=BUDGET),
        rb.ModifiedRandomizedBudgetPerceptron(budget=BUDGET, seed=1),
        rb.ProjectronPlusPlus(budget=BUDGET),
        rb.TighterPerceptron(budget=BUDGET, validation=BUDGET, seed=1),
        rb.TightestPerceptron(budget=BUDGET),
        rb.Mnemotron(budget=BUDGET),
    ]:
        names = itertools.count(10**9)

        def learn(n: int, model=model, names=names) -> None:
            for t in range(n):
                x = {f"name-{next(names)}": 1.0 for _ in range(N_FEATURES)}
                model.predict_one(x)
                model.learn_one(x, t % 2 == 0)

        learn(10 * BUDGET)
        gc.collect()
        own, resident = model.memory_bytes, resident_bytes()
        learn(n_rounds)
        gc.collect()
        print(
            f"{type(model).__name__}: {n_rounds:,} rounds, {model.n_mistakes:,} mistakes; "
            f"memory_bytes {own:,} -> {model.memory_bytes:,}, "
            f"resident {resident:,} -> {resident_bytes():,}"
        )


if __name__ == "__main__":
    main()
