"""Models as values that can be compared, and what a check raises where they differ."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from river_budget._state import plain_value

# Numbers that should be equal up to rounding differ by less, relative to the larger of 1 and their size.
ROUNDING = 1e-6

# The name in a state of the predictions that wait for their labels. Each prediction adds to them.
TICKETS = "tickets"


class PromiseError(AssertionError):
    """A promise does not hold. A check puts the promise before what was found, and advice after it."""


def expect(condition: Any, otherwise: str) -> None:
    """Raise PromiseError with what was found unless a condition holds."""
    if not condition:
        raise PromiseError(otherwise)


def expect_exact(model: Any) -> None:
    """Raise PromiseError unless what a model updates step by step is what it would compute anew."""
    errors = {
        name: error for name, error in model.numerical_errors().items() if not error < ROUNDING
    }
    expect(
        not errors,
        f"What is updated step by step has the errors {errors}: compute it anew from time to time, "
        "and in `_derive`.",
    )


def expect_same(
    found: Any,
    expected: Any,
    name: str,
    *,
    tolerance: float = 0.0,
    without: Collection[str] = (),
) -> None:
    """Raise PromiseError, which names the model `found` and what differs, unless two models are equal."""
    where = next(differences(state_of(found), state_of(expected), tolerance, without), None)
    expect(where is None, f"{name} differs in `{where}`.")


def state_of(model: Any) -> dict[str, Any]:
    """Return what a model has learned: what its class declares, and attributes that users read."""
    f, fields = model._f, model._fields  # noqa: SLF001
    own = vars(model).keys() - fields.keys() - {field.name for field in dataclasses.fields(model)}
    public = {
        name: plain_value(vars(model)[name]) for name in sorted(own) if not name.startswith("_")
    }
    declared = {name: field.saved(model) for name, field in fields.items() if name != "_f"}
    # A function as a kernel has no state.
    hypothesis = (
        {**f.learned(), "store": model.support_vectors} if has_function(model) else f.state()
    )
    return {**public, **declared, "_f": hypothesis}


def has_function(model: Any) -> bool:
    """Return whether the kernel of a model is a function."""
    return any(kernel.spec is None for kernel in model._f.store.kernels)  # noqa: SLF001


def differences(
    found: Any, expected: Any, tolerance: float, skipped: Collection[str], path: str = ""
) -> Iterator[str]:
    """Yield the paths of the parts in which two values differ."""
    if found is expected:
        return
    found, expected = _opened(found), _opened(expected)
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for name in {**expected, **found}:
            inner = f"{path}.{name}" if path else str(name)
            if name not in found or name not in expected:
                yield inner
            elif name not in skipped:
                yield from differences(found[name], expected[name], tolerance, skipped, inner)
    elif isinstance(found, list | tuple) and isinstance(expected, list | tuple):
        if len(found) != len(expected):
            yield path
        for pair in zip(found, expected, strict=False):
            yield from differences(*pair, tolerance, skipped, path)
    elif not _is_same(found, expected, tolerance):
        yield path


def _opened(value: Any) -> Any:
    """Return the attributes of an object whose class has no equality of its own, else the value."""
    kind: Any = type(value)
    is_opened = kind.__eq__ is object.__eq__ and hasattr(value, "__dict__")
    return vars(value) if is_opened else value


def _is_same(found: Any, expected: Any, tolerance: float) -> bool:
    """Return whether two values that are no containers are equal, numbers up to a tolerance."""
    if type(found) is not type(expected):
        return False
    is_array = isinstance(found, np.ndarray)
    if is_array and (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return False
    if not is_array and not isinstance(found, float):
        return found == expected
    if tolerance and np.asarray(found).dtype.kind == "f":
        return bool(np.all(np.abs(found - expected) <= tolerance * (1.0 + np.abs(expected))))
    return np.asarray(found).tobytes() == np.asarray(expected).tobytes()


def is_near(found: dict[Any, float], expected: dict[Any, float]) -> bool:
    """Return whether the scores of the same labels are equal, up to rounding."""
    return found.keys() == expected.keys() and all(
        math.isclose(found[label], score, rel_tol=ROUNDING, abs_tol=ROUNDING)
        for label, score in expected.items()
    )
