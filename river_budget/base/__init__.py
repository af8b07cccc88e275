"""Base classes of the algorithms.

- `machine`: labels, counts, predictions and mini-batches, common to all classifiers.
- `labels`: the labels and their columns.
- `weights`: the weights of examples and of classes.
- `classifier`: classifiers whose hypothesis is a kernel expansion.
- `perceptron`: the perceptron's template.

"""

from __future__ import annotations

from .classifier import KernelClassifier
from .labels import Labels
from .machine import Machine, classifier_of, memory_of, rows_of
from .perceptron import BudgetPerceptron, GrowingPerceptron, Perceptron
from .ruled import RulePerceptron
from .weights import ClassWeight

__all__ = [
    "BudgetPerceptron",
    "ClassWeight",
    "GrowingPerceptron",
    "KernelClassifier",
    "Labels",
    "Machine",
    "Perceptron",
    "RulePerceptron",
    "classifier_of",
    "memory_of",
    "rows_of",
]
