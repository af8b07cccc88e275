"""The support set: vectors with their features and kernel rows, and hypotheses over them.

- `store`: what every store of vectors is; `numeric` and `objects`: its two kinds.
- `features`: names, values, and what is wrong with an example.
- `query`: one example beside a store, and the only cache.
- `expansion`: coefficients over a store.
- `gram_factor`: the Cholesky factor of a Gram matrix that grows.

"""

from __future__ import annotations

from .expansion import Expansion, vector_store
from .features import check_features
from .gram_factor import GramFactor
from .query import Query
from .store import VectorStore

__all__ = [
    "Expansion",
    "GramFactor",
    "Query",
    "VectorStore",
    "check_features",
    "vector_store",
]
