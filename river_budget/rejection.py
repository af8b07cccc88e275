"""A wrapper that does not answer where a classifier does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from river import base
from river.compose import Pipeline

from river_budget.base import Machine, classifier_of
from river_budget.kernels import Features

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Reject"]


class Reject(base.Wrapper[base.Estimator], base.Classifier):
    """Predicts None for examples that are unlike all that a classifier has learned.

    An example is rejected if its novelty is above a threshold: its squared distance in feature space
    from the span of the support vectors, or from the nearest one, as a share of its squared norm.
    With `Mnemotron` and the Projectron it is the former, with the other algorithms the latter.
    Nothing is rejected when learning, so a new label is learned as ever.

    To choose a threshold, compare the novelty of known and of unknown examples with
    `river.metrics.ROCAUC`.

    Parameters
    ----------
    model
        A classifier of this package, or a pipeline that ends in one.
    threshold
        The largest novelty of an example that is answered, from 0 to 1.

    Raises
    ------
    ValueError
        If the model is none of these, or the threshold is out of range.

    Examples
    --------

    >>> import numpy as np
    >>> import river_budget as rb

    >>> model = rb.Reject(rb.Projectron(rb.RBF(gamma=1.0)), threshold=0.5)
    >>> for angle in np.linspace(0.0, 1.0, 20):
    ...     model.learn_one({"x": np.cos(angle), "y": np.sin(angle)}, "low" if angle < 0.5 else "high")

    >>> model.predict_one({"x": 1.0, "y": 0.1})
    'low'
    >>> round(model.novelty_one({"x": 1.0, "y": 0.1}), 3)
    0.0
    >>> print(model.predict_one({"x": -2.0, "y": 0.0}))
    None

    """

    def __init__(self, model: base.Classifier | Pipeline, threshold: float = 0.5) -> None:
        if not isinstance(classifier_of(model), Machine):
            raise ValueError(f"model must be a classifier of river_budget, got {model!r}")
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be from 0 to 1, got {threshold!r}")
        self.model = model
        self.threshold = threshold

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

    def novelty_one(self, x: Features) -> float:
        """Return the novelty of x; see `Forgetron.novelty_one`.

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
        return classifier_of(self.model).novelty_one(features)

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        if self.novelty_one(x) > self.threshold:
            return None
        return self.model.predict_one(x, **kwargs)

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        return self.model.predict_proba_one(x, **kwargs)
