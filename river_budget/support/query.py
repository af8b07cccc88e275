"""One example beside a store."""

from __future__ import annotations

from typing import Any

from river_budget._arrays import Floats

__all__ = ["Query"]


class Query:
    """One example x, its kernel row over a store, and what a hypothesis makes of it.

    A store keeps its last query, and that is the only cache of the package. Its one rule: the query
    answers again for an x with the same names in the same order and the same values, bit for bit,
    until the store changes or a hypothesis over it does (`VectorStore.forget_query`). So a
    prediction and the learning that follows compute one kernel row.

    A query is never changed after it was made, but for `answer`. Threads that predict may replace
    a store's last query; each goes on with the one that it got.

    Attributes
    ----------
    given, snapshot
        x, and a copy of it; None for a row of a block.
    layout
        The names of x, and where their features are stored; None in a store of objects.
    workspace
        An array that starts with the kernel row (slots,), and may end in the values of x.
    n
        Number of stored vectors when the query was made.
    answer
        f(x), or what else a hypothesis keeps of x; None before it was asked.

    """

    __slots__ = ("answer", "given", "layout", "n", "snapshot", "workspace")

    def __init__(
        self, given: Any, snapshot: Any, layout: Any, workspace: Floats, n: int, answer: Any
    ) -> None:
        self.given = given
        self.snapshot = snapshot
        self.layout = layout
        self.workspace = workspace
        self.n = n
        self.answer = answer

    @property
    def row(self) -> Floats:
        """k(x, s) for each stored vector s (n,), by slots."""
        return self.workspace[: self.n]
