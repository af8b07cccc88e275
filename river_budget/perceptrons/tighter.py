from __future__ import annotations

import math
import sys

from river_budget._checks import check_count
from river_budget._state import Field
from river_budget.base import Example, Expansion, RandomPerceptron, with_example
from river_budget.perceptrons._validation import (
    AllExamples,
    Reservoir,
    SupportVectors,
    ValidatedPerceptron,
)


@with_example(accuracy="86.28%", budget=100, validation=100, seed=1)
class TighterPerceptron(RandomPerceptron, ValidatedPerceptron):
    """The Tighter Perceptron.

    Use it for rare positives, or for few vectors without drift. Once the budget is full, a
    misclassified example is added, and the support vector whose removal gives the fewest errors on
    a validation set is removed, the oldest among ties. It may be the incoming example.

    Parameters
    ----------
    validation
        The validation set. `"support"`: the support vectors themselves (Tighter^0). An integer A: a
        uniform random sample of A other past examples (Tighter^A). `"all"`: every example so far
        (Tighter^Full), so memory and the time per mistake grow with the stream.

    References
    ----------
    [^1]: [Weston, Bordes & Bottou 2005](https://proceedings.mlr.press/r5/weston05a.html)
    [^2]: [Wang & Vucetic 2009](https://doi.org/10.1109/IJCNN.2009.5178870), section II.A.4
    """

    _validation = Field[SupportVectors]()

    validation: str | int = "support"

    def __post_init__(self) -> None:
        super().__post_init__()
        f, most_vectors, size = self._f, self.budget + 1, self.validation
        if size == "support":
            self._validation = SupportVectors(f, most_vectors)
        elif size == "all":
            self._validation = AllExamples(f, most_vectors, sys.maxsize)
        elif isinstance(size, str):
            allowed = "'support', 'all' or a whole number"
            raise ValueError(f"validation must be {allowed}, got {size!r}")
        else:
            check_count("validation", size)
            self._validation = Reservoir(f, most_vectors, size)
        if size != "support":
            # Correctly classified examples are offered to the validation set.
            self._threshold = math.inf

    def _update(self, f: Expansion, y: Example) -> None:
        if y.margin > 0:
            self._validation.on_correct(self._random)
        else:
            self._validation.on_mistake(f.n == self.budget, self._random)
