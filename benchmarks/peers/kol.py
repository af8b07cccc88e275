"""KOL, the C++ library of Lu, Hoi, Wang, Zhao & Liu 2016, "Large scale online kernel learning".

It computes in single precision. Errors are the mistakes while learning. Its Projectron has no threshold: it adds every
misclassified example until the budget is full. So does ours with eta=0, except that it projects examples that are
numerically in the span; with them, KOL's inverse of the Gram matrix may become useless. Its Projectron++ has no
threshold either, ours has that of the theorem. Its RBP removes the vector at a position that changes once a second,
its BOGD the oldest vector; ours remove one at random. Its BPA-S always adds the incoming example, ours may leave it out.

"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import river_budget as rb
from benchmarks.peers.shared import Case, Learned, Stream, field
from river_budget.theory import bounds

VARIABLE = "RIVER_BUDGET_KOL"
BUDGETS = {"2-D": 500, "Bananas": 100, "Adult": 1500}


def cases(stream: str) -> dict[str, Case]:
    budget, norm_bound = BUDGETS[stream], bounds.forgetron_norm(BUDGETS[stream])
    limited = {
        "RBP": Case(["rbp"], lambda k: rb.RandomizedBudgetPerceptron(k, budget, seed=1)),
        "Forgetron": Case(["forgetron"], lambda k: rb.Forgetron(k, budget)),
        "Projectron": Case(["projectron"], lambda k: rb.Projectron(k, eta=0, budget=budget)),
        "Projectron++": Case(
            ["projectronpp"],
            lambda k: rb.ProjectronPlusPlus(k, norm_bound=norm_bound, budget=budget),
        ),
        "BPA-S": Case(
            ["bpas", "-cbpas", "1"],
            lambda k: rb.BudgetPassiveAggressive(k, budget, maintenance="simple"),
        ),
        "BOGD": Case(
            ["bogd", "-eta", "0.25", "-lambda", "0.0001"],
            lambda k: rb.BudgetedOGD(k, budget, sampling="uniform", seed=1),
        ),
    }
    return {"Perceptron": Case(["perceptron"], rb.KernelPerceptron)} | {
        f"{title}, B={budget:,}": Case([*theirs, "-B", str(budget)], ours)
        for title, (theirs, ours) in limited.items()
    }


def learned(case: Case, stream: Stream, directory: Path) -> Learned:
    """Run KOL.

    It reads the file in another thread than it learns in, and prints the wall-clock time of learning. Its
    time is the smaller of that and the processor time of the learning thread, which Linux keeps until the
    process is reaped.

    """
    name, *options = case.theirs
    files = ["-i", directory / "learn", "-opt", f"kernel-{name}"]
    command = [Path(os.environ[VARIABLE], "KOL"), *files, "-gamma", repr(stream.gamma), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        found = parse(process.stdout.read())
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        # In nanoseconds, of the main thread.
        processor, *_ = Path(f"/proc/{process.pid}/schedstat").read_text().split()
    return found._replace(seconds=min(found.seconds, int(processor) / 1e9))


def parse(output: str) -> Learned:
    """Return what KOL prints after learning."""
    accuracy = field(output, "Learn acc?uracy:", "KOL")
    seconds = field(output, "Learning time:", "KOL")
    return Learned(seconds, round(100 - accuracy, 3), int(field(output, "#SV:", "KOL")))


def errors(model: Any, stream: Stream) -> float:
    return 100 * model.n_mistakes / len(stream.learn.y)
