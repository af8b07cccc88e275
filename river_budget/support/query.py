"""An example with its kernel row."""

from __future__ import annotations

import dataclasses
from typing import Any

from river_budget._arrays import Floats


@dataclasses.dataclass(slots=True, eq=False)
class Query:
    """An example x, its kernel row over a store, and the value of a hypothesis f at x as the answer.

    A store keeps its last query, the only cache of the package. It is reused for an x with the same
    names in the same order and bitwise equal values under the same hypothesis, until either
    changes. Threads that predict may replace it, but each continues with its own; only `answer` is
    mutable.

    `given` is x if all of its values are plain numbers, `snapshot` a copy; both are None for a row
    of a block. The `layout` has names and feature rows. The `workspace` starts with the kernel row
    (slots,), in a `NumericStore` followed by the values of x. `n` is the number of vectors at that
    time.
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
