"""The cost of a round, as ratios of two times measured in one run.

    python -m benchmarks

Each time is the median of several runs of River's progressive validation, in processor time of one
thread. The two sides of a ratio run alternately. Predictions are compared with a lower limit: one BLAS
matrix-vector product and one vectorised exp of the same size. Data sets that are not part of the
package are read from the directory given by RIVER_BUDGET_DATA.

"""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from collections.abc import Callable

import numba
import numpy as np
import pandas as pd
import river
from river import datasets, evaluate, forest, linear_model, metrics
from scipy import sparse

import river_budget as rb
from benchmarks import streams
from benchmarks.timing import REPEATS, alternating_medians, lower_limit
from river_budget.base import RulePerceptron
from river_budget.catalog import ALGORITHMS
from river_budget.theory import bounds


def validation(examples: list, model) -> Callable[[], object]:
    return lambda: evaluate.progressive_val_score(examples, model.clone(), metrics.Accuracy())


def side_by_side(examples: list, model, other, repeats: int = REPEATS) -> tuple[float, float]:
    """Return the times of two models, in microseconds per example."""
    works = validation(examples, model), validation(examples, other)
    times = alternating_medians(*works, repeats=repeats)
    return tuple(1e6 * t / len(examples) for t in times)


def predictions_and_limit(n_vectors: int, n_features: int) -> tuple[float, float]:
    """Return the times of a prediction and of the lower limit, in microseconds."""
    model = rb.RemoveOldestPerceptron(rb.RBF(gamma=1 / n_features), n_vectors)
    examples = streams.noise(4 * n_vectors, n_features)
    for x, y in examples[:-n_vectors]:
        model.learn_one(x, y)
    queries = [x for x, _ in examples[-n_vectors:]]

    def predictions():
        for x in queries:
            model.predict_one(x)

    times = alternating_medians(predictions, lower_limit(n_vectors, queries))
    return tuple(1e6 * t / len(queries) for t in times)


def learning(examples: list, model, other) -> tuple[float, float]:
    """Return the times of `learn_one` of two models, in microseconds."""

    def learner(model) -> Callable[[], object]:
        def work():
            learned = model.clone()
            for x, y in examples:
                learned.learn_one(x, y)

        return work

    times = alternating_medians(learner(model), learner(other))
    return tuple(1e6 * t / len(examples) for t in times)


def learn_many_and_learn_one(examples: list, model, size: int = 1000) -> tuple[float, float]:
    frame = pd.DataFrame([x for x, _ in examples])
    labels = pd.Series([y for _, y in examples])
    parts = [slice(start, start + size) for start in range(0, len(examples), size)]
    blocks = [(frame[part], labels[part]) for part in parts]

    def many():
        learner = model.clone()
        for X, y in blocks:
            learner.learn_many(X, y)

    def one():
        learner = model.clone()
        for x, y in examples:
            learner.learn_one(x, y)

    return tuple(1e6 * t / len(examples) for t in alternating_medians(many, one))


def rounds_of_full(model, other, budget: int) -> tuple[float, float]:
    """Return the times of `learn_one` on noise with a full budget, in microseconds per example."""
    examples = streams.noise(3 * budget + 1000)
    warm, timed = examples[: 3 * budget], examples[3 * budget :]
    for x, y in warm:
        model.learn_one(x, y)
        other.learn_one(x, y)

    def rounds(learner) -> Callable[[], object]:
        def work():
            for x, y in timed:
                learner.learn_one(x, y)

        return work

    times = alternating_medians(rounds(model), rounds(other))
    return tuple(1e6 * t / len(timed) for t in times)


def tightest_and_table(budget: int) -> tuple[float, float]:
    """Return the memory of a full Tightest Perceptron and of its Gram matrix, in megabytes."""
    model = rb.TightestPerceptron(rb.RBF(gamma=1 / 20), budget)
    for x, y in streams.noise(3 * budget):
        model.learn_one(x, y)
        if model.n_support == budget:
            break
    return model.memory_bytes / 1e6, 8 * budget**2 / 1e6


def predictions_and_products(texts: list, n_vectors: int) -> tuple[float, float]:
    """Return the times of predictions on texts, and of sparse products and exps of the same size."""
    model = filled(texts, n_vectors)
    queries = [x for x, _ in texts[n_vectors : n_vectors + 500]]
    columns = {name: j for j, name in enumerate({name for x, _ in texts for name in x})}

    def matrix(examples: list) -> sparse.csr_array:
        ends = np.cumsum([0, *map(len, examples)])
        values = np.array([value for x in examples for value in x.values()])
        return sparse.csr_array(
            (values, [columns[name] for x in examples for name in x], ends),
            shape=(len(examples), len(columns)),
        )

    by_word = matrix(model.support_vectors).T.tocsr()
    rows = [matrix([x]) for x in queries]

    def predictions():
        for x in queries:
            model.predict_one(x)

    def products():
        for row in rows:
            np.exp((row @ by_word).toarray())

    times = alternating_medians(predictions, products)
    return tuple(1e6 * t / len(queries) for t in times)


def bytes_and_content(texts: list, n_vectors: int) -> tuple[float, float]:
    """Return the memory of a model and that of an index and a value of each word, in megabytes."""
    model = filled(texts, n_vectors)
    n_values = sum(map(len, model.support_vectors))
    return model.memory_bytes / 1e6, 12 * n_values / 1e6


def filled(texts: list, n_vectors: int) -> rb.RemoveOldestPerceptron:
    """Return a model with the first texts as support vectors."""
    model = rb.RemoveOldestPerceptron(rb.RBF(gamma=1.0), n_vectors)
    for x, _ in texts[:n_vectors]:
        model.learn_one(x, not model.predict_one(x))
    return model


def frames_and_dicts(frame: pd.DataFrame, labels: list, model) -> tuple[float, float]:
    """Return the times of learn_many on a frame with zeros, and of learn_one without them."""
    blocks = [slice(start, start + 1000) for start in range(0, len(frame), 1000)]
    targets = pd.Series(labels)
    examples = list(zip(streams.sparse(frame.to_numpy()), labels, strict=True))

    def many():
        learner = model.clone()
        for rows in blocks:
            learner.learn_many(frame[rows], targets[rows])

    def one():
        learner = model.clone()
        for x, y in examples:
            learner.learn_one(x, y)

    return tuple(1e6 * t / len(labels) for t in alternating_medians(many, one))


def imports() -> tuple[float, float]:
    """Return the times to import the package, and to import River and numba, in milliseconds."""

    def importing(names: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", f"import {names}"], check=True)

    works = importing("river_budget"), importing("river, numba")
    return tuple(1e3 * t for t in alternating_medians(*works, clock=time.perf_counter))


def report(name: str, goal: str, times: tuple[float, float]) -> None:
    ours, theirs = times
    print(f"{name:<60}{ours:>8.2f}{theirs:>8.2f}{ours / theirs:>7.2f}{goal:>7}")


def report_compiled_updates(kernel: rb.RBF) -> None:
    """Report the rounds of the algorithms whose updates are compiled; see `RulePerceptron`."""
    for n_features, budget, goal in [(2, 100, "0.29"), (2, 1000, "0.52")]:
        examples = streams.numeric(n_features=n_features)
        times = learn_many_and_learn_one(examples, rb.Forgetron(kernel, budget))
        report(f"{n_features} features: Forgetron B={budget}: learn_many / learn_one", goal, times)
    noisy = streams.gaussians(20_000)
    for name, row in ALGORITHMS.items():
        if issubclass(row.model, RulePerceptron):
            times = learn_many_and_learn_one(noisy, row.build(rb.RBF(gamma=0.1), 100, seed=1))
            report(f"10 features, 20 % noise: {name}: learn_many / learn_one", "0.35", times)
    for n_features in (2, 10):
        examples = streams.numeric(n_features=n_features)
        models = rb.Forgetron(kernel, 100), rb.RemoveOldestPerceptron(kernel, 100)
        times = learning(examples, *models)
        report(f"{n_features} features, B=100: Forgetron / RemoveOldest, learn_one", "1.3", times)


def main() -> None:
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, "
        f"River {river.__version__}, numba {numba.__version__}, NumPy {np.__version__}"
    )
    print(f"{'microseconds per example: a / b':<60}{'a':>8}{'b':>8}{'a / b':>7}{'goal':>7}")
    for n_features, goal in [(100, "2.0"), (2, "3.0")]:
        times = predictions_and_limit(1000, n_features)
        report(f"1,000 vectors x {n_features} features: predict_one / BLAS and exp", goal, times)

    logistic = linear_model.LogisticRegression()
    numeric, kernel = streams.numeric(), rb.RBF(gamma=1.0)
    for budget, goal in [(100, "0.8"), (1000, "1.4")]:
        model = rb.RemoveOldestPerceptron(kernel, budget)
        times = side_by_side(numeric, model, logistic)
        report(f"10 features: RemoveOldest B={budget} / logistic regression", goal, times)
    for name, model in [
        ("Forgetron", rb.Forgetron(kernel, budget=100)),
        ("RandomizedBudget", rb.RandomizedBudgetPerceptron(kernel, budget=100, seed=1)),
    ]:
        times = side_by_side(numeric, model, logistic)
        report(f"10 features: {name} B=100 / logistic regression", "1.0", times)
    times = learn_many_and_learn_one(numeric, rb.RemoveOldestPerceptron(kernel, budget=100))
    report("10 features, B=100: learn_many of 1,000 rows / learn_one", "0.4", times)
    report_compiled_updates(kernel)

    adult, kernel = streams.adult(), rb.RBF(gamma=1 / 50)
    if adult is None:
        print("Adult: skipped, adult_a9a.npz is not in the directory given by RIVER_BUDGET_DATA")
    else:
        oldest, forgetron = rb.RemoveOldestPerceptron(kernel, 1500), rb.Forgetron(kernel, 1500)
        times = side_by_side(adult, oldest, logistic)
        report("Adult: RemoveOldest B=1500 / logistic regression", "1.3", times)
        times = side_by_side(adult, forgetron, oldest)
        report("Adult: Forgetron B=1500 (goal: 16) / RemoveOldest B=1500", "2.0", times)
        projectron = rb.Projectron(kernel, norm_bound=bounds.forgetron_norm(1500))
        times = side_by_side(adult, projectron, oldest)
        report("Adult: Projectron, U of B=1500 (goal: 60) / RemoveOldest", "", times)

        names = [f"f{j}" for j in range(123)]
        frame = pd.DataFrame([x for x, _ in adult], columns=names).fillna(0.0)
        for budget in (100, 1500):
            times = frames_and_dicts(
                frame, [y for _, y in adult], rb.RemoveOldestPerceptron(kernel, budget)
            )
            report(f"Adult: B={budget}, learn_many of zeros / learn_one of dicts", "0.6", times)

    texts = streams.texts()
    if texts is None:
        print("Texts: skipped, spam_assassin.npz is not in RIVER_BUDGET_DATA")
    else:
        for budget, goal in [(100, "2.0"), (1000, "2.0")]:
            times = predictions_and_products(texts, budget)
            report(f"Texts: B={budget}, predict_one / a sparse product and exp", goal, times)
        sizes = bytes_and_content(texts, 1000)
        report("megabytes, 1,000 texts: memory_bytes / indices and values", "4.0", sizes)

    bananas = list(datasets.Bananas())
    tightest = rb.TightestPerceptron(rb.RBF(gamma=1.0), budget=100)
    trees = forest.ARFClassifier(n_models=10, seed=1)
    times = side_by_side(bananas, tightest, trees, repeats=3)
    report("Bananas: Tightest B=100 / ARFClassifier(n_models=10)", "0.067", times)
    times = side_by_side(bananas, rb.Mnemotron(budget=100), trees, repeats=3)
    report("Bananas: Mnemotron B=100 / ARFClassifier(n_models=10)", "0.05", times)
    times = side_by_side(bananas, tightest, rb.Forgetron(rb.RBF(gamma=1.0), budget=100))
    report("Bananas: Tightest B=100 / Forgetron B=100", "3.0", times)
    noise = streams.noise()
    smaller, larger = (rb.TightestPerceptron(rb.RBF(gamma=1 / 20), budget) for budget in (250, 500))
    times = side_by_side(noise, larger, smaller, repeats=3)
    report("20 features of noise: Tightest B=500 / Tightest B=250", "4.0", times)

    kernel = rb.RBF(gamma=1 / 20)
    for budget, name, model, goal in [
        (100, "Tightest", rb.TightestPerceptron(kernel, budget=100), "2.5"),
        (1000, "Projectron", rb.Projectron(kernel, budget=1000), "8.0"),
        (1000, "Projectron++", rb.ProjectronPlusPlus(kernel, budget=1000), "10.0"),
    ]:
        times = rounds_of_full(model, rb.RemoveOldestPerceptron(kernel, budget), budget)
        report(f"20 features of noise: {name} / RemoveOldest, B={budget}", goal, times)
    report("megabytes: Tightest B=3000 / its Gram matrix", "1.1", tightest_and_table(3000))

    report("milliseconds: import river_budget / import river, numba", "1.5", imports())


if __name__ == "__main__":
    main()
