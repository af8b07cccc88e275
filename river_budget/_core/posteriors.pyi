from typing import Any

from river_budget._arrays import Floats
from river_budget._state import State

JITTER: float

class Triangles:
    """Symmetric matrices of one size."""

    def set(self, i: int, matrix: Floats) -> None:
        """Set a matrix to the symmetric part of another one (n, n)."""
    def matrices_of(self, n: int) -> Floats:
        """Return all matrices (matrices, n, n)."""

class Posteriors:
    """The posterior of each expert: a mean for each label, and one covariance."""

    n_experts: int
    covariances: Triangles
    inverses: Triangles
    def __init__(
        self, experts: list[tuple[int, float, float]], n_kernels: int, budget: int
    ) -> None: ...
    @property
    def experts(self) -> list[tuple[int, float, float]]:
        """Kernel, forgetting factor and noise variance of each expert."""
    def mean(self, weights: Any, n: int) -> Floats:
        """Return the weighted sum of the mean coefficients of all experts (columns, n)."""
    def posteriors(self, n: int) -> tuple[Floats, Floats]:
        """Return covariances C (experts, n, n) and means a (experts, columns, n)."""
    def set_all(self, inverses: Floats, covariances: Floats, means: Floats) -> None: ...
    @property
    def nbytes(self) -> int: ...
    def state(self, n: int) -> State: ...
    def restore(self, state: State, n: int) -> None: ...
    def check(self, n: int) -> None:
        """Raise ValueError unless each posterior variance is from 0 to the prior one."""

def use_lanes(most: int) -> int: ...
