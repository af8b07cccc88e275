"""Calibrated probabilities, learned online, and what the wrappers around classifiers share."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

from river import base
from river.compose import Pipeline

from river_budget._core.calibration import LARGEST_GAP, Calibrator
from river_budget._state import Field, Learned, bytes_of
from river_budget.base import OnlineClassifier, Perceptron, documented
from river_budget.base.machine import Copied, classifier_of, memory_of
from river_budget.kernels import Features

__all__ = ["Calibrated", "Calibrator"]

# Smaller probabilities of other libraries are raised to this, as in River's log loss.
SMALLEST_PROBABILITY = 1e-15


class ClassifierWrapper(Copied, Learned, base.Wrapper[base.Estimator], base.Classifier):
    """A classifier that forwards to another one inside."""

    def __init__(self, model: base.Classifier | Pipeline) -> None:
        if not isinstance(classifier_of(model), base.Classifier):
            raise ValueError(f"model must be a classifier, got {model!r}")
        self.model = model

    @property
    def memory_bytes(self) -> int:
        """Memory of the model inside and of the wrapper in bytes."""
        return memory_of(self.model) + sys.getsizeof(self) + bytes_of(self)

    @property
    def _wrapped_model(self) -> Any:
        return self.model

    @property
    def _multiclass(self) -> bool:
        return self._wrapped_model._multiclass  # noqa: SLF001 (River has no public name for it)

    def learn_one(self, x: Features, y: base.typing.ClfTarget, **kwargs: Any) -> None:
        self.model.learn_one(x, y, **kwargs)

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        return self.model.predict_one(x, **kwargs)

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        return self.model.predict_proba_one(x, **kwargs)


@documented
class Calibrated(ClassifierWrapper):
    """Calibrates the probabilities of a classifier online.

    Use it around a perceptron, whose probabilities rank examples but are far from frequencies. A
    label with the calibrated probability 0.8 comes in about 80 % of the cases.

    A calibration map turns the gap d between the largest logit and that of a label into the logit
    `-a d - r sqrt(d) + b`, with a bias b for each label: Platt scaling, with a root because
    probabilities of budgeted models often rise steeply near the decision boundary. Each example
    updates a, r and the biases by a Newton step on its log loss, with the sum of all Hessians so
    far [^1] [^2] (the papers approximate them by squared gradients). There are three maps, whose sums
    are multiplied in each round by 1, which suits scores that keep their meaning, and by 0.998 and
    0.99, which suit drift.

    Bayes' rule weights the maps and the model's own probabilities, whose prior is 1/2. In each
    round, a share of 0.0001 of the weights returns to the prior. After T rounds on any sequence,
    the mean log loss is therefore at most log(2) / T + 0.00011 above that of the model.

    The maps learn from scores of examples before the model learns these, if it knows their labels.
    `predict_one` is that of the model, and may differ from the most probable label.

    Parameters
    ----------
    model
        A classifier with scores or probabilities, or a pipeline that ends in one. This package's
        perceptrons give their scores, all other classifiers `predict_proba_one`.

    Attributes
    ----------
    calibrator
        The calibration maps; its `weights` are those of the mixture.

    Examples
    --------
    >>> from river import datasets, evaluate, preprocessing
    >>> import river_budget as rb

    >>> def error(model):
    ...     pipeline = preprocessing.StandardScaler() | model
    ...     metric = rb.metrics.CalibrationError()
    ...     return evaluate.progressive_val_score(datasets.Phishing(), pipeline, metric)

    >>> error(rb.Forgetron(budget=100))
    CalibrationError: 0.200...

    >>> error(rb.Calibrated(rb.Forgetron(budget=100)))
    CalibrationError: 0.038...

    References
    ----------
    [^1]: [Gupta, C. and Ramdas, A., 2023. Online Platt scaling with calibeating. ICML.](https://arxiv.org/abs/2305.00070)
    [^2]: [Hazan, E., Agarwal, A. and Kale, S., 2007. Logarithmic regret algorithms for online convex optimization. Machine Learning, 69, pp.169-192.](https://doi.org/10.1007/s10994-007-5016-8)
    """

    calibrator = Field[Calibrator](Calibrator)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river.dummy import PriorClassifier  # slow to import

        yield {"model": PriorClassifier()}

    def learn_one(self, x: Features, y: base.typing.ClfTarget, **kwargs: Any) -> None:
        """Let the model learn an example, and the maps what its scores meant.

        Keyword arguments such as the weight `w` go to the model. The maps count every example once,
        because they estimate frequencies in the stream as it is.
        """
        classifier = classifier_of(self.model)
        n_rounds = classifier.n_rounds if isinstance(classifier, OnlineClassifier) else None
        try:
            gaps = self._gaps(x, self._asked)
        except ValueError:  # It may still learn what it cannot score.
            gaps = {}
        try:
            self.model.learn_one(x, y, **kwargs)
        except BaseException:
            # An interrupt may come after the model has learned.
            if n_rounds is None or classifier.n_rounds == n_rounds:
                gaps = {}
            raise
        finally:
            self.calibrator.learn(gaps, y)

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        gaps = self._gaps(x, functools.partial(self.model.predict_proba_one, **kwargs))
        return self.calibrator.probabilities(gaps)

    def _asked(self, x: Features) -> dict[Any, float]:
        """Return the probabilities of the model, which does not note that it has predicted them."""
        classifier = classifier_of(self.model)
        if isinstance(classifier, OnlineClassifier):
            return classifier.ask(self._features(x)).probabilities
        return self.model.predict_proba_one(x)

    def _gaps(self, x: Features, probabilities_of: Callable[..., Any]) -> dict[Any, float]:
        """Return the largest logit minus that of each label, given what returns probabilities."""
        classifier = classifier_of(self.model)
        if isinstance(classifier, Perceptron):
            scores = classifier.scores_one(self._features(x))
            logits = {label: 0.5 * score for label, score in scores.items()}
        else:
            # The order of the arguments makes a NaN the smallest probability.
            logits = {
                label: math.log(min(max(SMALLEST_PROBABILITY, p), 1.0))
                for label, p in probabilities_of(x).items()
            }
        largest = max(logits.values(), default=0.0)
        return {label: min(largest - logit, LARGEST_GAP) for label, logit in logits.items()}

    def _features(self, x: Features) -> Features:
        """Return the features that the classifier gets."""
        return self.model.transform_one(x) if isinstance(self.model, Pipeline) else x
