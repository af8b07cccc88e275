"""Mnemotron: Gaussian process experts with different kernels and forgetting factors.

- `estimator`: the classifier; `parameters`: its default kernels and forgetting factors, and checks.
- `stores`: the support vectors, in a store for each group of kernels; `vectors`: one such store.
- `experts`: all that is learned beside the support vectors, and the mixture of the experts.
- `posteriors`: the posteriors of the experts, whose matrices are `triangles`.
"""

from __future__ import annotations

from .estimator import Mnemotron

__all__ = ["Mnemotron"]
