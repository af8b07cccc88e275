"""A wrapper that predicts sets of labels, which cover the true one at a chosen rate."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from river import base
from river.compose import Pipeline

from river_budget._checks import check_probability
from river_budget._core.answer import Answer, Asked
from river_budget._state import LARGEST_COUNT, Field, Number, State, floats, require
from river_budget.base import documented
from river_budget.base.frames import Batch, LabelSeries, by_row, frame_of, labels_of
from river_budget.base.labels import check_class
from river_budget.calibration import ClassifierWrapper, options_of
from river_budget.kernels import Features
from river_budget.perceptrons.forgetron import Forgetron

__all__ = ["PredictionSets"]

# The smallest share of misses that can be asked for, and the smallest of hits.
RAREST = 1e-6

# The step sizes of the two estimates of a quantile, in logits.
SLOW, FAST = 0.02, 0.1

# The share of the weights of two estimates that returns to equal weights in each round.
SHARE = 0.001

# Larger logits, and those of 0 and 1, count as this.
LARGEST_LOGIT = 12.0

# No estimate leaves the range of logits by more than a step.
LARGEST_ESTIMATE = LARGEST_LOGIT + FAST

# Quantiles are estimated at these odds of a miss, as multiples of the odds at the target.
MULTIPLES = (0.1, 1.0, 3.0)

# The excess of misses is measured in units of what chance brings in this many rounds.
HORIZON = 4000

# Beyond this many units of excess, each further miss moves the threshold by this many logits.
FAR, PUSH = 4.0, 0.1

# A threshold above every probability, with which no label is in the set.
ABOVE_ALL = 2.0


class Quantile(NamedTuple):
    """A quantile of a stream of scores, with a slow and a fast estimate.

    An estimate moves against the gradient of the pinball loss. The weight of an estimate is multiplied
    by `exp(-loss)`.

    Attributes
    ----------
    level
        The share of scores that are below the quantile.
    slow, fast
        The estimates.
    trust
        The weight of the fast estimate; the other one has the rest of 1.
    """

    level: float
    slow: float
    fast: float
    trust: float

    @property
    def value(self) -> float:
        """The weighted mean of the estimates."""
        return self.slow + self.trust * (self.fast - self.slow)

    def after(self, score: float) -> Quantile:
        """Return the quantile after a further score."""
        level, slow, fast, trust = self
        slow_slope, fast_slope = (score < slow) - level, (score < fast) - level
        gain = slow_slope * (slow - score) - fast_slope * (fast - score)
        odds = trust / (1.0 - trust) * math.exp(gain)
        trust = (1.0 - SHARE) * odds / (1.0 + odds) + 0.5 * SHARE
        return Quantile(level, slow - SLOW * slow_slope, fast - FAST * fast_slope, trust)


class Quantiles:
    """Quantiles of a stream of scores at several levels. They never change: `after` returns new ones.

    Attributes
    ----------
    each
        The quantile at each level, ascending.
    nbytes
        Memory of the numbers in bytes.
    """

    def __init__(self, each: list[Quantile]) -> None:
        self.each = each

    @property
    def nbytes(self) -> int:
        numbers = [number for one in self.each for number in one]
        return sum(map(sys.getsizeof, [self.each, *self.each, *numbers]))

    def at(self, level: float) -> float:
        """Return the quantile at a level, interpolated linearly between the estimated levels."""
        below, *others = self.each
        value = below.value
        for above in others:
            # Estimates at two levels may cross.
            rise = max(0.0, above.value - value)
            share = (level - below.level) / (above.level - below.level)
            if share <= 1.0:
                return value + rise * max(0.0, share)
            below, value = above, value + rise
        return value

    def after(self, score: float) -> Quantiles:
        """Return the quantiles after a further score."""
        return Quantiles([one.after(score) for one in self.each])

    def state(self) -> State:
        return {
            "estimates": np.array([[one.slow, one.fast] for one in self.each]),
            "trust": np.array([one.trust for one in self.each]),
        }

    def restore(self, state: State) -> None:
        estimates = floats(state["estimates"], (len(self.each), 2), LARGEST_ESTIMATE).tolist()
        trust = floats(state["trust"], (len(self.each),), 1.0)
        are_shares = ((trust > 0.0) & (trust < 1.0)).all()
        require(are_shares, "the weight of an estimate is not between 0 and 1")
        self.each = [
            Quantile(one.level, slow, fast, weight)
            for one, (slow, fast), weight in zip(self.each, estimates, trust.tolist(), strict=True)
        ]


@documented
class PredictionSets(ClassifierWrapper):
    """Predicts the set of labels that covers the true one in a given share of the rounds.

    Use it where somebody acts on a prediction only if it is safe: if the set has one label, that is the
    prediction; if it has several, they are the candidates. If the model is right more often than
    `coverage` asks for, the sets of the most doubtful examples are empty. `predict_one` and
    `predict_proba_one` are those of the model.

    A set consists of the labels whose probability is at least a threshold. If the probabilities are
    right, these sets are the smallest on average [^1]. The threshold is a quantile of the probabilities
    of true labels. Quantiles at three levels are estimated online. Each has two estimates, with a small
    and a large step size [^2], which are weighed by their pinball loss as in [^3]. The excess of misses
    over the target chooses the level. Once it is large, it also moves the threshold further, which is
    the error integration of [^4]. So the share of misses tends to `1 - coverage` on any sequence of
    examples, whatever the drift, if the model knows their labels: a label that it has never seen is in
    no set, and counts as a miss. Rounds in which the model knows no label at all do not count.

    The quantiles learn from the probabilities of an example before the model learns it. For late labels,
    use `ask` and `learn`: an answer keeps its set, and what counts is whether that set covers the label.
    `learn_one` compares a label with the set that its example would get now.

    Parameters
    ----------
    model
        A classifier that predicts probabilities, or a pipeline that ends in one. The better calibrated
        the probabilities are, the smaller the sets.
    coverage
        The share of rounds in which the set should cover the label, from 0.000001 to 0.999999.

    Examples
    --------
    >>> from river import datasets
    >>> import river_budget as rb

    >>> model = rb.PredictionSets(rb.Mnemotron(), coverage=0.9)
    >>> coverage, size = rb.metrics.SetCoverage(), rb.metrics.SetSize()
    >>> for x, y in datasets.ImageSegments():
    ...     labels = model.predict_set_one(x)
    ...     coverage.update(y, labels)
    ...     size.update(y, labels)
    ...     model.learn_one(x, y)
    >>> coverage, size
    (SetCoverage: 89.70%, SetSize: 0.926)

    References
    ----------
    [^1]: [Sadinle, M., Lei, J. and Wasserman, L., 2019. Least ambiguous set-valued classifiers with bounded error levels. JASA, 114, pp.223-234.](https://doi.org/10.1080/01621459.2017.1395341)
    [^2]: [Gibbs, I. and Candes, E., 2021. Adaptive conformal inference under distribution shift. NeurIPS.](https://arxiv.org/abs/2106.00170)
    [^3]: [Gibbs, I. and Candes, E., 2024. Conformal inference for online prediction with arbitrary distribution shifts. JMLR, 25(162), pp.1-36.](https://arxiv.org/abs/2208.08401)
    [^4]: [Angelopoulos, A., Candes, E. and Tibshirani, R., 2023. Conformal PID control for time series prediction. NeurIPS.](https://arxiv.org/abs/2307.16895)
    """

    _quantiles = Field[Quantiles]()

    excess = Number(
        -LARGEST_COUNT,
        LARGEST_COUNT,
        start=0.0,
        doc="By how much the misses exceed the target; below 0 if there are fewer.",
    )

    def __init__(self, model: base.Classifier | Pipeline, coverage: float = 0.9) -> None:
        super().__init__(model)
        check_probability("coverage", coverage)
        is_possible = RAREST <= coverage <= 1.0 - RAREST
        require(is_possible, f"coverage must be from {RAREST} to {1.0 - RAREST}, got {coverage}")
        self.coverage = coverage
        self._miss_rate = 1.0 - coverage
        self._firm = math.sqrt(HORIZON * coverage * self._miss_rate)
        self._quantiles = Quantiles([_at_start(m * self._miss_rate / coverage) for m in MULTIPLES])
        self._threshold = self._threshold_of(self._quantiles, self.excess)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": Forgetron()}

    @property
    def threshold(self) -> float:
        """The smallest probability of a label that is in a set; above 1 if all sets are empty."""
        return self._threshold

    def predict_set_one(self, x: Features) -> set[Any]:
        """Return the labels that an example may have: at the chosen rate, one of them is the true one.

        Raises ValueError if the model refuses x, a dict.
        """
        probabilities, threshold = self._probabilities(x), self._threshold
        self._note_prediction()
        return {label for label, p in probabilities.items() if not p < threshold}

    def set_of(self, answer: Answer) -> set[Any]:
        """Return the set that `predict_set_one` would have returned when the answer was asked for.

        Raises ValueError if the answer is that of the model inside.
        """
        return {label for label, gap in _gaps_of(answer).items() if gap == 0.0}

    def ask(self, x: Features) -> Answer:
        answer, threshold = self._chain.ask(x), self._threshold
        answer.gaps = {
            label: threshold - p if p < threshold else 0.0
            for label, p in answer.probabilities.items()
        }
        return answer

    def learn_one(self, x: Features, y: base.typing.ClfTarget, **kwargs: Any) -> None:
        """Let the model learn an example, and the threshold whether its set covers the label.

        Keyword arguments such as the weight `w` go to the model. The threshold counts every example
        once.
        """
        self._learn_with(self._probabilities_if_any(x), None, x, y, None, kwargs)

    def learn_many(self, X: Batch, y: LabelSeries, **kwargs: Any) -> None:
        """Learn the rows of a frame in order, as `learn_one` does, with the same keyword arguments for all.

        Raises ValueError, with the number of the row, if a row is refused. The rows before it are learned.

        Parameters
        ----------
        X
            A frame of features, or a dict of columns.
        y
            A series of labels.
        """
        frame = frame_of(X)
        examples = [dict(zip(frame.columns, row, strict=True)) for row in frame.rows.tolist()]
        learn_one = functools.partial(self.learn_one, **kwargs)
        by_row(learn_one, examples, labels_of(y, len(examples)))

    def _learn_answer(self, answer: Answer, y: Any, w: float) -> None:
        """Learn the example of an answer, and whether the set of that time covers the label."""
        gaps, asked = _gaps_of(answer), answer.asked._replace(gaps=None)
        is_late = getattr(self._chain.source, "n_rounds", None) != answer.n_rounds
        now = self._probabilities_if_any(answer.x) if is_late else answer.probabilities
        self._learn_with(now, gaps, answer.x, y, asked, options_of(w))

    def _learn_asked(self, x: Features, y: Any, asked: Asked, w: float) -> None:
        # A model inside that keeps gaps, too, computes its own anew.
        inside = asked._replace(gaps=None)
        self._learn_with(self._probabilities_if_any(x), asked.gaps, x, y, inside, options_of(w))

    def _check_restored(self) -> None:
        self._threshold = self._threshold_of(self._quantiles, self.excess)

    def _threshold_of(self, quantiles: Quantiles, excess: float) -> float:
        """Return the threshold that follows from quantiles and from the excess of misses."""
        relative = excess / self._firm
        share = math.exp(-(relative**2)) if relative > 0.0 else 1.0 - relative
        beyond = max(0.0, abs(excess) - FAR * self._firm)
        logit = quantiles.at(self._miss_rate * share) - math.copysign(PUSH * beyond, excess)
        if logit <= -LARGEST_LOGIT:
            return 0.0
        return ABOVE_ALL if logit > LARGEST_LOGIT else 1.0 / (1.0 + math.exp(-logit))

    def _probabilities(self, x: Features) -> dict[Any, float]:
        """Return the probabilities of the model now."""
        chain = self._chain
        features = chain.features(x)
        if chain.asks:
            return chain.last.ask(features).probabilities
        return chain.last.predict_proba_one(features)

    def _probabilities_if_any(self, x: Features) -> dict[Any, float]:
        """Return the probabilities now, or none if the model can learn the example but not score it."""
        try:
            return self._probabilities(x)
        except ValueError:
            return {}

    def _learn_with(
        self,
        probabilities: dict[Any, float],
        gaps: dict[Any, float] | None,
        x: Features,
        y: Any,
        asked: Asked | None,
        options: dict[str, Any],
    ) -> None:
        """Let the model learn an example, given its probabilities now and the gaps of its set.

        If gaps are None, the set is the one that the example would get now.
        """
        check_class(y)
        chain = self._chain
        quantiles, excess = self._after(probabilities, gaps, y)
        threshold = self._threshold_of(quantiles, excess)
        n_rounds = chain.n_rounds
        try:
            chain.learn(x, y, asked, **options)
        except BaseException:
            # An interrupt may come after the model has learned.
            if n_rounds is None or chain.n_rounds == n_rounds:
                quantiles, excess, threshold = self._quantiles, self.excess, self._threshold
            raise
        finally:
            # No interrupt comes in between.
            self._quantiles, self.excess, self._threshold = quantiles, excess, threshold

    def _after(
        self, probabilities: dict[Any, float], gaps: dict[Any, float] | None, y: Any
    ) -> tuple[Quantiles, float]:
        """Return the quantiles and the excess after a label, if there were labels to predict."""
        quantiles, excess = self._quantiles, self.excess
        if probabilities:
            quantiles = quantiles.after(_logit(probabilities.get(y, 0.0)))
        if gaps is None:
            could_predict = bool(probabilities)
            is_missed = y not in probabilities or probabilities[y] < self._threshold
        else:
            could_predict = bool(gaps)
            is_missed = gaps.get(y, ABOVE_ALL) > 0.0
        if could_predict:
            excess += is_missed - self._miss_rate
        return quantiles, excess


def _at_start(odds: float) -> Quantile:
    """Return the quantile at the level with these odds before the first score."""
    return Quantile(odds / (1.0 + odds), slow=0.0, fast=0.0, trust=0.5)


def _gaps_of(answer: Answer) -> dict[Any, float]:
    if answer.gaps is None:
        raise ValueError("the answer is that of the model inside: ask the one with sets")
    return answer.gaps


def _logit(p: float) -> float:
    """Return the logit of a probability in the range of estimates; NaN counts as 0."""
    if not p > 0.0:
        return -LARGEST_LOGIT
    if p >= 1.0:
        return LARGEST_LOGIT
    return max(-LARGEST_LOGIT, min(LARGEST_LOGIT, math.log(p / (1.0 - p))))
