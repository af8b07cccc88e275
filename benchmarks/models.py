"""The models to measure: the package's algorithms, and River's alternatives."""

from __future__ import annotations

import time

from river import evaluate, forest, linear_model, metrics, multiclass, neighbors, tree

import river_budget as rb
from river_budget.base import Chain
from river_budget.catalog import ALGORITHMS


def ours(budget: int, kernel: rb.RBF | None = None) -> dict:
    """Return the algorithms that have a budget, by name. Mnemotron keeps its own kernels."""
    models = {
        name: row.build(kernel, budget=budget, seed=1)
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


def size_of(model) -> int:
    """Return the size of a model's classifier in bytes; that of one model a class is their sum."""
    classifier = Chain(model).last
    if isinstance(classifier, multiclass.OneVsRestClassifier):
        return sum(Chain(each).memory_bytes for each in classifier.classifiers.values())
    return Chain(classifier).memory_bytes


def run(model, examples) -> tuple[float, float, int]:
    """Return accuracy in percent, microseconds per example, and the classifier's final size in bytes.

    The time is the processor time of this thread.

    """
    start = time.thread_time()
    accuracy = evaluate.progressive_val_score(examples, model, metrics.Accuracy()).get()
    microseconds = 1e6 * (time.thread_time() - start) / len(examples)
    return 100 * accuracy, microseconds, size_of(model)
