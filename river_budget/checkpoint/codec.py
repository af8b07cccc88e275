"""Models as JSON and tensors, and back.

Decoding runs no code from a file. It makes objects of registered classes, whose constructors check their
parameters. The classes of this package also check what their objects have learned. Those of River take
it as it is, so a wrong value raises an error only when it is used.
"""

from __future__ import annotations

import functools
import inspect
import json
import numbers
from collections.abc import Callable, Iterable, Mapping
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river.compose import Discard, Select

from river_budget._checks import LARGEST_INTEGER
from river_budget._core.answer import Asked, Waiting, asked_of, waiting_of
from river_budget._core.tickets import Ticket, restored_ticket
from river_budget._state import State, plain_value, require, restore_attribute
from river_budget.checkpoint import ours  # noqa: F401 (registers classes)
from river_budget.checkpoint.format import Tensors
from river_budget.checkpoint.registry import entry_named, entry_of
from river_budget.kernels import Category, Kernel

SCALARS = frozenset([NoneType, bool, float, str])

SEQUENCES = frozenset([list, tuple, set, frozenset, Category, Waiting, Asked, Ticket])

CONTAINERS: dict[str, Callable[[Iterable[Any]], Any]] = {
    "dict": dict, "tuple": tuple, "frozenset": frozenset, "set": set,
    "Category": lambda items: Category.of(*items), "Waiting": lambda items: waiting_of(*items),
    "Asked": lambda items: asked_of(*items), "Ticket": lambda items: restored_ticket(*items),
}  # fmt: skip

# The types that a SelectType may select, by name.
TYPES: dict[str, Any] = {
    "bool": bool, "int": int, "float": float, "str": str, "list": list, "tuple": tuple, "set": set,
    "dict": dict, "NoneType": NoneType, "ndarray": np.ndarray, "Number": numbers.Number,
    "Real": numbers.Real, "Integral": numbers.Integral,
}  # fmt: skip

SELECTORS = (Discard, Select)

# The signed integers that arrays are stored as, and their numbers of bits.
INTEGERS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}

# Attributes of River's objects and of kernels that are not stored, because they follow from others.
DERIVED = {
    "_plan", "_inference_transformers", "_last_step_cached", "_last_step_params", "imputers",
    "known", "processing_steps", "stats",
}  # fmt: skip


def encode(value: Any, tensors: Tensors) -> Any:
    """Return a value as JSON, and put its arrays into `tensors`, which the JSON refers to by name.

    Raises ValueError if it cannot be stored.
    """
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind is int:
        return _bounded(value)
    if kind in SEQUENCES:
        items = [encode(item, tensors) for item in value]
        if kind in (set, frozenset):
            items.sort(key=json.dumps)  # So that equal models become equal bytes.
        return items if kind is list else {kind.__name__: items}
    if kind is dict or isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {"state": {key: encode(item, tensors) for key, item in value.items()}}
        return {"dict": [encode(list(pair), tensors) for pair in value.items()]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return _encode_array(value, tensors)
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        return encode(value.item(), tensors)
    if isinstance(value, type) and value in TYPES.values():
        return {"type": value.__name__}
    return encode_object(value, tensors)


def _encode_array(array: NDArray[Any], tensors: Tensors) -> dict[str, str]:
    """Put an array into `tensors`, and return the JSON that refers to it."""
    name = f"{len(tensors)}"
    if array.dtype == np.int64:
        tensors[name] = _narrowed(array)
        return {"integers": name}
    tensors[name] = np.array(array, order="C")
    return {"tensor": name}


def encode_object(model: Any, tensors: Tensors) -> dict[str, Any]:
    """Return an object as JSON. Raises ValueError if its class, or that of a part, is not registered."""
    entry = entry_of(model)
    kind = entry.kind
    given = {name: _parameter(model, name) for name in _parameters(kind)}
    has_window = given.get("window_size") is not None
    require(not has_window, f"{kind.__name__} cannot be stored: it has a window_size")
    if given.get("desired_dist") is getattr(model, "_actual_dist", model):
        # The constructor got None: the sampler follows the distribution of labels that it counts.
        given["desired_dist"] = None

    try:
        parameters = {name: encode(value, tensors) for name, value in given.items()}
        learned = model.state() if hasattr(model, "restore") else _learned(model)
        if hasattr(model, "imputers"):
            # What a StatImputer fills in for each feature: a statistic, or the value of a constant.
            learned["stats"] = {name: getattr(s, "value", s) for name, s in model.stats.items()}
        state = {name: encode(value, tensors) for name, value in learned.items()}
    except ValueError as error:
        raise ValueError(f"{kind.__name__}: {error}") from None
    return {
        "class": entry.name,
        "schema": entry.version,
        "parameters": parameters,
        "state": state,
    }


def check_storable(what: str, value: Any) -> None:
    """Raise ValueError, which says what the value is, if no checkpoint can store it."""
    try:
        encode(value, {})
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what}: {error}") from None


def decode(node: Any, tensors: Tensors) -> Any:
    """Return the value that `encode` turned into JSON. Raises various errors if the JSON is wrong."""
    kind = type(node)
    if kind is dict:
        return decode_object(node, tensors) if "class" in node else _decode_tagged(node, tensors)
    if kind is list:
        return [decode(item, tensors) for item in node]
    return _bounded(node) if kind is int else node


def _decode_tagged(node: Mapping[str, Any], tensors: Tensors) -> Any:
    """Return the value of a JSON object whose only key says what it is."""
    ((tag, content),) = node.items()
    match tag:
        case "state":
            return {name: decode(item, tensors) for name, item in content.items()}
        case "tensor":
            return _taken(content, tensors)
        case "integers":
            narrow = _taken(content, tensors)
            require(narrow.dtype.kind in "iu", "expected an array of integers")
            return narrow.astype(np.int64)
        case "type":
            return TYPES[content]
    return CONTAINERS[tag](decode(item, tensors) for item in content)


def decode_object(node: Any, tensors: Tensors) -> Any:
    """Return the object that `encode_object` turned into JSON. Raises various errors if it is wrong."""
    entry = entry_named(node["class"])
    kind = entry.kind
    parameters = decode({"state": node["parameters"]}, tensors)
    stored = decode({"state": node["state"]}, tensors)
    state = entry.migrated(stored, node["schema"])
    if hasattr(kind, "_check_arrays"):
        kind._check_arrays(parameters, state)  # noqa: SLF001

    # A StatImputer takes the pairs of a feature and its statistic as arguments without names.
    imputed = state.pop("stats", {}).items()
    model = kind(*imputed, **parameters)
    if hasattr(model, "restore"):
        model.restore(state)
    else:
        require(state.keys() == _learned(model).keys(), f"{kind.__name__} has another state")
        has_names = kind not in SELECTORS or isinstance(state["keys"], dict)
        require(has_names, f"the names that {kind.__name__} takes are missing")
        for name, value in state.items():
            restore_attribute(model, name, value)

    if isinstance(model, Kernel):
        hash(model)  # Raises TypeError if a name of a feature is not hashable.
    return model


def _taken(name: Any, tensors: Tensors) -> NDArray[Any]:
    """Return an array by its name. Raises ValueError if there is none."""
    # Each array is used once. Otherwise a small file could make a large model.
    require(name in tensors, "an array is missing, or is named twice")
    return tensors.pop(name)


def _narrowed(array: NDArray[np.int64]) -> NDArray[Any]:
    """Return integers in the smallest signed type that holds them all."""
    least, most = int(array.min(initial=0)), int(array.max(initial=0))
    n_bits = max(most, ~least).bit_length() + 1
    kind = next(kind for kind, size in INTEGERS.items() if n_bits <= size)
    return array.astype(kind, order="C")


def _bounded(value: int) -> int:
    """Return an integer unchanged. Raises ValueError if it is too large."""
    is_small = abs(value) <= LARGEST_INTEGER
    require(is_small, "an integer that is too large for a float cannot be stored")
    return value


def _parameter(model: Any, name: str) -> Any:
    """Return the value of a parameter, which is the attribute of the same name."""
    require(hasattr(model, name), f"it has no attribute with the name of its parameter {name}")
    return getattr(model, name)


@functools.cache
def _parameters(kind: Any) -> list[str]:
    """Return the names of a constructor's parameters, without `*args`."""
    parameters = inspect.signature(kind).parameters.values()
    return [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]


def _learned(model: Any) -> State:
    """Return what an object of River has learned: the attributes that its constructor does not take."""
    if type(model) in SELECTORS:
        # A dict keeps the order of the selected names, in which features are added up later.
        return {"keys": dict.fromkeys(model.keys)}
    kind: Any = type(model)
    derived = DERIVED.union(_parameters(kind))
    return {name: plain_value(held) for name, held in vars(model).items() if name not in derived}
