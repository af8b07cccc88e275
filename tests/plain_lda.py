"""KernelLDA in plain NumPy: all sums are kept as they are, and every answer solves systems of equations."""

from __future__ import annotations

import hashlib
import math

import numpy as np

LAMBDA = 0.05
FLOOR = 0.1


def frequencies(seed, text, n):
    """Return n normal numbers of a name, whose text is given."""
    bits = hashlib.shake_256(f"{seed}:{text}".encode()).digest(8 * n)
    u, v = (np.frombuffer(bits, "<u4").reshape(2, n) + 0.5) / 2**32
    return (np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)).astype(np.float32).astype(float)


def hadamard(size):
    matrix = np.ones((1, 1))
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


def array_frequencies(seed, text, length, n):
    """Return the frequencies (n, length) of an array feature."""
    size = max(64, 2 ** math.ceil(math.log2(length)))
    n_blocks = math.ceil(n / size)
    bits = hashlib.shake_256(f"{seed}:{text}".encode()).digest(n_blocks * 3 * size // 8)
    signs = 2.0 * np.unpackbits(np.frombuffer(bits, np.uint8)).reshape(n_blocks, 3, size) - 1
    H, blocks = hadamard(size), []
    for d, e, f in signs:
        blocks.append(H @ np.diag(f) @ H @ np.diag(e) @ H @ np.diag(d) / size)
    return np.vstack(blocks)[:n, :length]


class PlainLDA:
    """The sums A of phi phi', B of phi e_y', and N, of rows whose names are texts."""

    def __init__(self, n_features, forgetting, gamma, seed):
        self.D, self.forgetting, self.gamma, self.seed = n_features, forgetting, gamma, seed
        self.A = LAMBDA * np.eye(n_features)
        self.B = np.zeros((n_features, 0))
        self.N = np.zeros(0)
        self.floor = np.zeros((0, 0))
        self.columns = {}
        self.beta, self.squares, self.turn = 1.0, 1.0, 0

    def features(self, x):
        z = np.zeros(self.D // 2)
        for name, value in x.items():
            if isinstance(value, np.ndarray):
                S = array_frequencies(self.seed, repr(name), len(value), self.D // 2)
                z += S @ value.astype(float)
            else:
                z += value * frequencies(self.seed, repr(name), self.D // 2)
        z *= math.sqrt(2 * self.gamma)
        return math.sqrt(2 / self.D) * np.concatenate([np.cos(z), np.sin(z)])

    def discriminants(self, x):
        """Return the discriminants of the labels, for the covariance that they share."""
        n = self.N.sum()
        means = np.linalg.solve(self.A, self.B).T @ self.features(x)
        R = np.diag(self.N) - self.B.T @ np.linalg.solve(self.A, self.B) + self.floor
        K = np.linalg.inv(R)
        return n * (K @ means - 0.5 * np.maximum(0.0, np.diag(K) - 1 / self.N))

    def novelty(self, x):
        """Return 1 minus the largest mean of a label, which the variance of the example shrinks."""
        phi = self.features(x)
        means = np.linalg.solve(self.A, self.B).T @ phi
        variance = phi @ np.linalg.solve(self.A, phi)
        return max(0.0, 1 - max([0.0, *means]) / (1 + 10 * variance))

    def logits(self, x):
        return self.beta * self.discriminants(x) + np.log(self.N / self.N.sum())

    def probabilities(self, x):
        if not self.columns:
            return {}
        logits = self.logits(x)
        odds = np.exp(logits - logits.max())
        return dict(zip(self.columns, odds / odds.sum(), strict=True))

    def learn(self, x, y, w=1.0):
        if y in self.columns:
            self.adapt(x, y, w)
        if y not in self.columns:
            self.columns[y] = len(self.columns)
            self.B = np.pad(self.B, ((0, 0), (0, 1)))
            self.N, self.floor = np.pad(self.N, (0, 1)), np.pad(self.floor, (0, 1))
        phi, c = self.features(x), self.columns[y]
        self.A += w * np.outer(phi, phi)
        self.B[:, c] += w * phi
        self.N[c] += w
        if self.forgetting < 1:
            self.forget()

    def forget(self):
        self.turn += 1
        direction = self.turn % self.D
        if np.linalg.inv(self.A)[direction, direction] < 4 / LAMBDA:
            self.fade()
        self.A[direction, direction] += (1 - self.forgetting) * LAMBDA * self.D

    def fade(self):
        f, n = self.forgetting, len(self.N)
        self.A, self.B, self.N, self.floor = f * self.A, f * self.B, f * self.N, f * self.floor
        share = FLOOR * (1 - f)
        self.floor += share
        label = self.turn % max(n, 2)
        if label < n:
            self.N[label] += n * share

    def adapt(self, x, y, w):
        """Move the logarithm of beta by a Newton step on the log loss."""
        p = np.array(list(self.probabilities(x).values()))
        gaps = self.discriminants(x)
        gaps -= gaps[self.columns[y]]
        mean = p @ gaps
        self.squares = 0.999 * self.squares + w * self.beta**2 * (p @ gaps**2 - mean**2)
        self.beta *= math.exp(np.clip(-w * self.beta * mean / self.squares, -0.5, 0.5))
        self.beta = min(10.0, max(1e-3, self.beta))
