"""Base classes of the algorithms.

- `documented`: what the docstrings of all classifiers share.
- `machine`: labels, counts, predictions and mini-batches, common to all classifiers.
- `frames`: mini-batches.
- `labels`: the labels and their columns.
- `weights`: the weights of examples and of classes.
- `classifier`: classifiers whose hypothesis is a kernel expansion.
- `perceptron`: the perceptron's template.
- `rule_perceptron`: the templates of the perceptrons that learn blocks of rows by a compiled rule.
"""

from __future__ import annotations

from .classifier import KernelClassifier
from .documented import documented
from .frames import frame_like, frame_of, labels_of, rows_of, series_like
from .labels import Labels, plain_label
from .machine import Machine, classifier_of, memory_of
from .perceptron import BudgetPerceptron, GrowingPerceptron, Perceptron
from .rule_perceptron import BlockPerceptron, RandomBits, RulePerceptron, Slot
from .weights import ClassWeight

__all__ = [
    "BlockPerceptron",
    "BudgetPerceptron",
    "ClassWeight",
    "GrowingPerceptron",
    "KernelClassifier",
    "Labels",
    "Machine",
    "Perceptron",
    "RandomBits",
    "RulePerceptron",
    "Slot",
    "classifier_of",
    "documented",
    "frame_like",
    "frame_of",
    "labels_of",
    "memory_of",
    "plain_label",
    "rows_of",
    "series_like",
]
