"""Warnings, parameters, and their checks: ValueErrors that name the parameter and its range."""

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

# A smaller weight is 0: its products with step sizes could underflow.
SMALLEST_WEIGHT = 1e-100

# Integers in names, labels and seeds are at most this: a larger one cannot be computed with floats.
LARGEST_INTEGER = 2**1000

# Tuples and sets in names and labels are nested at most so deep.
DEEPEST = 100


def shown(value: Any) -> str:
    """Return the text of a value for a message, or its type if Python makes none, as of a huge integer."""
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}, too large to show>"


def is_bounded(value: Any, depth: int = DEEPEST) -> bool:
    """Return whether a name or a label has no huge numbers, and is not nested too deep."""
    if isinstance(value, tuple | frozenset):
        return depth > 0 and all(is_bounded(part, depth - 1) for part in value)
    if isinstance(value, numbers.Rational):
        return max(abs(int(value.numerator)), int(value.denominator)) <= LARGEST_INTEGER
    return True


def warn(message: str) -> None:
    """Warn of the line that called the package. Native code has no frames."""
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_globals.get("__name__", "").startswith("river_budget."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def checks(expected: str, is_valid: Callable[[Any], bool]) -> Check:
    """Return the check of a parameter, whose error tells what is expected."""

    def check(name: str, value: Any) -> None:
        if not is_valid(value):
            raise ValueError(f"{name} must be {expected}, got {shown(value)}")

    return check


def one_of(*choices: Any) -> Check:
    """Return the check of a parameter that is one of some values of one type."""
    kind = type(choices[0])
    return checks(f"one of {list(choices)}", lambda v: isinstance(v, kind) and v in choices)


def number(expected: str, is_valid: Callable[[Any], bool]) -> Check:
    """Return the check of a parameter that is a valid number."""
    return checks(expected, lambda value: _is_double(value) and is_valid(value))


def check_seed(name: str, seed: Any) -> None:
    """Raise ValueError unless a seed is a whole number that a checkpoint can store."""
    is_seed = isinstance(seed, numbers.Integral) and abs(int(seed)) <= LARGEST_INTEGER
    if not is_seed:
        expected = "a whole number between -2**1000 and 2**1000"
        raise ValueError(f"{name} must be {expected}, got {shown(seed)}")


def random_of(seed: int | None) -> random.Random:
    """Return a source of random numbers; a seed may be a whole number of NumPy, too."""
    return random.Random(None if seed is None else int(seed))


check_real = number("a finite number", math.isfinite)
check_positive = number("a positive finite number", lambda value: 0 < value < math.inf)
check_not_negative = number("a finite number of at least 0", lambda value: 0 <= value < math.inf)
check_probability = number("a number from 0 to 1", lambda value: 0 <= value <= 1)

# With larger weights, products of coefficients and kernel values could overflow.
check_weight = number("a number from 0 to 1e+12", lambda value: 0 <= value <= 1e12)
check_class_weight = number("a number from 1e-12 to 1e+12", lambda value: 1e-12 <= value <= 1e12)


def weight_of(w: Any) -> float:
    """Return the weight of an example as a float. Raises ValueError if it is invalid."""
    check_weight("w", w)
    return float(w) if w >= SMALLEST_WEIGHT else 0.0


def check_count(name: str, value: Any, most: int | None = None) -> None:
    """Raise ValueError unless the parameter is a whole number from 1 to `most`, if there is one."""
    is_whole = _is_real(value) and isinstance(value, numbers.Integral)
    if not is_whole or not 1 <= int(value) <= (math.inf if most is None else most):
        allowed = "of at least 1" if most is None else f"from 1 to {most:,}"
        raise ValueError(f"{name} must be a whole number {allowed}, got {shown(value)}")


# Larger numbers of vectors are mistakes: a tenth of them already takes gigabytes.
MOST_VECTORS = 10**8

check_budget = functools.partial(check_count, most=MOST_VECTORS)


def out_of_memory(name: str, value: int, n_bytes: int) -> MemoryError:
    """Return an error that says how much memory a parameter takes."""
    return MemoryError(f"{name}={value} takes about {n_bytes:,} bytes: give a smaller number")


def check_indices(name: str, indices: Sequence[int], n: int, what: str) -> None:
    """Raise ValueError unless there are indices, and each is that of one of n things."""
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
    """Declare a parameter of a dataclass. None as a default is not checked."""
    return dataclasses.field(default=default, kw_only=kw_only, metadata={"check": check})


def check_parameters(owner: Any) -> None:
    """Raise ValueError if a parameter of a dataclass is invalid, as the check of its field tells."""
    for field in dataclasses.fields(owner):
        check, value = field.metadata.get("check"), getattr(owner, field.name)
        if check is not None and not (value is None and field.default is None):
            check(field.name, value)


class SetOnce:
    """A parameter that can only be set once, by the constructor; it is read like any attribute."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __set__(self, model: Any, value: Any) -> None:
        if self._name in vars(model):
            raise AttributeError(f"{self._name} cannot be changed: make a new model with `clone`")
        vars(model)[self._name] = value


@dataclass_transform(eq_default=False, field_specifiers=(parameter,))
class Parametrized:
    """An object whose constructor takes the parameters that its class declares, after those of bases.

    They are its annotated attributes. `base` says how they go together with what a class learns.

    A subclass may extend `__post_init__`, which ends the constructor, or have its own constructor,
    which its subclasses do not inherit.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Also without new parameters, so that errors about arguments name the class.
        dataclasses.dataclass(eq=False, repr=False, match_args=False)(cls)
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            setattr(cls, field.name, SetOnce(field.name))

    def __post_init__(self) -> None:
        check_parameters(self)
