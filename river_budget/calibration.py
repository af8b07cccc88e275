"""Calibrated probabilities, learned online, and what the wrappers around classifiers share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from river import base
from river.compose import Pipeline

from river_budget._core.answer import Answer, Asked, check_answer, close_answer
from river_budget._core.calibration import Calibrator, gaps_of_probabilities, gaps_of_scores
from river_budget._state import Field, Learned, bytes_of
from river_budget.base import Chain, Perceptron, documented
from river_budget.base.machine import Copied
from river_budget.kernels import Features

__all__ = ["Calibrated", "Calibrator"]


class ClassifierWrapper(Copied, Learned, base.Wrapper[base.Estimator], base.Classifier):
    """A classifier that forwards to another one inside."""

    def __init__(self, model: base.Classifier | Pipeline) -> None:
        self._chain = Chain(model)
        if not self._chain.is_classifier:
            raise ValueError(f"model must be a classifier, got {model!r}")
        self.model = model

    @property
    def memory_bytes(self) -> int:
        """Memory of the model inside and of the wrapper in bytes."""
        return self._chain.memory_bytes + sys.getsizeof(self) + bytes_of(self)

    @property
    def _wrapped_model(self) -> Any:
        return self.model

    @property
    def _multiclass(self) -> bool:
        return self._wrapped_model._multiclass  # noqa: SLF001 (River has no public name for it)

    def ask(self, x: Features) -> Answer:
        """Return what the model says of an example, to `learn` it when its label is known.

        Nothing in the model changes. Raises ValueError if the model refuses x, a dict.
        """
        return self._chain.ask(x)

    def learn(self, answer: Answer, y: base.typing.ClfTarget, w: float = 1.0) -> None:
        """Learn the example of an answer.

        Raises ValueError if the answer is that of another model or was learned before, or as
        `learn_one`. Then nothing is learned.
        """
        check_answer(answer, self._chain.source)
        self._learn_answer(answer, y, w)
        close_answer(answer)

    def learn_one(self, x: Features, y: base.typing.ClfTarget, **kwargs: Any) -> None:
        self.model.learn_one(x, y, **kwargs)

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        return self.model.predict_one(x, **kwargs)

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        return self.model.predict_proba_one(x, **kwargs)

    def _learn_answer(self, answer: Answer, y: Any, w: float) -> None:
        """Learn the example of an answer that was checked."""
        self._learn_asked(answer.x, y, answer.asked, w)

    def _learn_asked(self, x: Features, y: Any, asked: Asked, w: float) -> None:
        """Learn an example that was asked about before."""
        self._chain.learn(x, y, asked, **options_of(w))

    def _note_prediction(self) -> None:
        """Note that the last example that was asked about was predicted."""
        self._chain.note_prediction()


def options_of(w: float) -> dict[str, Any]:
    """Return a weight as a keyword argument: none for 1, as a model of another library may take none."""
    return {} if w == 1.0 else {"w": w}


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

    def __init__(self, model: base.Classifier | Pipeline) -> None:
        super().__init__(model)
        # The probabilities of a perceptron only rank examples.
        self._uses_scores = isinstance(self._chain.last, Perceptron)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river.dummy import PriorClassifier  # slow to import

        yield {"model": PriorClassifier()}

    def ask(self, x: Features) -> Answer:
        answer = self._chain.ask(x)
        if self._uses_scores:
            answer.gaps = gaps_of_scores(answer.scores)
        else:
            answer.gaps = gaps_of_probabilities(answer.probabilities)
        answer.probabilities = self.calibrator.probabilities(answer.gaps)
        return answer

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        gaps = self._gaps(x)
        self._note_prediction()
        return self.calibrator.probabilities(gaps)

    def learn_one(self, x: Features, y: base.typing.ClfTarget, **kwargs: Any) -> None:
        """Let the model learn an example, and the maps what its scores meant.

        Keyword arguments such as the weight `w` go to the model. The maps count every example once,
        because they estimate frequencies in the stream as it is.
        """
        self._learn_with(self._gaps_if_any(x), x, y, None, kwargs)

    def _learn_answer(self, answer: Answer, y: Any, w: float) -> None:
        """Learn the example of an answer, and let the maps learn from the scores of that time."""
        if answer.gaps is None:
            raise ValueError("the answer is that of the model inside: ask the calibrated one")
        super()._learn_answer(answer, y, w)

    def _learn_asked(self, x: Features, y: Any, asked: Asked, w: float) -> None:
        gaps = self._gaps_if_any(x) if asked.gaps is None else asked.gaps
        # A calibrated model inside has gaps of its own.
        self._learn_with(gaps, x, y, asked._replace(gaps=None), options_of(w))

    def _gaps(self, x: Features) -> dict[Any, float]:
        """Return the gaps that the maps calibrate, of what the model says of an example now."""
        chain = self._chain
        features = chain.features(x)
        if self._uses_scores:
            return gaps_of_scores(chain.last.scores_one(features))
        if chain.asks:
            return gaps_of_probabilities(chain.last.ask(features).probabilities)
        return gaps_of_probabilities(chain.last.predict_proba_one(features))

    def _gaps_if_any(self, x: Features) -> dict[Any, float]:
        """Return the same, and none for an example that the model may learn, but cannot score."""
        try:
            return self._gaps(x)
        except ValueError:
            return {}

    def _learn_with(
        self,
        gaps: dict[Any, float],
        x: Features,
        y: Any,
        asked: Asked | None,
        options: dict[str, Any],
    ) -> None:
        """Let the model learn an example, and the maps what gaps meant."""
        chain = self._chain
        n_rounds = chain.n_rounds
        try:
            chain.learn(x, y, asked, **options)
        except BaseException:
            # An interrupt may come after the model has learned.
            if n_rounds is None or chain.n_rounds == n_rounds:
                gaps = {}
            raise
        finally:
            self.calibrator.learn(gaps, y)
