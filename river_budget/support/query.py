"""An example with its kernel row."""

from __future__ import annotations

import dataclasses
from typing import Any

from river_budget._arrays import Floats


@dataclasses.dataclass(slots=True, eq=False)
class Query:
    """An example x, its kernel row over a store, and the value of a hypothesis at x.

    A store keeps its last query, which is the only cache of the package. It is reused for an x with
    the same names in the same order and bitwise equal values under the same hypothesis, until the
    store or the hypothesis changes (`VectorStore.forget_query`). A prediction and the update that follows thus compute
    one kernel row.

    Queries are immutable, except for `answer`. Threads that predict may replace the last query of a
    store, but each continues with its own.

    Attributes
    ----------
    given, snapshot
        x and a copy of it; None for a row of a block. x itself is kept where all of its values are
        plain numbers, so that the types of the same object need no closer look.
    f
        The hypothesis that was evaluated.
    layout
        The names and feature rows of x; None in an `ObjectStore`.
    workspace
        An array that starts with the kernel row (slots,). In a `NumericStore`, the values of x
        follow.
    n
        Number of stored vectors when the query was created.
    answer
        f(x), or another value that a model computes at x; None before that.
    """

    given: Any
    snapshot: Any
    f: Any
    layout: Any
    workspace: Floats
    n: int
    answer: Any

    @property
    def row(self) -> Floats:
        """k(x, s) for each stored vector s (n,), by slots."""
        return self.workspace[: self.n]
