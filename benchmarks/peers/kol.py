"""KOL, the C++ library of Lu, Hoi, Wang, Zhao & Liu 2016, "Large scale online kernel learning"."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import river_budget as rb
from benchmarks.peers.data import Stream, adult, bananas, libsvm, rotating
from benchmarks.peers.peer import Algorithm, Case, Learned, Peer, executable, field
from river_budget.theory import bounds

BUDGETS = {"2-D": [500, 1000], "Bananas": [100], "Adult": [1500]}

PERCEPTRON = Algorithm("Perceptron", ["perceptron"], rb.KernelPerceptron)

BUDGETED = [
    Algorithm(
        "RBP",
        ["rbp"],
        lambda kernel, budget: rb.RandomizedBudgetPerceptron(kernel, budget, seed=1),
    ),
    Algorithm("Forgetron", ["forgetron"], rb.Forgetron),
    Algorithm(
        "Projectron",
        ["projectron"],
        lambda kernel, budget: rb.Projectron(kernel, eta=0, budget=budget),
    ),
    Algorithm(
        "Projectron++",
        ["projectronpp"],
        lambda kernel, budget: rb.ProjectronPlusPlus(
            kernel, norm_bound=bounds.forgetron_norm(budget), budget=budget
        ),
    ),
    Algorithm(
        "BPA-S",
        ["bpas", "-cbpas", "1"],
        lambda kernel, budget: rb.BudgetPassiveAggressive(kernel, budget, maintenance="simple"),
    ),
    Algorithm(
        "BOGD",
        ["bogd", "-eta", "0.25", "-lambda", "0.0001"],
        lambda kernel, budget: rb.BudgetedOGD(kernel, budget, sampling="uniform", seed=1),
    ),
]


class KOL(Peer):
    """The executable."""

    name = "KOL"
    note = """\
C++, single precision. Errors are the mistakes while learning. KOL's Projectron has no threshold: it adds
every misclassified example until the budget is full. So does ours with eta=0, except that it projects
examples that are numerically in the span; with them, KOL's inverse of the Gram matrix may become useless.
KOL's Projectron++ has no threshold either, ours has that of the theorem. KOL's RBP removes the vector at a
position that changes once a second. Its BOGD removes the oldest vector, ours one at random. Its BPA-S
always adds the incoming example, ours may leave it out.
Goals: 1.00 one by one and 0.50 in blocks on 2-D, 0.15 and 0.20 on Adult."""
    streams = (rotating, bananas, adult)

    def __init__(self, path: Path) -> None:
        self.binary = executable(path, "KOL")

    def cases(self, stream: Stream) -> list[Case]:
        budgets = BUDGETS[stream.name]
        return [
            Case(PERCEPTRON),
            *(Case(known, budget) for budget in budgets for known in BUDGETED),
        ]

    def write(self, stream: Stream, directory: Path) -> None:
        (directory / "examples").write_text("".join(libsvm(stream.learn)))

    def learned(self, case: Case, stream: Stream, directory: Path) -> Learned:
        """Run KOL on the file.

        It reads the file in another thread than it learns in, and prints the wall-clock time of
        learning. Its time is the smaller of that and the processor time of the learning thread, which
        Linux keeps until the process is reaped.

        """
        name, *options = case.algorithm.theirs
        budget = [] if case.budget is None else ["-B", str(case.budget)]
        files = ["-i", directory / "examples", "-opt", f"kernel-{name}"]
        command = [self.binary, *files, "-gamma", repr(stream.gamma), *budget, *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            learned = parse(process.stdout.read())
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            processor = processor_seconds(process.pid)
        return learned._replace(seconds=min(learned.seconds, processor))


def parse(output: str) -> Learned:
    """Return what KOL prints after learning."""
    accuracy = field(output, "Learn acc?uracy:", "KOL")
    seconds = field(output, "Learning time:", "KOL")
    return Learned(seconds, 100 - accuracy, int(field(output, "#SV:", "KOL")))


def processor_seconds(pid: int) -> float:
    """Return the processor time of the main thread of a process that has exited, but is not reaped."""
    nanoseconds, *_ = Path(f"/proc/{pid}/schedstat").read_text().split()
    return int(nanoseconds) / 1e9
