"""What the wrappers around classifiers share."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from river import base
from river.compose import Pipeline

from river_budget._state import Learned
from river_budget.base import classifier_of, frame_of, memory_of, rows_of, series_like
from river_budget.kernels import Features

if TYPE_CHECKING:
    from typing import Self

    from narwhals.stable.v2.typing import IntoDataFrame, IntoSeries


class ClassifierWrapper(Learned, base.Wrapper[base.Estimator], base.MiniBatchClassifier):
    """A classifier that forwards to another one inside.

    Parameters
    ----------
    model
        A classifier, or a pipeline that ends in one.

    Attributes
    ----------
    memory_bytes
        Memory of the model and the wrapper in bytes.
    """

    def __init__(self, model: base.Classifier | Pipeline) -> None:
        if not isinstance(classifier_of(model), base.Classifier):
            raise ValueError(f"model must be a classifier, got {model!r}")
        self.model = model

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """Return a new, untrained model with the same parameters, as River does.

        With `include_attributes` it is an equal trained model. With new parameters, only the model
        inside is kept.
        """
        clone = super().clone(new_params)
        if include_attributes:
            kept = {"model"} - new_params.keys() if new_params else vars(self).keys()
            vars(clone).update(copy.deepcopy({name: vars(self)[name] for name in kept}))
        return clone

    @property
    def memory_bytes(self) -> int:
        return memory_of(self.model) + sys.getsizeof(self)

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

    def learn_many(self, X: IntoDataFrame, y: IntoSeries, **kwargs: Any) -> None:
        self._wrapped_model.learn_many(X, y, **kwargs)

    def predict_many(self, X: IntoDataFrame, **kwargs: Any) -> IntoSeries:
        frame = frame_of(X)
        return series_like(by_row(partial(self.predict_one, **kwargs), dicts_of(frame)), frame)

    def predict_proba_many(self, X: IntoDataFrame, **kwargs: Any) -> IntoDataFrame:
        return self._wrapped_model.predict_proba_many(X, **kwargs)


def dicts_of(frame: Any) -> list[Features]:
    """Return the rows of a frame as dicts of features."""
    rows = rows_of(frame)
    # `tolist` would turn times into integers.
    values = list(rows) if rows.dtype.kind in "mM" else rows.tolist()
    return [dict(zip(frame.columns, row, strict=True)) for row in values]


def by_row(act: Callable[..., Any], *columns: Iterable[Any]) -> list[Any]:
    """Return what a function returns for each row of columns. A ValueError names the row."""
    results = []
    for row, values in enumerate(zip(*columns, strict=True)):
        try:
            results.append(act(*values))
        except ValueError as error:
            raise ValueError(f"row {row}: {error}") from error
    return results
