"""Models by the names and options that a command line gives."""

from __future__ import annotations

import inspect
from typing import Any

import typer
from river import preprocessing

import river_budget
from river_budget import kernels
from river_budget.base import KernelClassifier

__all__ = ["algorithm", "algorithms", "build", "rbf"]


def algorithms(names: str | None) -> dict[str, type[KernelClassifier]]:
    """Return the named algorithms of the package, or all of them."""
    exported = [getattr(river_budget, name) for name in river_budget.__all__]
    known = {
        member.__name__: member
        for member in exported
        if inspect.isclass(member) and issubclass(member, KernelClassifier)
    }
    if names is None:
        return known
    by_short_name = {_short(name): name for name in known}
    chosen = [by_short_name.get(_short(name)) for name in names.split(",")]
    for name, found in zip(names.split(","), chosen, strict=True):
        if found is None:
            raise typer.BadParameter(
                f"no algorithm is called {name!r}; there are {', '.join(known)}"
            )
    return {name: known[name] for name in chosen if name}


def algorithm(name: str) -> type[KernelClassifier]:
    """Return the named algorithm of the package."""
    chosen = algorithms(name)
    if len(chosen) != 1:
        raise typer.BadParameter(f"--model takes one algorithm, got {name!r}")
    return next(iter(chosen.values()))


def _short(name: str) -> str:
    letters = "".join(filter(str.isalnum, name.lower()))
    return letters.removesuffix("perceptron").removesuffix("classifier")


def build(
    algorithm: type[KernelClassifier], kernel: kernels.Kernel, budget: int, seed: int, scale: bool
) -> Any:
    """Return a model with those of the options that the algorithm has, behind a scaler if asked."""
    options = {"kernel": kernel, "budget": budget, "seed": seed}
    wanted = inspect.signature(algorithm).parameters
    model = algorithm(**{key: options[key] for key in options if key in wanted})  # type: ignore[arg-type]
    return preprocessing.StandardScaler() | model if scale else model


def rbf(gamma: float | None) -> kernels.Kernel:
    """Return the RBF kernel of a width."""
    try:
        return kernels.RBF(gamma)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
