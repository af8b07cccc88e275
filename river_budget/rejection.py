"""A wrapper that does not answer where a classifier is in doubt."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from river import base
from river.compose import Pipeline

from river_budget.base import Machine, classifier_of
from river_budget.kernels import Features

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Reject"]


class Reject(base.Wrapper[base.Estimator], base.Classifier):
    """Predicts None where a classifier is in doubt.

    Doubt is one of two figures from 0 to 1:

    - The novelty of an example: its squared distance in feature space from the span of the support
      vectors, or from the nearest one, as a share of its squared norm. It finds examples that are
      unlike all that was learned. With `Mnemotron` and the Projectron it is the former, with the
      other algorithms the latter.
    - The entropy of the predicted probabilities, as a share of that of equal ones. It finds examples
      that could belong to several labels, such as questions in the same words as known ones.

    Nothing is rejected when learning, so a new label is learned as ever. To choose between them, and a
    threshold, compare the doubt about known and unknown examples with `river.metrics.ROCAUC`.

    Parameters
    ----------
    model
        A classifier of this package, or a pipeline that ends in one.
    threshold
        The largest doubt about an example that is answered, from 0 to 1.
    doubt
        `"novelty"` or `"entropy"`.

    Raises
    ------
    ValueError
        If a parameter is none of these.

    Examples
    --------

    >>> import numpy as np
    >>> import river_budget as rb

    >>> model = rb.Reject(rb.Projectron(rb.RBF(gamma=1.0)), threshold=0.5)
    >>> for angle in np.linspace(0.0, 1.0, 20):
    ...     model.learn_one({"x": np.cos(angle), "y": np.sin(angle)}, "low" if angle < 0.5 else "high")

    >>> model.predict_one({"x": 1.0, "y": 0.1})
    'low'
    >>> round(model.doubt_one({"x": 1.0, "y": 0.1}), 3)
    0.005
    >>> print(model.predict_one({"x": -2.0, "y": 0.0}))
    None

    """

    def __init__(
        self, model: base.Classifier | Pipeline, threshold: float = 0.5, doubt: str = "novelty"
    ) -> None:
        if not isinstance(classifier_of(model), Machine):
            raise ValueError(f"model must be a classifier of river_budget, got {model!r}")
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be from 0 to 1, got {threshold!r}")
        if doubt not in DOUBTS:
            raise ValueError(f"doubt must be one of {list(DOUBTS)}, got {doubt!r}")
        self.model = model
        self.threshold = threshold
        self.doubt = doubt

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river_budget.perceptrons.forgetron import Forgetron

        yield {"model": Forgetron()}

    @property
    def _wrapped_model(self) -> Any:
        return self.model

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Features, y: base.typing.ClfTarget, **kwargs: Any) -> None:
        self.model.learn_one(x, y, **kwargs)

    def doubt_one(self, x: Features) -> float:
        """Return the doubt about x, from 0 to 1.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If the model refuses x.

        """
        features = self.model.transform_one(x) if isinstance(self.model, Pipeline) else x
        return DOUBTS[self.doubt](classifier_of(self.model), features)

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        if self.doubt_one(x) > self.threshold:
            return None
        return self.model.predict_one(x, **kwargs)

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        return self.model.predict_proba_one(x, **kwargs)


def _novelty(model: Machine, x: Features) -> float:
    return model.novelty_one(x)


def _entropy(model: Machine, x: Features) -> float:
    """Return the entropy of the predicted probabilities, as a share of that of equal ones."""
    if not model.classes:
        return 1.0
    probabilities = model.predict_proba_one(x).values()
    entropy = -math.fsum(p * math.log(p) for p in probabilities if p > 0.0)
    return min(1.0, entropy / math.log(max(len(probabilities), 2)))


DOUBTS: dict[str, Callable[[Machine, Features], float]] = {"novelty": _novelty, "entropy": _entropy}
