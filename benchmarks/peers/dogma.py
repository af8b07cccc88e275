"""DOGMA, the MATLAB library of Orabona 2009."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.io import savemat

import river_budget as rb
from benchmarks.peers.data import Stream, adult, bananas
from benchmarks.peers.peer import Algorithm, Case, Learned, Peer, executable, field

BUDGETS = {"Bananas": 100, "Adult": 500}

# DOGMA compares its threshold with the squared distance, we with the distance.
SQUARED_ETA = 0.1
THRESHOLD = f"model.eta = {SQUARED_ETA};"

UNBUDGETED = [
    Algorithm("Perceptron", ["k_perceptron_train"], rb.KernelPerceptron),
    Algorithm("PA-I", ["k_pa_train"], rb.KernelPAClassifier),
    Algorithm(
        "Projectron",
        ["k_projectron_train", THRESHOLD],
        lambda kernel: rb.Projectron(kernel, eta=math.sqrt(SQUARED_ETA)),
    ),
    Algorithm(
        "Projectron++",
        ["k_projectron2_train", THRESHOLD],
        lambda kernel: rb.ProjectronPlusPlus(kernel, eta=math.sqrt(SQUARED_ETA)),
    ),
]

BUDGETED = [
    Algorithm(
        "RBP",
        ["k_perceptron_train"],
        lambda kernel, budget: rb.RandomizedBudgetPerceptron(kernel, budget, seed=1),
    ),
    Algorithm("Forgetron", ["k_forgetron_st_train"], rb.Forgetron),
]

SCRIPT = """\
addpath('{library}'); load('{file}');
model = model_init(@compute_kernel, struct('type', 'rbf', 'gamma', {gamma!r}));
model.step = Inf; {fields}
start = cputime; model = {function}(X, Y, model); seconds = cputime - start;
printf('errors: %d\\nvectors: %d\\nseconds: %.6f\\n', model.errTot, numel(model.S), seconds);
"""


class DOGMA(Peer):
    """The directory of its files, and the interpreter."""

    name = "DOGMA"
    note = """\
MATLAB code, interpreted by Octave: the ratios say more of the interpreter than of the algorithms. Errors
are the mistakes while learning. The random numbers of RBP differ. DOGMA's Projectron++ tests margin errors
with the squared distance from the span, ours with the distance. Of Adult, the first 5,000 examples are used."""
    streams = (bananas, lambda: adult(5_000))

    def __init__(self, library: Path, interpreter: Path) -> None:
        if not (library / "model_init.m").is_file():
            sys.exit(f"{library} has no model_init.m: give the directory of DOGMA's files")
        self.library = library.resolve()
        self.interpreter = executable(interpreter, "octave-cli")

    def cases(self, stream: Stream) -> list[Case]:
        budgeted = [Case(algorithm, BUDGETS[stream.name]) for algorithm in BUDGETED]
        return [*map(Case, UNBUDGETED), *budgeted]

    def write(self, stream: Stream, directory: Path) -> None:
        X, y = stream.learn
        savemat(directory / "examples.mat", {"X": X.T, "Y": np.where(y, 1.0, -1.0)[None]})

    def learned(self, case: Case, stream: Stream, directory: Path) -> Learned:
        """Run the interpreter, whose linear algebra stays in one thread."""
        function, *fields = case.algorithm.theirs
        budget = [] if case.budget is None else [f"model.maxSV = {case.budget};"]
        script = SCRIPT.format(
            library=self.library,
            file=directory / "examples.mat",
            gamma=stream.gamma,
            fields=" ".join([*fields, *budget]),
            function=function,
        )
        command = [self.interpreter, "--norc", "--quiet", "--eval", script]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return parse(run.stdout + run.stderr, len(stream.learn.y))


def parse(output: str, n: int) -> Learned:
    """Return what the script prints after learning n examples."""
    errors, vectors, seconds = (
        field(output, name, "DOGMA") for name in ("errors:", "vectors:", "seconds:")
    )
    return Learned(seconds, 100 * errors / n, int(vectors))
