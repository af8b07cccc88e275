"""What learned scales and widths do to the posteriors of the experts."""

from __future__ import annotations

from typing import Any

import numpy as np

from river_budget._arrays import Floats
from river_budget._core.experts import Experts


def follow_prior(f: Experts, before: Floats) -> None:
    """Give each expert the prior of the kernels as they are now, given their `grams` before.

    What the data say about f at the support vectors is kept: with the precision L that they add, `C =
    -(K + L^-1)^-1` and `a = -C (L^-1 h)`, where L and h do not depend on K. So with D, the change of
    K, and `M = I - C D`, the new C and a are `M^-1 C` and `M^-1 a`.
    """
    after, n = f.grams(), before.shape[-1]
    covariances, means = f.posteriors.posteriors(n)
    for e, (z, _, _) in enumerate(f.posteriors.experts):
        system = np.eye(n) - covariances[e] @ (after[z] - before[z])
        solution = np.linalg.solve(system, np.hstack((covariances[e], means[e].T)))
        covariances[e], means[e] = solution[:, :n], solution[:, n:].T
    inverses: Any = np.linalg.inv(after)
    f.set_posteriors(inverses, covariances, means)
