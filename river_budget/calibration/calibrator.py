"""The mixture of calibration maps."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from river_budget._checks import check_probability
from river_budget._core.calibration import CalibrationMaps
from river_budget._state import State


class Calibrator:
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

    __slots__ = ("_maps", "forgetting")

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
        self._maps = CalibrationMaps(forgetting)

    @property
    def weights(self) -> list[float]:
        return self._maps.mixture

    @property
    def memory_bytes(self) -> int:
        return sys.getsizeof(self) + self._maps.nbytes

    def probabilities(self, gaps: dict[Any, float]) -> dict[Any, float]:
        """Return the calibrated probability of each label, given its gap."""
        return self._maps.probabilities(gaps) if len(gaps) > 1 else dict.fromkeys(gaps, 1.0)

    def learn(self, gaps: dict[Any, float], y: Any) -> None:
        """Learn from the label y of an example, given the gaps before the model has learned it.

        A label without a gap changes nothing.
        """
        if len(gaps) > 1 and y in gaps:
            self._maps.learn(gaps, y)

    def state(self) -> State:
        """Return the learned state as plain values and arrays; see `checkpoint`."""
        return self._maps.state()

    def restore(self, state: State) -> None:
        """Restore a new object from the state of one with the same parameters. Raises ValueError."""
        self._maps.restore(state)
