"""Models as JSON and tensors, and back.

An object is a value like numbers, texts, arrays and kernels: the name of its class, its parameters,
and the state that it has learned. It may be only where the class around it declares objects. `rivers`
has the classes that take seconds to import.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import math
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river.compose import Pipeline, TransformerUnion

from river_budget import kernels
from river_budget._state import State, require
from river_budget.catalog import ALGORITHMS
from river_budget.kernels.base import Category

Tensors = dict[str, NDArray[Any]]

# A larger one cannot be computed with floats.
LARGEST_INTEGER = 2**1000

KERNELS: dict[str, Any] = {
    kernel.__name__: kernel
    for kernel in (
        kernels.RBF, kernels.Laplacian, kernels.RationalQuadratic, kernels.AdditiveRationalQuadratic,
        kernels.Linear, kernels.Polynomial, kernels.Normalized, kernels.Cosine,
    )
}  # fmt: skip


class CheckpointError(ValueError):
    """A checkpoint is invalid, or a model cannot be stored."""


class Listed:
    """Classes whose objects can be stored in some place."""

    def __init__(self, *parts: Part) -> None:
        self._parts = {part.model.__name__: part for part in parts}

    def __str__(self) -> str:
        return ", ".join(self._parts)

    def part_of(self, value: Any) -> Part:
        """Return how an object is stored. Raises CheckpointError if its class is not listed."""
        part = self.get(type(value).__name__)
        if part is None or part.model is not type(value):
            raise CheckpointError(self.refusal(value))
        return part

    def get(self, name: str) -> Part | None:
        """Return how the class of a name is stored, or None."""
        return self._parts.get(name)

    def refusal(self, value: Any) -> str:
        """Return the message about an object of another class."""
        return f"only {self} can, and not its {type(value).__name__}"


class Models(Listed):
    """The classifiers of this package, and the classes of `rivers`."""

    def get(self, name: str) -> Part | None:
        return super().get(name) or _rivers().CLASSES.get(name)

    def refusal(self, value: Any) -> str:
        return _rivers().refusal(value)


def _rivers() -> ModuleType:
    from river_budget.checkpoint import rivers

    return rivers


class Part:
    """How to store a class that consists of parameters and of what it has learned.

    `objects` says which parameters, and which names in the state, hold objects of which classes: one,
    a dict of them, or None. All others hold plain values. `agree` raises ValueError if what an object
    holds does not fit together, unless `restore` does.
    """

    def __init__(
        self, model: type, /, agree: Callable[[Any], None] | None = None, **objects: Listed
    ) -> None:
        self.model, self.agree, self.objects = model, agree, objects
        parameters = inspect.signature(model).parameters
        self.names = list(parameters)
        self._takes_several = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())

    def parameters(self, model: Any) -> State:
        return {name: getattr(model, name) for name in self.names}

    def make(self, parameters: State) -> Any:
        """Return a new object with these parameters."""
        if self._takes_several:
            (values,) = parameters.values()
            return self.model(*values)
        return self.model(**parameters)

    def state(self, model: Any) -> State:
        """Return what was learned."""
        return model.state()

    def restore(self, model: Any, state: State) -> None:
        """Take what `state` returned on a new object."""
        model.restore(state)

    def check(self, model: Any) -> None:
        """Raise ValueError if the object cannot be stored."""
        if self.agree is not None:
            self.agree(model)

    def converted(self, values: State, convert: Callable[[Any, Listed | None], Any]) -> State:
        """Return parameters or a state, each value converted with the classes that it may have."""
        return {
            name: None if value is None else convert(value, self.objects.get(name))
            for name, value in values.items()
        }


MODELS = Models(*(Part(row.model) for row in ALGORITHMS.values()))


def outline(model: Any) -> str:
    """Return which classes a model consists of, for instance `StandardScaler | Forgetron`."""
    if isinstance(model, Pipeline):
        return " | ".join(map(outline, model.steps.values()))
    if isinstance(model, TransformerUnion):
        return f"({' + '.join(map(outline, model.transformers.values()))})"
    name = type(model).__name__
    # River calls the model inside of a wrapper so.
    inner = getattr(model, "_wrapped_model", None)
    return name if inner is None else f"{name}({outline(inner)})"


class Writer:
    """Turns models into JSON, and their arrays into `tensors`, which the JSON names."""

    def __init__(self) -> None:
        self.tensors: Tensors = {}

    def object(self, value: Any, listed: Listed) -> Any:
        """Return an object of one of some classes."""
        part, name = listed.part_of(value), type(value).__name__
        try:
            part.check(value)
            parameters = part.converted(part.parameters(value), self.value)
            state = part.converted(part.state(value), self.value)
        except ValueError as error:
            raise CheckpointError(f"{name} cannot be stored: {error}") from None
        return {"class": name, "parameters": parameters, "state": state}

    def value(self, value: Any, listed: Listed | None = None) -> Any:
        """Return a number, a text, None, a kernel, an array, or a container of these.

        If classes are listed, return an object of one of these, or a dict of such objects.
        """
        if listed is not None and not isinstance(value, Mapping):
            return self.object(value, listed)
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
        if isinstance(value, Mapping):
            return self._dict(value, listed)
        if isinstance(value, kernels.Kernel):
            return self._kernel(value)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            name = f"{len(self.tensors)}"
            self.tensors[name] = np.array(value, order="C")
            return {"tensor": name}
        raise CheckpointError(
            f"{value!r} cannot be stored: a {type(value).__name__} is not a number, a text, None or a "
            "tuple of these"
        )

    def _dict(self, value: Mapping[Any, Any], listed: Listed | None) -> Any:
        write = self.value if listed is None else functools.partial(self.object, listed=listed)
        if all(isinstance(name, str) for name in value):
            return {"state": {name: write(item) for name, item in value.items()}}
        return {"dict": [[self.value(key), write(item)] for key, item in value.items()]}

    def _kernel(self, kernel: Any) -> Any:
        name = type(kernel).__name__
        if KERNELS.get(name) is not type(kernel):
            raise CheckpointError(f"{kernel} cannot be stored: its function is code")
        fields = {f.name: self.value(getattr(kernel, f.name)) for f in dataclasses.fields(kernel)}
        return {"kernel": name, "fields": fields}


class Reader:
    """Makes models of what a `Writer` wrote. Raises ValueError or others if it does not fit together."""

    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors

    def object(self, node: Any, listed: Listed | None) -> Any:
        """Return what `Writer.object` wrote; None lists no class."""
        if not isinstance(node, dict) or "class" not in node:
            raise ValueError(f"{node!r:.100} is not an object")
        name = node["class"]
        part = None if listed is None else listed.get(name)
        if part is None:
            raise ValueError(f"an object of the class {name!r:.100} cannot be here")
        parameters = part.converted(node["parameters"], self.value)
        model = part.make(parameters)
        require(part.parameters(model).keys() == parameters.keys(), f"{name} lacks parameters")
        part.restore(model, part.converted(node["state"], self.value))
        part.check(model)
        return model

    def value(self, node: Any, listed: Listed | None = None) -> Any:
        """Return what `Writer.value` wrote."""
        read = self.value if listed is None else functools.partial(self.object, listed=listed)
        match node:
            case None | str() | float() if listed is None:
                return node
            case int() if listed is None:
                require(abs(node) <= LARGEST_INTEGER, "an integer is too large for a float")
                return node
            case {"class": _}:
                return self.object(node, listed)
            case {"state": items}:
                return {name: read(item) for name, item in items.items()}
            case {"dict": items}:
                return {self.value(key): read(item) for key, item in items}
            case _ if listed is not None:
                return self.object(node, listed)
            case list():
                return [self.value(item) for item in node]
            case {"tensor": name}:
                return self._tensors[name]
            case {"float": text}:
                return float(text)
            case {"tuple": items}:
                return tuple(map(self.value, items))
            case {"frozenset": items}:
                return frozenset(map(self.value, items))
            case {"set": items}:
                return set(map(self.value, items))
            case {"Category": [name, text]}:
                require(type(text) is str, "a category is not a text")
                return Category.of(self.value(name), text)
            case _:
                fields = {name: self.value(field) for name, field in node["fields"].items()}
                kernel = KERNELS[node["kernel"]](**fields)
                hash(kernel)
                return kernel
