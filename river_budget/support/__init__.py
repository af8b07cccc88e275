"""The support set: stored vectors, their kernel rows, and hypotheses over them.

- `store`: the interface of a store of vectors. Its implementations: `numeric` for numbers, `arrays` for
  examples that hold arrays, `objects` for kernels that are functions of dicts. What two of them share:
  `scaled` multiplies features by factors before the kernel, `plain` evaluates one example at a time.
- `values`: the values of stored vectors, by feature.
- `features`: feature names and values, and the validation of examples.
- `query`: an example with its kernel row, and the only cache.
- `expansion`: hypotheses, coefficients over a store, for two labels and for more.
- `rule`: the update of a budgeted algorithm as two compiled functions.
- `scales`: scales of features, learned from the data, and `sums`: the running sums that they come from.
- `target`: the direction of an update.
- `gram_factor`: the Cholesky factor of a growing Gram matrix.
"""

from __future__ import annotations

from .arrays import ArrayStore
from .expansion import Expansion, MulticlassExpansion, vector_store
from .features import ArrayFoundError, check_features, is_array
from .gram_factor import GramFactor
from .query import Query
from .rule import AlgorithmState, Rule
from .scales import Scales
from .store import VectorStore
from .target import Target, Terms

__all__ = [
    "AlgorithmState",
    "ArrayFoundError",
    "ArrayStore",
    "Expansion",
    "GramFactor",
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
