from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from river import base

from river_budget._arrays import Floats, Ints, widened
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
from river_budget.mnemotron import _round, _update
from river_budget.mnemotron.experts import Experts
from river_budget.mnemotron.mixing import LAYERS
from river_budget.mnemotron.triangles import with_lanes
from river_budget.mnemotron.vectors import SharedStore
from river_budget.support import (
    ArrayFoundError,
    ArrayStore,
    Query,
    Scales,
    VectorStore,
    vector_store,
)
from river_budget.support.numeric import NumericStore
from river_budget.support.objects import ObjectStore

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


class Group(NamedTuple):
    """Kernels that share a store, by their positions among all kernels."""

    store: VectorStore
    positions: list[int]


class Block(NamedTuple):
    """A frame and its rows as a block for each store."""

    frame: Any
    parts: list[Any]


class Forecast(NamedTuple):
    """The expert outputs at one example.

    Attributes
    ----------
    queries
        The example in each store.
    outputs
        The outputs of `_update.forecast`; the probabilities of the labels come last (any, labels).

    """

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
    covariance of each expert, and differ in its mean, whose prior is -1 + 2 / C for all of C labels:
    a new label raises it for the others, too. An expert is updated if the label is not ahead of
    the others by a margin of 1. With two labels, it is the binary algorithm.

    Incremental ensembles of Gaussian processes [^5] and AdaRaker [^6] mix kernels online, too, on
    random features. Here, all experts share one support set with a rule of removal.

    For E experts, Z kernels, a budget B, d features and C labels, a round takes O(E B^2 + E B C) if
    an expert is updated and O(B d + E B C) otherwise. The matrices take about
    `4 (E + Z) B (B + 10)` bytes, 706 kB by default, and each label `8 E (B + 1)` bytes with more
    than two of them.

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
        predicted. It takes `8 C (C + 22)` bytes.
    max_classes
        Maximum number of labels.

    Attributes
    ----------
    classes
        The labels seen so far: the negative one, the positive one, others as they appeared.
    support_vectors
        The support vectors as dicts, oldest first.
    coefficients
        Their coefficients, signed (n_support,) with two labels; a column for each label with more
        (n_support, n_classes).
    n_support, n_rounds, n_mistakes
        Number of support vectors, of examples learned, and of those with a margin of at most 0.
    norm
        Norm of f in the kernel's Hilbert space.
    memory_bytes
        Memory of the model in bytes.
    expert_weights
        Weight of each expert in the hedge, by kernel, forgetting factor and noise variance.
    mixture_weights
        Weights of the hedge, the slow mixer and the fast mixer in the forecast.
    n_rebuilds
        Number of times that an inverse Gram matrix was recomputed because of rounding errors.
    resolved_kernels
        The kernels, with the parameters that were set from the first stored example.

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
    Accuracy: 89.98%

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
    [^5]: [Lu, Karanikolas & Giannakis 2022](https://arxiv.org/abs/2110.06777)
    [^6]: [Shen, Chen & Giannakis 2019](https://arxiv.org/abs/1712.09983)

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
        # All stores have the same vectors in the same slots.
        self._groups = self._grouped()
        self._experts = Experts(memories, budget, repeats)
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
        posteriors, kernels = self._experts.posteriors, self._kernels
        experts = zip(
            posteriors.kernel_of,
            posteriors.factors.tolist(),
            posteriors.noises.tolist(),
            self._experts.hedge.tolist(),
            strict=True,
        )
        return {(kernels[z], factor, variance): weight for z, factor, variance, weight in experts}

    @property
    def mixture_weights(self) -> dict[str, float]:
        """Weights of the hedge, the slow mixer and the fast mixer in the forecast."""
        return dict(zip(LAYERS, self._experts.mixture.layers.tolist(), strict=True))

    @property
    def n_rebuilds(self) -> int:
        """Number of times that an inverse Gram matrix was recomputed because of rounding errors."""
        return self._n_rebuilds

    @property
    def resolved_kernels(self) -> tuple[Kernel, ...]:
        """The kernels, with the parameters that were set from the first stored example."""
        return self._in_order(
            group.store.resolved_kernels
            if isinstance(group.store, SharedStore)
            else [group.store.resolved_kernel]
            for group in self._groups
        )

    @property
    def n_support(self) -> int:
        """Number of support vectors."""
        return self._stores[0].n

    @property
    def support_vectors(self) -> list[Features]:
        """The support vectors as dicts, oldest first."""
        return [self._stores[0].vector(slot) for slot in self._stores[0].by_age]

    @property
    def coefficients(self) -> Floats:
        """Mean coefficients of the hedge, oldest support vector first.

        Those of the positive label with two labels (n_support,); a column for each of the `classes`
        with more (n_support, n_classes).

        """
        mean = self._experts.mean(self.n_support)[:, self._stores[0].by_age]
        return mean[0] if len(mean) == 1 else mean.T

    @property
    def norm(self) -> float:
        """Norm of the mean of the hedge, in the direct sum of the kernels' Hilbert spaces.

        With more than two labels, its square is half the sum of the squared norms of all means.

        """
        square, n = 0.0, self.n_support
        for z, gram in enumerate(self._grams()):
            mean = self._experts.mean(n, z)
            square += float(np.sum(mean @ gram * mean))
        return math.sqrt(max(0.0, square if len(mean) == 1 else 0.5 * square))

    @property
    def memory_bytes(self) -> int:
        """Memory of the model in bytes: arrays, feature indexes, names and the last queries."""
        stores = sum(store.nbytes for store in self._stores)
        return super().memory_bytes + stores + self._experts.nbytes

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
        return self._forecast(x).scores[1]

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
        scores = self._forecast(x).scores
        return {label: scores[column] for label, column in self._labels.known.items()}

    def novelty_one(self, x: Features) -> float:
        """Return the share of x outside of the span of the support vectors.

        It is the mean over the kernels, by the weights of their experts.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number, or is too large for the kernels.

        """
        try:
            rows = self._rows_of(self._forecast_here(x).queries)[:, : self.n_support]
        except ArrayFoundError:
            return self._with_arrays().novelty_one(x)
        experts, n = self._experts, self.n_support
        projected = [row @ experts.posteriors.inverse(z, n) @ row for z, row in enumerate(rows)]
        return max(0.0, 1.0 - float(experts.kernel_weights @ projected))

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        probabilities = self._forecast(x).probabilities
        return self._labels.names[probabilities.index(max(probabilities))]

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        known = self._labels.known
        probabilities = self._forecast(x).probabilities
        return dict(zip(known, probabilities if len(known) > 1 else (1.0,), strict=True))

    def learn_one(self, x: Features, y: base.typing.ClfTarget, w: float = 1.0) -> None:
        try:
            forecast = self._forecast_here(x)
        except ArrayFoundError:
            model = self._with_arrays()
            model.learn_one(x, y, w)
            vars(self).update(vars(model))
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
            self._observe(forecast.queries, forecast.queries[0].row)

    def numerical_errors(self) -> dict[str, float]:
        n, largest = self.n_support, 0.0
        for z, gram in enumerate(self._grams()):
            residual = self._experts.posteriors.inverse(z, n) @ _regularized(gram) - np.eye(n)
            largest = max(largest, float(np.abs(residual).max(initial=0.0)))
        return {"inverses": largest}

    def state(self) -> State:
        return {
            **super().state(),
            "stores": {str(i): store.state() for i, store in enumerate(self._stores)},
            "experts": self._experts.state(self.n_support),
            "n_changes": self._n_changes,
            "n_rebuilds": self._n_rebuilds,
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        if "arrays" in state["stores"]["0"] and not self._takes_arrays:
            self._take_arrays()
        for i, store in enumerate(self._stores):
            store.restore(state["stores"][str(i)])
            if self._feature_scales is not None and store in self._scaled:
                _rescale_store(store, _kernels_of(store), self._feature_scales)
        n = self.n_support
        require(
            all(store.n == n <= self.budget for store in self._stores),
            "there are more support vectors than the budget allows",
        )
        self._widen(len(self._labels.names))
        self._experts.restore(state["experts"], n)
        self._n_changes, self._n_rebuilds = count(state["n_changes"]), count(state["n_rebuilds"])

    def _grouped(self) -> list[Group]:
        """Return the kernels by stores: those with scaled features, those without, each function."""
        shared: dict[bool, list[int]] = {}
        groups = []
        for z, kernel in enumerate(self._chosen):
            if kernel.spec is None:
                groups.append(Group(vector_store(kernel), [z]))
            else:
                shared.setdefault(self._is_scaled(kernel), []).append(z)
        for positions in shared.values():
            groups.append(Group(SharedStore([self._chosen[z] for z in positions]), positions))
        return groups

    def _is_scaled(self, kernel: Kernel) -> bool:
        """Return whether a kernel reads features that are scaled."""
        return self._feature_scales is not None and (kernel.learns_scales or not kernel.is_radial)

    @property
    def _takes_arrays(self) -> bool:
        return not any(isinstance(store, NumericStore) for store in self._stores)

    def _take_arrays(self) -> None:
        """Give each kernel a store of its own, one that takes arrays."""
        self._groups = [
            Group(ObjectStore(kernel) if kernel.spec is None else ArrayStore(kernel), [z])
            for z, kernel in enumerate(self._chosen)
        ]

    def _with_arrays(self) -> Mnemotron:
        model, state = self.clone(), self.state()
        model._take_arrays()  # noqa: SLF001 (of the same class)
        of_kernels = {}
        for i, (store, positions) in enumerate(self._groups):
            for z, kernel in zip(positions, _kernels_of(store), strict=True):
                of_kernels[str(z)] = {**state["stores"][str(i)], "kernel": kernel}
        model.restore({**state, "stores": of_kernels})
        return model

    @property
    def _stores(self) -> list[VectorStore]:
        return [group.store for group in self._groups]

    @property
    def _shared(self) -> SharedStore | None:
        """The store of all kernels, if there is one."""
        store = self._groups[0].store
        return store if len(self._groups) == 1 and isinstance(store, SharedStore) else None

    @property
    def _kernels(self) -> tuple[Kernel, ...]:
        """The kernels as they are now."""
        return self._in_order(_kernels_of(group.store) for group in self._groups)

    def _in_order(self, parts: Iterable[Any]) -> tuple[Any, ...]:
        """Return what belongs to each kernel, given by groups, in the order of the kernels."""
        by_position: dict[int, Any] = {}
        for group, part in zip(self._groups, parts, strict=True):
            by_position.update(zip(group.positions, part, strict=True))
        return tuple(by_position[z] for z in range(len(by_position)))

    def _rows_of_slot(self, slot: int) -> Floats:
        """Return the kernel rows of the vector in a slot (kernels, n)."""
        return np.array(self._in_order(_rows_of_slots(store, [slot])[0] for store in self._stores))

    def _grams(self) -> Floats:
        """Return the Gram matrices of all kernels (kernels, n, n)."""
        n = self.n_support
        grams = (_rows_of_slots(store, range(n)).swapaxes(0, 1) for store in self._stores)
        return np.array(self._in_order(grams))

    def _widen(self, n_labels: int) -> None:
        """Give all that is kept for each label a place for new ones, up to a number of labels."""
        if n_labels > self._experts.n_labels:
            self._experts.widen(n_labels)
            self._forget_queries()

    def _forget_queries(self) -> None:
        for group in self._groups:
            group.store.forget_query()

    def _features(self, query: list[Query]) -> Features:
        return self._stores[0].features(query[0])

    @property
    def _names(self) -> Collection[Any]:
        return self._stores[0].names

    @property
    def _scaled(self) -> dict[VectorStore, list[int]]:
        """The stores whose features are scaled, with the positions of their kernels."""
        return {
            store: positions
            for store, positions in self._groups
            if isinstance(store, SharedStore | ArrayStore)
            and self._is_scaled(self._chosen[positions[0]])
        }

    def _rescale(self, scales: Scales) -> None:
        """Rescale the stores, and keep what the data say about f at the support vectors."""
        before, names = _regularized(self._grams()), sorted(self._names, key=repr)
        # Kernels may read features from now on that they did not read before.
        vectors = None if self._shared else list(map(self._stores[0].vector, range(self.n_support)))
        for store, positions in self._scaled.items():
            kernels = list(_kernels_of(store))
            for i, z in enumerate(positions):
                given = self._chosen[z]
                if scales.gamma and given.learns_scales:
                    kernels[i] = given.with_width(scales.gamma, names)
            _rescale_store(store, kernels, scales, vectors)
        after = _regularized(self._grams())
        self._experts.posteriors.change_priors(before, after, self.n_support)

    def _forecast(self, x: Features) -> Forecast:
        """Return the expert outputs at an example, cached in the query of the first store."""
        try:
            return self._forecast_here(x)
        except ArrayFoundError:
            return self._with_arrays()._forecast_here(x)  # noqa: SLF001 (of the same class)

    def _forecast_here(self, x: Features) -> Forecast:
        """Return the forecast. Raises ArrayFoundError if only another store could take x."""
        shared = self._shared
        if shared is not None:
            query = shared.query(x, self._experts)
            return Forecast([query], query.answer)
        return self._mixed([store.query(x) for store in self._stores])

    def _mixed(self, queries: list[Query]) -> Forecast:
        """Return the forecast of queries without one."""
        experts, n = self._experts, queries[0].n
        outputs = experts.new_outputs()
        _update.forecast(self._rows_of(queries), n, *experts.arguments, outputs)
        return Forecast(queries, outputs)

    def _rows_of(self, queries: list[Query]) -> Floats:
        """Return the kernel rows of queries, filled up to whole lanes (kernels, any)."""
        rows = self._in_order(map(_rows_of_query, self._stores, queries))
        return widened(np.array(rows), with_lanes(self.n_support))

    def _learn(self, forecast: Forecast, label: int, weight: float) -> None:
        self._n_rounds += 1
        self._n_mistakes += forecast.is_mistake(label)
        shared, experts = self._shared, self._experts
        if shared is not None:
            query = forecast.queries[0]
            layout = query.layout
            slot, is_stored = _round.learn_query(
                label, weight, query.workspace, *shared.arguments(layout), *shared.storing(layout),
                *experts.arguments, forecast.outputs, *self._learning,
            )  # fmt: skip
            shared.on_overwritten(is_stored)
        else:
            posteriors, mixture, repeats = experts.posteriors, experts.mixture, experts.repeats
            slot, is_stored = _update.learn(
                label, weight, float(self.novelty), self.budget, self._rows_of(forecast.queries),
                self.n_support, self._stores[0].inserted, posteriors.experts, posteriors.scales,
                posteriors.means, posteriors.covariances, posteriors.changes, posteriors.inverses,
                mixture.weights, mixture.top, mixture.counts, repeats.counts, repeats.recent, forecast.outputs,
            ), False  # fmt: skip
        if slot < 0:
            self._forget_queries()
            return
        if not is_stored:
            self._store(forecast.queries, slot)
        self._on_changes(1)

    @property
    def _learning(self) -> tuple[Any, ...]:
        return float(self.novelty), self.budget, *self._experts.learning

    def _store(self, queries: list[Query], slot: int) -> None:
        """Store an example in a slot, used or the next one."""
        for store, query in zip(self._stores, queries, strict=True):
            if slot == store.n:
                store.add(query)
            else:
                store.replace(slot, query)

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
        shared = self._shared
        if shared is None:
            parts = zip(self._stores, block.parts, strict=True)
            forecast = self._mixed([store.query_row(part, row) for store, part in parts])
            self._learn(forecast, int(columns[row]), float(weights[row]))
            if self._n_rounds >= self._observed_at:
                self._observe(forecast.queries, forecast.queries[0].row)
            return 1
        part, n = block.parts[0], shared.n
        later = np.flatnonzero(columns[row:] >= self._experts.n_labels)
        stop = row + int(later[0]) if len(later) else len(columns)
        stop = min(stop, row + max(1, self._observed_at - self._n_rounds))
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
        is_new = slot >= 0 and not is_stored
        if is_new:
            self._store(queries, slot)
        self._on_changes(n_stored + is_new)
        if self._n_rounds >= self._observed_at:
            self._observe(queries, queries[0].row)
        return last + 1 - row

    def _block(self, frame: Any) -> Any:
        rows = rows_of(frame)
        return Block(frame, [store.block(frame.columns, rows) for store in self._stores])

    def _score_block(self, block: Any) -> Floats:
        experts, shared, part = self._experts, self._shared, block.parts[0]
        probabilities = np.empty((len(part), experts.n_labels))
        if shared is not None:
            layout = shared.block_layout(part)
            _round.predict_block(
                part.values, probabilities, np.empty(layout.size), *shared.arguments(layout),
                *experts.arguments, experts.new_outputs(),
            )  # fmt: skip
        else:
            for row in range(len(part)):
                parts = zip(self._stores, block.parts, strict=True)
                queries = [store.query_row(own, row) for store, own in parts]
                probabilities[row] = self._mixed(queries).outputs[-1]
        return _scores(probabilities)

    def _probabilities(self, scores: Floats) -> Floats:
        return 0.5 + 0.5 * scores if scores.shape[1] > 1 else np.ones_like(scores)

    def _check_inverses(self) -> None:
        """Check one column of each inverse, in turn, and recompute inaccurate inverses.

        All vectors count as having norm 1, even the zero vector, whose norm under `Normalized` is
        0.

        """
        n, posteriors = self.n_support, self._experts.posteriors
        slot = self._n_changes // CHECK_INTERVAL % n
        for z, row in enumerate(self._rows_of_slot(slot)):
            row[slot] = 1.0 + _update.JITTER
            residual = posteriors.product(z, row)
            residual[slot] -= 1.0
            if not abs(residual).max() <= LARGEST_RESIDUAL:
                posteriors.set_inverse(z, np.linalg.inv(_regularized(self._grams()[z])))
                self._n_rebuilds += 1


def _scores(probabilities: Floats) -> Floats:
    """Return twice the probabilities minus 1 (..., labels); exactly -f and f for two labels."""
    scores = 2.0 * probabilities - 1.0
    if scores.shape[-1] == 2:
        scores[..., 0] = -scores[..., 1]
    return scores


def _kernels_of(store: VectorStore) -> Sequence[Kernel]:
    return store.kernels if isinstance(store, SharedStore) else (store.kernel,)


def _rescale_store(
    store: VectorStore,
    kernels: Sequence[Kernel],
    scales: Scales,
    vectors: Sequence[Features] | None = None,
) -> None:
    """Change the kernels and the scales of a store; see `VectorStore.rescale`."""
    if isinstance(store, SharedStore):
        store.rescale_all(kernels, scales.factors, scales.pooled)
    else:
        store.rescale(kernels[0], scales.factors, scales.pooled, vectors)


def _rows_of_slots(store: VectorStore, slots: Sequence[int]) -> Floats:
    """Return the kernel rows of the vectors in slots (slots, kernels of the store, n)."""
    if isinstance(store, SharedStore):
        rows = list(store.rows_of_slots(slots))
        return np.array(rows).reshape(len(slots), len(store.kernels), store.n)
    return np.array([store.row(slot)[None] for slot in slots]).reshape(len(slots), 1, store.n)


def _rows_of_query(store: VectorStore, query: Query) -> Floats:
    """Return the kernel rows of a query (kernels of the store, n)."""
    if isinstance(store, SharedStore):
        return store.rows_of_query(query)[:, : query.n]
    return query.row[None]


def _regularized(grams: Floats) -> Floats:
    """Return K + jitter I for Gram matrices (..., n, n), with k(x, x) = 1 for every vector."""
    regularized, diagonal = grams.copy(), np.arange(grams.shape[-1])
    regularized[..., diagonal, diagonal] = 1.0 + _update.JITTER
    return regularized


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
