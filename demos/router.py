"""A router that learns new intents
================================

Can a router learn new intents from embeddings, keep the old ones, and say where it is in doubt?

150 intents arrive ten at a time. The right intent of a question is known 50 questions later, and one
question in ten is out of scope: it is never learned. The data are the embeddings of CLINC150 in the
directory ``RIVER_BUDGET_DATA``, or else random clusters.

``python demos/router.py [PICTURE]``

"""

from __future__ import annotations

import collections
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from river import metrics

import river_budget as rb
from river_budget.base import Chain

PER_TASK, DELAY, SHARE_UNKNOWN = 10, 50, 0.1
KERNEL = rb.RBF(gamma=1.0)
MODELS = {
    "Forgetron": rb.Reject(rb.Forgetron(KERNEL, budget=500)),
    "Projectron++": rb.Reject(rb.ProjectronPlusPlus(KERNEL, budget=500)),
    "Mnemotron": rb.Reject(
        rb.Mnemotron(budget=300, kernels=(KERNEL,), forgetting=((1.0, 0.1),)), doubt="entropy"
    ),
}


class Questions(NamedTuple):
    """Embeddings of questions (rows, elements), and their intents (rows,)."""

    embeddings: np.ndarray
    intents: np.ndarray

    def of(self, intents) -> Questions:
        rows = np.isin(self.intents, intents)
        return Questions(self.embeddings[rows], self.intents[rows])


class Data(NamedTuple):
    """Questions to learn and to test, and some that are out of scope."""

    train: Questions
    test: Questions
    unknown: np.ndarray


class Run(NamedTuple):
    """What a model did.

    Attributes
    ----------
    seen
        Accuracy on the test questions of all intents so far, after each task.
    forgetting
        Mean loss of accuracy on a task since it was learned.
    area
        Area under the ROC curve of telling what is out of scope by the doubt about it.
    microseconds
        Time to predict and learn a question.

    """

    seen: list[float]
    forgetting: float
    area: float
    microseconds: float


def questions() -> Data:
    """Return CLINC150 if it is there, or clusters."""
    path = Path(os.environ.get("RIVER_BUDGET_DATA", "."), "clinc150_lsa384.npz")
    if path.exists():
        data = np.load(path)
        train, test = (Questions(data[f"X_{p}"], data[f"y_{p}"]) for p in ("train", "test"))
        # Thirty questions of each intent to learn, and ten to test.
        return Data(_first(train, 30), _first(test, 10), data["X_oos_test"])
    rng = np.random.default_rng(1)
    centers = rng.normal(size=(200, 64))

    def around(intents: np.ndarray) -> Questions:
        return Questions(
            _unit(centers[intents] + 0.8 * rng.normal(size=(len(intents), 64))), intents
        )

    known = np.arange(150)
    unknown = around(rng.integers(150, 200, 1000)).embeddings
    return Data(around(np.repeat(known, 30)), around(np.repeat(known, 10)), unknown)


def _first(all_questions: Questions, n: int) -> Questions:
    rows = [np.flatnonzero(all_questions.intents == i)[:n] for i in range(150)]
    return Questions(*(values[np.concatenate(rows)] for values in all_questions))


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def accuracy(model, part: Questions) -> float:
    return float(
        (np.array(model.predict_many({"embedding": part.embeddings})) == part.intents).mean()
    )


def route(router: rb.Reject, data: Data) -> Run:
    """Let a router answer and learn the questions of all tasks."""
    model = router.model
    rng, area = np.random.default_rng(1), metrics.ROCAUC(n_thresholds=1000)
    tasks = np.arange(data.train.intents.max() + 1).reshape(-1, PER_TASK)
    seen, after, seconds, n = [], [], 0.0, 0
    for i, task in enumerate(tasks):
        part, waiting = data.train.of(task), collections.deque()
        for row in rng.permutation(len(part.intents)):
            if rng.random() < SHARE_UNKNOWN:
                question, intent = data.unknown[rng.integers(len(data.unknown))], None
            else:
                question, intent = part.embeddings[row], int(part.intents[row])
                waiting.append((question, intent))
            start = time.perf_counter()
            router.predict_one({"embedding": question})
            if len(waiting) > DELAY:
                known, answer = waiting.popleft()
                model.learn_one({"embedding": known}, answer)
            seconds, n = seconds + time.perf_counter() - start, n + 1
            if i:
                doubt = router.doubt_one({"embedding": question})
                area.update(intent is None, {True: doubt, False: 1 - doubt})
        for question, intent in waiting:
            model.learn_one({"embedding": question}, intent)
        after.append(accuracy(model, data.test.of(task)))
        seen.append(accuracy(model, data.test.of(tasks[: i + 1])))
    end = [accuracy(model, data.test.of(task)) for task in tasks]
    forgetting = float(np.mean(np.array(after[:-1]) - end[:-1]))
    return Run(seen, forgetting, area.get(), 1e6 * seconds / n)


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "router.png")
    data = questions()
    runs = {}
    print(f"{'':<14}{'accuracy (%)':>13}{'forgetting':>12}{'AUROC':>8}{'µs':>7}{'bytes':>12}")
    for name, given in MODELS.items():
        router = given.clone()
        run = runs[name] = route(router, data)
        print(
            f"{name:<14}{100 * run.seen[-1]:>13.1f}{100 * run.forgetting:>12.1f}{run.area:>8.3f}"
            f"{run.microseconds:>7.0f}{Chain(router.model).memory_bytes:>12,}"
        )

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name, run in runs.items():
        axes.plot(PER_TASK * np.arange(1, len(run.seen) + 1), run.seen, marker="o", label=name)
    axes.set(xlabel="intents so far", ylabel="accuracy on all of them", ylim=(0, 1))
    axes.legend()
    figure.savefig(path, dpi=80)
    print(f"saved {path}")


if __name__ == "__main__":
    main()
