"""Classifiers whose hypothesis is a kernel expansion."""

from __future__ import annotations

from typing import Any

from river_budget._arrays import Floats
from river_budget._state import State, require
from river_budget.base.machine import Machine, rows_of
from river_budget.kernels import RBF, Features, Kernel, check_kernel
from river_budget.support import Expansion

__all__ = ["KernelClassifier"]


class KernelClassifier(Machine):
    """A binary classifier whose hypothesis is a kernel expansion over the support set.

    Parameters
    ----------
    kernel
        The kernel; `RBF()` by default.

    """

    def __init__(self, kernel: Kernel | None = None) -> None:
        if kernel is not None:
            check_kernel(kernel)
        super().__init__()
        self.kernel = kernel
        self._hypothesis = Expansion(RBF() if kernel is None else kernel)
        self._store = self._hypothesis.store

    @property
    def resolved_kernel(self) -> Kernel:
        """The kernel, with the parameters that were set from the first stored example."""
        return self._store.kernel

    def decision_function_one(self, x: Features) -> float:
        """Return f(x), positive for the positive class.

        Parameters
        ----------
        x
            A dictionary of features.

        Raises
        ------
        ValueError
            If a value is not a finite number, or is too large for the kernel.

        """
        return self._store.query(x, self._hypothesis).answer

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        f, labels = self._store.query(x, self._hypothesis).answer, self._labels
        return labels.positive if f > 0 else labels.negative

    @property
    def n_support(self) -> int:
        """Number of support vectors."""
        return self._store.n

    @property
    def support_vectors(self) -> list[Features]:
        """The support vectors as dicts, oldest first."""
        return [self._store.vector(slot) for slot in self._store.by_age]

    @property
    def coefficients(self) -> Floats:
        """Signed coefficients of the support vectors, oldest first (n_support,)."""
        return self._hypothesis.coefficients[self._store.by_age]

    @property
    def norm(self) -> float:
        """Norm of f in the kernel's Hilbert space, computed from n_support kernel rows."""
        return self._hypothesis.norm

    @property
    def memory_bytes(self) -> int:
        """Memory of the model in bytes: arrays, feature index, names and the last query."""
        return super().memory_bytes + self._hypothesis.nbytes

    def state(self) -> State:
        return {**super().state(), "hypothesis": self._hypothesis.state()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._hypothesis.restore(state["hypothesis"])
        budget = getattr(self, "budget", None)
        require(
            budget is None or self.n_support <= budget,
            "there are more support vectors than the budget allows",
        )

    def _block(self, frame: Any) -> Any:
        return self._store.block(frame.columns, rows_of(frame))

    def _evaluate_block(self, block: Any) -> Floats:
        return self._hypothesis.evaluate_block(block)
