"""Mnemotron: Gaussian process experts with different kernels and forgetting factors.

- `estimator`: the classifier, and the `KernelLDA` among its experts.
- `parameters`: its default kernels and forgetting factors, and checks.

The rounds are native: `_core.experts` over one store, and the posteriors in `_core.posteriors`.
"""

from __future__ import annotations

from .estimator import Mnemotron

__all__ = ["Mnemotron"]
