"""Parameters of constructors, their checks, and warnings.

A check is a function that raises a ValueError if a parameter is invalid, and names the parameter and
its range. A class that is `Parametrized` declares each parameter with its check.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import numbers
import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any, dataclass_transform

# It takes the name and the value of a parameter, and raises ValueError if the value is invalid.
Check = Callable[[str, Any], None]

# Smaller weights count as 0, because their products with step sizes could underflow.
SMALLEST_WEIGHT = 1e-100

# The largest integer in names, labels and seeds. Larger ones cannot be converted to floats.
LARGEST_INTEGER = 2**1000

# How deep tuples and sets in names and labels may be nested.
DEEPEST = 100


def shown(value: Any) -> str:
    """Return the `repr` of a value for a message; its type where Python refuses, as for huge integers."""
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}, too large to show>"


def is_bounded(value: Any, depth: int = DEEPEST) -> bool:
    """Return whether a name or a label can be stored: no huge number, and not nested too deep."""
    if isinstance(value, tuple | frozenset):
        return depth > 0 and all(is_bounded(part, depth - 1) for part in value)
    if isinstance(value, numbers.Rational):
        return max(abs(int(value.numerator)), int(value.denominator)) <= LARGEST_INTEGER
    return True


def warn(message: str) -> None:
    """Give a warning that points to the user's line, the innermost one outside of this package."""
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_globals.get("__name__", "").startswith("river_budget."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def custom_check(expected: str, is_valid: Callable[[Any], bool]) -> Check:
    """Return a check whose error says what is expected: `{name} must be {expected}, got ...`."""

    def check(name: str, value: Any) -> None:
        if not is_valid(value):
            raise ValueError(f"{name} must be {expected}, got {shown(value)}")

    return check


def one_of(*choices: Any) -> Check:
    """Return a check that a parameter is one of these values, which are of one type."""
    kind = type(choices[0])
    return custom_check(f"one of {list(choices)}", lambda v: isinstance(v, kind) and v in choices)


def number_check(expected: str, is_valid: Callable[[Any], bool]) -> Check:
    """Return a check that a parameter is a real number for which `is_valid` is true."""
    return custom_check(expected, lambda value: _is_double(value) and is_valid(value))


def check_seed(name: str, seed: Any) -> None:
    """Raise ValueError unless a seed is a whole number that a checkpoint can store."""
    is_seed = isinstance(seed, numbers.Integral) and abs(int(seed)) <= LARGEST_INTEGER
    if not is_seed:
        expected = "a whole number between -2**1000 and 2**1000"
        raise ValueError(f"{name} must be {expected}, got {shown(seed)}")


def random_of(seed: int | None) -> random.Random:
    """Return a random number generator. The seed may also be an integer of NumPy."""
    return random.Random(None if seed is None else int(seed))


check_real = number_check("a finite number", math.isfinite)
check_positive = number_check("a positive finite number", lambda v: 0 < v < math.inf)
check_not_negative = number_check("a finite number of at least 0", lambda v: 0 <= v < math.inf)
check_probability = number_check("a number from 0 to 1", lambda v: 0 <= v <= 1)

# With larger weights, products of coefficients and kernel values could overflow.
check_weight = number_check("a number from 0 to 1e+12", lambda v: 0 <= v <= 1e12)
check_class_weight = number_check("a number from 1e-12 to 1e+12", lambda v: 1e-12 <= v <= 1e12)
check_scale = number_check("a number from 1e-30 to 1e30", lambda v: 1e-30 <= v <= 1e30)


def weight_of(w: Any) -> float:
    """Return the weight of an example as a float, a tiny one as 0. Raises ValueError if it is invalid."""
    check_weight("w", w)
    return float(w) if w >= SMALLEST_WEIGHT else 0.0


def check_count(name: str, value: Any, most: int | None = None) -> None:
    """Raise ValueError unless a parameter is a whole number from 1 to `most`; None sets no limit."""
    is_whole = _is_real(value) and isinstance(value, numbers.Integral)
    limit = math.inf if most is None else most
    if not is_whole or not 1 <= int(value) <= limit:
        allowed = "of at least 1" if most is None else f"from 1 to {most:,}"
        raise ValueError(f"{name} must be a whole number {allowed}, got {shown(value)}")


# A larger budget must be an error: a tenth of this already takes gigabytes.
MOST_VECTORS = 10**8

check_budget = functools.partial(check_count, most=MOST_VECTORS)


def check_scales(name: str, scales: Any) -> None:
    """Raise ValueError unless a parameter is a tuple of pairs of a name and a scale, each name once."""
    is_of_pairs = isinstance(scales, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in scales
    )
    if not is_of_pairs:
        raise ValueError(f"{name} must be a tuple of pairs of a name and a scale, got {scales!r}")
    for feature, scale in scales:
        check_scale(f"{name}: the scale of {shown(feature)}", scale)
    if len({feature for feature, _ in scales}) != len(scales):
        raise ValueError(f"{name} must have each name once, got {scales!r}")


def out_of_memory(name: str, value: int, n_bytes: int) -> MemoryError:
    """Return the error to raise if a parameter asks for more memory than there is."""
    return MemoryError(f"{name}={value} takes about {n_bytes:,} bytes: give a smaller number")


def check_indices(name: str, indices: Sequence[int], n: int, what: str) -> None:
    """Raise ValueError unless a list has indices, all from 0 to n - 1; `what` names the indexed thing."""
    if not indices or any(i not in range(n) for i in indices):
        expected = f"numbers of {what}s from 0 to {n - 1}" if indices else f"at least one {what}"
        raise ValueError(f"{name} must have {expected}, got {shown(list(indices))}")


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_double(value: Any) -> bool:
    """Return whether a value is a real number that a double can hold."""
    if not _is_real(value):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def parameter(
    *, default: Any = dataclasses.MISSING, check: Check | None = None, kw_only: bool = False
) -> Any:
    """Declare a parameter of a `Parametrized` class or a dataclass, with its check.

    None is not checked if it is the default.
    """
    return dataclasses.field(default=default, kw_only=kw_only, metadata={"check": check})


def check_parameters(owner: Any) -> None:
    """Raise ValueError if the check of a dataclass's field refuses the value of the field."""
    kind: Any = type(owner)
    for name, check, default in _checks_of(kind):
        value = getattr(owner, name)
        if value is not None or default is not None:
            check(name, value)


@functools.cache
def _checks_of(kind: type) -> list[tuple[str, Check, Any]]:
    """Return the names of the fields that a dataclass checks, with their checks and defaults."""
    found = [(field, field.metadata.get("check")) for field in dataclasses.fields(kind)]
    return [(field.name, check, field.default) for field, check in found if check is not None]


class SetOnce:
    """A parameter of a class: the constructor sets it, and later assignments raise AttributeError."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __set__(self, model: Any, value: Any) -> None:
        if self._name in vars(model):
            raise AttributeError(f"{self._name} cannot be changed: make a new model with `clone`")
        vars(model)[self._name] = value


@dataclass_transform(eq_default=False, field_specifiers=(parameter,))
class Parametrized:
    """A class with parameters, which are declared as in a dataclass and can be set only once.

    They are its annotated attributes. `base` says how they go together with what a class learns.

    The constructor takes those of base classes first. A subclass may extend `__post_init__`, which ends
    the constructor. It may also have its own constructor, which its own subclasses do not inherit.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # A class without new parameters is made a dataclass, too, so that errors name the right class.
        dataclasses.dataclass(eq=False, repr=False, match_args=False)(cls)
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            setattr(cls, field.name, SetOnce(field.name))

    def __post_init__(self) -> None:
        check_parameters(self)
