"""Models by the names and options that a command line gives."""

from __future__ import annotations

from typing import Any

import typer
from river import preprocessing

from river_budget import kernels
from river_budget.catalog import ALGORITHMS, Algorithm

__all__ = ["algorithm", "algorithms", "build", "described", "rbf"]


def algorithms(names: str | None) -> dict[str, Algorithm]:
    """Return the named algorithms of the package, or all of them."""
    if names is None:
        return ALGORITHMS
    by_short_name = {_short(name): row for name, row in ALGORITHMS.items()}
    chosen = {}
    for name in names.split(","):
        row = by_short_name.get(_short(name))
        if row is None:
            raise typer.BadParameter(
                f"no algorithm is called {name!r}; there are {', '.join(ALGORITHMS)}"
            )
        chosen[row.name] = row
    return chosen


def algorithm(name: str) -> Algorithm:
    """Return the named algorithm of the package."""
    chosen = algorithms(name)
    if len(chosen) != 1:
        raise typer.BadParameter(f"--model takes one algorithm, got {name!r}")
    return next(iter(chosen.values()))


def _short(name: str) -> str:
    letters = "".join(filter(str.isalnum, name.lower()))
    return letters.removesuffix("perceptron").removesuffix("classifier")


def build(algorithm: Algorithm, kernel: kernels.Kernel, budget: int, seed: int, scale: bool) -> Any:
    """Return a model with those of the options that the algorithm has, behind a scaler if asked."""
    model = algorithm.build(kernel, budget, seed)
    return preprocessing.StandardScaler() | model if scale else model


def rbf(gamma: float | None) -> kernels.Kernel:
    """Return the RBF kernel of a width."""
    try:
        return kernels.RBF(gamma)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def described(kernel: kernels.Kernel) -> str:
    """Return what a title says about a kernel."""
    is_open = getattr(kernel, "gamma", 0.0) is None
    return f"{type(kernel).__name__} with gamma from the data" if is_open else str(kernel)
