from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from river import base

from river_budget._arrays import Floats, Ints
from river_budget._checks import check_count, check_not_negative, check_positive
from river_budget._state import State, count, floats, require, require_definite
from river_budget.base import ClassWeight, Labels, Machine, rows_of
from river_budget.kernels import (
    AdditiveRationalQuadratic,
    Features,
    Kernel,
    RationalQuadratic,
    check_kernel,
)
from river_budget.mnemotron import _update, mixing
from river_budget.support import Query, Scales, VectorStore, vector_store

__all__ = ["Mnemotron"]

# Number of changes of the support set between two checks of the inverses. An inverse Q is
# recomputed if an element of Q K - I is larger than the largest residual.
CHECK_INTERVAL = 64
LARGEST_RESIDUAL = 1e-6

# A weight makes the noise variance of an example no smaller than this, so that the posterior
# variances do not vanish in rounding errors.
SMALLEST_NOISE = 1e-6


class Block(NamedTuple):
    """A frame and its rows as a block for each store."""

    frame: Any
    parts: list[Any]


class Forecast(NamedTuple):
    """The expert outputs at one example.

    Attributes
    ----------
    f
        Twice the probability of the positive class minus 1.
    rows
        The kernel row of the example under each kernel (kernels, budget + 1).
    margins, probabilities, weights
        The margin and the probability of the positive class of each expert, and its weight in the
        mixture (experts,).

    """

    f: float
    rows: Floats
    margins: Floats
    probabilities: Floats
    weights: Floats


class Mnemotron(Machine):
    """A mixture of Gaussian process experts on one support set: the recommended default.

    Neither a kernel nor a speed of forgetting has to be chosen. Each expert is a sparse online
    Gaussian process [^1] with its own kernel and forgetting factor [^2], and is updated if its
    margin is below 1 [^3]. Hedge with forgetting (in the spirit of [^4]) weights the experts. Once
    the budget is full, the support vector that contributes least to the mixture is removed; it may
    be the incoming example. There is no mistake bound.

    For E experts, Z kernels, a budget B and d features, a round takes O(E B^2) if an expert is
    updated and O(B d + E B) otherwise. The matrices take `8 (E + Z) (B + 1)^2` bytes, 816 kB by
    default.

    `predict_proba_one` is the weighted mean of the experts' probabilities, which is close to
    calibrated.

    Parameters
    ----------
    budget
        Maximum number of support vectors.
    kernels
        Kernels with `k(x, x) = 1`, as a tuple. Defaults to `RationalQuadratic()` and
        `AdditiveRationalQuadratic()`, whose widths are learned from the examples.
    forgetting
        Pairs of a forgetting factor in (0, 1], where 1 means no forgetting, and a positive noise
        variance. There is one expert for each kernel and pair.
    novelty
        Smallest novelty of a new support vector: its squared distance from the span of the others
        as a share of its squared norm, in the weighted mean over the experts.
    class_weight
        Weights of the labels as a dict, 1 for labels that are not in it; or "balanced", from the
        numbers of their examples so far. The weight of an example divides its noise variance.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> import river_budget as rb

    >>> model = rb.Mnemotron(budget=100)

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 90.42%

    >>> weights = model.expert_weights
    >>> kernel, forgetting, noise = max(weights, key=weights.get)
    >>> print(kernel, forgetting)
    RationalQuadratic(gamma=0.494...) 1.0

    References
    ----------
    [^1]: [Csato & Opper 2002](https://doi.org/10.1162/089976602317250933)
    [^2]: [Van Vaerenbergh, Lazaro-Gredilla & Santamaria 2012](https://doi.org/10.1109/TNNLS.2012.2200500)
    [^3]: [Crammer, Kulesza & Dredze 2009](https://papers.nips.cc/paper/3848-adaptive-regularization-of-weight-vectors)
    [^4]: [Herbster & Warmuth 1998](https://doi.org/10.1023/A:1007424614876)

    """

    def __init__(
        self,
        budget: int = 100,
        kernels: Sequence[Kernel] | None = None,
        forgetting: Sequence[tuple[float, float]] = (
            (1.0, 0.1),
            (0.9999, 1.0),
            (0.998, 0.1),
            (0.98, 0.1),
        ),
        novelty: float = 0.01,
        class_weight: ClassWeight | None = None,
    ) -> None:
        check_count("budget", budget)
        check_not_negative("novelty", novelty)
        _check_forgetting(forgetting)
        chosen = (RationalQuadratic(), AdditiveRationalQuadratic()) if kernels is None else kernels
        _check_kernels(chosen)
        advice = "use a perceptron, or multiclass.OneVsRestClassifier"
        super().__init__(Labels(2, advice), chosen, class_weight)
        self.budget = budget
        self.kernels = kernels
        self.forgetting = forgetting
        self.novelty = novelty
        self._chosen = tuple(chosen)
        # One store per kernel, all with the same vectors in the same slots.
        self._stores = [vector_store(kernel) for kernel in chosen]
        experts = [(z, *pair) for z in range(len(chosen)) for pair in forgetting]
        kernel_of, factors, variances = zip(*experts, strict=True)
        self._kernel_of = np.array(kernel_of, np.int64)
        self._forgetting_factors: Floats = np.array(factors, np.float64)
        self._noise_variances: Floats = np.array(variances, np.float64)
        n_experts, n_kernels, size = len(experts), len(chosen), budget + 1
        self._means: Floats = np.zeros((n_experts, size))
        self._covariances: Floats = np.zeros((n_experts, size, size))
        self._inverses: Floats = np.zeros((n_kernels, size, size))
        self._scales: Floats = np.ones(n_experts)
        self._log_weights: Floats = np.zeros(n_experts)
        self._n_changes = 0
        self._n_rebuilds = 0

    @property
    def expert_weights(self) -> dict[tuple[Kernel, float, float], float]:
        """Weight of each expert in the mixture, by kernel, forgetting factor and noise variance.

        The forgetting factor with the largest weight indicates the current speed of drift.

        """
        experts = zip(
            self._kernel_of,
            self._forgetting_factors.tolist(),
            self._noise_variances.tolist(),
            self._weights.tolist(),
            strict=True,
        )
        return {
            (self._stores[z].kernel, factor, variance): weight
            for z, factor, variance, weight in experts
        }

    @property
    def n_rebuilds(self) -> int:
        """Number of times that an inverse Gram matrix was recomputed because of rounding errors."""
        return self._n_rebuilds

    @property
    def resolved_kernels(self) -> tuple[Kernel, ...]:
        """The kernels, with the parameters that were set from the first stored example."""
        return tuple(store.resolved_kernel for store in self._stores)

    @property
    def n_support(self) -> int:
        """Number of support vectors."""
        return self._stores[0].n

    @property
    def support_vectors(self) -> list[Features]:
        """The support vectors as dicts, oldest first."""
        # Each store has the active features of its kernel only.
        return [self._vector(slot) for slot in self._stores[0].by_age]

    @property
    def coefficients(self) -> Floats:
        """Mean coefficients of the mixture, oldest support vector first (n_support,)."""
        return self._mean(self._weights)[self._stores[0].by_age]

    @property
    def norm(self) -> float:
        """Norm of the mean of the mixture, in the direct sum of the kernels' Hilbert spaces."""
        square = 0.0
        for z, store in enumerate(self._stores):
            mean = self._mean(np.where(self._kernel_of == z, self._weights, 0.0))
            square += float(mean @ store.gram() @ mean)
        return math.sqrt(max(0.0, square))

    @property
    def memory_bytes(self) -> int:
        """Memory of the model in bytes: arrays, feature indexes, names and the last queries."""
        arrays = [
            self._means, self._covariances, self._inverses, self._scales, self._log_weights,
            self._kernel_of, self._forgetting_factors, self._noise_variances,
        ]  # fmt: skip
        stores = sum(store.nbytes for store in self._stores)
        return super().memory_bytes + stores + sum(array.nbytes for array in arrays)

    def decision_function_one(self, x: Features) -> float:
        """Return f(x) in [-1, 1]: twice the probability of the positive class minus 1.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number, or is too large for the kernels.

        """
        return self._forecast(self._queries(x)).f

    def scores_one(self, x: Features) -> dict[Any, float]:
        f = self.decision_function_one(x)
        return {label: f if column else -f for label, column in self._labels.known.items()}

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        return self._labels.names[self.decision_function_one(x) > 0]

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        known, p = self._labels.known, 0.5 + 0.5 * self.decision_function_one(x)
        return dict(zip(known, (1.0 - p, p) if len(known) == 2 else (1.0,), strict=True))

    def learn_one(self, x: Features, y: base.typing.ClfTarget, w: float = 1.0) -> None:
        queries = self._queries(x)
        if type(w) is not float or w != 1.0:
            w = self._checked_weight(w, y)
            if not w:
                return
        forecast, label = self._forecast(queries), self._labels.add(y)
        if self._class_weights is not None:
            w *= self._class_weights.next(label, self._labels)
        self._learn(queries, label, forecast, w)
        if self._n_rounds >= self._observed_at:
            self._observe(queries, queries[0].row)

    def numerical_errors(self) -> dict[str, float]:
        n, largest = self.n_support, 0.0
        for inverse, store in zip(self._inverses, self._stores, strict=True):
            residual = inverse[:n, :n] @ _regularized(store) - np.eye(n)
            largest = max(largest, float(np.abs(residual).max(initial=0.0)))
        return {"inverses": largest}

    def state(self) -> State:
        n = self.n_support
        return {
            **super().state(),
            "stores": {str(z): store.state() for z, store in enumerate(self._stores)},
            "means": self._means[:, :n].copy(),
            "covariances": self._covariances[:, :n, :n].copy(),
            "inverses": self._inverses[:, :n, :n].copy(),
            "scales": self._scales.copy(),
            "log_weights": self._log_weights.copy(),
            "n_changes": self._n_changes,
            "n_rebuilds": self._n_rebuilds,
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        for z, store in enumerate(self._stores):
            store.restore(state["stores"][str(z)])
            if self._feature_scales is not None and self._chosen[z].learns_scales:
                scales = self._feature_scales
                store.rescale(store.kernel, scales.factors, scales.pooled)
        n, n_experts, n_kernels = self.n_support, len(self._kernel_of), len(self._stores)
        require(
            all(store.n == n <= self.budget for store in self._stores),
            "there are more support vectors than the budget allows",
        )
        self._means[:, :n] = floats(state["means"], (n_experts, n))
        self._covariances[:, :n, :n] = floats(state["covariances"], (n_experts, n, n))
        self._inverses[:, :n, :n] = floats(state["inverses"], (n_kernels, n, n))
        self._scales = floats(state["scales"], (n_experts,))
        self._log_weights = floats(state["log_weights"], (n_experts,))
        require(((self._scales > 0) & (self._scales <= 1)).all(), "a scale is out of its range")
        self._check_matrices()
        self._n_changes, self._n_rebuilds = count(state["n_changes"]), count(state["n_rebuilds"])

    def _check_matrices(self) -> None:
        """Raise ValueError unless each posterior variance is from 0 to the prior one."""
        n = self.n_support
        inverses, covariances = self._inverses[:, :n, :n], self._covariances[:, :n, :n]
        scaled = self._scales[:, None, None] * covariances
        require_definite(inverses, "an inverse Gram matrix is wrong")
        require_definite(-covariances, "a covariance is wrong")
        require_definite(inverses[self._kernel_of] + scaled, "a posterior variance is wrong")

    def _features(self, query: list[Query]) -> Features:
        parts = zip(self._stores, query, strict=True)
        return _merged([store.features(part) for store, part in parts])

    def _vector(self, slot: int) -> Features:
        """Return the vector in a slot, with the active features of all kernels."""
        return _merged([store.vector(slot) for store in self._stores])

    @property
    def _names(self) -> Collection[Any]:
        return set().union(*(store.names for store in self._stores))

    def _rescale(self, scales: Scales) -> None:
        """Rescale the stores, and keep what the data say about f at the support vectors."""
        vectors = [self._vector(slot) for slot in range(self.n_support)]
        names = sorted(self._names, key=repr)
        for given, store in zip(self._chosen, self._stores, strict=True):
            if given.learns_scales:
                kernel = given.with_width(scales.gamma, names) if scales.gamma else store.kernel
                store.rescale(kernel, scales.factors, scales.pooled, vectors)
        self._change_priors()

    def _change_priors(self) -> None:
        """Replace the prior of each expert by that of its kernel as it is now.

        With the prior precision Q of f at the support vectors, `Q S Q = Q + C` and `a = Q m` for
        their posterior covariance S and mean m. The precision `S^-1 - Q` and the vector `S^-1 m`
        come from the data. They are kept, and Q is replaced.

        """
        n = self.n_support
        before = self._inverses[:, :n, :n].copy()
        for z, store in enumerate(self._stores):
            self._inverses[z, :n, :n] = np.linalg.inv(_regularized(store))
        for e, z in enumerate(self._kernel_of):
            scale, old, new = self._scales[e], before[z], self._inverses[z, :n, :n]
            inner = np.linalg.inv(old + scale * self._covariances[e, :n, :n])
            shift = old @ inner @ (math.sqrt(scale) * self._means[e, :n])
            posterior = np.linalg.inv(new + _semidefinite(old @ inner @ old - old))
            self._means[e, :n] = new @ posterior @ shift
            covariance = new @ posterior @ new - new
            self._covariances[e, :n, :n] = 0.5 * (covariance + covariance.T)
            self._scales[e] = 1.0

    def _queries(self, x: Features) -> list[Query]:
        return [store.query(x) for store in self._stores]

    def _forecast(self, queries: list[Query]) -> Forecast:
        """Return the expert outputs at an example, cached in the query of the first store."""
        if not isinstance(queries[0].answer, Forecast):
            queries[0].answer = self._mix(queries)
        return queries[0].answer

    def _mix(self, queries: list[Query]) -> Forecast:
        rows = np.zeros((len(queries), self.budget + 1))
        for row, query in zip(rows, queries, strict=True):
            row[: query.n] = query.row
        margins, probabilities, weights = (np.empty(len(self._kernel_of)) for _ in range(3))
        f = mixing.forecast(
            rows, self._kernel_of, self._means, self._scales, self._log_weights, queries[0].n,
            margins, probabilities, weights,
        )  # fmt: skip
        return Forecast(f, rows, margins, probabilities, weights)

    def _learn(self, queries: list[Query], label: int, forecast: Forecast, weight: float) -> None:
        y = 1.0 if label else -1.0
        noises = self._noise_variances
        if weight != 1.0:
            noises = np.maximum(noises / weight, np.minimum(noises, SMALLEST_NOISE))
        self._n_rounds += 1
        self._n_mistakes += y * forecast.f <= 0.0
        n = self.n_support
        slot = _update.learn(
            y, forecast.rows, self._kernel_of, self._forgetting_factors, noises,
            float(self.novelty), self.budget, self._stores[0].inserted, n, self._means,
            self._covariances, self._inverses, self._scales, self._log_weights, forecast.margins,
            forecast.probabilities, forecast.weights,
        )  # fmt: skip
        for store, query in zip(self._stores, queries, strict=True):
            if slot < 0:
                store.forget_query()
            elif slot == n:
                store.add(query)
            else:
                store.replace(slot, query)
        if slot >= 0:
            self._n_changes += 1
            if self._n_changes % CHECK_INTERVAL == 0:
                self._check_inverses()

    def _learn_block(self, block: Any, columns: Ints, weights: Floats | None) -> None:
        for row, label in enumerate(columns.tolist()):
            queries = self._row_queries(block, row)
            weight = 1.0 if weights is None else float(weights[row])
            self._learn(queries, label, self._mix(queries), weight)
            observed = self._n_rounds >= self._observed_at
            if observed and self._observe(queries, queries[0].row):
                # The kernels may read other features now.
                block = self._block(block.frame)

    def _block(self, frame: Any) -> Any:
        rows = rows_of(frame)
        return Block(frame, [store.block(frame.columns, rows) for store in self._stores])

    def _score_block(self, block: Any) -> Floats:
        rows = (self._row_queries(block, row) for row in range(len(block.parts[0])))
        f = np.array([self._mix(queries).f for queries in rows], dtype=np.float64)
        return np.stack((-f, f), axis=1)

    def _probabilities(self, scores: Floats) -> Floats:
        return 0.5 + 0.5 * scores if scores.shape[1] == 2 else np.ones_like(scores)

    def _row_queries(self, block: Any, row: int) -> list[Query]:
        return [
            store.query_row(rows, row)
            for store, rows in zip(self._stores, block.parts, strict=True)
        ]

    @property
    def _weights(self) -> Floats:
        weights = np.exp(self._log_weights - self._log_weights.max())
        return weights / weights.sum()

    def _mean(self, weights: Floats) -> Floats:
        """Return the weighted sum of the mean coefficients of the experts (n_support,)."""
        return (weights * np.sqrt(self._scales)) @ self._means[:, : self.n_support]

    def _check_inverses(self) -> None:
        """Check one column of each inverse, in turn, and recompute inaccurate inverses.

        All vectors count as having norm 1, even the zero vector, whose norm under `Normalized` is
        0.

        """
        n = self.n_support
        slot = self._n_changes // CHECK_INTERVAL % n
        for inverse, store in zip(self._inverses, self._stores, strict=True):
            row = store.row(slot)
            row[slot] = 1.0 + _update.JITTER
            residual = inverse[:n, :n] @ row
            residual[slot] -= 1.0
            if not abs(residual).max() <= LARGEST_RESIDUAL:
                inverse[:n, :n] = np.linalg.inv(_regularized(store))
                self._n_rebuilds += 1


def _semidefinite(matrix: Floats) -> Floats:
    """Return the nearest symmetric matrix without negative eigenvalues."""
    symmetric = 0.5 * (matrix + matrix.T)
    try:
        np.linalg.cholesky(symmetric)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(symmetric)
        return (vectors * np.maximum(values, 0.0)) @ vectors.T
    return symmetric


def _merged(parts: Sequence[Features]) -> Features:
    """Return an example from the active features of several kernels."""
    return {name: value for part in parts for name, value in part.items()}


def _regularized(store: VectorStore) -> Floats:
    """Return K + jitter I, with k(x, x) = 1 for every vector."""
    gram = store.gram()
    np.fill_diagonal(gram, 1.0 + _update.JITTER)
    return gram


def _check_kernels(kernels: Any) -> None:
    if not isinstance(kernels, Sequence) or not kernels:
        raise ValueError(f"kernels must be a tuple of kernels, got {kernels!r}")
    for kernel in kernels:
        check_kernel(kernel)
        if not kernel.has_unit_norm:
            raise ValueError(
                f"kernels must have k(x, x) = 1, but {kernel} does not: use Normalized({kernel})"
            )


def _check_forgetting(forgetting: Any) -> None:
    expected = "forgetting must be pairs of a forgetting factor and a noise variance"
    if not isinstance(forgetting, Sequence) or not forgetting:
        raise ValueError(f"{expected}, got {forgetting!r}")
    for pair in forgetting:
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise ValueError(f"{expected}, got {pair!r}")
        factor, variance = pair
        check_positive("forgetting: a forgetting factor", factor)
        check_positive("forgetting: a noise variance", variance)
        if factor > 1:
            raise ValueError(f"forgetting: a forgetting factor must be at most 1, got {factor!r}")
