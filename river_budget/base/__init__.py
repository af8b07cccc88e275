"""Base classes of the algorithms.

- `machine`: labels, counts, predictions and mini-batches, common to all classifiers.
- `labels`: the labels and their columns.
- `classifier`: classifiers whose hypothesis is a kernel expansion.
- `perceptron`: the perceptron's template.

"""

from __future__ import annotations

from .classifier import KernelClassifier
from .labels import Labels
from .machine import Machine, classifier_of, memory_of, rows_of
from .perceptron import BudgetPerceptron, GrowingPerceptron, Perceptron

__all__ = [
    "BudgetPerceptron",
    "GrowingPerceptron",
    "KernelClassifier",
    "Labels",
    "Machine",
    "Perceptron",
    "classifier_of",
    "memory_of",
    "rows_of",
]
