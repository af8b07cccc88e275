"""The mixture of calibration maps."""

from __future__ import annotations

from collections.abc import Sequence

from river_budget._checks import check_probability
from river_budget._core.calibration import CalibrationMaps


class Calibrator(CalibrationMaps):
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

    __slots__ = ()

    def __init__(self, forgetting: Sequence[float]) -> None:
        if not isinstance(forgetting, Sequence) or not forgetting:
            raise ValueError(
                f"forgetting must be a tuple of forgetting factors, got {forgetting!r}"
            )
        for factor in forgetting:
            check_probability("forgetting: a factor", factor)
            if factor == 0:
                raise ValueError("forgetting: a factor must be above 0, got 0")
        super().__init__(forgetting)
