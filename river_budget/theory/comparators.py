"""Comparators, the hypotheses against which mistake bounds hold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._checks import check_count
from river_budget.base import KernelClassifier, Labels
from river_budget.kernels import Features, Kernel
from river_budget.support import Expansion, vector_store

__all__ = ["Comparator", "Span", "path_length"]

Examples = Sequence[tuple[Features, Any]]

# Eigenvalues of the Gram matrix below this fraction of the largest one are treated as 0.
SMALLEST_EIGENVALUE = 1e-12

# Initial grid of powers of 2 for the weight of the loss, and number of refinements of the best one.
COARSE_POWERS = range(-12, 13, 4)
N_REFINEMENTS = 6

# Limit of iterations per minimizer. Large weights of the loss would take thousands.
N_ITERATIONS = 100


class Comparator:
    """A kernel expansion g(x) = sum_i beta_i k(x, z_i).

    Parameters
    ----------
    kernel
        The kernel.
    vectors
        The z_i, as dicts of features.
    coefficients
        The beta_i (vectors,).

    Raises
    ------
    ValueError
        If the numbers of coefficients and vectors differ, a coefficient is not finite, or a vector
        is invalid under the kernel.

    Examples
    --------

    >>> from river_budget.theory import comparators
    >>> import river_budget as rb

    >>> g = comparators.Comparator(rb.Linear(), [{"a": 1.0}, {"b": 1.0}], [3.0, -4.0])
    >>> g.decision_function_one({"a": 0.5})
    1.5
    >>> g.norm
    5.0
    >>> g.hinge_loss([({"a": 0.1}, True), ({"b": 1.0}, False)])
    0.7

    """

    def __init__(
        self, kernel: Kernel, vectors: Sequence[Features], coefficients: Sequence[float] | Floats
    ) -> None:
        values = np.asarray(coefficients, np.float64)
        if values.shape != (len(vectors),):
            raise ValueError(
                f"got {len(vectors)} vectors, but coefficients of shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise ValueError("coefficients must be finite")
        self._expansion = Expansion(kernel)
        for vector, value in zip(vectors, values.tolist(), strict=True):
            self._expansion.add(self._expansion.query(vector), value)

    @classmethod
    def of(cls, model: KernelClassifier) -> Comparator:
        """Return the current hypothesis of a perceptron.

        Raises
        ------
        ValueError
            If the hypothesis is not a single kernel expansion, such as the mixture of a
            `Mnemotron`.

        """
        if not isinstance(model, KernelClassifier):
            raise ValueError(
                f"the hypothesis of a {type(model).__name__} is not a single kernel expansion"
            )
        return cls(model.resolved_kernel, model.support_vectors, model.coefficients)

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self._expansion.store.kernel

    @property
    def vectors(self) -> list[Features]:
        """The vectors, as dicts."""
        return [self._expansion.store.vector(slot) for slot in range(len(self.coefficients))]

    @property
    def coefficients(self) -> Floats:
        """The coefficients (vectors,)."""
        return self._expansion.coefficients

    @property
    def norm(self) -> float:
        """Norm in the kernel's Hilbert space."""
        return self._expansion.norm

    def decision_function_one(self, x: Features) -> float:
        """Return g(x)."""
        return self._expansion.query(x).answer

    def hinge_losses(self, stream: Iterable[tuple[Features, Any]]) -> Floats:
        """Return max(0, 1 - y g(x)) for each example (examples,).

        Labels have the signs that a classifier assigns when it learns the stream.

        Raises
        ------
        ValueError
            If a value or a label is invalid.

        """
        labels = Labels()
        return np.array(
            [max(0.0, 1.0 - labels.sign(y) * self.decision_function_one(x)) for x, y in stream]
        )

    def hinge_loss(self, stream: Iterable[tuple[Features, Any]]) -> float:
        """Return the cumulative hinge loss on a stream."""
        return math.fsum(self.hinge_losses(stream))

    def distance(self, other: Comparator) -> float:
        """Return the distance in Hilbert space to a comparator with the same kernel."""
        difference = Comparator(
            self.kernel,
            self.vectors + other.vectors,
            np.concatenate([self.coefficients, -other.coefficients]),
        )
        return difference.norm


def path_length(comparators: Sequence[Comparator]) -> float:
    """Return the path length of a comparator that moves, the sum of `||g_t - g_(t-1)||`."""
    return math.fsum(a.distance(b) for a, b in itertools.pairwise(comparators))


class Span:
    """The hypotheses in the span of the examples of a stream, and the best one in hindsight.

    Every mistake bound increases with the norm and the loss of the comparator. The best one
    therefore minimizes `||g||^2 / 2 + C L(g)` for some C, a convex problem, or is 0. C is found by
    a search. A bound holds against any comparator, so it is valid for approximate solutions as
    well.

    Parameters
    ----------
    kernel
        The kernel.
    stream
        The examples.
    n_vectors
        Maximum number of examples in the expansion, drawn at random from a longer stream.
    seed
        Random number generator seed for the draw.

    Raises
    ------
    ValueError
        If the stream is empty, or a value or a label is invalid.

    Examples
    --------

    >>> from river_budget import synth
    >>> from river_budget.theory import bounds, comparators
    >>> import river_budget as rb

    >>> stream = list(synth.TwoGaussians(500, flip=0.0, seed=1))
    >>> span = comparators.Span(rb.RBF(gamma=1.0), stream)
    >>> g = span.best(lambda norm, loss: bounds.perceptron(norm, loss).mistakes)
    >>> round(g.norm, 1), round(g.hinge_loss(stream))
    (5.1, 14)

    """

    def __init__(
        self, kernel: Kernel, stream: Examples, n_vectors: int = 300, seed: int | None = 1
    ) -> None:
        from scipy.linalg import eigh  # slow to import, and needed by certificates only

        check_count("n_vectors", n_vectors)
        if not stream:
            raise ValueError("the stream has no examples")
        signs = Labels().signs([y for _, y in stream])
        chosen = np.random.default_rng(seed).permutation(len(stream))[:n_vectors]
        self._kernel = kernel
        self._vectors = [stream[i][0] for i in sorted(chosen)]
        eigenvalues, eigenvectors = eigh(_kernel_rows(kernel, self._vectors, self._vectors))
        kept = eigenvalues > SMALLEST_EIGENVALUE * eigenvalues[-1]
        # An orthonormal basis (vectors, dimensions), and the coordinates of the examples in it,
        # times the signs of their labels (examples, dimensions).
        self._basis = eigenvectors[:, kept] / np.sqrt(eigenvalues[kept])
        rows = _kernel_rows(kernel, [x for x, _ in stream], self._vectors)
        self._signed = signs[:, None] * (rows @ self._basis)
        self._minimizers: dict[float, Floats] = {}

    def best(self, bound: Callable[[float, float], float]) -> Comparator:
        """Return the comparator with the lowest bound.

        Parameters
        ----------
        bound
            The bound as a function of norm and loss; infinite if it does not hold.

        """
        best, lowest = np.zeros(self._basis.shape[1]), bound(0.0, float(len(self._signed)))
        powers, step, at = [float(power) for power in COARSE_POWERS], 4.0, 0.0
        for _ in range(N_REFINEMENTS + 1):
            for power in powers:
                w = self._minimizer(power)
                loss = float(np.maximum(0, 1 - self._signed @ w).sum())
                value = bound(float(np.linalg.norm(w)), loss)
                if value < lowest:
                    best, lowest, at = w, value, power
            step /= 2
            powers = [at - step, at + step]
        return Comparator(self._kernel, self._vectors, self._basis @ best)

    def _minimizer(self, power: float) -> Floats:
        """Return the coordinates of the minimizer for C = 2^power, from the dual problem."""
        from scipy.optimize import minimize  # slow to import, as above

        if power not in self._minimizers:
            n, weight, signed = len(self._signed), 2.0**power, self._signed

            def negative_dual(a: Floats) -> tuple[float, Floats]:
                w = a @ signed
                return 0.5 * float(w @ w) - float(a.sum()), signed @ w - 1.0

            found = minimize(
                negative_dual, np.full(n, weight / 2), jac=True, method="L-BFGS-B",
                bounds=[(0, weight)] * n, options={"maxiter": N_ITERATIONS},
            )  # fmt: skip
            self._minimizers[power] = found.x @ signed
        return self._minimizers[power]


def _kernel_rows(kernel: Kernel, examples: Sequence[Features], vectors: Sequence[Features]) -> Any:
    """Return k(x, z) for examples x and vectors z (examples, vectors)."""
    store = vector_store(kernel)
    for vector in vectors:
        store.add(store.query(vector))
    return store.rows(examples)
