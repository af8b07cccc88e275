"""Mnemotron: Gaussian process experts with different kernels and forgetting factors.

- `estimator`: the classifier.
- `parameters`: the default kernels and forgetting factors, and the checks of those given.
- `stores`: the support vectors, in a store for each group of kernels; `vectors`: one such store.
- `experts`: all that is learned beside the support vectors.
- `posteriors`: the Gaussian process posteriors of the experts, whose matrices are `triangles`.
- `repeats`: an expert that knows only the labels.
- `mixing`: the mixture of the experts.

The compiled code is in the modules whose names begin with an underscore.
"""

from __future__ import annotations

from .estimator import Mnemotron

__all__ = ["Mnemotron"]
