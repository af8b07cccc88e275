"""The Gaussian process posteriors of the experts at the shared support vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget._state import State, floats, require, require_definite
from river_budget.mnemotron._triangle_compiled import multiply, subtract_and_multiply
from river_budget.mnemotron._update import KERNEL
from river_budget.mnemotron.triangles import (
    aligned_copy,
    aligned_zeros,
    packed,
    put,
    tiled_size,
    unpacked,
    with_lanes,
)


class Posteriors:
    """The posterior of each expert: a mean for each label, and one covariance.

    With a Gram matrix K of the kernel, the inverse `Q = (K + jitter I)^-1`, an expert's mean
    coefficients a and its matrix C, the posterior of f(x) has the mean `mu + a k(x)` and the
    variance `k(x, x) + k(x)' C k(x)`. The prior mean mu is 0 with two labels, and -1 + 2 / C with C
    > 2.

    `experts` are kernel, forgetting factor and noise variance (experts, 3). `means` are a column
    for two labels, the positive one, and one for each of more (experts, columns, budget + 1).
    `covariances` and `inverses` are the triangles of C and Q. `changes` are vectors whose outer
    products are still to be subtracted from C. The common factor of C, in `scales`, and its root
    are left out of C and a.
    """

    __slots__ = ("changes", "covariances", "experts", "inverses", "means", "scales")

    def __init__(
        self, experts: Sequence[tuple[int, float, float]], n_kernels: int, budget: int
    ) -> None:
        n_experts, size = len(experts), budget + 1
        self.experts: Floats = np.array(experts, np.float64)
        self.means: Floats = np.zeros((n_experts, 1, size))
        self.covariances: Floats = aligned_zeros(n_experts, tiled_size(budget))
        self.changes: Floats = aligned_zeros(n_experts, with_lanes(size))
        self.inverses: Floats = aligned_zeros(n_kernels, tiled_size(budget))
        self.scales: Floats = np.ones(n_experts)

    @property
    def kernel_of(self) -> Ints:
        """The kernel of each expert (experts,)."""
        return self.experts[:, KERNEL].astype(np.int64)

    def widened(self, n_labels: int) -> Floats:
        """Return the means with a column for each of more than two labels, 0 for a new one."""
        n_experts, n_columns, size = self.means.shape
        means = np.zeros((n_experts, n_labels, size))
        if n_columns == 1:
            means[:, 0], means[:, 1] = -self.means[:, 0], self.means[:, 0]
        else:
            means[:, :n_columns] = self.means
        return means

    def mean(self, weights: Floats, n: int) -> Floats:
        """Return the weighted sum of the mean coefficients of all experts (columns, n)."""
        return np.einsum("e,ecn->cn", weights * np.sqrt(self.scales), self.means[:, :, :n])

    def inverse(self, z: int, n: int) -> Floats:
        """Return the inverse Gram matrix of a kernel (n, n)."""
        return unpacked(packed(self.inverses[z], n), n)

    def product(self, z: int, row: Floats) -> Floats:
        """Return the product of the inverse Gram matrix of a kernel and a kernel row (n,)."""
        n = len(row)
        vectors: Floats = np.zeros((2, with_lanes(n)))
        vectors[0, :n] = row
        multiply(self.inverses[z : z + 1], 0, vectors[:1], 0, n, vectors[1:])
        return vectors[1, :n]

    def set_inverse(self, z: int, inverse: Any) -> None:
        """Set the inverse Gram matrix of a kernel (n, n)."""
        put(0.5 * (inverse + inverse.T), self.inverses[z])

    def change_priors(self, before: Floats, after: Floats, n: int) -> None:
        """Replace the prior of each expert, given `K + jitter I` of each kernel before and after.

        What the data say about f at the support vectors is kept: with the precision L that they
        add, `C = -(K + L^-1)^-1` and `a = -C (L^-1 h)`, where L and h do not depend on K. So with
        D, the change of K, and `M = I - C D`, the new C and a are `M^-1 C` and `M^-1 a`.
        """
        for z, gram in enumerate(after):
            self.set_inverse(z, np.linalg.inv(gram))
        covariances = unpacked(packed(self._settled(n), n), n)
        self.changes[:] = 0.0
        for e, z in enumerate(self.kernel_of):
            scale = self.scales[e]
            covariance = scale * covariances[e]
            mean = math.sqrt(scale) * self.means[e, :, :n].T
            system = np.eye(n) - covariance @ (after[z] - before[z])
            solution = np.linalg.solve(system, np.hstack((covariance, mean)))
            covariances[e] = 0.5 * (solution[:, :n] + solution[:, :n].T)
            self.means[e, :, :n] = solution[:, n:].T
            self.scales[e] = 1.0
        put(covariances, self.covariances)

    def state(self, n: int) -> State:
        return {
            "means": self.means[:, :, :n].copy(),
            "covariances": packed(self._settled(n), n),
            "inverses": packed(self.inverses, n),
            "scales": self.scales.copy(),
        }

    def restore(self, state: State, n: int) -> None:
        n_experts, n_columns, _ = self.means.shape
        size = n * (n + 1) // 2
        self.means[:, :, :n] = floats(state["means"], (n_experts, n_columns, n))
        covariances = unpacked(floats(state["covariances"], (n_experts, size)), n)
        inverses = unpacked(floats(state["inverses"], (len(self.inverses), size)), n)
        self.scales = floats(state["scales"], (n_experts,))
        require(((self.scales > 0) & (self.scales <= 1)).all(), "a scale is out of its range")
        # Each posterior variance is from 0 to the prior one.
        require_definite(inverses, "an inverse Gram matrix is wrong")
        require_definite(-covariances, "a covariance is wrong")
        posterior = inverses[self.kernel_of] + self.scales[:, None, None] * covariances
        require_definite(posterior, "a posterior variance is wrong")
        put(covariances, self.covariances)
        put(inverses, self.inverses)

    def __setstate__(self, state: Any) -> None:
        for name, value in state[1].items():
            setattr(self, name, value)
        self.covariances, self.changes, self.inverses = map(
            aligned_copy, (self.covariances, self.changes, self.inverses)
        )

    def _settled(self, n: int) -> Floats:
        """Return the covariances with their changes (experts, any)."""
        settled = aligned_copy(self.covariances)
        nothing = np.zeros_like(self.changes)
        for e in range(len(settled)):
            subtract_and_multiply(settled, e, self.changes, nothing, e, n, nothing)
        return settled
