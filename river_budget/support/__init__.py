"""The support set: stored vectors, their kernel rows, and hypotheses over them.

- `store`: the interface of a store of vectors, and an example with its kernel row, the only cache.
  Implementations: `numeric` for numbers, `arrays` for examples with arrays, `objects` for kernels
  that are functions of dicts. What two of them share: `scaled` multiplies features by factors,
  `plain` evaluates one example at a time.
- `values`: values of stored vectors; `features`: names, and the validation of examples.
- `expansion`: hypotheses, coefficients over a store; `target`: the direction of an update.
- `rule`: the update of a budgeted algorithm as two compiled functions.
- `scales`: scales of features, learned from the data, and `sums`: the running sums for them.
"""

from __future__ import annotations

from .arrays import ArrayStore
from .expansion import Expansion, MulticlassExpansion, vector_store
from .features import ArrayFoundError, check_features, is_array
from .rule import AlgorithmState, Rule
from .scales import Scales
from .store import Query, VectorStore
from .target import Target, Terms

__all__ = [
    "AlgorithmState",
    "ArrayFoundError",
    "ArrayStore",
    "Expansion",
    "MulticlassExpansion",
    "Query",
    "Rule",
    "Scales",
    "Target",
    "Terms",
    "VectorStore",
    "check_features",
    "is_array",
    "vector_store",
]
