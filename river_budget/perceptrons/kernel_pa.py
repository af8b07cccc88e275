from __future__ import annotations

import math

from river_budget._checks import check_positive
from river_budget.base import ClassWeight, GrowingPerceptron
from river_budget.kernels import Kernel
from river_budget.kernels._compiled import LARGEST
from river_budget.support import Query, Target

__all__ = ["KernelPAClassifier"]


class KernelPAClassifier(GrowingPerceptron):
    """The kernel passive-aggressive classifier, without a budget.

    Every example with a margin below 1 becomes a support vector. Its coefficient is the smallest
    one that gives it a margin of 1, subject to the limit that `C` sets. It makes the fewest
    mistakes of the perceptrons and stores the most support vectors: the unbounded baseline for
    Projectron++.

    `predict_proba_one` is the softmax of half the scores, with two labels the logistic function of f.
    It ranks examples; for calibrated probabilities, see `Calibrated`.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.
    C
        Aggressiveness in modes 1 and 2, positive.
    mode
        0 for PA, with coefficients `loss / k(x, x)`. 1 for PA-I, which limits them to `C`. 2 for
        PA-II, with coefficients `loss / (k(x, x) + 1 / (2 C))`. As in River's
        `linear_model.PAClassifier`.
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

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler() |
    ...     rb.KernelPAClassifier(rb.RBF(gamma=1.0))
    ... )

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 88.38%

    References
    ----------
    [^1]: [Crammer et al. 2006](https://jmlr.csail.mit.edu/papers/v7/crammer06a.html)

    """

    _threshold = 1.0

    def __init__(
        self,
        kernel: Kernel | None = None,
        C: float = 1.0,
        mode: int = 1,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        check_positive("C", C)
        if isinstance(mode, bool) or mode not in (0, 1, 2):
            raise ValueError(f"mode must be 0, 1 or 2, got {mode!r}")
        super().__init__(kernel, gamma, class_weight, max_classes, dtype)
        self.C = C
        self.mode = mode

    def _update(self, query: Query, y: Target) -> None:
        loss, square = 1 - y.margin, self._store.self_value(query)
        # The coefficient of a vector with a norm close to 0 would overflow.
        step = self._step(loss, square) if square > 0 else math.inf
        if 0 < step * y.weight <= LARGEST:
            self._add(query, y, step)

    def _step(self, loss: float, square: float) -> float:
        if self.mode == 0:
            return loss / square
        if self.mode == 1:
            return min(self.C, loss / square)
        return loss / (square + 1 / (2 * self.C))
