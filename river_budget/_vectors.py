"""The vectors of a store as a part of its state, and how a restored state is validated."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from river_budget._features import check_name, check_shape, checked_array
from river_budget._state import State, count, floats, integers, require
from river_budget.kernels import Features, Kernel


class Vector(NamedTuple):
    """A stored vector, as the native store describes it."""

    names: list[Any]  # The names of its numbers.
    values: bytes  # The numbers themselves, as doubles.
    arrays: dict[Any, NDArray[Any]] | None  # None if no vector of the store has arrays.
    given: Features | None  # The example for Python functions, which is not saved.
    inserted: int  # The number of vectors that were inserted into the store before it.


def state_of(described: Sequence[tuple[Any, ...]]) -> State:
    """Return vectors, each as the values of a `Vector`, as plain values and arrays.

    Each name is stored once, in `names`. `places` has the places there of the names of all vectors, one
    vector after the other, and `sizes` tells how many belong to each.
    """
    vectors = [Vector(*values) for values in described]
    place_of: dict[Any, int] = {}
    places: list[int] = []
    # Vectors with the same features mostly share one list of names.
    places_of: dict[int, list[int]] = {}
    for v in vectors:
        if id(v.names) not in places_of:
            places_of[id(v.names)] = [place_of.setdefault(n, len(place_of)) for n in v.names]
        places += places_of[id(v.names)]
    return {
        "names": tuple(place_of),
        "sizes": np.array([len(v.names) for v in vectors], np.int64),
        "places": np.array(places, np.int64),
        "values": np.frombuffer(b"".join(v.values for v in vectors)).copy(),
        # An example with arrays that was not learned may have left room for these.
        "arrays": tuple(v.arrays for v in vectors) if any(v.arrays for v in vectors) else (),
        "inserted": np.array([v.inserted for v in vectors], np.int64),
    }


def restored_vectors(state: State, dtype: Any) -> list[Vector]:
    """Return the vectors of a state, whose arrays have a dtype. Raises ValueError if it is invalid."""
    sizes, places = integers(state["sizes"], (None,)), integers(state["places"], (None,))
    # Unlike their sum, the sizes themselves cannot overflow.
    n, n_places = len(sizes), len(places)
    fit = ((sizes >= 0) & (sizes <= n_places)).all() and sum(sizes.tolist()) == n_places
    require(fit, "the sizes of the vectors are wrong")
    values = floats(state["values"], (n_places,)).tobytes()
    order, arrays = restored_order(state, n), restored_arrays(state, n, dtype)

    # A place takes as many bytes as a value, so the parts of a vector lie where its places do.
    ends = (places.itemsize * sizes.cumsum()).tolist()
    parts = [slice(start, end) for start, end in itertools.pairwise([0, *ends])]
    places_of = list(map(places.tobytes().__getitem__, parts))
    # Vectors with the same features share one list of names.
    names = _lists_of_names(set(places_of), state["names"])
    return [
        Vector(names[key], values[part], own, None, inserted)
        for key, part, own, inserted in zip(places_of, parts, arrays, order, strict=True)
    ]


def _lists_of_names(places: Iterable[bytes], names: Sequence[Any]) -> dict[bytes, list[Any]]:
    """Return the names at each of several lists of places, given as bytes. Raises ValueError."""
    require(isinstance(names, tuple), "the names of the features are missing")
    require(len(set(names)) == len(names), "a name occurs twice")
    lists = {}
    for listed in places:
        chosen = np.frombuffer(listed, np.int64).tolist()
        are_known = not chosen or (min(chosen) >= 0 and max(chosen) < len(names))
        require(are_known, "a vector has a feature without a name")
        require(len(set(chosen)) == len(chosen), "a vector has a feature twice")
        lists[listed] = [names[place] for place in chosen]
    return lists


def restored_arrays(state: State, n: int, dtype: Any) -> list[dict[Any, NDArray[Any]] | None]:
    """Return the arrays of each of n vectors, by name; None if none has any. Raises ValueError."""
    stored: Any = state["arrays"]
    if stored == ():
        return [None] * n
    are_whole = (
        type(stored) is tuple and len(stored) == n and all(isinstance(x, dict) for x in stored)
    )
    require(are_whole, "the arrays of the vectors are wrong")
    sizes: dict[Any, int] = dict.fromkeys(state["names"], 0)
    for name, array in itertools.chain.from_iterable(x.items() for x in stored):
        check_name(name)
        check_shape(name, array)
        is_alike = sizes.setdefault(name, len(array)) == len(array)
        require(is_alike, f"feature {name!r} is an array of two lengths, or a number, too")
    return [{name: checked_array(name, a, dtype) for name, a in x.items()} for x in stored]


def restored_order(state: State, n: int) -> list[int]:
    """Return how many vectors were inserted before each of n vectors. Raises ValueError."""
    inserted, n_inserted = integers(state["inserted"], (n,)), count(state["n_inserted"])
    in_range = ((inserted >= 0) & (inserted < n_inserted)).all()
    order: list[int] = inserted.tolist()
    require(in_range and len(set(order)) == n, "the insertion order is invalid")
    return order


def restored_sizes(state: State) -> dict[Any, int] | None:
    """Return the lengths of the arrays that kernels with names read; None before the first vector."""
    sizes = state["array_sizes"]
    if sizes is None:
        require(not state["n_inserted"], "the sizes of the arrays are missing")
        return None
    is_valid = isinstance(sizes, dict) and all(count(size) > 0 for size in sizes.values())
    require(is_valid, "the sizes of the arrays are wrong")
    return sizes


def restored_kernels(state: State, given: Sequence[Kernel]) -> Sequence[Kernel]:
    """Return the kernels of a state. Raises ValueError unless a store with the given ones has it."""
    kernels = state["kernels"]
    is_valid = type(kernels) is tuple and all(map(_may_resolve_to, given, kernels))
    require(is_valid, f"expected the kernels {tuple(given)!r}, got {kernels!r}")
    is_resolved = all(kernel.resolve(()) == kernel for kernel in kernels)
    require(is_resolved or not state["n_inserted"], "the kernel of a store in use lacks parameters")
    return kernels


def _may_resolve_to(given: Any, resolved: Any) -> bool:
    """Return whether setting what a kernel, or a part of it, leaves open can make another one of it."""
    if given is None or given == resolved:
        return True
    if not isinstance(given, Kernel) or type(given) is not type(resolved):
        return False
    names = [field.name for field in dataclasses.fields(given)]  # type: ignore[arg-type]
    return all(_may_resolve_to(getattr(given, name), getattr(resolved, name)) for name in names)
