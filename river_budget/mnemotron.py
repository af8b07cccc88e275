from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from river import base

from river_budget import rounds
from river_budget.base import KernelClassifier, lines_of
from river_budget.checks import check_count, check_not_negative, check_positive
from river_budget.kernels import (
    AdditiveRationalQuadratic,
    Features,
    Kernel,
    RationalQuadratic,
    check_kernel,
)
from river_budget.support import Floats, SupportSet, support_set

__all__ = ["Mnemotron"]

# The inverses are compared with the Gram matrices once in so many changes, and computed anew where
# an element of Q K - I has become larger than this.
WATCHED_EVERY = 64
LARGEST_RESIDUAL = 1e-6

# What `_mixed_last` is before an example was looked at: no example is None.
NOTHING_MIXED = (None, None)


class Mnemotron(KernelClassifier):
    """Experts of different memory and kernel on one budget: the classifier to reach for first.

    Every perceptron on a budget leaves two choices to its user: how fast the world drifts, and which
    kernel is right. Mnemotron makes neither. Each expert is a Gaussian process classifier in the span
    of the support vectors (Csato and Opper [^1]), forgets by going back to its prior at a speed of
    its own (van Vaerenbergh et al. [^2]) and learns where its margin is below 1 (Crammer et al.
    [^3]). A hedge that forgets mixes them (in the spirit of Herbster and Warmuth [^4]). All experts
    share one support set. Once the budget is full, the vector that is worth least to the mixture
    gives way, be it the newcomer.

    A round takes O(E B^2) where something is learned, and O(B d + E B) elsewhere, for E experts, a
    budget of B and d features. The matrices take `8 (E + Z) (B + 1)^2` bytes for Z kernels, 816 kB
    with the defaults.

    There is no mistake bound.

    Parameters
    ----------
    budget
        Largest number of support vectors.
    kernels
        Kernels with `k(x, x) = 1`, as a tuple. By default `RationalQuadratic()` and
        `AdditiveRationalQuadratic()`.
    memories
        Pairs of a memory in (0, 1], of which an expert keeps so much on each round, and a positive
        noise. There is an expert for every kernel with every pair.
    novelty
        Least share of an example that has to lie outside the span of the support vectors for it to
        become one.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> from river import preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.Mnemotron(budget=100)

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 89.77%

    >>> weights = model["Mnemotron"].expert_weights
    >>> kernel, memory, noise = max(weights, key=weights.get)
    >>> print(kernel, memory)
    RationalQuadratic(gamma=0.5) 1.0

    References
    ----------
    [^1]: [Csato, L. and Opper, M., 2002. Sparse on-line Gaussian processes. Neural Computation, 14(3), pp.641-668.](https://doi.org/10.1162/089976602317250933)
    [^2]: [van Vaerenbergh, S., Lazaro-Gredilla, M. and Santamaria, I., 2012. Kernel recursive least-squares tracker for time-varying regression. IEEE Transactions on Neural Networks and Learning Systems, 23(8), pp.1313-1326.](https://doi.org/10.1109/TNNLS.2012.2200500)
    [^3]: [Crammer, K., Kulesza, A. and Dredze, M., 2009. Adaptive regularization of weight vectors. NIPS 22.](https://papers.nips.cc/paper/3848-adaptive-regularization-of-weight-vectors)
    [^4]: [Herbster, M. and Warmuth, M. K., 1998. Tracking the best expert. Machine Learning, 32, pp.151-178.](https://doi.org/10.1023/A:1007424614876)

    """

    def __init__(
        self,
        budget: int = 100,
        kernels: Sequence[Kernel] | None = None,
        memories: Sequence[tuple[float, float]] = (
            (1.0, 0.1),
            (0.9999, 1.0),
            (0.998, 0.1),
            (0.98, 0.1),
        ),
        novelty: float = 0.01,
    ) -> None:
        check_count("budget", budget)
        check_not_negative("novelty", novelty)
        _check_memories(memories)
        chosen = (RationalQuadratic(), AdditiveRationalQuadratic()) if kernels is None else kernels
        _check_kernels(chosen)
        super().__init__(chosen[0])
        self.budget = budget
        self.kernels = kernels
        self.memories = memories
        self.novelty = novelty
        # One support set a kernel, all with the same vectors in the same slots.
        self._supports = [self._support, *(support_set(kernel) for kernel in chosen[1:])]
        pairs = [(z, *pair) for z in range(len(chosen)) for pair in memories]
        owners, lambdas, noises = zip(*pairs, strict=True)
        self._owners = np.array(owners, np.int64)
        self._lambdas: Floats = np.array(lambdas, np.float64)
        self._noises: Floats = np.array(noises, np.float64)
        n_experts, n_kernels, room = len(pairs), len(chosen), budget + 1
        self._means: Floats = np.zeros((n_experts, room))
        self._covariances: Floats = np.zeros((n_experts, room, room))
        self._inverses: Floats = np.zeros((n_kernels, room, room))
        self._scales: Floats = np.ones(n_experts)
        self._log_weights: Floats = np.zeros(n_experts)
        self._n_changes = 0
        self._n_rebuilds = 0
        # The first kernel's example that was looked at last, and its forecast, which learning goes on
        # from. It is replaced as a whole: threads that predict may exchange it.
        self._mixed_last: Any = NOTHING_MIXED

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {**state, "_mixed_last": NOTHING_MIXED}

    @property
    def expert_weights(self) -> dict[tuple[Kernel, float, float], float]:
        """Weight of each expert in the mixture, by its kernel, memory and noise.

        The memory that leads tells how fast the world drifts now.

        """
        names = zip(self._owners, self._lambdas.tolist(), self._noises.tolist(), strict=True)
        weights = self._weights.tolist()
        return {
            (self._supports[z].kernel, memory, noise): weight
            for (z, memory, noise), weight in zip(names, weights, strict=True)
        }

    @property
    def n_rebuilds(self) -> int:
        """How often an inverse Gram matrix had drifted and was computed anew."""
        return self._n_rebuilds

    @property
    def coefficients(self) -> Floats:
        """Mean coefficients of the mixture, oldest support vector first (n_support,)."""
        return self._mixed(self._weights)[self._support.by_age]

    @property
    def norm(self) -> float:
        """Norm of the mixture's mean, in the direct sum of the kernels' Hilbert spaces."""
        square = 0.0
        for z, support in enumerate(self._supports):
            alphas = self._mixed(np.where(self._owners == z, self._weights, 0.0))
            gram = [support.decide_slot(slot)[1] for slot in range(support.n)]
            square += float(alphas @ np.array(gram) @ alphas) if gram else 0.0
        return math.sqrt(max(0.0, square))

    @property
    def memory_bytes(self) -> int:
        arrays = [
            self._means, self._covariances, self._inverses, self._scales,
            self._log_weights, self._owners, self._lambdas, self._noises,
        ]  # fmt: skip
        others = sum(support.nbytes for support in self._supports[1:])
        return super().memory_bytes + others + sum(array.nbytes for array in arrays)

    def decision_function_one(self, x: Features) -> float:
        """Return f(x), from -1 to 1: twice the probability of the positive class, less 1.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number that the kernels can take.

        """
        f, _ = self._forecast(x)
        return f

    def learn_one(self, x: Features, y: base.typing.ClfTarget) -> None:
        f, opinions = self._forecast(x)
        self._learn(self._labels.sign(y), f, opinions)

    def _forecast(self, x: Features) -> tuple[float, list[Floats]]:
        """Return f(x) and what `rounds.forecast` finds on the way there."""
        return self._mix([support.look(x) for support in self._supports])

    def _mix(self, examples: list[Any]) -> tuple[float, list[Floats]]:
        """Return what `_forecast` does, of one example as each support set sees it."""
        last, forecast = self._mixed_last
        if last is not examples[0]:
            forecast = self._mix_anew(examples)
            self._mixed_last = examples[0], forecast
        return forecast

    def _mix_anew(self, examples: list[Any]) -> tuple[float, list[Floats]]:
        n = self._support.n
        rows = np.zeros((len(self._supports), self.budget + 1))
        for row, support, example in zip(rows, self._supports, examples, strict=True):
            row[:n] = support.row_of(example)
        opinions = [np.empty(len(self._owners)) for _ in range(3)]
        f = rounds.forecast(
            rows, self._owners, self._means, self._scales, self._log_weights, n, *opinions
        )
        return f, [rows, *opinions]

    def _learn(self, y: float, f: float, opinions: list[Floats]) -> None:
        self._n_rounds += 1
        self._n_mistakes += y * f <= 0.0
        self._mixed_last = NOTHING_MIXED
        rows, margins, chances, weights = opinions
        n = self._support.n
        slot = rounds.learn(
            y, rows, self._owners, self._lambdas, self._noises, float(self.novelty), self.budget,
            self._support.born, n, self._means, self._covariances, self._inverses, self._scales,
            self._log_weights, margins, chances, weights,
        )  # fmt: skip
        if slot < 0:
            return
        for support in self._supports:
            if slot == n:
                support.add(0.0)
            else:
                support.replace(slot, 0.0)
        self._n_changes += 1
        if self._n_changes % WATCHED_EVERY == 0:
            self._watch()

    def _learn_block(self, block: Any, signs: Floats) -> None:
        forecasts = self._forecasts(self._supports, block, signs)
        for y, forecast in zip(signs.tolist(), forecasts, strict=True):
            self._learn(y, *forecast)

    def _block(self, frame: Any) -> Any:
        lines = lines_of(frame)
        return [support.block(frame.columns, lines) for support in self._supports]

    def _chance(self, f: Any) -> Any:
        return 0.5 + 0.5 * f

    def _decide_many(self, frame: Any) -> Floats:
        # Shallow copies have the same vectors, and a current example that no other thread exchanges.
        supports = [copy.copy(support) for support in self._supports]
        forecasts = self._forecasts(supports, self._block(frame), np.ones(len(frame)))
        return np.array([f for f, _ in forecasts], dtype=np.float64)

    def _forecasts(
        self, supports: Sequence[SupportSet], block: Any, signs: Floats
    ) -> Iterator[tuple[float, list[Floats]]]:
        """Make one line after the other the current example, and yield what `_forecast` returns."""
        for line in range(len(signs)):
            for support, lines in zip(supports, block, strict=True):
                support.scan(lines, signs, line, math.inf)
            yield self._mix([support.example for support in supports])

    @property
    def _weights(self) -> Floats:
        weights = np.exp(self._log_weights - self._log_weights.max())
        return weights / weights.sum()

    def _mixed(self, weights: Floats) -> Floats:
        return (weights * np.sqrt(self._scales)) @ self._means[:, : self._support.n]

    def _watch(self) -> None:
        """Check a column of each inverse, another one each time, and mend those that drifted.

        All vectors have norm 1 here, even one without a direction, to which `Normalized` gives none.

        """
        n = self._support.n
        slot = self._n_changes // WATCHED_EVERY % n
        for inverse, support in zip(self._inverses, self._supports, strict=True):
            _, row = support.decide_slot(slot)
            row[slot] = 1.0
            column = inverse[:n, :n] @ row + rounds.JITTER * inverse[:n, slot]
            column[slot] -= 1.0
            if not abs(column).max() <= LARGEST_RESIDUAL:
                gram = np.array([support.decide_slot(i)[1] for i in range(n)])
                np.fill_diagonal(gram, 1.0)
                inverse[:n, :n] = np.linalg.inv(gram + rounds.JITTER * np.eye(n))
                self._n_rebuilds += 1


def _check_kernels(kernels: Any) -> None:
    if not isinstance(kernels, Sequence) or not kernels:
        raise ValueError(f"kernels must be a tuple of kernels, got {kernels!r}")
    for kernel in kernels:
        check_kernel(kernel)
        if not kernel.has_unit_norm:
            raise ValueError(
                f"kernels must have k(x, x) = 1, and {kernel} does not: use Normalized({kernel})"
            )


def _check_memories(memories: Any) -> None:
    if not isinstance(memories, Sequence) or not memories:
        raise ValueError(f"memories must be pairs of a memory and a noise, got {memories!r}")
    for pair in memories:
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise ValueError(f"memories must be pairs of a memory and a noise, got {pair!r}")
        memory, noise = pair
        check_positive("memories: a memory", memory)
        check_positive("memories: a noise", noise)
        if memory > 1:
            raise ValueError(f"memories: a memory must be at most 1, got {memory!r}")
