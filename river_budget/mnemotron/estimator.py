from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from river import base

from river_budget._arrays import Floats, Ints
from river_budget._checks import check_count, check_not_negative
from river_budget._state import Count, Part, State, require
from river_budget.base import ClassWeight, Labels, Machine
from river_budget.base.classifier import ADVICE
from river_budget.base.documented import documented
from river_budget.kernels import Features, Kernel
from river_budget.mnemotron import _round, _update
from river_budget.mnemotron._mixing_compiled import HEDGE
from river_budget.mnemotron.experts import Experts
from river_budget.mnemotron.parameters import kernels_of, pairs_of_kernels
from river_budget.mnemotron.stores import KernelStores
from river_budget.mnemotron.vectors import SharedStore
from river_budget.support import ArrayFoundError, Query, Scales, VectorStore

# Number of changes of the support set between two checks of the inverses. An inverse Q is
# recomputed if an element of Q K - I is larger than the largest residual.
CHECK_INTERVAL = 64
LARGEST_RESIDUAL = 1e-6


class Forecast(NamedTuple):
    """The query of an example in each store, and the outputs of `_update.forecast` at it."""

    queries: list[Query]
    outputs: Floats

    @property
    def probabilities(self) -> list[float]:
        """The probability of each label (labels,)."""
        return self.outputs[-1].tolist()

    @property
    def scores(self) -> list[float]:
        """Twice the probability of each label minus 1 (labels,)."""
        return _scores(self.outputs[-1]).tolist()

    def is_mistake(self, label: int) -> bool:
        """Return whether some other label is at least as probable."""
        own = self.probabilities
        return own.pop(label) <= max(own)


@documented
class Mnemotron(Machine):
    """A mixture of Gaussian process experts on one support set: the recommended default.

    Neither a kernel nor a speed of forgetting has to be chosen. Each expert is a sparse online
    Gaussian process [^1] with its own kernel and forgetting factor [^2], and is updated if its
    margin is below 1 [^3]. Once the budget is full, the support vector that contributes least to
    the mixture is removed; it may be the incoming example. There is no mistake bound.

    Three mixtures weight the experts: a hedge with forgetting (in the spirit of [^4]), and two
    online logistic regressions on the experts' log probabilities, with a small and a larger
    learning rate. A second hedge weights the three. In both hedges, rarer labels count more: one of
    C labels with the share s of the examples weighs 1 / sqrt(C s). `predict_proba_one` is the mean
    of the second hedge, which is close to calibrated.

    It takes any number of labels, new ones at any time. All labels share the support set and the
    covariance of each expert, and differ in its mean, whose prior is -1 + 2 / C for all of C
    labels: a new label raises it for the others, too. An expert is updated if the label is not
    ahead of the others by a margin of 1. With two labels, it is the binary algorithm.

    Incremental ensembles of Gaussian processes [^5] and AdaRaker [^6] mix kernels online, too, on
    random features. Here, all experts share one support set with a rule of removal.

    For E experts, Z kernels, a budget B, d features and C labels, a round takes O(E B^2 + E B C) if
    an expert is updated and O(B d + E B C) otherwise. The matrices take about
    `4 (E + Z) B (B + 10)` bytes, 706 kB by default, and each label `8 E (B + 1)` bytes with more
    than two of them.

    Parameters
    ----------
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
        predicted. It takes `8 C (C + 22)` bytes.

    Examples
    --------

    >>> from river import datasets
    >>> from river import evaluate
    >>> from river import metrics
    >>> import river_budget as rb

    >>> model = rb.Mnemotron(budget=100)

    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 90.13%

    >>> weights = model.expert_weights
    >>> kernel, forgetting, noise = max(weights, key=weights.get)
    >>> print(kernel, forgetting)
    RationalQuadratic(gamma=0.543...) 1.0

    References
    ----------
    [^1]: [Csato & Opper 2002](https://doi.org/10.1162/089976602317250933)
    [^2]: [Van Vaerenbergh, Lazaro-Gredilla & Santamaria 2012](https://doi.org/10.1109/TNNLS.2012.2200500)
    [^3]: [Crammer, Kulesza & Dredze 2009](https://papers.nips.cc/paper/3848-adaptive-regularization-of-weight-vectors)
    [^4]: [Herbster & Warmuth 1998](https://doi.org/10.1023/A:1007424614876)
    [^5]: [Lu, Karanikolas & Giannakis 2022](https://arxiv.org/abs/2110.06777)
    [^6]: [Shen, Chen & Giannakis 2019](https://arxiv.org/abs/1712.09983)
    """

    _stores = Part[KernelStores](restore=["_feature_scales"], before="_prepare_stores")
    _experts = Part[Experts](state=["n_support"], restore=["n_support"], before="_prepare_experts")
    _n_changes = Count()
    _n_rebuilds = Count()

    def __init__(
        self,
        budget: int = 100,
        kernels: Sequence[Kernel] | None = None,
        forgetting: Sequence[Any] | None = None,
        novelty: float = 0.01,
        class_weight: ClassWeight | None = None,
        repeats: bool = False,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        check_count("budget", budget)
        check_not_negative("novelty", novelty)
        check_count("max_classes", max_classes)
        if not isinstance(repeats, bool):
            raise ValueError(f"repeats must be True or False, got {repeats!r}")
        chosen = kernels_of(kernels)
        pairs = pairs_of_kernels(forgetting, kernels, len(chosen))
        super().__init__(Labels(max_classes, ADVICE), chosen, class_weight, dtype)
        self.budget = budget
        self.kernels = kernels
        self.forgetting = forgetting
        self.novelty = novelty
        self.repeats = repeats
        self.max_classes = max_classes
        self._stores = KernelStores(chosen, self._feature_scales is not None)
        self._experts = Experts(pairs, budget, repeats)

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def expert_weights(self) -> dict[tuple[Kernel, float, float], float]:
        """Weight of each expert in the hedge, by kernel, forgetting factor and noise variance.

        The forgetting factor with the largest weight indicates the current speed of drift. The
        expert of `repeats` is left out.
        """
        kernels, experts = self._stores.kernels, self._experts.posteriors.experts.tolist()
        weights = zip(experts, self._experts.hedge.tolist(), strict=True)
        return {(kernels[int(z)], *pair): weight for (z, *pair), weight in weights}

    @property
    def mixture_weights(self) -> dict[str, float]:
        """Weights of the hedge, the slow mixer and the fast mixer in the forecast."""
        weights = self._experts.mixture.top[HEDGE].tolist()
        return dict(zip(("hedge", "slow mixer", "fast mixer"), weights, strict=True))

    @property
    def n_rebuilds(self) -> int:
        """Number of times that an inverse Gram matrix was recomputed because of rounding errors."""
        return self._n_rebuilds

    @property
    def resolved_kernels(self) -> tuple[Kernel, ...]:
        """The kernels, with the widths and the scales of the features that were learned."""
        return self._stores.resolved_kernels

    @property
    def n_support(self) -> int:
        return self._stores.n

    @property
    def support_vectors(self) -> list[Features]:
        vectors = self._stores.vectors
        return [vectors[slot] for slot in self._examples.by_age]

    @property
    def coefficients(self) -> Floats:
        """Mean coefficients of the hedge, oldest support vector first.

        Those of the positive label with two labels (n_support,); a column for each of the `classes`
        with more (n_support, n_classes).
        """
        mean = self._experts.mean(self.n_support)[:, self._examples.by_age]
        return mean[0] if len(mean) == 1 else mean.T

    @property
    def norm(self) -> float:
        """Norm of the mean of the hedge, in the direct sum of the kernels' Hilbert spaces.

        With more than two labels, its square is half the sum of the squared norms of all means.
        """
        square, n = 0.0, self.n_support
        for z, gram in enumerate(self._stores.grams()):
            mean = self._experts.mean(n, z)
            square += float(np.sum(mean @ gram * mean))
        return math.sqrt(max(0.0, square if len(mean) == 1 else 0.5 * square))

    def decision_function_one(self, x: Features) -> float:
        """Return f(x) in [-1, 1]: twice the probability of the positive class minus 1."""
        self._labels.require_two("scores_one or scores_many")
        return self._forecast(x).scores[1]

    def scores_one(self, x: Features) -> dict[Any, float]:
        """Return twice the probability of each label minus 1; with two labels, -f(x) and f(x)."""
        scores = self._forecast(x).scores
        return {label: scores[column] for label, column in self._labels.known.items()}

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        probabilities = self._forecast(x).probabilities
        return self._labels.names[probabilities.index(max(probabilities))]

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        known, probabilities = self._labels.known, self._forecast(x).probabilities
        if len(known) < 2:
            return dict.fromkeys(known, 1.0)
        return dict(zip(known, probabilities, strict=True))

    def learn_one(self, x: Features, y: base.typing.ClfTarget, w: float = 1.0) -> None:
        try:
            forecast = self._forecast_here(x)
        except ArrayFoundError:
            self._learn_with_arrays("learn_one", x, y, w)
            return
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
            forecast = self._forecast(x)
        if self._class_weights is not None:
            w *= self._class_weights.next(label, self._labels)
        self._learn(forecast, label, w)
        if self._n_rounds >= self._observed_at:
            self._observe(forecast.queries[0])

    def numerical_errors(self) -> dict[str, float]:
        n, largest = self.n_support, 0.0
        for z, gram in enumerate(self._stores.grams()):
            residual = self._experts.posteriors.inverse(z, n) @ _regularized(gram) - np.eye(n)
            largest = max(largest, float(np.abs(residual).max(initial=0.0)))
        return {"inverses": largest}

    def _prepare_stores(self, state: State) -> None:
        if "arrays" in state["0"] and not self._takes_arrays:
            self._take_arrays()

    def _prepare_experts(self, state: State) -> None:
        enough = self.n_support <= self.budget
        require(enough, "there are more support vectors than the budget allows")
        self._widen(len(self._labels.names))

    @property
    def _takes_arrays(self) -> bool:
        return self._stores.takes_arrays

    def _take_arrays(self) -> None:
        self._stores.take_arrays(self.dtype)

    def _state_for_arrays(self) -> State:
        return {**self.state(), "stores": self._stores.state_by_kernels()}

    def _widen(self, n_labels: int) -> None:
        """Give all that is kept for each label a place for new ones, up to a number of labels."""
        if n_labels > self._experts.n_labels:
            self._experts.widen(n_labels)
            self._stores.forget_queries()

    @property
    def _examples(self) -> VectorStore:
        return self._stores.first

    def _rescale(self, scales: Scales) -> None:
        """Rescale the stores, and keep what the data say about f at the support vectors."""
        before = _regularized(self._stores.grams())
        self._stores.rescale(scales)
        after = _regularized(self._stores.grams())
        self._experts.posteriors.change_priors(before, after, self.n_support)

    def _forecast(self, x: Features) -> Forecast:
        """Return the expert outputs at an example, cached in the query of the first store."""
        try:
            return self._forecast_here(x)
        except ArrayFoundError:
            return self._asked_with_arrays("_forecast_here", x)

    def _forecast_here(self, x: Features) -> Forecast:
        """Return the forecast. Raises ArrayFoundError if only another store could take x."""
        shared = self._stores.shared
        if shared is not None:
            query = shared.query(x, self._experts)
            return Forecast([query], query.answer)
        return self._mixed(self._stores.queries(x))

    def _novelty(self, x: Features) -> float:
        experts, n = self._experts, self.n_support
        rows = self._stores.rows(self._forecast_here(x).queries)[:, :n]
        projected = [row @ experts.posteriors.inverse(z, n) @ row for z, row in enumerate(rows)]
        weights: Any = np.bincount(experts.posteriors.kernel_of, experts.hedge)
        return max(0.0, 1.0 - float(weights @ projected))

    def _mixed(self, queries: list[Query]) -> Forecast:
        """Return the forecast of queries without one."""
        experts, n = self._experts, queries[0].n
        outputs = experts.new_outputs()
        _update.forecast(self._stores.rows(queries), n, *experts.arguments, outputs)
        return Forecast(queries, outputs)

    def _learn(self, forecast: Forecast, label: int, weight: float) -> None:
        self._n_rounds += 1
        self._n_mistakes += forecast.is_mistake(label)
        stores, shared = self._stores, self._stores.shared
        learning = *self._experts.arguments, forecast.outputs, *self._learning
        if shared is not None:
            query = forecast.queries[0]
            layout = query.layout
            slot, is_stored = _round.learn_query(
                label, weight, query.workspace, *shared.arguments(layout), *shared.storing(layout),
                *learning,
            )  # fmt: skip
            shared.on_overwritten(is_stored)
        else:
            rows, is_stored = stores.rows(forecast.queries), False
            slot = _update.learn(label, weight, rows, stores.n, stores.first.inserted, *learning)
        if slot < 0:
            stores.forget_queries()
            return
        if not is_stored:
            stores.put(forecast.queries, slot)
        self._on_changes(1)

    @property
    def _learning(self) -> tuple[Any, ...]:
        return float(self.novelty), self.budget, *self._experts.learning

    def _on_changes(self, n_changes: int) -> None:
        """Check the inverses after every `CHECK_INTERVAL` changes of the support set."""
        self._n_changes += n_changes
        if n_changes and self._n_changes % CHECK_INTERVAL == 0:
            self._check_inverses()

    def _learn_block(self, block: Any, columns: Ints, weights: Floats | None) -> None:
        given = np.ones(len(columns)) if weights is None else weights
        row = 0
        try:
            while row < len(columns):
                # A label is not known before its first row.
                self._widen(int(columns[row]) + 1)
                row += self._learn_rows(block, columns, given, row)
        finally:
            self._widen(len(self._labels.names))

    def _learn_rows(self, block: Any, columns: Ints, weights: Floats, row: int) -> int:
        """Learn at least one row of a block, and return their number."""
        if self._stores.shared is not None:
            return self._learn_compiled(self._stores.shared, block[0], columns, weights, row)
        forecast = self._mixed(self._stores.queries_of_row(block, row))
        self._learn(forecast, int(columns[row]), float(weights[row]))
        self._observe_rows(block[0], row, row + 1)
        if self._n_rounds >= self._checked_at:
            self._check(forecast.queries[0])
        return 1

    def _learn_compiled(
        self, shared: SharedStore, part: Any, columns: Ints, weights: Floats, row: int
    ) -> int:
        """Learn rows by compiled code, up to one that it leaves; return their number."""
        n = shared.n
        later = np.flatnonzero(columns[row:] >= self._experts.n_labels)
        stop = row + int(later[0]) if len(later) else len(columns)
        stop = min(stop, row + self._n_unobserved)
        layout = shared.block_layout(part)
        workspace = np.empty(layout.size)
        last, slot, is_stored, n_mistakes, n_stored = _round.learn_block(
            part.values, columns, weights, row, stop, CHECK_INTERVAL - self._n_changes % CHECK_INTERVAL,
            workspace, *shared.arguments(layout), *shared.storing(layout),
            *self._experts.arguments, self._experts.new_outputs(), *self._learning,
        )  # fmt: skip
        shared.on_overwritten(n_stored)
        self._n_rounds += last + 1 - row
        self._n_mistakes += n_mistakes
        queries = [Query(None, None, None, layout, workspace, n, None)]
        self._observe_rows(part, row, last)
        is_new = slot >= 0 and not is_stored
        if is_new:
            self._stores.put(queries, slot)
        self._observe_rows(part, last, last + 1)
        self._on_changes(n_stored + is_new)
        if self._n_rounds >= self._checked_at:
            self._check(queries[0])
        return last + 1 - row

    def _block(self, frame: Any) -> Any:
        return self._stores.block(frame)

    def _score_block(self, block: Any) -> Floats:
        experts, shared, part = self._experts, self._stores.shared, block[0]
        probabilities = np.empty((len(part), experts.n_labels))
        if shared is not None:
            layout = shared.block_layout(part)
            _round.predict_block(
                part.values, probabilities, np.empty(layout.size), *shared.arguments(layout),
                *experts.arguments, experts.new_outputs(),
            )  # fmt: skip
        else:
            for row in range(len(part)):
                queries = self._stores.queries_of_row(block, row)
                probabilities[row] = self._mixed(queries).outputs[-1]
        return _scores(probabilities)

    def _probabilities(self, scores: Floats) -> Floats:
        return 0.5 + 0.5 * scores if scores.shape[1] > 1 else np.ones_like(scores)

    def _check_inverses(self) -> None:
        """Check one column of each inverse, in turn, and recompute inaccurate inverses.

        All vectors count as having norm 1, even the zero vector, whose norm under `Normalized` is 0.
        """
        n, posteriors = self.n_support, self._experts.posteriors
        slot = self._n_changes // CHECK_INTERVAL % n
        for z, row in enumerate(self._stores.rows_of_slot(slot)):
            row[slot] = 1.0 + _update.JITTER
            residual = posteriors.product(z, row)
            residual[slot] -= 1.0
            if not abs(residual).max() <= LARGEST_RESIDUAL:
                posteriors.set_inverse(z, np.linalg.inv(_regularized(self._stores.grams()[z])))
                self._n_rebuilds += 1


def _scores(probabilities: Floats) -> Floats:
    """Return twice the probabilities minus 1 (..., labels); exactly -f and f for two labels."""
    scores = 2.0 * probabilities - 1.0
    if scores.shape[-1] == 2:
        scores[..., 0] = -scores[..., 1]
    return scores


def _regularized(grams: Floats) -> Floats:
    """Return K + jitter I for Gram matrices (..., n, n), with k(x, x) = 1 for every vector."""
    regularized, diagonal = grams.copy(), np.arange(grams.shape[-1])
    regularized[..., diagonal, diagonal] = 1.0 + _update.JITTER
    return regularized
