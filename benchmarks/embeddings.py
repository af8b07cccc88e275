"""Embeddings as array features: speed, accuracy, classes that arrive, and unknown intents.

    python -m benchmarks.embeddings [--quick] [speed] [accuracy] [arriving] [rejecting]

speed: microseconds to predict and learn an example of one array of 768 numbers, with 500 support
vectors, beside one product `A @ x` in single precision of the same size plus `exp`, and beside dicts of
768 numbers. All run alternately.

accuracy: clinc150, 150 intents as embeddings of 384 numbers. A model learns the training part once, in
a fixed shuffled order, and is tested on the test part; the area under the ROC curve is that of telling
the out-of-scope questions of the test part from the others.

arriving: the same with 15 tasks of ten intents, one after the other. Accuracy is that on the test rows
of all intents at the end; forgetting is the mean over the tasks before the last one of the accuracy
right after learning a task, minus that at the end. A prediction may be any intent seen so far.

rejecting: what `Reject(KernelLDA(D), share=0.05)` rejects of the training part, before it learns each row, and then of the
known test rows and of the out-of-scope ones, for three orders of the training part.

The data are read from the directory given by RIVER_BUDGET_DATA. The widths are the best of 1/4, 1/2, 1,
2 and 4 on the validation part. Mnemotron has one kernel and one expert. Streaming LDA has one covariance of
all classes, with shrinkage. `--quick` does a small part of everything. The tables are in Markdown.

"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import entr
from scipy.stats import rankdata

import river_budget as rb
from benchmarks.streams import load
from benchmarks.timing import alternating_medians

N_ELEMENTS, BUDGET, N_TIMED = 768, 500, 300
N_TASKS, PER_TASK = 15, 10


class NearestMean:
    """The nearest class mean, updated online."""

    def __init__(self) -> None:
        self.sums, self.counts = np.zeros((150, 384)), np.zeros(150)

    def learn_one(self, x: dict, y: int) -> None:
        self.sums[y] += x["embedding"]
        self.counts[y] += 1

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return minus the distances to the class means (rows, classes)."""
        means = self.sums / np.maximum(self.counts, 1)[:, None]
        squares = (X**2).sum(1)[:, None] + (means**2).sum(1) - 2 * X @ means.T
        return np.where(self.counts > 0, -squares, -np.inf)

    @property
    def memory_bytes(self) -> int:
        return self.sums.nbytes + self.counts.nbytes


class StreamingLDA(NearestMean):
    """Linear discriminant analysis: class means, and one covariance that is updated online."""

    def __init__(self, shrinkage: float = 1e-3) -> None:
        super().__init__()
        self.shrinkage, self.covariance = shrinkage, np.zeros((384, 384))

    def learn_one(self, x: dict, y: int) -> None:
        n, difference = self.counts[y], x["embedding"] - self.sums[y] / max(self.counts[y], 1)
        self.covariance += n / (n + 1) * np.outer(difference, difference)
        super().learn_one(x, y)

    def scores(self, X: np.ndarray) -> np.ndarray:
        covariance = self.covariance / self.counts.sum() + self.shrinkage * np.eye(384)
        means = self.sums / np.maximum(self.counts, 1)[:, None]
        weights = np.linalg.solve(covariance, means.T)
        scores = X @ weights - 0.5 * (means.T * weights).sum(0)
        return np.where(self.counts > 0, scores, -np.inf)

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + self.covariance.nbytes


class Result(NamedTuple):
    """What a model says about test rows.

    Attributes
    ----------
    predictions
        Its predictions (rows,).
    doubts
        Ways to tell unknown rows from known ones, by name (rows,).

    """

    predictions: np.ndarray
    doubts: dict[str, np.ndarray]


def tested(model, X: np.ndarray) -> Result:
    """Test a model on rows."""
    if isinstance(model, NearestMean):
        scores = model.scores(X)
        return Result(scores.argmax(axis=1), {"largest score": -scores.max(axis=1)})
    probabilities = model.predict_proba_many({"embedding": X})
    labels = list(probabilities)
    values = np.array([probabilities[label] for label in labels])
    doubts = {
        "novelty": np.array([model.novelty_one({"embedding": x}) for x in X]),
        "entropy": entr(values).sum(axis=0),
        "largest probability": -values.max(axis=0),
    }
    return Result(np.array(labels)[values.argmax(axis=0)], doubts)


def area(known: np.ndarray, unknown: np.ndarray) -> float:
    """Return the area under the ROC curve of telling unknown rows by larger values."""
    ranks = rankdata(np.concatenate((known, unknown)))[len(known) :]
    n, m = len(known), len(unknown)
    return float((ranks.sum() - m * (m + 1) / 2) / (n * m))


def models(quick: bool) -> dict[str, Callable[[], object]]:
    n, n_mnemotron = (100, 100) if quick else (3000, 1000)
    kernel, of_mnemotron = rb.RBF(gamma=2.0), rb.RBF(gamma=0.5)
    return {
        "nearest class mean": NearestMean,
        "streaming LDA": StreamingLDA,
        f"Projectron++ {n:,}": lambda: rb.ProjectronPlusPlus(kernel, budget=n),
        f"Mnemotron {n_mnemotron:,}": lambda: rb.Mnemotron(
            n_mnemotron, (of_mnemotron,), ((1.0, 0.1),)
        ),
    }


def parts(quick: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return embeddings and intents of the training, test and out-of-scope parts."""
    data = load("clinc150_lsa384")
    order = np.random.default_rng(1).permutation(len(data["X_train"]))[: 600 if quick else None]
    step = 20 if quick else 1
    return {
        "train": (data["X_train"][order].astype(np.float32), data["y_train"][order]),
        "test": (data["X_test"][::step].astype(np.float32), data["y_test"][::step]),
        "unknown": (data["X_oos_test"][::step].astype(np.float32), data["y_oos_test"][::step]),
    }


def learn(model, X: np.ndarray, y: np.ndarray) -> float:
    """Let a model learn rows, and return the microseconds an example."""
    start = time.thread_time()
    for x, label in zip(X, y.tolist(), strict=True):
        model.learn_one({"embedding": x}, label)
    return 1e6 * (time.thread_time() - start) / len(X)


def accuracy(quick: bool) -> None:
    data = parts(quick)
    print("| model | accuracy (%) | AUROC of unknown intents | µs/example | bytes |")
    print("|---|---|---|---|---|")
    for name, make in models(quick).items():
        model = make()
        microseconds = learn(model, *data["train"])
        result, unknown = tested(model, data["test"][0]), tested(model, data["unknown"][0])
        share = 100 * (result.predictions == data["test"][1]).mean()
        areas = ", ".join(
            f"{what} {area(known, unknown.doubts[what]):.3f}"
            for what, known in result.doubts.items()
        )
        print(
            f"| {name} | {share:.1f} | {areas} | {microseconds:.0f} | {model.memory_bytes:,} |",
            flush=True,
        )
    print()


def arriving(quick: bool) -> None:
    data = parts(quick)
    tasks = [np.arange(PER_TASK * i, PER_TASK * (i + 1)) for i in range(N_TASKS)]
    print("| model | accuracy at the end (%) | forgetting (points) |")
    print("|---|---|---|")
    for name, make in models(quick).items():
        model, after = make(), []
        (X, y), (X_test, y_test) = data["train"], data["test"]
        for task in tasks:
            rows, test_rows = np.isin(y, task), np.isin(y_test, task)
            learn(model, X[rows], y[rows])
            predictions = tested(model, X_test[test_rows]).predictions
            after.append((predictions == y_test[test_rows]).mean())
        correct = tested(model, X_test).predictions == y_test
        end = [correct[np.isin(y_test, task)].mean() for task in tasks]
        forgetting = 100 * np.mean(np.array(after[:-1]) - end[:-1])
        print(f"| {name} | {100 * correct.mean():.1f} | {forgetting:.1f} |", flush=True)
    print()


def rejecting(quick: bool) -> None:
    data = parts(quick)
    X, y = data["train"]
    print("| D | AUROC | training rejected (%) | known | unknown | bytes |")
    print("|---|---|---|---|---|---|")
    for n_features in (100,) if quick else (1000,):
        for seed in range(1, 4):
            model = rb.Reject(rb.KernelLDA(n_features, seed=seed), share=0.05)
            n_rejected = 0
            for i in np.random.default_rng(seed).permutation(len(X)):
                n_rejected += model.predict_one({"embedding": X[i]}) is None
                model.learn_one({"embedding": X[i]}, int(y[i]))
            known, unknown = (
                np.array([model.doubt_one({"embedding": x}) for x in data[part][0]])
                for part in ("test", "unknown")
            )
            shares = [(doubts > model.current_threshold).mean() for doubts in (known, unknown)]
            percents = (f"{100 * share:.1f}" for share in (n_rejected / len(X), *shares))
            cells = f"{area(known, unknown):.3f} | {' | '.join(percents)}"
            print(f"| {n_features:,} | {cells} | {model.memory_bytes:,} |", flush=True)
    print()


def predict_and_learn(model, examples: list) -> Callable[[], object]:
    """Return a function that predicts and learns examples."""

    def work():
        for x, y in examples:
            model.predict_one(x)
            model.learn_one(x, y)

    return work


def speed(quick: bool) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5 * BUDGET, N_ELEMENTS)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    labels = (rng.random(len(X)) < 0.5).tolist()
    arrays = [({"embedding": x}, y) for x, y in zip(X, labels, strict=True)]
    numbers = [(dict(enumerate(x.tolist())), y) for x, y in zip(X, labels, strict=True)]

    def limit():
        for x in X[-N_TIMED:]:
            np.exp(-(X[:BUDGET] @ x))

    print("| model | array (µs) | x `A @ x` and `exp` | dict of numbers (µs) |")
    print("|---|---|---|---|")
    for make in (rb.RemoveOldestPerceptron, rb.Forgetron):
        works = [limit]
        for examples in (arrays, numbers):
            model = make(rb.RBF(gamma=1.0), budget=BUDGET)
            predict_and_learn(model, examples[:-N_TIMED])()
            works.append(predict_and_learn(model, examples[-N_TIMED:]))
        least, array, number = alternating_medians(*works, repeats=3 if quick else 25)
        print(
            f"| {make.__name__} | {1e6 * array / N_TIMED:.0f} | {array / least:.2f} "
            f"| {1e6 * number / N_TIMED:.0f} |",
            flush=True,
        )
    print()


def main() -> None:
    tables = {"speed": speed, "accuracy": accuracy, "arriving": arriving, "rejecting": rejecting}
    quick = "--quick" in sys.argv
    chosen = [name for name in tables if name in sys.argv] or list(tables)
    for name in chosen:
        tables[name](quick)


if __name__ == "__main__":
    main()
