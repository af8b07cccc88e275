"""Models as JSON and tensors, and back.

The codec knows how plain values, arrays and kernels are written, and the classifiers of this
package: each returns its `state`, and a new one with the same parameters checks and takes it with
`restore`. `rivers` has the classes of River, which take seconds to import.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from river_budget import kernels
from river_budget._state import State, require
from river_budget.calibration import Calibrator
from river_budget.catalog import ALGORITHMS
from river_budget.kernels.base import Category

Tensors = dict[str, NDArray[Any]]
# The models that a model consists of, each with a name or with plain values that belong to it.
Parts = list[tuple[Any, Any]]


class Part:
    """How to store a class that consists of parameters and of what it has learned."""

    def __init__(self, model: type) -> None:
        self.model = model

    def parameters(self, model: Any) -> State:
        """Return the parameters as plain values."""
        return {name: getattr(model, name) for name in inspect.signature(self.model).parameters}

    def make(self, parameters: State) -> Any:
        """Return a new object with these parameters."""
        return self.model(**parameters)

    def state(self, model: Any) -> State:
        """Return what was learned, as plain values and arrays."""
        return model.state()

    def restore(self, model: Any, state: State) -> None:
        """Take what `state` returned on a new object."""
        model.restore(state)

    def check(self, model: Any) -> None:
        """Raise ValueError if the object cannot be stored, unless `restore` does."""


class Composite(NamedTuple):
    """How to store a class that consists of other models: two functions list and join them."""

    model: type
    parts: Callable[[Any], Iterable[tuple[Any, Any]]]
    make: Callable[[Parts], Any]


OWN: dict[str, Part] = {
    model.__name__: Part(model)
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
    composite = _known(name)
    if not isinstance(composite, Composite):
        return name
    parts = (outline(part) for _, part in composite.parts(model))
    if name == "Pipeline":
        return " | ".join(parts)
    if name == "TransformerUnion":
        return f"({' + '.join(parts)})"
    return f"{name}({next(parts)})"


def _known(name: str) -> Part | Composite | None:
    """Return how the class of a name is stored, or None."""
    return OWN.get(name) or _rivers().CLASSES.get(name)


def _rivers() -> ModuleType:
    from river_budget.checkpoint import rivers

    return rivers


class Writer:
    """Turns models into JSON, and their arrays into `tensors`, which the JSON names."""

    def __init__(self) -> None:
        self.tensors: Tensors = {}

    def model(self, model: Any) -> Any:
        """Return a model, with the models that it consists of."""
        name = type(model).__name__
        part = _known(name)
        if part is None or part.model is not type(model):
            raise CheckpointError(f"{name} cannot be stored{_rivers().refusal(model)}")
        try:
            if isinstance(part, Composite):
                listed = list(part.parts(model))
            else:
                part.check(model)
                options = {key: self.value(value) for key, value in part.parameters(model).items()}
                state = self.state(part.state(model))
                return {"class": name, "parameters": options, "state": state}
        except ValueError as error:
            raise CheckpointError(f"{name} cannot be stored: {error}") from None
        return {"class": name, "parts": [[self.value(key), self.model(m)] for key, m in listed]}

    def state(self, state: State) -> Any:
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
        if type(value) in (tuple, frozenset, Category):
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

    def model(self, node: Any) -> Any:
        """Return what `Writer.model` wrote; raise ValueError or others if it does not fit together."""
        name = node["class"]
        part = _known(name)
        if isinstance(part, Composite):
            return part.make([(self.value(key), self.model(inner)) for key, inner in node["parts"]])
        if part is None:
            raise ValueError(f"there is no model called {name!r}")
        parameters = self._values(node["parameters"])
        model = part.make(parameters)
        require(part.parameters(model).keys() == parameters.keys(), f"{name} lacks parameters")
        part.restore(model, self.state(node["state"]))
        part.check(model)
        return model

    def state(self, node: Any) -> State:
        """Return what `Writer.state` wrote."""
        state: State = {}
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
        match node:
            case None | str() | float():
                return node
            case int():
                require(abs(node) <= LARGEST_INTEGER, "an integer is too large for a float")
                return node
            case list():
                return [self.value(item) for item in node]
            case {"array": name}:
                return self._tensors[name]
            case {"float": text}:
                return float(text)
            case {"tuple": items}:
                return tuple(map(self.value, items))
            case {"frozenset": items}:
                return frozenset(map(self.value, items))
            case {"set": items}:
                return set(map(self.value, items))
            case {"dict": items}:
                return {self.value(key): self.value(item) for key, item in items}
            case {"Category": [name, text]}:
                require(type(text) is str, "a category is not a text")
                return Category.of(self.value(name), text)
            case _:
                kernel = KERNELS[node["kernel"]](**self._values(node["fields"]))
                hash(kernel)
                return kernel

    def _values(self, node: State) -> State:
        return {key: self.value(value) for key, value in node.items()}
