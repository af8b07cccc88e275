from __future__ import annotations

from river_budget._checks import check_count
from river_budget.base import ClassWeight, GrowingPerceptron
from river_budget.kernels import Kernel
from river_budget.support import Query, Target

__all__ = ["Stoptron"]


class Stoptron(GrowingPerceptron):
    """The kernel perceptron that stops learning once its budget is full.

    It is the baseline that any other use of the same budget has to beat. It learns only the first
    mistakes, so its accuracy varies strongly with the order of the stream.

    `predict_proba_one` is the softmax of half the scores, with two labels the logistic function of f.
    It ranks examples; for calibrated probabilities, see `Calibrated`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    budget
        Maximum number of support vectors.
    gamma
        Short for the kernel `RBF(gamma)`.
    class_weight
        Weights of the labels as a dict, 1 for labels that are not in it; or "balanced", from the
        numbers of their examples so far.
    max_classes
        Maximum number of labels.
    dtype
        Type of the elements of stored arrays, as a string: `"float32"` or `"float64"`. Sums over
        them have double precision.

    Attributes
    ----------
    classes
        The labels seen so far: the negative one, the positive one, others as they appeared.
    support_vectors
        The support vectors as dicts, oldest first.
    coefficients
        Their coefficients, signed (n_support,) with two labels; a column for each label with more
        (n_support, n_classes).
    n_support, n_rounds, n_mistakes
        Number of support vectors, of examples learned, and of those with a margin of at most 0.
    norm
        Norm of f in the kernel's Hilbert space.
    resolved_kernel
        The kernel, with the width and the scales of the features that were learned.
    memory_bytes
        Memory of the model in bytes.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler() |
    ...     rb.Stoptron(rb.RBF(gamma=1.0), budget=100)
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 83.11%

    References
    ----------
    [^1]: [Orabona, Keshet & Caputo 2008](https://doi.org/10.1145/1390156.1390247), section 5

    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        budget: int = 100,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        check_count("budget", budget)
        super().__init__(kernel, gamma, class_weight, max_classes, dtype)
        self.budget = budget

    def _update(self, query: Query, y: Target) -> None:
        if self._store.n < self.budget:
            self._add(query, y)
