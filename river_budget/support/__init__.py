"""The support set: stored vectors, their kernel rows, and hypotheses over them.

- `store`: the interface of a store of vectors; `numeric` and `objects`: its two implementations.
- `features`: feature names and values, and the validation of examples.
- `query`: an example with its kernel row, and the only cache.
- `expansion`: hypotheses, coefficients over a store, for two labels and for more.
- `scales`: scales of features, learned from the data.
- `target`: the direction of an update.
- `gram_factor`: the Cholesky factor of a growing Gram matrix.

"""

from __future__ import annotations

from .expansion import Expansion, MulticlassExpansion, vector_store
from .features import check_features
from .gram_factor import GramFactor
from .query import Query
from .rule import Own, Rule
from .scales import Scales
from .store import VectorStore
from .target import Target, Terms

__all__ = [
    "Expansion",
    "GramFactor",
    "MulticlassExpansion",
    "Own",
    "Query",
    "Rule",
    "Scales",
    "Target",
    "Terms",
    "VectorStore",
    "check_features",
    "vector_store",
]
