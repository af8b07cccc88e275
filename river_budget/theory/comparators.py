"""Comparators, the hypotheses against which mistake bounds hold."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats, Ints, widened
from river_budget._core.store import Store
from river_budget._state import require
from river_budget.base import Labels, Perceptron
from river_budget.base.documented import describing
from river_budget.kernels import Features, Kernel

__all__ = ["Comparator", "Span"]

# Eigenvalues of the Gram matrix below this fraction of the largest one count as 0.
SMALLEST_EIGENVALUE = 1e-12

# A longer stream is represented by this many examples, which are drawn with this seed.
N_VECTORS, SEED = 300, 1

# The search for the weight of the loss tries these powers of 2 first. Then it goes to the better side of
# the best one, in ever smaller steps.
POWERS, STEPS = range(-12, 13, 4), (2.0, 1.0, 0.5, 0.25, 0.125, 0.0625)

# The hinge loss is smoothed at these temperatures, one after the other.
TEMPERATURES = 0.1, 0.005

# Iterations at each temperature. With large weights of the loss, a minimum would take thousands.
N_ITERATIONS = 100

# What the arguments of methods are.
ARGUMENTS = {
    "model": "The perceptron.",
    "examples": "The features of each example.",
    "stream": "Pairs of features and label.",
    "bound": "A function that returns the bound for a norm and a loss.",
}

_described = describing(ARGUMENTS)


class Comparator:
    """Kernel expansions `g_c(x) = sum_i beta_ic k(x, z_i)`, one for each label c.

    With two labels, one expansion `g = g_+ = -g_-` is enough. See `bounds` for norm and hinge loss.

    Parameters
    ----------
    kernel
        The kernel.
    vectors
        The z_i, as dicts of features.
    coefficients
        The beta_i of g (vectors,), or a column for each label (vectors, labels).
    classes
        The labels in the order of their columns, the negative one before the positive one. Labels that
        are not listed get the next columns, as they appear in a stream.

    Attributes
    ----------
    kernel, vectors, coefficients, classes
        Those given, the coefficients with a column for each label.
    norm
        Norm in the kernel's Hilbert space.

    Raises
    ------
    ValueError
        If coefficients have the wrong shape or are not finite, or a vector is invalid.

    Examples
    --------
    >>> from river_budget.theory import comparators
    >>> import river_budget as rb

    >>> vectors, matrix = [{"a": 1.0}, {"b": 1.0}], [[1.5, -1.5, 0.0], [0.0, -1.0, 1.0]]
    >>> g = comparators.Comparator(rb.Linear(), vectors, matrix, ["cat", "dog", "bird"])
    >>> g.norm
    1.802...
    >>> g.hinge_losses([({"a": 1.0}, "cat"), ({"b": 1.0}, "bird")])
    array([0.25, 0.5 ])
    """

    def __init__(
        self,
        kernel: Kernel,
        vectors: Sequence[Features],
        coefficients: Sequence[float] | Sequence[Sequence[float]] | Floats,
        classes: Sequence[Any] = (),
    ) -> None:
        values, n = np.asarray(coefficients, np.float64), len(vectors)
        if values.ndim == 1:
            values = np.stack((-values, values), axis=1)
        fits = values.ndim == 2 and len(values) == n and values.size >= n
        require(fits, f"got {n} vectors, but coefficients of shape {np.shape(coefficients)}")
        require(np.isfinite(values).all(), "coefficients must be finite")
        self._store = Store([kernel], "float64")
        for vector in vectors:
            self._store.evaluate(vector)
            self._store.put(self._store.n)
        self.kernel: Kernel = self._store.kernels[0]
        self.vectors, self.coefficients = [dict(vector) for vector in vectors], values
        self.classes = list(classes)

    @classmethod
    @_described
    def of(cls, model: Perceptron) -> Comparator:
        """Return the hypothesis of a perceptron as a comparator.

        Raises ValueError for other models, such as a `Mnemotron`, whose hypothesis is a mixture.
        """
        error = f"the hypothesis of a {type(model).__name__} is not a single kernel expansion"
        require(isinstance(model, Perceptron), error)
        return cls(model.resolved_kernel, model.support_vectors, model.coefficients, model.classes)

    @property
    def norm(self) -> float:
        products = self.coefficients * (self._store.gram() @ self.coefficients)
        return math.sqrt(max(0.0, 0.5 * math.fsum(products.flat)))

    @_described
    def scores(self, examples: Sequence[Features]) -> Floats:
        """Return the score of each label (examples, labels); with two labels, -g(x) and g(x).

        Raises ValueError if a value is invalid.
        """
        rows = np.empty((len(examples), self._store.n))
        for i, x in enumerate(examples):
            self._store.evaluate(x)
            rows[i] = self._store.row()
        return rows @ self.coefficients

    @_described
    def hinge_losses(self, stream: Iterable[tuple[Features, Any]]) -> Floats:
        """Return the hinge loss of each example (examples,). Labels without a column have the score 0.

        Raises ValueError if a value or a label is invalid.
        """
        examples = list(stream)
        labels = Labels(len(self.classes) + len(examples))
        labels.columns(self.classes)
        columns = labels.columns([y for _, y in examples])
        scores = self.scores([x for x, _ in examples])
        scores = widened(scores, max(scores.shape[1], len(labels.names)))
        return _losses(scores, columns).max(axis=1)


class Span:
    """The hypotheses in the span of a stream's examples, among which `best` finds a comparator.

    Every mistake bound increases with the norm and the loss of the comparator. So the best one minimizes
    `||g||^2 / 2 + C L(g)` for some C, or is 0. C is searched for, and the minimum is approximate. That
    is enough, because a bound holds against any comparator.

    Parameters
    ----------
    kernel
        The kernel.
    stream
        The examples. From more than 300, 300 are drawn with a fixed seed.

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
    >>> round(g.norm, 1), round(g.hinge_losses(stream).sum())
    (5.1, 14)
    """

    def __init__(self, kernel: Kernel, stream: Sequence[tuple[Features, Any]]) -> None:
        require(stream, "the stream has no examples")
        labels = Labels(len(stream))
        self._columns = labels.columns([y for _, y in stream])
        self._classes, self._n_labels = list(labels.column), len(labels.names)
        chosen = np.random.default_rng(SEED).permutation(len(stream))[:N_VECTORS]
        vectors = [stream[i][0] for i in sorted(chosen)]
        # With these coefficients, the scores of an example are its kernel row.
        self._rows = Comparator(kernel, vectors, np.eye(len(vectors)))

        eigenvalues, eigenvectors = np.linalg.eigh(self._rows.scores(vectors))
        kept = eigenvalues > SMALLEST_EIGENVALUE * eigenvalues[-1]
        # An orthonormal basis (vectors, dimensions), and the examples in it (examples, dimensions).
        self._basis = eigenvectors[:, kept] / np.sqrt(eigenvalues[kept])
        self._examples = self._rows.scores([x for x, _ in stream]) @ self._basis
        # Certificates of several models that share this span share the minimizers, too.
        self._minimum = functools.cache(self._minimize)

    @_described
    def best(self, bound: Callable[[float, float], float]) -> Comparator:
        """Return the comparator with the lowest bound."""

        def value(power: float) -> float:
            _, norm, loss = self._minimum(power)
            return bound(norm, loss)

        best = min(map(float, POWERS), key=value)
        for step in STEPS:
            best = min((best, best - step, best + step), key=value)
        w, *_ = self._minimum(best)

        # The comparator 0 has the loss 1 on each example.
        loss_of_0 = float(len(self._examples))
        if bound(0.0, loss_of_0) <= value(best):
            w = np.zeros_like(w)
        rows = self._rows
        return Comparator(rows.kernel, rows.vectors, self._basis @ w, self._classes)

    def _minimize(self, power: float) -> tuple[Floats, float, float]:
        """Return the minimizer for `C = 2^power` (dimensions, labels), its norm and its loss."""
        # Only certificates need it, and importing it is slow.
        from scipy.optimize import minimize

        shape, weight = (self._basis.shape[1], self._n_labels), 2.0**power

        def objective(flat: Floats, temperature: float) -> tuple[float, Floats]:
            """Return `||g||^2 / 2 + C L(g)` with the smoothed loss, and its gradient."""
            scores = self._examples @ flat.reshape(shape)
            loss, slopes = _smoothed_hinge(scores, self._columns, temperature)
            gradient = 0.5 * flat + weight * (self._examples.T @ slopes).ravel()
            return 0.25 * float(flat @ flat) + weight * loss, gradient

        found, options = np.zeros(math.prod(shape)), {"maxiter": N_ITERATIONS}
        for temperature in TEMPERATURES:
            found = minimize(
                objective, found, (temperature,), jac=True, method="L-BFGS-B", options=options
            ).x
        w = found.reshape(shape)
        loss = float(_losses(self._examples @ w, self._columns).max(axis=1).sum())
        return w, float(np.linalg.norm(w)) / math.sqrt(2), loss


def _losses(scores: Floats, columns: Ints) -> Floats:
    """Return `1 - margin` against each rival (examples, labels), and 0 in the column of the label."""
    rows = np.arange(len(scores))
    losses = 1.0 + 0.5 * (scores - scores[rows, columns][:, None])
    losses[rows, columns] = 0.0
    return losses


def _smoothed_hinge(scores: Floats, columns: Ints, temperature: float) -> tuple[float, Floats]:
    """Return a smooth upper bound on the cumulative hinge loss, and its gradient (examples, labels).

    The maximum over 0 and all rivals is replaced by the logarithm of a sum of exponentials.
    """
    losses = _losses(scores, columns)
    largest = losses.max(axis=1, keepdims=True)
    odds = np.exp((losses - largest) / temperature)
    sums = odds.sum(axis=1, keepdims=True)
    slopes = 0.5 * odds / sums
    slopes[np.arange(len(scores)), columns] -= 0.5
    return float((largest + temperature * np.log(sums)).sum()), slopes
