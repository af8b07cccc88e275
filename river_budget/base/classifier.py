"""Classifiers whose hypothesis is a kernel expansion."""

from __future__ import annotations

from river_budget._arrays import Floats
from river_budget._checks import check_dtype
from river_budget._core.expansion import Expansion
from river_budget._core.store import Store
from river_budget._state import require
from river_budget.base.documented import documented
from river_budget.base.machine import Machine
from river_budget.base.scales import Scales
from river_budget.base.weights import ClassWeight
from river_budget.kernels import RBF, Features, Kernel, check_kernel


@documented
class KernelClassifier(Machine):
    """A classifier whose hypothesis is a kernel expansion over the support set.

    It takes any number of labels. In the space of `z = k(x, .) (x) (e_y - e_s) / sqrt(2)`, for a
    label y and its rival s, the label with the largest other score, a hypothesis f with a score g_c
    for each label has the margin `<f, z> = (g_y(x) - g_s(x)) / 2`, and `||z||^2 = k(x, x)`. So a
    binary algorithm that runs on these z with the label +1 is a multi-class algorithm with the same
    mistake bound. With two labels, `g_+ = -g_- = f`.
    """

    _f: Expansion

    def __init__(
        self,
        kernel: Kernel | None = None,
        gamma: float | None = None,
        class_weight: ClassWeight | None = None,
        max_classes: int = 1000,
        dtype: str = "float32",
    ) -> None:
        if kernel is not None:
            if isinstance(kernel, int) and hasattr(type(self), "budget"):
                raise ValueError(f"kernel must be a kernel, got {kernel}: write budget={kernel}")
            check_kernel(kernel)
            if gamma is not None:
                raise ValueError("give kernel or gamma, not both")
        given = RBF(gamma) if kernel is None else kernel
        check_dtype(dtype)
        f = Expansion(Store([given], dtype, [given.learns_scales]))
        super().__init__(f, class_weight, max_classes, dtype)
        self.kernel = kernel
        self.gamma = gamma

    @property
    def resolved_kernel(self) -> Kernel:
        """The kernel, with the width and the scales of the features that were learned."""
        (kernel,), scales = self._f.store.kernels, self._feature_scales
        return kernel if scales is None else scales.in_units_of_user(kernel)

    @property
    def coefficients(self) -> Floats:
        return self._f.coefficients[self._f.store.by_age]

    @property
    def norm(self) -> float:
        return self._f.norm

    def _check_restored(self) -> None:
        super()._check_restored()
        budget = getattr(self, "budget", None)
        require(
            budget is None or self.n_support <= budget,
            "there are more support vectors than the budget allows",
        )

    def _novelty(self, x: Features) -> float:
        self._f.best(x)
        square = self._f.store.self_value()
        return max(0.0, 1.0 - self._projected() / square) if square > 0.0 else 0.0

    def _projected(self) -> float:
        """Return the largest squared norm of a projection of the example onto a support vector."""
        squares, row = self._f.store.self_values(), self._f.row
        return float((row[squares > 0.0] ** 2 / squares[squares > 0.0]).max(initial=0.0))

    def _rescale(self, scales: Scales) -> None:
        store = self._f.store
        (kernel,) = store.kernels
        if scales.gamma:
            kernel = kernel.with_width(scales.gamma, store.names)
        store.rescale([kernel], scales.factors, scales.pooled)
        self._on_rescaled()

    def _on_rescaled(self) -> None:
        """Follow a change of the kernel; a second time changes nothing."""
        self._derive()
