"""Mnemotron: Gaussian process experts with different kernels and forgetting factors.

- `estimator`: the classifier, and the `KernelLDA` among its experts.
- `parameters`: its default kernels and forgetting factors, and checks.

The rounds are native: `_core.experts` over one store, its posteriors in `_core.posteriors`, and the
mixture in `_core.mixing`.
"""

from __future__ import annotations

from .estimator import Mnemotron

__all__ = ["Mnemotron"]
