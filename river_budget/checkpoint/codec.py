"""Models as JSON and tensors, and back.

The codec knows the classes, and how plain values, arrays and kernels are written. A classifier of
this package returns its `state`; a new one with the same parameters checks and takes it with
`restore`. `rivers` has the classes of River, which take seconds to import.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from river_budget import kernels
from river_budget._state import require
from river_budget.calibration import Calibrator
from river_budget.catalog import ALGORITHMS
from river_budget.kernels.base import Category

Tensors = dict[str, NDArray[Any]]


class Stateful(NamedTuple):
    """How to store a class with a `state` of its own; see `rivers.Part`."""

    model: type

    def parameters(self, model: Any) -> dict[str, Any]:
        """Return the parameters as plain values."""
        return {name: getattr(model, name) for name in inspect.signature(self.model).parameters}

    def make(self, parameters: dict[str, Any]) -> Any:
        """Return a new object with these parameters."""
        return self.model(**parameters)

    def state(self, model: Any) -> dict[str, Any]:
        """Return what was learned."""
        return model.state()

    def restore(self, model: Any, state: dict[str, Any]) -> None:
        """Take what `state` returned on a new object."""
        model.restore(state)

    def check(self, model: Any) -> None:
        """Do nothing: `restore` has checked it."""


OWN: dict[str, Any] = {
    model.__name__: Stateful(model)
    for model in (*(row.model for row in ALGORITHMS.values()), Calibrator)
}
KERNELS: dict[str, Any] = {
    kernel.__name__: kernel
    for kernel in (
        kernels.RBF, kernels.Laplacian, kernels.RationalQuadratic, kernels.AdditiveRationalQuadratic,
        kernels.Linear, kernels.Polynomial, kernels.Normalized, kernels.Cosine,
    )
}  # fmt: skip


# A larger one cannot be computed with floats.
LARGEST_INTEGER = 2**1000


class CheckpointError(ValueError):
    """A checkpoint is invalid, or a model cannot be stored."""


def outline(model: Any) -> str:
    """Return which classes a model consists of, for instance `StandardScaler | Forgetron`."""
    name = type(model).__name__
    return name if name in OWN else _rivers().outline(model)


def _rivers() -> ModuleType:
    from river_budget.checkpoint import rivers

    return rivers


def _category(name: Any, text: Any) -> Category:
    require(type(text) is str, "a category is not a text")
    return Category.of(name, text)


class Writer:
    """Turns models into JSON, and their arrays into `tensors`, which the JSON names."""

    def __init__(self) -> None:
        self.tensors: Tensors = {}

    def model(self, model: Any) -> Any:
        """Return a model, with the models that it consists of."""
        name = type(model).__name__
        own = OWN.get(name)
        if own is not None and own.model is type(model):
            return self._part(own, model)
        rivers = _rivers()
        composite, part = rivers.COMPOSITES.get(name), rivers.PARTS.get(name)
        if composite is not None and composite.model is type(model):
            try:
                listed = list(composite.parts(model))
            except ValueError as error:
                raise CheckpointError(f"{name} cannot be stored: {error}") from None
            parts = [[self.value(key), self.model(part)] for key, part in listed]
            return {"class": name, "parts": parts}
        if type(model) in rivers.CODE:
            raise CheckpointError(f"{name} cannot be stored: {rivers.CODE[type(model)]}")
        if part is None or part.model is not type(model):
            others = ", ".join([*rivers.PARTS, *rivers.COMPOSITES])
            raise CheckpointError(
                f"{name} cannot be stored; these classes can: the classifiers of river_budget, {others}"
            )
        return self._part(part, model)

    def _part(self, part: Any, model: Any) -> Any:
        name = part.model.__name__
        try:
            part.check(model)
            parameters = {key: self.value(value) for key, value in part.parameters(model).items()}
            return {"class": name, "parameters": parameters, "state": self.state(part.state(model))}
        except ValueError as error:
            raise CheckpointError(f"{name} cannot be stored: {error}") from None

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
        """Return a number, a text, None, a kernel, an array, or a container of these."""
        if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
            value = value.item()
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            if abs(value) > LARGEST_INTEGER:
                raise CheckpointError("an integer that is too large for a float cannot be stored")
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, tuple | frozenset):
            return {type(value).__name__: [self.value(item) for item in value]}
        if isinstance(value, set):
            # In an order of its own, so that equal models are equal bytes.
            return {"set": sorted((self.value(item) for item in value), key=json.dumps)}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {"dict": [[self.value(key), self.value(item)] for key, item in value.items()]}
        if isinstance(value, kernels.Kernel):
            return self._kernel(value)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            return {"array": self._tensor(value)}
        raise CheckpointError(
            f"{value!r} cannot be stored: a {type(value).__name__} is not a number, a text, None or a "
            "tuple of these"
        )

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
    """Makes models of what a `Writer` wrote."""

    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors
        self._readers: dict[str, Callable[[Any], Any]] = {
            "array": tensors.__getitem__,
            "float": float,
            "tuple": lambda items: tuple(map(self.value, items)),
            "Category": lambda items: _category(*map(self.value, items)),
            "frozenset": lambda items: frozenset(map(self.value, items)),
            "set": lambda items: set(map(self.value, items)),
            "dict": lambda items: {self.value(key): self.value(item) for key, item in items},
        }

    def model(self, node: Any) -> Any:
        """Return what `Writer.model` wrote; raise ValueError or others if it does not fit together."""
        name = node["class"]
        if name not in OWN and name in _rivers().COMPOSITES:
            parts = [(self.value(key), self.model(part)) for key, part in node["parts"]]
            return _rivers().COMPOSITES[name].make(parts)
        part = OWN.get(name) or _rivers().PARTS.get(name)
        require(part is not None, f"there is no model called {name!r}")
        parameters = self._values(node["parameters"])
        model = part.make(parameters)
        require(part.parameters(model).keys() == parameters.keys(), f"{name} lacks parameters")
        part.restore(model, self.state(node["state"]))
        part.check(model)
        return model

    def state(self, node: Any) -> dict[str, Any]:
        """Return what `Writer.state` wrote."""
        state: dict[str, Any] = {}
        for key, value in node.items():
            match value:
                case {"tensor": name}:
                    state[key] = self._tensors[name]
                case {"state": inner}:
                    state[key] = self.state(inner)
                case _:
                    state[key] = self.value(value)
        return state

    def value(self, node: Any) -> Any:
        """Return what `Writer.value` wrote."""
        if isinstance(node, list):
            return [self.value(item) for item in node]
        if type(node) is int:
            require(abs(node) <= LARGEST_INTEGER, "an integer is too large for a float")
        if not isinstance(node, dict):
            return node
        for tag, read in self._readers.items():
            if tag in node:
                return read(node[tag])
        kernel = KERNELS[node["kernel"]](**self._values(node["fields"]))
        hash(kernel)
        return kernel

    def _values(self, node: dict[str, Any]) -> dict[str, Any]:
        return {key: self.value(value) for key, value in node.items()}
