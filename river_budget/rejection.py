"""A wrapper that does not answer when in doubt."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from river import base
from river.compose import Pipeline

from river_budget._checks import check_probability, number_check, one_of
from river_budget._core.answer import Answer, Asked
from river_budget._state import Field, State, count, finite, require
from river_budget.base import documented
from river_budget.base.frames import Batch, LabelSeries, frame_of, labels_of
from river_budget.base.labels import weights_of
from river_budget.calibration import ClassifierWrapper, options_of
from river_budget.kernels import Features
from river_budget.perceptrons.forgetron import Forgetron

__all__ = ["Reject"]

# How a learned threshold moves, chosen on doubts about clinc150, Pendigits, jumps and trends. The spread is a mean
# over about MEMORY examples, a step is proportional to STEP times the spread, and the level moves by CORRECTION
# times the difference between the share that was asked for and what happened.
MEMORY, STEP, CORRECTION = 1000, 0.6, 0.0003

check_share = number_check("a number from 0.001 to 0.5", lambda value: 0.001 <= value <= 0.5)


@dataclasses.dataclass(frozen=True)
class _Quantile:
    """The number that a given share of a stream exceeds, followed through drift.

    An example that exceeds `value` moves it up by a multiple of `1 - level`; any other moves it down by
    the same multiple of `level`. So it settles where the share of larger examples is `level`. While a
    trend lasts, `value` lags behind, so `level` moves, too, until the share is what was asked for.
    """

    n: int = 0
    value: float = 1.0  # While n is 0, no doubt exceeds it.
    spread: float = 0.0  # The mean distance of the stream from `value`.
    level: float = 0.0

    def after(self, doubt: float, share: float) -> _Quantile:
        """Return the quantile after another example."""
        n = self.n + 1
        value = self.value if self.n else 0.0
        memory = min(n, MEMORY)
        spread = self.spread + (abs(doubt - value) - self.spread) / memory
        if n * share <= 1.0:
            # At first, the largest of all examples.
            return _Quantile(n, max(value, doubt), spread, share)
        exceeds = doubt > value
        level = self.level + CORRECTION * (share - exceeds)
        level = min(max(level, 0.5 * share), 2.0 * share)
        value += STEP * spread / (share * memory) * (exceeds - level)
        # It may leave the range of the stream by a step; otherwise, steps at the end of the range would not cancel out.
        return _Quantile(n, value, spread, level)

    def state(self) -> State:
        """Return the fields."""
        return dataclasses.asdict(self)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return sys.getsizeof(self) + sum(map(sys.getsizeof, self.state().values()))


def _quantile_of(state: State) -> _Quantile:
    """Return the quantile of a state. Raises ValueError if a field is invalid."""
    return _Quantile(
        n=count(state["n"]),
        value=finite(state["value"], -1.0, 10.0),
        spread=finite(state["spread"], 0.0, 10.0),
        level=finite(state["level"], 0.0, 1.0),
    )


@documented
class Reject(ClassifierWrapper):
    """Predicts None where a classifier is in doubt.

    Use it for a router that needs "none of these". Doubt is a number from 0 to 1, of one of two kinds:

    - Novelty finds examples unlike all others: see `novelty_one`. The more vectors a `Mnemotron` has,
      the smaller the novelty is, and the smaller the threshold must be.
    - Entropy finds examples that could belong to several labels. It is the entropy of the probabilities,
      as a share of the largest possible. Use calibrated ones: `Mnemotron`, or `Calibrated`.

    The threshold is either given, or learned so that a given share of known examples is rejected. To
    learn it, each example whose label the model knows is compared with the threshold before the model
    learns it. The threshold moves up if the example would have been rejected, and otherwise down a
    little, as in online quantile estimation and adaptive conformal inference [^1]. The steps are
    proportional to the spread of the doubts. After drift, the threshold adapts within one or two
    thousand examples.

    To choose a kind of doubt, compare the doubt about known and unknown examples with
    `river.metrics.ROCAUC`. River's metrics leave rejected examples out, so report the answered share,
    too. `learn_one` and `predict_proba_one` reject nothing.

    Parameters
    ----------
    model
        A classifier, or a pipeline that ends in one. Novelty needs one of this package, which may be in
        `Calibrated`; entropy needs one that predicts probabilities.
    threshold
        The largest doubt about an example that is answered, from 0 to 1; 0.5 if no share is given.
    doubt
        The kind of doubt, `"novelty"` or `"entropy"`.
    share
        The share of known examples to reject, from 0.001 to 0.5, instead of a threshold.

    Examples
    --------
    >>> from river import datasets, metrics
    >>> import river_budget as rb

    >>> model = rb.Reject(rb.Projectron(rb.RBF(gamma=1.0)), threshold=0.5)
    >>> for u in (0.0, 0.1, 0.9, 1.0):
    ...     model.learn_one({"u": u}, "low" if u < 0.5 else "high")
    >>> [model.predict_one({"u": u}) for u in (0.2, 0.8, -2.0)]
    ['low', 'high', None]

    With a share, on a stream that drifts:

    >>> model = rb.Reject(rb.KernelLDA(n_features=100, forgetting=0.999), share=0.05)
    >>> n_rejected = 0
    >>> for x, y in rb.synth.RotatingGaussians(5000, seed=1):
    ...     n_rejected += model.predict_one(x) is None
    ...     model.learn_one(x, y)
    >>> f"{n_rejected / 5000:.1%}"
    '4.8%'

    References
    ----------
    [^1]: [Gibbs, I. and Candes, E., 2021. Adaptive conformal inference under distribution shift. NeurIPS.](https://arxiv.org/abs/2106.00170)
    """

    _quantile = Field(_Quantile, _quantile_of)

    def __init__(
        self,
        model: base.Classifier | Pipeline,
        threshold: float | None = None,
        doubt: str = "novelty",
        share: float | None = None,
    ) -> None:
        super().__init__(model)
        one_of("novelty", "entropy")("doubt", doubt)
        error = "the model has no novelty_one: use doubt='entropy', or a classifier of this package"
        require(doubt == "entropy" or self._chain.has_novelty, error)
        if share is None:
            threshold = 0.5 if threshold is None else threshold
            check_probability("threshold", threshold)
        else:
            check_share("share", share)
            error = "give a threshold or a share, and not both: a share learns the threshold"
            require(threshold is None, error)
        self.threshold = threshold
        self.doubt = doubt
        self.share = share

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": Forgetron()}

    @property
    def current_threshold(self) -> float:
        """The largest doubt with which an example is answered now, as given or as learned so far."""
        return self._quantile.value if self.threshold is None else self.threshold

    def doubt_one(self, x: Features) -> float:
        """Return the doubt about x, from 0 to 1. Raises ValueError if the model refuses x."""
        if self.doubt == "novelty":
            return self._chain.novelty(x)
        return _entropy(self._chain.ask(x).probabilities)

    def ask(self, x: Features) -> Answer:
        answer = self._chain.ask(x)
        if self._doubt_of(answer) > self.current_threshold:
            answer.label = None
        return answer

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        doubt, label = self.doubt_one(x), super().predict_one(x, **kwargs)
        return None if doubt > self.current_threshold else label

    def learn_one(self, x: Features, y: base.typing.ClfTarget, **kwargs: Any) -> None:
        """Let the model learn an example, and move a learned threshold by the doubt about it.

        Keyword arguments such as the weight `w` go to the model. For the threshold, every example counts
        once, unless its weight is 0, because the threshold estimates a share of the stream.
        """
        self._learn_with(x, y, None, kwargs)

    def learn_many(
        self,
        X: Batch,
        y: LabelSeries,
        w: float | Iterable[float] | None = None,
        **kwargs: Any,
    ) -> None:
        """Learn the rows of a frame in order, with the same result as `learn_one` on each row.

        The model needs no `learn_many`. Raises ValueError at a row that `learn_one` refuses; the rows
        before it are learned.

        Parameters
        ----------
        X
            A frame of features, or a dict of columns, as arrays (rows,) of values or (rows, elements).
        y
            A series of labels.
        w
            A series or sequence of weights, or one weight for all rows.
        **kwargs
            Further arguments of `learn_one` of the model, the same for all rows.
        """
        frame = frame_of(X)
        labels = labels_of(y, len(frame.rows))
        weights = np.ones(len(labels)) if w is None else weights_of(w, len(labels))
        for row, label, weight in zip(frame.rows, labels, weights.tolist(), strict=True):
            x = dict(zip(frame.columns, row.tolist(), strict=True))
            self.learn_one(x, label, **options_of(weight), **kwargs)

    def _learn_asked(self, x: Features, y: Any, asked: Asked, w: float) -> None:
        self._learn_with(x, y, asked, options_of(w))

    def _learn_with(
        self, x: Features, y: Any, asked: Asked | None, options: dict[str, Any]
    ) -> None:
        """Let the model learn an example, and move a learned threshold by the doubt about it."""
        chain = self._chain
        n_rounds = chain.n_rounds
        before, after = self._quantile, self._quantile_after(x, y, options)
        try:
            chain.learn(x, y, asked, **options)
        except BaseException:
            # An interrupt may come after the model has learned.
            if n_rounds is None or chain.n_rounds == n_rounds:
                after = before
            raise
        finally:
            self._quantile = after

    def _quantile_after(self, x: Features, y: Any, options: dict[str, Any]) -> _Quantile:
        """Return the quantile of the doubts after an example that the model has not learned yet."""
        if self.share is None or options.get("w") == 0:
            return self._quantile
        try:
            answer = self._chain.ask(x)
            known = answer.scores if self.doubt == "novelty" else answer.probabilities
            if y not in known:  # An example of a new label should be rejected.
                return self._quantile
            return self._quantile.after(self._doubt_of(answer), self.share)
        except (TypeError, ValueError):
            # If the model refuses the example, `learn` raises the error; some it learns, but cannot score.
            return self._quantile

    def _doubt_of(self, answer: Answer) -> float:
        return answer.novelty if self.doubt == "novelty" else _entropy(answer.probabilities)


def _entropy(probabilities: dict[Any, float]) -> float:
    """Return the entropy of probabilities as a share of the largest possible; 1 if there are none."""
    if not probabilities:
        return 1.0
    entropy = -math.fsum(p * math.log(p) for p in probabilities.values() if p > 0.0)
    return min(1.0, entropy / math.log(max(len(probabilities), 2)))
