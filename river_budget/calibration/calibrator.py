"""The mixture of calibration maps."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from river_budget._arrays import Floats, Ints
from river_budget._checks import check_probability
from river_budget._state import Array, Between, Count, Field, Learned, require, require_definite
from river_budget.calibration import _compiled

# Larger gaps between logits are taken as this: no sum of their cubes overflows.
LARGEST_GAP = 1e50

# Maps take gaps that are larger than this many widths as that, so that an outlier moves little.
LARGEST_RATIO = 10.0

# The width is a mean over all examples up to this number, and fades from then on.
HORIZON = 1000

# Prior weight of the raw model, and the share of the weights that returns to the prior each round.
RAW_WEIGHT = 0.5
SHARE = 1e-4


class _Columns(Field[dict[Any, int]]):
    """Labels and their columns, which are numbered in the order of the labels."""

    def begin(self, owner: Any) -> None:
        setattr(owner, self.name, {})

    def dump(self, owner: Any) -> dict[Any, int]:
        return dict(getattr(owner, self.name))

    def load(self, owner: Any, value: Any) -> None:
        require(list(value.values()) == list(range(len(value))), "a label has a wrong column")
        setattr(owner, self.name, dict(value))


class Calibrator(Learned):
    """A mixture of the model's own probabilities and of calibration maps learned online.

    A model's logits enter as gaps: the largest logit minus that of each label.

    Parameters
    ----------
    forgetting
        The forgetting factor of each map.

    Attributes
    ----------
    weights
        The weights of the model's own probabilities and of each map.
    memory_bytes
        Memory of the maps in bytes: arrays, labels and their columns.
    """

    _columns = _Columns()
    _slopes = Array("_n_maps", 2)
    _curvatures = Array("_n_maps", 2, 2)
    # These have a spare column of zeros, for labels that have none.
    _biases = Array("_n_maps", "_n_labels")
    _crosses = Array("_n_maps", "_n_labels", 2)
    _owns = Array("_n_maps", "_n_labels")
    _weights = Array("_n_weights")
    # Mean square of the largest gap, over the examples that have one.
    _square = Between(0.0, LARGEST_GAP**2, start=0.0)
    _n_gaps = Count()

    def __init__(self, forgetting: Sequence[float]) -> None:
        if not isinstance(forgetting, Sequence) or not forgetting:
            raise ValueError(
                f"forgetting must be a tuple of forgetting factors, got {forgetting!r}"
            )
        for factor in forgetting:
            check_probability("forgetting: a factor", factor)
            if factor == 0:
                raise ValueError("forgetting: a factor must be above 0, got 0")
        self.forgetting = forgetting
        n = len(forgetting)
        self._decay = np.array(forgetting, np.float64)
        # Each map begins as the identity: a slope of 1 on the gap, 0 on its square root.
        self._slopes = np.tile([1.0, 0.0], (n, 1))
        self._curvatures = np.zeros((n, 2, 2))
        self._biases = np.zeros((n, 1))
        self._crosses = np.zeros((n, 1, 2))
        self._owns = np.zeros((n, 1))
        self._prior = np.array([RAW_WEIGHT] + n * [(1.0 - RAW_WEIGHT) / n])
        self._weights = self._prior.copy()

    @property
    def weights(self) -> list[float]:
        return self._weights.tolist()

    @property
    def memory_bytes(self) -> int:
        held = vars(self)
        return sum(map(sys.getsizeof, (self, held, *held.values(), *self._columns)))

    def probabilities(self, gaps: Mapping[Any, float]) -> dict[Any, float]:
        """Return the calibrated probability of each label.

        Parameters
        ----------
        gaps
            The gap of each label.
        """
        if len(gaps) < 2:
            return dict.fromkeys(gaps, 1.0)
        _, outputs = self._evaluate(gaps, self._columns_of(gaps))
        mixed = self._weights @ outputs
        return dict(zip(gaps, (mixed / mixed.sum()).tolist(), strict=True))

    def learn(self, gaps: Mapping[Any, float], y: Any) -> None:
        """Learn from the label of an example with these gaps.

        A label that the model did not know says nothing about the meaning of its scores.

        Parameters
        ----------
        gaps
            The gap of each label, before the model has learned the example.
        y
            The label.
        """
        if len(gaps) < 2 or y not in gaps:
            return
        self._register(gaps)
        columns, label = self._columns_of(gaps), list(gaps).index(y)
        features, outputs = self._evaluate(gaps, columns)
        largest_gap = -float(features[:, 0].min())
        if largest_gap > 0.0:
            self._n_gaps += 1
            self._square += (largest_gap**2 - self._square) / min(self._n_gaps, HORIZON)
        _compiled.newton_steps(
            label, features, columns, self._width, outputs[1:], self._decay, self._slopes,
            self._biases, self._curvatures, self._crosses, self._owns,
        )  # fmt: skip
        _compiled.reweight(outputs[:, label], SHARE, self._prior, self._weights)

    def _check_restored(self) -> None:
        self._add_spare_column()
        require((self._owns >= 0).all(), "the curvature of a bias is negative")
        require_definite(self._curvatures, "the curvature of the slopes is wrong")
        require(
            (self._weights > 0).all() and math.isclose(self._weights.sum(), 1.0),
            "the weights of the maps are no probabilities",
        )

    @property
    def _n_maps(self) -> int:
        return len(self.forgetting)

    @property
    def _n_weights(self) -> int:
        return 1 + self._n_maps

    @property
    def _n_labels(self) -> int:
        return len(self._columns)

    @property
    def _width(self) -> float:
        """The root mean square of the largest gap, 1 before the first gap."""
        return max(math.sqrt(self._square), 1.0 / LARGEST_GAP) if self._n_gaps else 1.0

    def _evaluate(self, gaps: Mapping[Any, float], columns: Ints) -> tuple[Floats, Floats]:
        """Return the features of the labels, and their probabilities under the model and each map."""
        values = np.array(list(gaps.values()), np.float64)
        cap = LARGEST_RATIO * self._width if self._n_gaps else LARGEST_GAP
        return _compiled.evaluate(values, columns, cap, self._slopes, self._biases)

    def _columns_of(self, gaps: Mapping[Any, float]) -> Ints:
        return np.array([self._columns.get(label, -1) for label in gaps], np.int64)

    def _register(self, gaps: Mapping[Any, float]) -> None:
        """Give each label a column."""
        for label in gaps:
            if label not in self._columns:
                self._columns[label] = len(self._columns)
                self._add_spare_column()

    def _add_spare_column(self) -> None:
        for name in ("_biases", "_crosses", "_owns"):
            array = getattr(self, name)
            spare = np.zeros((len(array), 1, *array.shape[2:]))
            setattr(self, name, np.concatenate((array, spare), axis=1))
