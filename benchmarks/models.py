"""The models to measure: the package's algorithms, and River's alternatives."""

from __future__ import annotations

import time

from river import evaluate, metrics, multiclass, neighbors

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


def size_of(model) -> int:
    """Return the size of a model's classifier in bytes; that of one model a class is their sum."""
    classifier = Chain(model).last
    if isinstance(classifier, multiclass.OneVsRestClassifier):
        return sum(Chain(each).memory_bytes for each in classifier.classifiers.values())
    return Chain(classifier).memory_bytes


def microseconds(model, examples) -> float:
    """Return the processor time of this thread for an example of River's progressive validation."""
    start = time.thread_time()
    evaluate.progressive_val_score(examples, model, metrics.Accuracy())
    return 1e6 * (time.thread_time() - start) / len(examples)
