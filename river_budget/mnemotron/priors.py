"""What learned scales and widths do to the posteriors of the experts."""

from __future__ import annotations

import numpy as np

from river_budget._arrays import Floats
from river_budget._core.posteriors import Posteriors


def change_priors(posteriors: Posteriors, before: Floats, after: Floats) -> None:
    """Replace the prior of each expert, given `K + jitter I` of each kernel before and after.

    What the data say about f at the support vectors is kept: with the precision L that they add, `C =
    -(K + L^-1)^-1` and `a = -C (L^-1 h)`, where L and h do not depend on K. So with D, the change of
    K, and `M = I - C D`, the new C and a are `M^-1 C` and `M^-1 a`.
    """
    n = before.shape[-1]
    covariances, means = posteriors.posteriors(n)
    for e, (z, _, _) in enumerate(posteriors.experts):
        system = np.eye(n) - covariances[e] @ (after[z] - before[z])
        solution = np.linalg.solve(system, np.hstack((covariances[e], means[e].T)))
        posteriors.set_posterior(e, _symmetric(solution[:, :n]), solution[:, n:].T)
    for z, gram in enumerate(after):
        posteriors.inverses.set(z, _symmetric(np.linalg.inv(gram)))


def _symmetric(matrix: Floats) -> Floats:
    return 0.5 * (matrix + matrix.T)
