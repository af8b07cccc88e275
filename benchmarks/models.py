"""What is measured: the package's algorithms, and what a River user would pick instead."""

from __future__ import annotations

import time

from river import evaluate, forest, linear_model, metrics, neighbors, tree

import river_budget as rb
from river_budget.base import classifier_of


def ours(budget: int, kernel: rb.RBF | None = None) -> dict:
    """Return the algorithms on a budget, by name. The kernel is not Mnemotron's, which has its own."""
    return {
        "Mnemotron": rb.Mnemotron(budget),
        "TightestPerceptron": rb.TightestPerceptron(kernel, budget),
        "TighterPerceptron": rb.TighterPerceptron(kernel, budget, validation=budget, seed=1),
        "ProjectronPlusPlus": rb.ProjectronPlusPlus(kernel, budget=budget),
        "Projectron": rb.Projectron(kernel, budget=budget),
        "Forgetron": rb.Forgetron(kernel, budget),
        "RandomizedBudget": rb.RandomizedBudgetPerceptron(kernel, budget, seed=1),
        "RemoveOldest": rb.RemoveOldestPerceptron(kernel, budget),
        "FixedBudget": rb.FixedBudgetPerceptron(kernel, budget),
        "SimplifiedForgetron": rb.SimplifiedForgetron(kernel, budget),
        "ModifiedRandomizedBudget": rb.ModifiedRandomizedBudgetPerceptron(kernel, budget, seed=1),
        "Stoptron": rb.Stoptron(kernel, budget),
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


def memory(model) -> int:
    """Return the bytes that a classifier holds: what it says itself, or what River finds."""
    return getattr(model, "memory_bytes", None) or model._raw_memory_usage


def run(model, examples: list) -> tuple[float, float, int]:
    """Return accuracy in percent, microseconds an example, and the classifier's bytes at the end.

    The clock stands still while the processor does other work.

    """
    start = time.thread_time()
    accuracy = evaluate.progressive_val_score(examples, model, metrics.Accuracy()).get()
    microseconds = 1e6 * (time.thread_time() - start) / len(examples)
    return 100 * accuracy, microseconds, memory(classifier_of(model))
