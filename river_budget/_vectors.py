"""Vectors of a store as a part of its state, and how that is validated."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Ints
from river_budget._state import State, count, floats, integers, require
from river_budget.kernels import Features, Kernel

# The names of the numbers of a vector, their doubles as bytes, its arrays, if some vector has one, its
# object for Python functions, and its place in the order of insertion.
Vector = tuple[list[Any], bytes, dict[Any, NDArray[Any]] | None, Features | None, int]


def state_of(vectors: Sequence[Vector]) -> State:
    """Return vectors as plain values and arrays."""
    places: dict[Any, int] = {}
    of_values = [places.setdefault(name, len(places)) for own, *_ in vectors for name in own]
    return {
        "names": tuple(places),
        "sizes": np.array([len(own) for own, *_ in vectors], np.int64),
        "places": np.array(of_values, np.int64),
        "values": np.frombuffer(b"".join(values for _, values, *_ in vectors)).copy(),
        "arrays": tuple(vector[2] for vector in vectors if vector[2] is not None),
        "inserted": np.array([inserted for *_, inserted in vectors], np.int64),
    }


def restored_vectors(state: State) -> list[Features]:
    """Return the vectors of a state as dicts. Raises ValueError if it is invalid."""
    names = state["names"]
    sizes, places = integers(state["sizes"], (None,)), integers(state["places"], (None,))
    values = floats(state["values"], (len(places),))
    pairs = zip([names[i] for i in places], values.tolist(), strict=True)
    vectors = [dict(itertools.islice(pairs, size)) for size in sizes.tolist()]
    require(list(map(len, vectors)) == sizes.tolist(), "the sizes of the vectors are wrong")
    for x, arrays in zip(vectors, state["arrays"], strict=False):
        x.update(arrays)
    return vectors


def restored_order(state: State, n: int) -> tuple[Ints, int]:
    """Return the insertion order of n vectors, and how many were ever inserted."""
    inserted, n_inserted = integers(state["inserted"], (n,)), count(state["n_inserted"])
    is_valid = ((inserted >= 0) & (inserted < n_inserted)).all() and len(
        set(inserted.tolist())
    ) == n
    require(is_valid, "the insertion order is invalid")
    return inserted, n_inserted


def restored_sizes(state: State) -> dict[Any, int] | None:
    """Return the numbers of elements of the arrays that kernels with names read, None without vectors."""
    sizes = state["array_sizes"]
    if sizes is None:
        require(not state["n_inserted"], "the sizes of the arrays are missing")
        return None
    is_valid = isinstance(sizes, dict) and all(count(size) > 0 for size in sizes.values())
    require(is_valid, "the sizes of the arrays are wrong")
    return sizes


def restored_kernels(state: State, given: Sequence[Kernel]) -> Sequence[Kernel]:
    """Return the kernels of a state, which must be the state of a store with these kernels."""
    kernels = state["kernels"]
    is_valid = type(kernels) is tuple and all(map(_may_resolve_to, given, kernels))
    require(is_valid, f"expected the kernels {tuple(given)!r}, got {kernels!r}")
    is_resolved = all(kernel.resolve(()) == kernel for kernel in kernels)
    require(is_resolved or not state["n_inserted"], "the kernel of a store in use lacks parameters")
    return kernels


def _may_resolve_to(given: Any, resolved: Any) -> bool:
    """Tell whether a kernel, or a part of it, can be another one with what was left open set."""
    if given is None or given == resolved:
        return True
    if not isinstance(given, Kernel) or type(given) is not type(resolved):
        return False
    names = [field.name for field in dataclasses.fields(given)]  # type: ignore[arg-type]
    return all(_may_resolve_to(getattr(given, name), getattr(resolved, name)) for name in names)
