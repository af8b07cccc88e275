"""The base classes of the algorithms, in `machine` and `perceptron`, and what these are made of.

A `chain` is a model with what is around it. `labels` has labels and weights of examples, `frames` reads
mini-batches, `scales` and `relevances` learn those of features, and `documented` completes docstrings.

A class declares all it has in its body, and three parts read that, each one kind of attribute:

- An annotated attribute is a parameter: `Parametrized` (in `_checks`) makes the class a dataclass, whose
  constructor checks each parameter and sets it once.
- A `Field`, such as `Count()` or `Array(...)`, is what the class learns: `Learned` (in `_state`) replaces it
  by an attribute of each instance, and stores, restores and validates this with the state.
- `@documented` adds the shared texts of the parameters and those of the public fields and properties to
  the docstring, and changes nothing else.
"""

from __future__ import annotations

from river_budget._checks import parameter
from river_budget._core.answer import Answer
from river_budget._core.expansion import Example, Expansion
from river_budget._state import Array, Count, Number

from .chain import Chain, outline
from .documented import documented, with_example
from .labels import ClassWeight, Labels
from .machine import Machine, OnlineClassifier
from .perceptron import BudgetPerceptron, GrowingPerceptron, Perceptron, RandomPerceptron

__all__ = [
    "Answer", "Array", "BudgetPerceptron", "Chain", "ClassWeight", "Count",
    "Example", "Expansion", "GrowingPerceptron", "Labels", "Machine", "Number", "OnlineClassifier",
    "Perceptron", "RandomPerceptron", "documented", "outline", "parameter", "with_example",
]  # fmt: skip
