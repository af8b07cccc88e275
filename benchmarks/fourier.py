"""Random Fourier features with online gradient descent (FOGD), a baseline for comparisons."""

from __future__ import annotations

import abc

import numpy as np
from river import base

import river_budget as rb


class HingeDescent(base.Classifier, abc.ABC):
    """Gradient descent on the hinge loss of a linear function of features. Labels are False and True.

    Attributes
    ----------
    weights
        The linear function.

    """

    weights: np.ndarray

    @abc.abstractmethod
    def _features(self, x) -> np.ndarray: ...

    def decision_function_one(self, x) -> float:
        """Return f(x)."""
        return float(self._features(x) @ self.weights)

    def predict_proba_one(self, x):
        p = float(1 / (1 + np.exp(-np.clip(self.decision_function_one(x), -30, 30))))
        return {False: 1 - p, True: p}


class Fourier(HingeDescent):
    """Gradient descent on features whose products approximate an RBF kernel.

    They are `sqrt(2 / n) cos(w @ x + b)` with n normal vectors w and uniform phases b. The components
    of the vectors for a name are drawn when it comes.

    Parameters
    ----------
    kernel
        An RBF kernel with a width.
    n_components
        Number of features.
    learning_rate
        Step size.
    seed
        Seed of the random numbers.

    """

    def __init__(
        self, kernel: rb.RBF, n_components: int, learning_rate: float = 0.3, seed: int = 1
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.rows: dict = {}
        self.frequencies = np.zeros((0, n_components))
        self.phases = self.rng.uniform(0, 2 * np.pi, n_components)
        self.weights = np.zeros(n_components)

    def learn_one(self, x, y):
        features, sign = self._features(x), 1 if y else -1
        if sign * float(features @ self.weights) < 1:
            self.weights += sign * self.learning_rate * features

    @property
    def _raw_memory_usage(self) -> int:
        return self.frequencies.nbytes + self.phases.nbytes + self.weights.nbytes

    def _features(self, x) -> np.ndarray:
        self._draw([name for name in x if name not in self.rows])
        rows = self.frequencies[[self.rows[name] for name in x]]
        phases = np.fromiter(x.values(), float, len(x)) @ rows + self.phases
        return np.sqrt(2 / self.n_components) * np.cos(phases)

    def _draw(self, names: list) -> None:
        if names:
            drawn = self.rng.normal(size=(len(names), self.n_components))
            self.rows |= {name: len(self.rows) + i for i, name in enumerate(names)}
            self.frequencies = np.vstack([self.frequencies, np.sqrt(2 * self.kernel.gamma) * drawn])
