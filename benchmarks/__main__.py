"""The cost of a round, as ratios of two times measured in one run.

    python -m benchmarks
    python -m benchmarks forgetron "learn_many"

With arguments, only the rows whose names contain one of them are measured.

Each time is the median of several runs of River's progressive validation, in processor time of one
thread. The two sides of a ratio run alternately. Predictions are compared with a lower limit: one BLAS
matrix-vector product and one vectorised exp of the same size. Data sets that are not part of the
package are read from the directory given by RIVER_BUDGET_DATA.

"""

from __future__ import annotations

import argparse
import functools
import itertools
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import river
from river import datasets, evaluate, forest, linear_model, metrics
from scipy import sparse

import river_budget as rb
from benchmarks import streams
from benchmarks.timing import REPEATS, alternating_medians, lower_limit
from river_budget.base import BudgetPerceptron
from river_budget.base.scales import LAST_UPDATE
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


def frames_and_dicts(rows: list, model) -> tuple[float, float]:
    """Return the times of learn_many on a frame with zeros, and of learn_one without them."""
    frame = pd.DataFrame([x for x, _ in rows], columns=[f"f{j}" for j in range(123)]).fillna(0.0)
    labels = [y for _, y in rows]
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
    """Return the times to import the package, and River's linear models, in milliseconds.

    Both have been imported before, and are stored as bytecode. `import river` alone imports nothing.

    """
    environment = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as directory:
        environment["PYTHONPYCACHEPREFIX"] = directory

        def importing(names: str) -> Callable[[], object]:
            command = [sys.executable, "-c", f"import {names}"]
            return lambda: subprocess.run(command, check=True, env=environment)

        works = importing("river_budget"), importing("river.linear_model")
        for work in works:
            work()
        return tuple(1e3 * t for t in alternating_medians(*works, clock=time.perf_counter))


class Row(NamedTuple):
    """One ratio of the table.

    Attributes
    ----------
    name, goal
        What is compared, and the goal of the ratio.
    measure
        Returns both times, or both sizes; None if a data set is absent.

    """

    name: str
    goal: str
    measure: Callable[[], tuple[float, float] | None]

    def report(self) -> None:
        """Measure the ratio and print it."""
        both = self.measure()
        figures = "   skipped: the data set is not in RIVER_BUDGET_DATA"
        if both is not None:
            figures = f"{both[0]:>8.2f}{both[1]:>8.2f}{both[0] / both[1]:>7.2f}{self.goal:>7}"
        print(f"{self.name:<72}{figures}", flush=True)


def with_data(measure: Callable, data: Callable[[], Any], *args: Any) -> Callable:
    """Return a measurement on a data set, which is loaded then; it returns None if it is absent."""

    def measured():
        loaded = data()
        return None if loaded is None else measure(loaded, *args)

    return measured


numeric = functools.cache(streams.numeric)
noisy = functools.cache(lambda: streams.gaussians(20_000))
adult, texts = functools.cache(streams.adult), functools.cache(streams.texts)
bananas = functools.cache(lambda: list(datasets.Bananas()))

KERNEL = rb.RBF(gamma=1.0)


def numeric_rows() -> Iterator[Row]:
    for n_features, goal in [(100, "2.0"), (2, "3.0")]:
        name = f"1,000 vectors x {n_features} features: predict_one / BLAS and exp"
        yield Row(name, goal, partial(predictions_and_limit, 1000, n_features))
    logistic = linear_model.LogisticRegression()
    for name, model, goal in [
        ("RemoveOldest B=100", rb.RemoveOldestPerceptron(KERNEL, 100), "0.5"),
        ("RemoveOldest B=1000", rb.RemoveOldestPerceptron(KERNEL, 1000), "0.5"),
        ("Forgetron B=100", rb.Forgetron(KERNEL, 100), "0.5"),
        ("RandomizedBudget B=100", rb.RandomizedBudgetPerceptron(KERNEL, 100, seed=1), "0.5"),
    ]:
        measure = with_data(side_by_side, numeric, model, logistic)
        yield Row(f"10 features: {name} / logistic regression", goal, measure)
    models = (
        rb.RemoveOldestPerceptron(budget=100), rb.RemoveOldestPerceptron(rb.RBF(gamma=0.1), 100)
    )  # fmt: skip
    measure = with_data(learning, lambda: noisy()[:LAST_UPDATE], *models)
    name = f"10 features, {LAST_UPDATE:,} rounds: RemoveOldest, width learned / given"
    yield Row(name, "1.4", measure)
    measure = with_data(learn_many_and_learn_one, numeric, rb.RemoveOldestPerceptron(KERNEL, 100))
    yield Row("10 features, B=100: learn_many of 1,000 rows / learn_one", "1.0", measure)


def block_rows() -> Iterator[Row]:
    """Yield the rows of mini-batches, and of the cost of an update."""
    for n_features, budget, goal in [(2, 100, "0.5"), (2, 1000, "0.8")]:
        name = f"{n_features} features: Forgetron B={budget}: learn_many / learn_one"
        data = partial(numeric, n_features=n_features)
        measure = with_data(learn_many_and_learn_one, data, rb.Forgetron(KERNEL, budget))
        yield Row(name, goal, measure)
    for name, row in ALGORITHMS.items():
        if issubclass(row.model, BudgetPerceptron):
            model = row.build(rb.RBF(gamma=0.1), budget=100, seed=1)
            measure = with_data(learn_many_and_learn_one, noisy, model)
            yield Row(f"10 features, 20 % noise: {name}: learn_many / learn_one", "1.0", measure)
    for n_features in (2, 10):
        name = f"{n_features} features, B=100: Forgetron / RemoveOldest, learn_one"
        models = rb.Forgetron(KERNEL, 100), rb.RemoveOldestPerceptron(KERNEL, 100)
        measure = with_data(learning, partial(numeric, n_features=n_features), *models)
        yield Row(name, "2.0", measure)


def adult_rows() -> Iterator[Row]:
    kernel, logistic = rb.RBF(gamma=1 / 50), linear_model.LogisticRegression()
    oldest, forgetron = rb.RemoveOldestPerceptron(kernel, 1500), rb.Forgetron(kernel, 1500)
    projectron = rb.Projectron(kernel, norm_bound=bounds.forgetron_norm(1500))
    for name, goal, models in [
        ("RemoveOldest B=1500 / logistic regression", "0.8", (oldest, logistic)),
        ("Forgetron B=1500 (goal: 16) / RemoveOldest B=1500", "2.0", (forgetron, oldest)),
        ("Projectron, U of B=1500 (goal: 60) / RemoveOldest", "", (projectron, oldest)),
    ]:
        yield Row(f"Adult: {name}", goal, with_data(side_by_side, adult, *models))
    for budget in (100, 1500):
        model = rb.RemoveOldestPerceptron(kernel, budget)
        name = f"Adult: B={budget}, learn_many of zeros / learn_one of dicts"
        yield Row(name, "0.6", with_data(frames_and_dicts, adult, model))


def text_rows() -> Iterator[Row]:
    for budget in (100, 1000):
        name = f"Texts: B={budget}, predict_one / a sparse product and exp"
        yield Row(name, "2.0", with_data(predictions_and_products, texts, budget))
    name = "megabytes, 1,000 texts: memory_bytes / indices and values"
    yield Row(name, "4.0", with_data(bytes_and_content, texts, 1000))


def other_rows() -> Iterator[Row]:
    tightest = rb.TightestPerceptron(KERNEL, budget=100)
    trees = forest.ARFClassifier(n_models=10, seed=1)
    forgetron = rb.Forgetron(KERNEL, budget=100)
    for name, goal, models in [
        ("Tightest B=100 / ARFClassifier(n_models=10)", "0.067", (tightest, trees, 3)),
        (
            "Mnemotron B=100 / ARFClassifier(n_models=10)",
            "0.05",
            (rb.Mnemotron(budget=100), trees, 3),
        ),
        ("Tightest B=100 / Forgetron B=100", "3.0", (tightest, forgetron)),
    ]:
        yield Row(f"Bananas: {name}", goal, with_data(side_by_side, bananas, *models))
    kernel = rb.RBF(gamma=1 / 20)
    models = rb.TightestPerceptron(kernel, 500), rb.TightestPerceptron(kernel, 250), 3
    name = "20 features of noise: Tightest B=500 / Tightest B=250"
    yield Row(name, "4.0", with_data(side_by_side, streams.noise, *models))
    for budget, name, model, goal in [
        (100, "Tightest", rb.TightestPerceptron(kernel, budget=100), "2.5"),
        (1000, "Projectron", rb.Projectron(kernel, budget=1000), "8.0"),
        (1000, "Projectron++", rb.ProjectronPlusPlus(kernel, budget=1000), "10.0"),
    ]:
        oldest = rb.RemoveOldestPerceptron(kernel, budget)
        measure = partial(rounds_of_full, model, oldest, budget)
        yield Row(f"20 features of noise: {name} / RemoveOldest, B={budget}", goal, measure)
    yield Row(
        "megabytes: Tightest B=3000 / its Gram matrix", "1.1", partial(tightest_and_table, 3000)
    )
    yield Row("milliseconds: import river_budget / import river.linear_model", "1.0", imports)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of the names of rows; all rows by default")
    names = [name.casefold() for name in parser.parse_args().names]
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, "
        f"River {river.__version__}, NumPy {np.__version__}"
    )
    print(f"{'microseconds per example: a / b':<72}{'a':>8}{'b':>8}{'a / b':>7}{'goal':>7}")
    for row in itertools.chain(
        numeric_rows(), block_rows(), adult_rows(), text_rows(), other_rows()
    ):
        if not names or any(name in row.name.casefold() for name in names):
            row.report()


if __name__ == "__main__":
    main()
