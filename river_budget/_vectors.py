"""The vectors of a store as a part of its state, and how a restored state is validated."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Ints
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
    places = [place_of.setdefault(name, len(place_of)) for v in vectors for name in v.names]
    return {
        "names": tuple(place_of),
        "sizes": np.array([len(v.names) for v in vectors], np.int64),
        "places": np.array(places, np.int64),
        "values": np.frombuffer(b"".join(v.values for v in vectors)).copy(),
        # An example with arrays that was not learned may have left room for these.
        "arrays": tuple(v.arrays for v in vectors) if any(v.arrays for v in vectors) else (),
        "inserted": np.array([v.inserted for v in vectors], np.int64),
    }


def restored_vectors(state: State) -> list[Features]:
    """Return the vectors of a state as dicts. Raises ValueError if it is invalid."""
    names = state["names"]
    sizes, places = integers(state["sizes"], (None,)), integers(state["places"], (None,))
    values = floats(state["values"], (len(places),))

    pairs = zip([names[place] for place in places], values.tolist(), strict=True)
    vectors = [dict(itertools.islice(pairs, size)) for size in sizes.tolist()]
    # A vector is shorter than its size if a name occurs in it twice, or if there are too few places.
    require(list(map(len, vectors)) == sizes.tolist(), "the sizes of the vectors are wrong")

    for x, arrays in zip(vectors, state["arrays"], strict=False):
        x.update(arrays)
    return vectors


def restored_order(state: State, n: int) -> tuple[Ints, int]:
    """Return when each of n vectors was inserted, and how many ever were. Raises ValueError."""
    inserted, n_inserted = integers(state["inserted"], (n,)), count(state["n_inserted"])
    in_range = ((inserted >= 0) & (inserted < n_inserted)).all()
    are_different = len(set(inserted.tolist())) == n
    require(in_range and are_different, "the insertion order is invalid")
    return inserted, n_inserted


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
