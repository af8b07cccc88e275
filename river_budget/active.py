"""A wrapper that asks for the labels of a share of the examples."""

from __future__ import annotations

from typing import Any

from river import active, base

from river_budget._checks import check_probability, check_seed
from river_budget._core.answer import Answer, check_answer, close_answer
from river_budget._state import Learned, Number, Random, require
from river_budget.base import Chain, documented
from river_budget.kernels import Features

__all__ = ["Query"]

# The largest number of questions that may be saved up.
BURST = 10.0

# The share of questions that are drawn at random. They notice a new concept where the model is sure.
RANDOM_SHARE = 0.2

# How far a doubtful example raises the threshold.
STEP = 0.05


@documented
class Query(Learned, active.base.ActiveLearningClassifier):
    """Asks for a label where a classifier is least sure, within a budget of labels.

    Use it where a person gives the labels. As in River's `active`, `predict_one` and
    `predict_proba_one` also tell whether to ask. Give the label to `learn_one`, whenever it comes.
    At most `rate * n + 10` labels are asked for in any n rounds: one in five at random, the others
    where the difference of the two largest probabilities is below a threshold that follows `rate`.

    Parameters
    ----------
    model
        A classifier that predicts probabilities, or a pipeline that ends in one.
    rate
        The share of examples whose labels are asked for, from 0 to 1.

    Examples
    --------
    >>> from river import datasets, metrics
    >>> import river_budget as rb

    >>> model = rb.Query(rb.Mnemotron(), rate=0.1, seed=1)
    >>> accuracy, n_asked = metrics.Accuracy(), 0
    >>> for x, y in datasets.Phishing():
    ...     y_pred, ask = model.predict_one(x)
    ...     accuracy.update(y, y_pred)
    ...     if ask:
    ...         model.learn_one(x, y)
    ...         n_asked += 1
    >>> accuracy, n_asked
    (Accuracy: 89.76%, 120)
    """

    _labels = Number(least=0.0, most=BURST, start=BURST)  # How many labels may be asked for now.
    _threshold = Number()
    _rng = Random()

    def __init__(self, model: base.Classifier, rate: float = 0.1, seed: int | None = None) -> None:
        self._inner_chain = Chain(model)
        is_classifier = self._inner_chain.is_classifier
        require(is_classifier, f"model must be a classifier, got {model!r}")
        check_probability("rate", rate)
        if seed is not None:
            check_seed("seed", seed)
        super().__init__(model, seed)
        self.model = model
        self.rate = rate
        self._labels = BURST * (rate > 0)

    @property
    def memory_bytes(self) -> int:
        """Memory of the model in bytes."""
        return self._inner_chain.memory_bytes

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        """Return the predicted label, or None, and whether to ask for the true one."""
        y_pred, asks = self.predict_proba_one(x, **kwargs)
        return max(y_pred, key=y_pred.get) if y_pred else None, asks

    def ask(self, x: Features) -> Answer:
        """Return what the model says of an example, without the question for its label.

        Nothing changes. Raises ValueError if the model refuses x, a dict.
        """
        return self._inner_chain.ask(x)

    def learn(self, answer: Answer, y: base.typing.ClfTarget) -> None:
        """Learn the example of an answer, as the model does. Raises ValueError as that."""
        check_answer(answer, self._inner_chain.source)
        self._inner_chain.learn(answer.x, y, answer.asked)
        close_answer(answer)

    def learn_one(self, x: Features, y: base.typing.ClfTarget, **kwargs: Any) -> None:
        """Learn the label of an example, whenever it comes."""
        self._inner_chain.learn(x, y, **kwargs)

    def _ask_for_label(self, x: Features, y_pred: dict[Any, float]) -> bool:
        self._labels = min(BURST, self._labels + self.rate)

        # A label that is not known yet has the probability 0.
        *_, second, first = sorted([0.0, 0.0, *y_pred.values()])
        doubt = 1.0 - (first - second)
        is_doubtful = doubt > self._threshold
        self._threshold += STEP * (is_doubtful - (1.0 - RANDOM_SHARE) * self.rate)

        is_chosen = is_doubtful or self._rng.random() < RANDOM_SHARE * self.rate
        asks = is_chosen and self._labels >= 1.0
        self._labels -= asks
        return asks
