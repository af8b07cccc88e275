"""Incremental ensemble Gaussian processes, a rival of Mnemotron in plain NumPy.

Lu, Karanikolas & Giannakis 2021, https://arxiv.org/abs/2110.06777: one Bayesian linear model on random
Fourier features for each kernel of a dictionary, weighted by predictive likelihood. By default the
coefficients follow a random walk and the right kernel may change, as under drift. Classification has the
logistic likelihood with a Laplace approximation: each example moves a posterior to its mode, and its
precision grows by the curvature there. Probabilities are those of MacKay's approximation.

"""

from __future__ import annotations

import math

import numpy as np
from river import base

# RBF kernels exp(-||x - x'||^2 / (2 v)), with these variances v.
VARIANCES = 10.0 ** np.arange(-4, 7)
NEWTON_STEPS = 5


def logistic(t: np.ndarray) -> np.ndarray:
    return 0.5 + 0.5 * np.tanh(0.5 * t)


class IEGP(base.Classifier):
    """An ensemble of Gaussian process classifiers on random features, for two labels.

    Parameters
    ----------
    memory
        Size of the covariances in bytes, from which the number of random features follows.
    amplitude
        Prior variance of the function.
    walk
        Variance of a step of the coefficients' random walk, as a share of their prior variance.
    switching
        Probability in each round that another kernel becomes the right one.
    seed
        Random number generator seed for reproducibility.

    """

    def __init__(
        self,
        memory: int = 816_080,
        amplitude: float = 10.0,
        walk: float = 1e-3,
        switching: float = 0.01,
        seed: int = 1,
    ):
        self.memory, self.amplitude, self.walk, self.switching = memory, amplitude, walk, switching
        self.seed = seed
        n_kernels = len(VARIANCES)
        self._n_features = math.isqrt(memory // (8 * n_kernels)) // 2
        size = 2 * self._n_features
        self._rng = np.random.default_rng(seed)
        self._rows: dict = {}
        self._frequencies = np.empty((0, n_kernels, self._n_features))
        self._means = np.zeros((n_kernels, size))
        self._covariances = np.tile(amplitude * np.eye(size), (n_kernels, 1, 1))
        self._weights = np.full(n_kernels, 1.0 / n_kernels)

    @property
    def _raw_memory_usage(self) -> int:
        arrays = self._frequencies, self._means, self._covariances, self._weights
        return sum(array.nbytes for array in arrays)

    def predict_proba_one(self, x: dict) -> dict[bool, float]:
        *_, p = self._forecast(self._features(x))
        positive = float(self._weights @ p)
        return {False: 1.0 - positive, True: positive}

    def learn_one(self, x: dict, y: bool) -> None:
        features = self._features(x)
        directions, m, v, p = self._forecast(features)
        sign = 1.0 if y else -1.0
        self._weights *= p if y else 1.0 - p
        self._weights /= self._weights.sum()
        self._weights += self.switching * (1.0 / len(VARIANCES) - self._weights)
        t = m.copy()
        for _ in range(NEWTON_STEPS):
            s = logistic(t)
            t -= (t - m - v * sign * logistic(-sign * t)) / (1.0 + v * s * (1.0 - s))
        curvature = logistic(t) * logistic(-t)
        self._means += ((t - m) / v)[:, None] * directions
        shrunk = (curvature / (1.0 + curvature * v))[:, None] * directions
        self._covariances -= shrunk[:, :, None] * directions[:, None, :]
        np.einsum("kii->ki", self._covariances)[...] += self.walk * self.amplitude

    def _features(self, x: dict) -> np.ndarray:
        """Return the random features of an example under each kernel (kernels, features)."""
        new = [name for name in x if name not in self._rows]
        if new:
            self._rows.update({name: len(self._rows) + i for i, name in enumerate(new)})
            shape = len(new), len(VARIANCES), self._n_features
            drawn = self._rng.normal(size=shape) / np.sqrt(VARIANCES)[:, None]
            self._frequencies = np.concatenate([self._frequencies, drawn])
        rows = [self._rows[name] for name in x]
        phases = np.tensordot(np.array(list(x.values()), float), self._frequencies[rows], axes=1)
        both = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
        return both / math.sqrt(self._n_features)

    def _forecast(self, features: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return `C f`, mean and variance of the function, and probability under each kernel."""
        directions = (self._covariances @ features[:, :, None])[:, :, 0]
        m = np.einsum("ki,ki->k", self._means, features)
        v = np.einsum("ki,ki->k", directions, features)
        return directions, m, v, logistic(m / np.sqrt(1.0 + 0.125 * np.pi * v))
