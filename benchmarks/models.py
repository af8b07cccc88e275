"""What is measured: the package's algorithms, and what a River user would pick instead."""

from __future__ import annotations

import time

from river import evaluate, forest, linear_model, metrics, neighbors, tree

import river_budget as rb
from river_budget.base import memory_of
from river_budget.catalog import ALGORITHMS


def ours(budget: int, kernel: rb.RBF | None = None) -> dict:
    """Return the algorithms on a budget, by name. The kernel is not Mnemotron's, which has its own."""
    models = {
        name: row.build(kernel, budget, seed=1)
        for name, row in ALGORITHMS.items()
        if row.takes("budget")
    }
    return {
        **models,
        "TighterPerceptron": models["TighterPerceptron"].clone({"validation": budget}),
    }


def knn(window: int) -> neighbors.KNNClassifier:
    return neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=window))


def rivers() -> dict:
    return {
        "ARFClassifier(10)": forest.ARFClassifier(n_models=10, seed=1),
        "KNNClassifier(100)": knn(100),
        "KNNClassifier(1000)": knn(1000),
        "HoeffdingAdaptiveTree": tree.HoeffdingAdaptiveTreeClassifier(seed=1),
        "HoeffdingTree": tree.HoeffdingTreeClassifier(),
        "LogisticRegression": linear_model.LogisticRegression(),
    }


def run(model, examples: list) -> tuple[float, float, int]:
    """Return accuracy in percent, microseconds an example, and the classifier's bytes at the end.

    The clock stands still while the processor does other work.

    """
    start = time.thread_time()
    accuracy = evaluate.progressive_val_score(examples, model, metrics.Accuracy()).get()
    microseconds = 1e6 * (time.thread_time() - start) / len(examples)
    return 100 * accuracy, microseconds, memory_of(model)
