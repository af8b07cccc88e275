"""Nystroem features with online gradient descent (NOGD), a baseline for comparisons."""

from __future__ import annotations

import numpy as np

import river_budget as rb
from benchmarks.fourier import HingeDescent

# Eigenvalues of the Gram matrix below this fraction of the largest one are treated as 0.
SMALLEST_EIGENVALUE = 1e-10


class Nystroem(HingeDescent):
    """Gradient descent on the hinge loss of a linear function of the features `K^-1/2 k(x)`.

    The landmarks, K being their Gram matrix, are the first examples with a loss. Before there are
    enough, it is kernel gradient descent on them, and the linear function begins as that hypothesis.

    Parameters
    ----------
    kernel
        An RBF kernel with a width.
    n_landmarks
        Number of landmarks.
    learning_rate
        Step size.

    """

    def __init__(self, kernel: rb.RBF, n_landmarks: int, learning_rate: float = 0.3):
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.learning_rate = learning_rate
        self.names: list = []
        self.landmarks = np.zeros((0, 0))
        self.weights = np.zeros(0)
        self.root: np.ndarray | None = None

    def learn_one(self, x, y):
        self.names += [name for name in x if name not in self.names]
        features, sign = self._features(x), 1 if y else -1
        if sign * float(features @ self.weights) >= 1:
            return
        if self.root is None:
            self.landmarks = np.vstack([self._widened(), self._vector(x)])
            self.weights = np.append(self.weights, sign * self.learning_rate)
            if len(self.weights) == self.n_landmarks:
                self._begin()
        else:
            self.weights += sign * self.learning_rate * features

    @property
    def _raw_memory_usage(self) -> int:
        root = 0 if self.root is None else self.root.nbytes
        return self.landmarks.nbytes + self.weights.nbytes + root

    def _begin(self) -> None:
        """Change from coefficients of landmarks to weights of features."""
        values, vectors = np.linalg.eigh(np.array([self._row(z) for z in self.landmarks]))
        kept = values > SMALLEST_EIGENVALUE * values[-1]
        values, vectors = values[kept], vectors[:, kept]
        self.root = vectors / np.sqrt(values)
        self.weights = np.sqrt(values) * (self.weights @ vectors)

    def _features(self, x) -> np.ndarray:
        row = self._row(self._vector(x))
        return row if self.root is None else row @ self.root

    def _row(self, vector: np.ndarray) -> np.ndarray:
        return np.exp(-self.kernel.gamma * ((self._widened() - vector) ** 2).sum(axis=1))

    def _vector(self, x) -> np.ndarray:
        return np.array([x.get(name, 0.0) for name in self.names])

    def _widened(self) -> np.ndarray:
        """Return the landmarks, with zeros for names that came later."""
        missing = len(self.names) - self.landmarks.shape[1]
        if missing:
            self.landmarks = np.pad(self.landmarks, ((0, 0), (0, missing)))
        return self.landmarks
