"""A wrapper that does not answer when in doubt."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from river import base
from river.compose import Pipeline

from river_budget._checks import check_probability, one_of
from river_budget._core.answer import Answer
from river_budget._state import require
from river_budget.base import documented
from river_budget.calibration import ClassifierWrapper
from river_budget.kernels import Features
from river_budget.perceptrons.forgetron import Forgetron

__all__ = ["Reject"]


@documented
class Reject(ClassifierWrapper):
    """Predicts None where a classifier is in doubt.

    Use it for a router that needs "none of these". Doubt is a number from 0 to 1:

    - Novelty finds examples unlike all others: see `novelty_one`. The more vectors a `Mnemotron` has,
      the smaller it is, and the smaller the threshold must be.
    - Entropy finds examples that could belong to several labels: that of the probabilities, as a
      share of the largest possible. Use calibrated ones: `Mnemotron`, or `Calibrated`.

    To choose one and a threshold, compare the doubt about known and unknown examples with
    `river.metrics.ROCAUC`. River's metrics leave rejected examples out: report the answered share.
    `learn_one` and `predict_proba_one` reject nothing.

    Parameters
    ----------
    model
        A classifier, or a pipeline that ends in one. Novelty needs one of this package with a
        support set, also in `Calibrated`; entropy needs one that predicts probabilities.
    threshold
        The largest doubt about an example that is answered, from 0 to 1.
    doubt
        `"novelty"` or `"entropy"`.

    Examples
    --------
    >>> from river import datasets, metrics
    >>> import river_budget as rb

    >>> model = rb.Reject(rb.Projectron(rb.RBF(gamma=1.0)), threshold=0.5)
    >>> for u in (0.0, 0.1, 0.9, 1.0):
    ...     model.learn_one({"u": u}, "low" if u < 0.5 else "high")
    >>> [model.predict_one({"u": u}) for u in (0.2, 0.8, -2.0)]
    ['low', 'high', None]
    """

    def __init__(
        self, model: base.Classifier | Pipeline, threshold: float = 0.5, doubt: str = "novelty"
    ) -> None:
        super().__init__(model)
        check_probability("threshold", threshold)
        one_of("novelty", "entropy")("doubt", doubt)
        has_novelty = self._chain.has_novelty
        error = "the model keeps no examples, so there is no novelty: use doubt='entropy'"
        require(doubt == "entropy" or has_novelty, error)
        self.threshold = threshold
        self.doubt = doubt

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": Forgetron()}

    def doubt_one(self, x: Features) -> float:
        """Return the doubt about x, from 0 to 1. Raises ValueError if the model refuses x."""
        if self.doubt == "novelty":
            return self._chain.novelty(x)
        return _entropy(self._chain.ask(x).probabilities)

    def ask(self, x: Features) -> Answer:
        answer = self._chain.ask(x)
        is_by_novelty = self.doubt == "novelty"
        doubt = answer.novelty if is_by_novelty else _entropy(answer.probabilities)
        if doubt > self.threshold:
            answer.label = None
        return answer

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        doubt, label = self.doubt_one(x), super().predict_one(x, **kwargs)
        return None if doubt > self.threshold else label


def _entropy(probabilities: dict[Any, float]) -> float:
    """Return the entropy of probabilities as a share of the largest possible; 1 if there are none."""
    if not probabilities:
        return 1.0
    entropy = -math.fsum(p * math.log(p) for p in probabilities.values() if p > 0.0)
    return min(1.0, entropy / math.log(max(len(probabilities), 2)))
