"""Base classes of the algorithms: `machine`, `perceptron`.

`answer` is what a model says of an example, `labels` also has weights, `frames` are mini-batches,
`scales` are learned, `documented` completes docstrings.
"""

from __future__ import annotations

from river_budget._checks import parameter
from river_budget._core.expansion import Example, Expansion
from river_budget._state import Array, AtLeast, Between, Count, Number

from .documented import documented, with_example
from .labels import ClassWeight, Labels
from .machine import (
    Machine,
    OnlineClassifier,
    classifier_of,
    innermost_of,
    memory_of,
    rounds_of,
)
from .perceptron import BudgetPerceptron, GrowingPerceptron, Perceptron, RandomPerceptron

__all__ = [
    "Array", "AtLeast", "Between", "BudgetPerceptron", "ClassWeight", "Count", "Example",
    "Expansion", "GrowingPerceptron", "Labels", "Machine", "Number",
    "OnlineClassifier", "Perceptron", "RandomPerceptron", "classifier_of", "documented",
    "innermost_of", "memory_of", "parameter", "rounds_of",
    "with_example",
]  # fmt: skip
