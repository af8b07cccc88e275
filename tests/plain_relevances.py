"""Mnemotron with relevances, as specified: kernels of scaled features, their slopes, and the update.

The scales are given, as they have tests of their own. All else is computed anew from what was learned.
"""

from __future__ import annotations

import numpy as np
import plain_mnemotron


class Radial:
    """1 / (1 + gamma sum_j (f_j r_j (x_j - z_j))^2) with inverse scales f and relevance factors r."""

    def __init__(self, factor=1.0, has_relevances=False):
        self.factor, self.has_relevances = factor, has_relevances

    def set(self, gamma, f, r):
        self.gamma, self.f = self.factor * gamma, f
        self.r = r if self.has_relevances else np.ones_like(r)

    def __call__(self, x, z):
        return 1 / (1 + self.gamma * (((x - z) * self.f * self.r) ** 2).sum())

    def slope(self, x, z):
        return -2 * self.gamma * self(x, z) ** 2 * self.r**2 * self.f * (x - z)


class Additive:
    """The mean over j of 1 / (1 + gamma M (f_j (x_j - z_j))^2)."""

    has_relevances = False

    def set(self, gamma, f, r):
        self.gamma, self.f = gamma * len(f), f

    def terms(self, x, z):
        return 1 / (1 + self.gamma * ((x - z) * self.f) ** 2)

    def __call__(self, x, z):
        return self.terms(x, z).mean()

    def slope(self, x, z):
        return -2 * self.gamma * self.f * (x - z) * self.terms(x, z) ** 2 / len(x)


class Cosine:
    """The cosine of (f x, 1) and (f z, 1)."""

    has_relevances = False

    def set(self, gamma, f, r):
        self.f = f

    def __call__(self, x, z):
        u, v = np.append(self.f * x, 1.0), np.append(self.f * z, 1.0)
        return u @ v / np.sqrt((u @ u) * (v @ v))

    def slope(self, x, z):
        u, v = np.append(self.f * x, 1.0), np.append(self.f * z, 1.0)
        slope = v / np.sqrt((u @ u) * (v @ v)) - self(x, z) * u / (u @ u)
        return slope[:-1]


class Plain(plain_mnemotron.Plain):
    """`plain_mnemotron.Plain` of arrays, whose kernels follow scales and relevances."""

    floor, n_first, n_between = 0.02, 64, 1024

    def __init__(self, kernels, memories, budget):
        super().__init__(kernels, memories, budget)
        self.examples = []

    def learn(self, x, y, w=1.0):
        super().learn(x, y, w)
        self.examples.append(x)

    def start(self, n_features):
        """Take the kernels of the first example."""
        self.relevances = self.factors = np.ones(n_features)
        self.gamma = 0.0
        for kernel in self.kernels:
            kernel.set(1 / n_features, self.factors, self.relevances)

    def rescale(self, factors, gamma):
        """Take other scales, or other relevances."""
        before = [self.gram(z) for z in range(len(self.kernels))]
        self.factors, self.gamma = factors, gamma
        roots = np.sqrt(self.relevances)
        variances = np.var(self.examples, axis=0)
        for kernel in self.kernels:
            own = gamma
            if kernel.has_relevances:
                own = self.width(variances * factors**2, self.relevances)
            kernel.set(own, factors, roots)
        self.values.clear()
        for e, (z, _, _) in enumerate(self.experts):
            change = self.gram(z) - before[z]
            system = np.linalg.inv(np.eye(len(change)) - self.covariances[e] @ change)
            self.covariances[e] = system @ self.covariances[e]
            self.means[e] = system @ self.means[e]

    def width(self, variances, relevances):
        total = (variances * relevances).sum()
        return 1 / total if total > 0 else self.gamma

    def gram(self, z):
        gram = [[self.kernel(z, s, t) for t in self.vectors] for s in self.vectors]
        return np.reshape(gram, (len(self.vectors), -1)) + plain_mnemotron.JITTER * np.eye(
            len(gram)
        )

    def is_due(self):
        n = self.n_rounds
        is_double = n >= self.n_first and n & (n - 1) == 0 and n <= self.n_between
        return is_double or (n > self.n_between and n % self.n_between == 0)

    def learn_relevances(self):
        squares = np.zeros_like(self.relevances)
        for s in self.vectors:
            slopes = 0.0
            for e, (z, _, _) in enumerate(self.experts):
                kernel = self.kernels[z]
                each = np.array([kernel.slope(s, t) for t in self.vectors])
                slopes = slopes + self.shares[e] * self.means[e].T @ each
            squares += (slopes**2).sum(axis=0)
        weights = np.maximum(squares / squares.mean(), self.floor)
        self.relevances = np.maximum(weights / weights.mean(), self.floor)
        self.rescale(self.factors, self.gamma)
