"""Base classes of the algorithms: `machine`, `perceptron`.

`labels` also has weights, `frames` are mini-batches, `scales` are learned, `documented` completes
docstrings.
"""

from __future__ import annotations

from river_budget._core.expansion import Example, Expansion
from river_budget._state import Array, AtLeast, Between, Count, Number

from .documented import documented, with_example
from .frames import by_row, dicts_of, frame_like, frame_of, labels_of, rows_of, series_like
from .labels import ClassWeight, Labels, is_class, plain_label, weights_of
from .machine import (
    Machine,
    OnlineClassifier,
    classifier_of,
    forget_prediction,
    innermost_of,
    memory_of,
)
from .perceptron import (
    BudgetPerceptron,
    GrowingPerceptron,
    Perceptron,
    RandomPerceptron,
)

__all__ = [
    "Array", "AtLeast", "Between", "BudgetPerceptron", "ClassWeight", "Count", "Example",
    "Expansion", "GrowingPerceptron", "Labels", "Machine", "Number",
    "OnlineClassifier", "Perceptron", "RandomPerceptron", "by_row", "classifier_of", "dicts_of",
    "documented", "forget_prediction", "frame_like", "frame_of", "innermost_of", "is_class",
    "labels_of", "memory_of", "plain_label", "rows_of", "series_like", "weights_of",
    "with_example",
]  # fmt: skip
