"""Models as JSON and tensors, and back.

The codec knows which classes there are, and how plain values, arrays and kernels are written. What a
model has learned is what the model gives as its `state`; a new model with the same parameters takes
it back with `restore`, which checks it.

"""

from __future__ import annotations

import dataclasses
import inspect
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import compose, preprocessing

from river_budget import kernels
from river_budget._state import require
from river_budget.base import Machine
from river_budget.catalog import ALGORITHMS

__all__ = ["CheckpointError", "Reader", "Tensors", "Writer"]

Tensors = dict[str, NDArray[Any]]

MODELS: dict[str, type[Machine]] = {name: row.model for name, row in ALGORITHMS.items()}
KERNELS: dict[str, Any] = {
    kernel.__name__: kernel
    for kernel in (
        kernels.RBF, kernels.Laplacian, kernels.RationalQuadratic, kernels.AdditiveRationalQuadratic,
        kernels.Linear, kernels.Polynomial, kernels.Normalized,
    )
}  # fmt: skip

# What a scaler has learned.
SCALER_STATE = ("counts", "means", "vars")


class CheckpointError(ValueError):
    """What is wrong with a checkpoint, or why a model cannot be stored."""


class Writer:
    """Turns models into JSON, and their arrays into tensors.

    Attributes
    ----------
    tensors
        The arrays, by the names that the JSON has for them.

    """

    def __init__(self) -> None:
        self.tensors: Tensors = {}

    def model(self, model: Any) -> Any:
        """Return a classifier, a scaler or a pipeline of them."""
        if isinstance(model, compose.Pipeline):
            return {"pipeline": [[name, self.model(step)] for name, step in model.steps.items()]}
        if type(model) is preprocessing.StandardScaler:
            return self._scaler(model)
        name = type(model).__name__
        if MODELS.get(name) is not type(model):
            raise CheckpointError(
                f"{name} cannot be stored: the classifiers of river_budget, StandardScaler and "
                "pipelines of them can"
            )
        parameters = {key: self.value(value) for key, value in _parameters(model).items()}
        return {"class": name, "parameters": parameters, "state": self.state(model.state())}

    def state(self, state: dict[str, Any]) -> Any:
        """Return what a model has learned: its `state`, with arrays as tensors."""
        written: dict[str, Any] = {}
        for key, value in state.items():
            if isinstance(value, np.ndarray):
                written[key] = {"tensor": self._tensor(value)}
            elif isinstance(value, dict) and all(isinstance(name, str) for name in value):
                written[key] = {"state": self.state(value)}
            else:
                written[key] = self.value(value)
        return written

    def value(self, value: Any) -> Any:
        """Return a number, a text, None, a kernel, or a container of these."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, tuple | frozenset):
            return {type(value).__name__: [self.value(item) for item in value]}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {"dict": [[self.value(key), self.value(item)] for key, item in value.items()]}
        if isinstance(value, kernels.Kernel):
            return self._kernel(value)
        raise CheckpointError(
            f"{value!r} cannot be stored: a {type(value).__name__} is no number, text, None or "
            "tuple of these"
        )

    def _scaler(self, scaler: Any) -> Any:
        if scaler.window_size is not None:
            raise CheckpointError("a StandardScaler with a window_size cannot be stored")
        learned = {key: dict(getattr(scaler, key)) for key in SCALER_STATE}
        if not all(math.isfinite(v) for values in learned.values() for v in values.values()):
            raise CheckpointError(
                "a StandardScaler that has seen what is not finite cannot be stored"
            )
        state = {key: self.value(values) for key, values in learned.items()}
        return {"class": "StandardScaler", "with_std": scaler.with_std, "state": state}

    def _kernel(self, kernel: Any) -> Any:
        name = type(kernel).__name__
        if KERNELS.get(name) is not type(kernel):
            raise CheckpointError(f"{kernel} cannot be stored: its function is code")
        fields = {f.name: self.value(getattr(kernel, f.name)) for f in dataclasses.fields(kernel)}
        return {"kernel": name, "fields": fields}

    def _tensor(self, array: NDArray[Any]) -> str:
        name = f"{len(self.tensors)}"
        self.tensors[name] = np.array(array, order="C")
        return name


class Reader:
    """Makes models of what a `Writer` wrote.

    Parameters
    ----------
    tensors
        The arrays.

    """

    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors

    def model(self, node: Any) -> Any:
        """Return what `Writer.model` wrote.

        Raises
        ------
        ValueError
            If it does not fit a model with its parameters. Nonsense may raise other errors, too.

        """
        if "pipeline" in node:
            return compose.Pipeline(*((name, self.model(step)) for name, step in node["pipeline"]))
        if node["class"] == "StandardScaler":
            return self._scaler(node)
        require(node["class"] in MODELS, f"there is no model called {node['class']!r}")
        parameters = {key: self.value(value) for key, value in node["parameters"].items()}
        model = MODELS[node["class"]](**parameters)
        model.restore(self.state(node["state"]))
        return model

    def state(self, node: Any) -> dict[str, Any]:
        """Return what `Writer.state` wrote."""
        state: dict[str, Any] = {}
        for key, value in node.items():
            if isinstance(value, dict) and "tensor" in value:
                state[key] = self._tensors[value["tensor"]]
            elif isinstance(value, dict) and "state" in value:
                state[key] = self.state(value["state"])
            else:
                state[key] = self.value(value)
        return state

    def value(self, node: Any) -> Any:
        """Return what `Writer.value` wrote."""
        if isinstance(node, list):
            return [self.value(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "float" in node:
            return float(node["float"])
        if "tuple" in node:
            return tuple(self.value(item) for item in node["tuple"])
        if "frozenset" in node:
            return frozenset(self.value(item) for item in node["frozenset"])
        if "dict" in node:
            return {self.value(key): self.value(item) for key, item in node["dict"]}
        fields = {key: self.value(value) for key, value in node["fields"].items()}
        return KERNELS[node["kernel"]](**fields)

    def _scaler(self, node: Any) -> Any:
        scaler = preprocessing.StandardScaler(with_std=node["with_std"] is True)
        for key in SCALER_STATE:
            values = self.value(node["state"][key])
            numbers = all(isinstance(v, int | float) and math.isfinite(v) for v in values.values())
            require(numbers, "a scaler has what is no number")
            getattr(scaler, key).update(values)
        return scaler


def _parameters(model: Any) -> dict[str, Any]:
    return {name: getattr(model, name) for name in inspect.signature(type(model)).parameters}
