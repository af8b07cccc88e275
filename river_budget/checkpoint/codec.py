"""Models as JSON and tensors, and back; `rivers` has the classes that take seconds to import.

Reading runs no code of a file: objects are of listed classes, whose constructors check parameters,
and `Part.check` what was learned.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from types import UnionType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from river.compose import FuncTransformer, Pipeline, TransformerUnion

from river_budget import kernels
from river_budget._state import State, dumped, load, require
from river_budget.catalog import ALGORITHMS
from river_budget.kernels import Category

Tensors = dict[str, NDArray[Any]]

# A larger one cannot be computed with floats.
LARGEST_INTEGER = 2**1000

CONTAINERS: dict[str, Callable[[Iterable[Any]], Any]] = {
    "tuple": tuple, "frozenset": frozenset, "set": set, "Category": lambda items: Category.of(*items),
}  # fmt: skip


class CheckpointError(ValueError):
    """A checkpoint is invalid, or a model cannot be stored."""


class Each(NamedTuple):
    """The kind of a dict of values, each of which is of a kind."""

    each: Any


class Part:
    """How to store a class: the name, parameters, and what was learned of an object.

    `kinds` are those of attributes, as far as an object has them: a type, a range of whole numbers,
    the least and the largest number, `Listed` classes, a condition, or `Each` of these. Only listed
    classes allow objects. Attributes that the constructor does not take are learned, unless the class
    has a `state` of its own. `rules` raise ValueError if what an object holds does not fit together.
    """

    def __init__(self, model: type, /, *rules: Callable[[Any], object], **kinds: Any) -> None:
        self.model = model
        self.rules = rules
        self.kinds = kinds
        # Of what a constructor takes any number, a new object has none, and an old one a state.
        parameters = inspect.signature(model).parameters.values()
        self.names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]

    def parameters(self, model: Any) -> State:
        return {name: getattr(model, name) for name in self.names}

    def state(self, model: Any) -> State:
        if hasattr(model, "restore"):
            return model.state()
        return {name: dumped(getattr(model, name)) for name in self._learned(model)}

    def restore(self, model: Any, state: State) -> None:
        if hasattr(model, "restore"):
            return model.restore(state)
        for name in self._learned(model):
            load(model, name, state[name])

    def _held(self, model: Any) -> dict[str, Any]:
        """Return the kinds of the attributes that an object has, unless it has a state of its own."""
        kinds = {} if hasattr(model, "restore") else self.kinds
        return {name: kind for name, kind in kinds.items() if hasattr(model, name)}

    def _learned(self, model: Any) -> list[str]:
        return [name for name in self._held(model) if name not in self.names]

    def check(self, model: Any) -> None:
        """Raise ValueError if the object cannot be stored."""
        for name, kind in self._held(model).items():
            check(f"its {name.removeprefix('_')}", getattr(model, name), kind)
        for rule in self.rules:
            rule(model)

    def converted(self, values: State, convert: Callable[..., Any], tensors: Tensors) -> State:
        """Return parameters or a state, each value converted with the classes that it may have."""
        inner = {name: getattr(kind, "each", kind) for name, kind in self.kinds.items()}
        among = {name: kind for name, kind in inner.items() if isinstance(kind, dict)}
        return {name: convert(v, tensors, among.get(name)) for name, v in values.items()}


# The classes whose objects can be stored in some place, by name.
Listed = dict[str, Part]


def listed(*parts: Part) -> Listed:
    return {part.model.__name__: part for part in parts}


# Kernels can be wherever plain values can.
KERNEL_CLASSES = (
    kernels.RBF, kernels.Laplacian, kernels.RationalQuadratic, kernels.AdditiveRationalQuadratic,
    kernels.Linear, kernels.Polynomial, kernels.Normalized, kernels.Cosine,
)  # fmt: skip
# The hash of a kernel fails if a name in it has none, which a forged one may not have.
KERNELS = listed(*(Part(kernel, hash) for kernel in KERNEL_CLASSES))

# The classifiers of this package, and the classes of `rivers` once one of them is needed.
MODELS = listed(*(Part(row.model) for row in ALGORITHMS.values()))


def part_named(name: str, among: Listed) -> Part | None:
    if among is MODELS and name not in MODELS:
        from river_budget.checkpoint import rivers

        MODELS.update(rivers.CLASSES)
    return among.get(name)


def part_of(value: Any, among: Listed) -> Part:
    """Return how an object is stored. Raises CheckpointError if its class is not listed."""
    name = type(value).__name__
    part = part_named(name, among)
    if part is not None and part.model is type(value):
        return part
    ours = ["the classifiers of river_budget"] if among is MODELS else []
    allowed = ", ".join(ours + [name for name in among if name not in ALGORITHMS])
    is_code = isinstance(value, FuncTransformer | kernels.FunctionKernel)
    reason = "its function is code" if is_code else f"only {allowed} can"
    raise CheckpointError(f"{name} cannot be stored: {reason}")


def check(name: str, value: Any, kind: Any) -> None:
    """Raise ValueError, with a name, if a value is not of a kind; see `Part`."""
    match kind:
        case Each(each):
            require(hasattr(value, "items"), f"{name} is not a dict")
            for key, item in value.items():
                check(f"{name}[{key!r}]", item, each)
            return
        case range():
            is_valid = type(value) is int and value in kind
        case dict():
            is_valid = bool(part_of(value, kind))
        case (least, most):
            is_valid = isinstance(value, Real) and least <= value <= most
        case type() | UnionType():
            is_valid = isinstance(value, kind)
        case _:
            try:
                is_valid = kind(value)
            except Exception:  # whatever a condition raises
                is_valid = False
    if not is_valid:
        raise ValueError(f"{name} cannot be {value!r:.100}")


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


def written(value: Any, tensors: Tensors, among: Listed | None = None) -> Any:
    """Return a value, or objects of listed classes, as JSON that names arrays in `tensors`."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        value = value.item()
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if isinstance(value, Mapping):
        items = [(key, written(item, tensors, among)) for key, item in value.items()]
        if all(isinstance(key, str) for key in value):
            return {"state": dict(items)}
        return {"dict": [[written(key, tensors), item] for key, item in items]}
    if among is None and kind in (int, float):
        if kind is int and abs(value) > LARGEST_INTEGER:
            raise CheckpointError("an integer that is too large for a float cannot be stored")
        return value
    if among is not None or isinstance(value, kernels.Kernel):
        part = part_of(value, among or KERNELS)
        try:
            part.check(value)
            parameters = part.converted(part.parameters(value), written, tensors)
            state = part.converted(part.state(value), written, tensors)
        except ValueError as error:
            raise CheckpointError(f"{kind.__name__} cannot be stored: {error}") from None
        return {"class": kind.__name__, "parameters": parameters, "state": state}
    if kind in (list, tuple, set, frozenset, Category):
        values = [written(item, tensors) for item in value]
        if kind in (set, frozenset):
            values.sort(key=json.dumps)  # so that equal models are equal bytes
        return values if kind is list else {kind.__name__: values}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        name = f"{len(tensors)}"
        tensors[name] = np.array(value, order="C")
        return {"tensor": name}
    raise CheckpointError(
        f"{value!r} cannot be stored: a {kind.__name__} is not a number, a text, None or a tuple"
    )


def read(node: Any, tensors: Tensors, among: Listed | None = None) -> Any:
    """Return what was `written`. Raises ValueError or others if it does not fit together."""
    match node:
        case {"class": name}:
            part = part_named(name, among or KERNELS)
            if part is None:
                raise ValueError(f"an object of the class {name!r:.100} cannot be here")
            parameters = part.converted(node["parameters"], read, tensors)
            require(parameters.keys() == set(part.names), f"{name} lacks parameters")
            model = part.model(**parameters)
            part.restore(model, part.converted(node["state"], read, tensors))
            part.check(model)
            return model
        case {"state": items}:
            return {name: read(item, tensors, among) for name, item in items.items()}
        case {"dict": items}:
            return {read(key, tensors): read(item, tensors, among) for key, item in items}
        case _ if among is not None and node is not None:
            raise ValueError(f"{node!r:.100} is not an object")
        case int():
            require(abs(node) <= LARGEST_INTEGER, "an integer is too large for a float")
            return node
        case None | float() | str():
            return node
        case list():
            return [read(item, tensors) for item in node]
        case {"tensor": name}:
            return tensors[name]
        case _:
            ((kind, items),) = node.items()
            return CONTAINERS[kind](read(item, tensors) for item in items)
