from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from river import base

from river_budget._arrays import Floats, Ints
from river_budget._checks import check_count, check_not_negative, check_positive
from river_budget._state import State, count, require
from river_budget.base import ClassWeight, Labels, Machine, rows_of
from river_budget.base.classifier import ADVICE
from river_budget.kernels import (
    AdditiveRationalQuadratic,
    Features,
    Kernel,
    Normalized,
    Polynomial,
    RationalQuadratic,
    check_kernel,
)
from river_budget.mnemotron import _update
from river_budget.mnemotron.mixing import LAYERS, Mixture
from river_budget.mnemotron.posteriors import Posteriors
from river_budget.mnemotron.repeats import Repeats
from river_budget.support import Query, Scales, VectorStore, vector_store

__all__ = ["Mnemotron"]

# Number of changes of the support set between two checks of the inverses. An inverse Q is
# recomputed if an element of Q K - I is larger than the largest residual.
CHECK_INTERVAL = 64
LARGEST_RESIDUAL = 1e-6

Pairs = tuple[tuple[float, float], ...]

# Forgetting factors and noise variances.
MEMORIES: Pairs = ((1.0, 0.1), (0.9999, 1.0), (0.998, 0.1), (0.98, 0.1))
FEW_MEMORIES: Pairs = ((1.0, 0.1), (0.998, 0.1))

DEFAULTS: dict[Kernel, Pairs] = {
    RationalQuadratic(): MEMORIES,
    AdditiveRationalQuadratic(): MEMORIES,
    RationalQuadratic(gamma_factor=10.0): FEW_MEMORIES,
    Normalized(Polynomial(degree=1)): FEW_MEMORIES,
}


class Block(NamedTuple):
    """A frame and its rows as a block for each store."""

    frame: Any
    parts: list[Any]


class Forecast(NamedTuple):
    """The expert outputs at one example.

    Attributes
    ----------
    rows
        The kernel row of the example under each kernel (kernels, budget + 1).
    outputs
        The outputs of `_update.forecast`; the probabilities of the labels come last (any, labels).

    """

    rows: Floats
    outputs: Floats

    @property
    def scores(self) -> list[float]:
        """Twice the probability of each label minus 1 (labels,)."""
        scores = (2.0 * self.outputs[-1] - 1.0).tolist()
        return [-scores[1], scores[1]] if len(scores) == 2 else scores

    def margin(self, label: int) -> float:
        """Return the margin of a label: half of what its score is above that of its rival."""
        scores = self.scores
        own = scores.pop(label)
        return 0.5 * (own - max(scores))


class Mnemotron(Machine):
    """A mixture of Gaussian process experts on one support set: the recommended default.

    Neither a kernel nor a speed of forgetting has to be chosen. Each expert is a sparse online
    Gaussian process [^1] with its own kernel and forgetting factor [^2], and is updated if its
    margin is below 1 [^3]. Once the budget is full, the support vector that contributes least to
    the mixture is removed; it may be the incoming example. There is no mistake bound.

    Three mixtures weight the experts: a hedge with forgetting (in the spirit of [^4]), in which
    rarer labels count more, and two online logistic mixers [^5] with a small and a larger learning
    rate. A second hedge weights the three. `predict_proba_one` is the resulting mean, which is
    close to calibrated.

    It takes any number of labels, new ones at any time. All labels share the support set and the
    covariance of each expert, and differ in its mean. With two labels, it is the binary algorithm.

    Incremental ensembles of Gaussian processes [^6] and AdaRaker [^7] mix kernels online, too, on
    random features. Here, all experts share one support set with a rule of removal.

    For E experts, Z kernels, a budget B, d features and C labels, a round takes O(E B^2 + E B C) if
    an expert is updated and O(B d + E B C) otherwise. The matrices take
    `4 (E + Z) (B + 1) (B + 2)` bytes, 659 kB by default, and each label `8 E (B + 1)` bytes with
    more than two of them.

    Parameters
    ----------
    budget
        Maximum number of support vectors.
    kernels
        Kernels with `k(x, x) = 1`, as a tuple. Defaults to `RationalQuadratic()`,
        `AdditiveRationalQuadratic()`, `RationalQuadratic(gamma_factor=10.0)` and
        `Normalized(Polynomial(degree=1))`. If widths and scales are learned, so if the gamma of
        some kernel is left out, kernels that have no width read scaled features, too.
    forgetting
        Pairs of a forgetting factor in (0, 1], where 1 means no forgetting, and a positive noise
        variance: a tuple of pairs for all kernels, or a tuple of such tuples, one for each kernel.
        There is one expert for each kernel and pair. Defaults to (1, 0.1), (0.9999, 1), (0.998,
        0.1) and (0.98, 0.1); for the last two default kernels, to the first and the third of these.
    novelty
        Smallest novelty of a new support vector: its squared distance from the span of the others
        as a share of its squared norm, in the weighted mean over the experts.
    class_weight
        Weights of the labels as a dict, 1 for labels that are not in it; or "balanced", from the
        numbers of their examples so far. The weight of an example divides its noise variance.
    repeats
        Whether to add an expert that predicts from the last label and the number of times that it
        came in a row. It is for streams whose labels repeat and arrive before the next example is
        predicted. It takes `8 C (C + 64)` bytes.
    max_classes
        Maximum number of labels.

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
    [^5]: [Mattern 2016](https://doi.org/10.1109/DCC.2016.9)
    [^6]: [Lu, Karanikolas & Giannakis 2022](https://arxiv.org/abs/2110.06777)
    [^7]: [Shen, Chen & Giannakis 2019](https://jmlr.org/papers/v20/17-030.html)

    """

    def __init__(
        self,
        budget: int = 100,
        kernels: Sequence[Kernel] | None = None,
        forgetting: Sequence[Any] | None = None,
        novelty: float = 0.01,
        class_weight: ClassWeight | None = None,
        repeats: bool = False,
        max_classes: int = 1000,
    ) -> None:
        check_count("budget", budget)
        check_not_negative("novelty", novelty)
        check_count("max_classes", max_classes)
        if not isinstance(repeats, bool):
            raise ValueError(f"repeats must be True or False, got {repeats!r}")
        chosen = tuple(DEFAULTS) if kernels is None else kernels
        _check_kernels(chosen)
        memories = _memories(forgetting, kernels, len(chosen))
        super().__init__(Labels(max_classes, ADVICE), chosen, class_weight)
        self.budget = budget
        self.kernels = kernels
        self.forgetting = forgetting
        self.novelty = novelty
        self.repeats = repeats
        self.max_classes = max_classes
        self._chosen = tuple(chosen)
        # One store per kernel, all with the same vectors in the same slots.
        self._stores = [vector_store(kernel) for kernel in chosen]
        experts = [(z, *pair) for z, pairs in enumerate(memories) for pair in pairs]
        self._posteriors = Posteriors(experts, len(chosen), budget)
        self._mixture = Mixture(len(experts) + repeats)
        self._repeats = Repeats(repeats)
        self._n_changes = 0
        self._n_rebuilds = 0

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def expert_weights(self) -> dict[tuple[Kernel, float, float], float]:
        """Weight of each expert in the hedge, by kernel, forgetting factor and noise variance.

        The forgetting factor with the largest weight indicates the current speed of drift. The
        expert of `repeats` is left out.

        """
        posteriors = self._posteriors
        experts = zip(
            posteriors.kernel_of,
            posteriors.factors.tolist(),
            posteriors.noises.tolist(),
            self._hedge.tolist(),
            strict=True,
        )
        return {
            (self._stores[z].kernel, factor, variance): weight
            for z, factor, variance, weight in experts
        }

    @property
    def mixture_weights(self) -> dict[str, float]:
        """Weights of the hedge, the slow mixer and the fast mixer in the forecast."""
        return dict(zip(LAYERS, self._mixture.layers.tolist(), strict=True))

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
        """Mean coefficients of the hedge, oldest support vector first.

        Those of the positive label with two labels (n_support,); a column for each of the `classes`
        with more (n_support, n_classes).

        """
        mean = self._posteriors.mean(self._hedge, self.n_support)[:, self._stores[0].by_age]
        return mean[0] if len(mean) == 1 else mean.T

    @property
    def norm(self) -> float:
        """Norm of the mean of the hedge, in the direct sum of the kernels' Hilbert spaces.

        With more than two labels, its square is half the sum of the squared norms of all means.

        """
        square, kernel_of = 0.0, self._posteriors.kernel_of
        for z, store in enumerate(self._stores):
            weights = np.where(kernel_of == z, self._hedge, 0.0)
            mean = self._posteriors.mean(weights, self.n_support)
            square += float(np.sum(mean @ store.gram() * mean))
        return math.sqrt(max(0.0, square if self._n_columns == 1 else 0.5 * square))

    @property
    def memory_bytes(self) -> int:
        """Memory of the model in bytes: arrays, feature indexes, names and the last queries."""
        parts = self._posteriors.arrays + self._mixture.arrays + self._repeats.arrays
        stores = sum(store.nbytes for store in self._stores)
        return super().memory_bytes + stores + sum(array.nbytes for array in parts)

    def decision_function_one(self, x: Features) -> float:
        """Return f(x) in [-1, 1]: twice the probability of the positive class minus 1.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If there are more than two labels, or a value is not a finite number or is too large for
            the kernels.

        """
        self._labels.require_two("scores_one or scores_many")
        return self._forecast(self._queries(x)).scores[1]

    def scores_one(self, x: Features) -> dict[Any, float]:
        """Return twice the probability of each label minus 1; with two labels, -f(x) and f(x).

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number, or is too large for the kernels.

        """
        scores = self._forecast(self._queries(x)).scores
        return {label: scores[column] for label, column in self._labels.known.items()}

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        scores = self._forecast(self._queries(x)).scores
        return self._labels.names[scores.index(max(scores))]

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        known = self._labels.known
        values = self._forecast(self._queries(x)).outputs[-1].tolist() if len(known) > 1 else [1.0]
        return dict(zip(known, values, strict=True))

    def learn_one(self, x: Features, y: base.typing.ClfTarget, w: float = 1.0) -> None:
        queries = self._queries(x)
        if type(w) is not float or w != 1.0:
            w = self._checked_weight(w, y)
            if not w:
                return
        try:
            label = self._labels.column[y]
        except (KeyError, TypeError):
            labels = self._labels.with_label(y)
            self._widen(len(labels.names))
            self._labels, label = labels, labels.add(y)
        if self._class_weights is not None:
            w *= self._class_weights.next(label, self._labels)
        self._learn(queries, label, self._forecast(queries), w)
        if self._n_rounds >= self._observed_at:
            self._observe(queries, queries[0].row)

    def numerical_errors(self) -> dict[str, float]:
        n, largest = self.n_support, 0.0
        for z, store in enumerate(self._stores):
            residual = self._posteriors.inverse(z, n) @ _regularized(store) - np.eye(n)
            largest = max(largest, float(np.abs(residual).max(initial=0.0)))
        return {"inverses": largest}

    def state(self) -> State:
        return {
            **super().state(),
            "stores": {str(z): store.state() for z, store in enumerate(self._stores)},
            "posteriors": self._posteriors.state(self.n_support),
            "mixture": self._mixture.state(),
            "repeats": self._repeats.state(),
            "n_changes": self._n_changes,
            "n_rebuilds": self._n_rebuilds,
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        for z, store in enumerate(self._stores):
            store.restore(state["stores"][str(z)])
            scales = self._feature_scales
            if scales is not None and self._is_scaled(self._chosen[z]):
                store.rescale(store.kernel, scales.factors, scales.pooled)
        n = self.n_support
        require(
            all(store.n == n <= self.budget for store in self._stores),
            "there are more support vectors than the budget allows",
        )
        self._widen(len(self._labels.names))
        self._posteriors.restore(state["posteriors"], n)
        self._mixture.restore(state["mixture"])
        self._repeats.restore(state["repeats"])
        self._n_changes, self._n_rebuilds = count(state["n_changes"]), count(state["n_rebuilds"])

    @property
    def _hedge(self) -> Floats:
        """The weights of the Gaussian process experts in the hedge, with a sum of 1 (experts,)."""
        weights = self._mixture.hedge[: len(self._posteriors.experts)]
        return weights / weights.sum()

    @property
    def _n_columns(self) -> int:
        return self._posteriors.means.shape[1]

    def _widen(self, n_labels: int) -> None:
        """Give all that is kept for each label a place for new ones, up to a number of labels."""
        if n_labels > len(self._mixture.counts):
            means = self._posteriors.widened(n_labels)
            self._repeats.widen(n_labels)
            self._mixture.widen(n_labels)
            self._posteriors.means = means

    def _is_scaled(self, kernel: Kernel) -> bool:
        """Return whether a kernel reads features that are scaled."""
        if self._feature_scales is None or kernel.spec is None:
            return False
        return kernel.learns_scales or not kernel.is_radial

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
            if self._is_scaled(given):
                learns = scales.gamma and given.learns_scales
                kernel = given.with_width(scales.gamma, names) if learns else store.kernel
                store.rescale(kernel, scales.factors, scales.pooled, vectors)
        inverses = [np.linalg.inv(_regularized(store)) for store in self._stores]
        self._posteriors.change_priors(inverses, self.n_support)

    def _queries(self, x: Features) -> list[Query]:
        return [store.query(x) for store in self._stores]

    def _forecast(self, queries: list[Query]) -> Forecast:
        """Return the expert outputs at an example, cached in the query of the first store."""
        answer = queries[0].answer
        # A new label may have come since.
        if type(answer) is not Forecast or answer.outputs.shape[1] < len(self._mixture.counts):
            answer = queries[0].answer = self._mix(queries)
        return answer

    def _mix(self, queries: list[Query]) -> Forecast:
        posteriors, mixture, repeats = self._posteriors, self._mixture, self._repeats
        rows = np.zeros((len(queries), self.budget + 1))
        for row, query in zip(rows, queries, strict=True):
            row[: query.n] = query.row
        n_posteriors, n_experts = len(posteriors.experts), mixture.weights.shape[1]
        outputs = np.empty((n_posteriors + 2 * n_experts + 4, len(mixture.counts)))
        _update.forecast(
            rows, queries[0].n, posteriors.experts, posteriors.scales, posteriors.means,
            mixture.weights, mixture.top, repeats.counts, repeats.recent, outputs,
        )  # fmt: skip
        return Forecast(rows, outputs)

    def _learn(self, queries: list[Query], label: int, forecast: Forecast, weight: float) -> None:
        posteriors, mixture, repeats = self._posteriors, self._mixture, self._repeats
        self._n_rounds += 1
        self._n_mistakes += forecast.margin(label) <= 0.0
        n = self.n_support
        slot = _update.learn(
            label, weight, float(self.novelty), self.budget, forecast.rows, n,
            self._stores[0].inserted, posteriors.experts, posteriors.scales, posteriors.means,
            posteriors.covariances, posteriors.inverses, mixture.weights, mixture.top,
            mixture.counts, repeats.counts, repeats.recent, forecast.outputs,
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
        try:
            for row, label in enumerate(columns.tolist()):
                # A label is not known before its first row.
                self._widen(label + 1)
                queries = self._row_queries(block, row)
                weight = 1.0 if weights is None else float(weights[row])
                self._learn(queries, label, self._mix(queries), weight)
                observed = self._n_rounds >= self._observed_at
                if observed and self._observe(queries, queries[0].row):
                    # The kernels may read other features now.
                    block = self._block(block.frame)
        finally:
            self._widen(len(self._labels.names))

    def _block(self, frame: Any) -> Any:
        rows = rows_of(frame)
        return Block(frame, [store.block(frame.columns, rows) for store in self._stores])

    def _score_block(self, block: Any) -> Floats:
        rows = (self._row_queries(block, row) for row in range(len(block.parts[0])))
        scores = np.array([self._mix(queries).scores for queries in rows], dtype=np.float64)
        return scores.reshape(-1, len(self._mixture.counts))

    def _probabilities(self, scores: Floats) -> Floats:
        return 0.5 + 0.5 * scores if scores.shape[1] > 1 else np.ones_like(scores)

    def _row_queries(self, block: Any, row: int) -> list[Query]:
        return [
            store.query_row(rows, row)
            for store, rows in zip(self._stores, block.parts, strict=True)
        ]

    def _check_inverses(self) -> None:
        """Check one column of each inverse, in turn, and recompute inaccurate inverses.

        All vectors count as having norm 1, even the zero vector, whose norm under `Normalized` is
        0.

        """
        n = self.n_support
        slot = self._n_changes // CHECK_INTERVAL % n
        for z, store in enumerate(self._stores):
            row = store.row(slot)
            row[slot] = 1.0 + _update.JITTER
            residual = self._posteriors.inverse(z, n) @ row
            residual[slot] -= 1.0
            if not abs(residual).max() <= LARGEST_RESIDUAL:
                self._posteriors.set_inverse(z, np.linalg.inv(_regularized(store)))
                self._n_rebuilds += 1


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


def _memories(forgetting: Any, kernels: Any, n_kernels: int) -> Sequence[Pairs]:
    """Return the pairs of each kernel. Raises ValueError if they are out of range."""
    if forgetting is None:
        return list(DEFAULTS.values()) if kernels is None else [MEMORIES] * n_kernels
    if not _is_nested(forgetting):
        _check_pairs(forgetting)
        return [forgetting] * n_kernels
    if len(forgetting) != n_kernels:
        raise ValueError(
            f"forgetting has pairs for {len(forgetting)} kernels, but there are {n_kernels}"
        )
    for pairs in forgetting:
        _check_pairs(pairs)
    return list(forgetting)


def _is_nested(forgetting: Any) -> bool:
    """Return whether there is a tuple of pairs for each kernel."""
    parts: Any = forgetting
    for _ in range(2):
        if not isinstance(parts, Sequence) or not parts:
            return False
        parts = parts[0]
    return isinstance(parts, Sequence)


def _check_pairs(pairs: Any) -> None:
    expected = "forgetting must be pairs of a forgetting factor and a noise variance"
    if not isinstance(pairs, Sequence) or not pairs:
        raise ValueError(f"{expected}, got {pairs!r}")
    for pair in pairs:
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise ValueError(f"{expected}, got {pair!r}")
        factor, variance = pair
        check_positive("forgetting: a forgetting factor", factor)
        check_positive("forgetting: a noise variance", variance)
        if factor > 1:
            raise ValueError(f"forgetting: a forgetting factor must be at most 1, got {factor!r}")
