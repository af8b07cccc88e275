"""Declared state: what a class learns, as plain values and arrays, and its validation.

A `Learned` class declares what it learns as class attributes, each of which is a `Field`. Instances
have plain attributes. A `state` is a dict of plain values, arrays, kernels, other objects and nested
dicts. It may come from an untrusted file, so each field validates its value when it is restored, and
`_check_restored` what values say of each other. Parameters, which are not learned, are declared beside
them: `base` says how the two, and docstrings, go together.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
import random
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Floats, padded

State = dict[str, Any]
T = TypeVar("T")

LARGEST_NUMBER = 1e150  # No sum of products of such numbers overflows.
LARGEST_SUM = 1e305  # Of such sums, which are not multiplied any more.
LARGEST_COUNT = 2**62
LARGEST_ID = LARGEST_COUNT - 2  # Of an event or a ticket: the next number must be a count.

# What rounding may add to an element of a matrix, as a share of the largest one.
ROUNDING = 1e-6


def require(condition: Any, message: str) -> None:
    """Raise ValueError unless a condition holds."""
    if not condition:
        raise ValueError(message)


def floats(
    value: Any,
    shape: Sequence[int | None],
    largest: float = LARGEST_NUMBER,
    dtype: Any = np.float64,
) -> NDArray[Any]:
    """Return a copy of an array of finite numbers of a given shape; None allows any length."""
    fits = isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == len(shape)
    fits = fits and all(n in (None, m) for n, m in zip(shape, value.shape, strict=True))
    require(fits, f"expected an array of {np.dtype(dtype)} with shape {tuple(shape)}")
    bounded = float(np.abs(value).max(initial=0)) <= largest
    require(bounded, "an array has a value that is not finite or too large")
    return value.copy()


integers = functools.partial(floats, dtype=np.int64)


def finite(value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """Return a value, which must be a finite float from `least` to `most`."""
    require(type(value) is float and math.isfinite(value), f"{value!r} is not a finite float")
    require(least <= value <= most, f"{value!r} is not between {least} and {most}")
    return value


def count(value: Any) -> int:
    """Return a value, which must be an integer of at least 0."""
    require(type(value) is int and 0 <= value < LARGEST_COUNT, f"{value!r} is not a count")
    return value


def require_definite(matrices: Floats, otherwise: str) -> None:
    """Raise ValueError unless matrices (..., n, n) are symmetric, and no eigenvalue is below 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.abs(matrices).max(axis=(-2, -1), keepdims=True, initial=0.0)
        tolerance = ROUNDING * largest
        transposed = matrices.swapaxes(-2, -1)
        require((np.abs(matrices - transposed) <= tolerance).all(), f"{otherwise}: not symmetric")
        try:
            np.linalg.cholesky(matrices + (tolerance + (largest == 0)) * np.eye(matrices.shape[-1]))
        except np.linalg.LinAlgError:
            raise ValueError(f"{otherwise}: not positive semi-definite") from None


def probe(n: int) -> Floats:
    """Return a vector (n,) whose products with two different matrices differ, but for a rare chance.

    It tells whether a product of matrices is right in less time than it takes to multiply them.
    """
    return np.random.default_rng(0).standard_normal(n)


def dumped(held: Any) -> Any:
    """Return what an attribute holds as a plain value: a random state, an object's state, a dict."""
    if isinstance(held, random.Random):
        return np.array(held.getstate()[1], np.uint32)
    if hasattr(held, "state"):
        return held.state()
    return dict(held.items()) if hasattr(held, "items") else held


def load(owner: Any, name: str, value: Any, given: Iterable[Any] = ()) -> None:
    """Restore an attribute from what `dumped` returned, and a `restore` from what else is given."""
    held: Any = getattr(owner, name, None)
    if isinstance(held, random.Random):
        internal = floats(value, (None,), dtype=np.uint32).tolist()
        held.setstate((held.VERSION, tuple(internal), None))
    elif hasattr(held, "restore"):
        held.restore(value, *given)
    elif hasattr(held, "items"):
        require(isinstance(value, dict), f"{name} is not a dict")
        held.clear()  # It is filled, so that it keeps its type.
        held.update(value)
    else:
        setattr(owner, name, value)


@dataclasses.dataclass(eq=False, repr=False)
class Field(Generic[T]):
    """What a class declares that it learns: an attribute of its instances.

    `make` makes the starting value, unless the constructor of the class does. `check` returns a
    valid value of a state, or raises ValueError. Without it, the value is None, which nothing
    changes, a dict, or an object with `state` and `restore`. The latter also takes the attributes
    of the owner that `given` names. `key` is the name in the state.
    """

    make: Callable[[], T] | None = None
    check: Callable[[Any], T] | None = None
    _: dataclasses.KW_ONLY
    given: Sequence[str] = ()
    key: str = ""
    doc: str = ""

    def __post_init__(self) -> None:
        self.__doc__ = self.doc and textwrap.fill(self.doc, 92)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.key = self.key or name.removeprefix("_")

    if TYPE_CHECKING:
        # At run time, the value is an attribute of the instance itself.
        def __get__(self, owner: Any, kind: Any = None) -> T: ...
        def __set__(self, owner: Any, value: T) -> None: ...

    def dump(self, owner: Any) -> Any:
        """Return the value for the state."""
        return dumped(getattr(owner, self.name))

    def load(self, owner: Any, value: Any) -> None:
        """Restore the value. Raises ValueError if it is invalid."""
        if self.check is not None:
            load(owner, self.name, self.check(value))
        elif getattr(owner, self.name) is not None:
            load(owner, self.name, value, [getattr(owner, name) for name in self.given])


class Between(Field[float]):
    """A finite float from `least` to `most`, which starts at `least`, or at 0 if there is none."""

    def __init__(
        self, least: float = -math.inf, most: float = math.inf, *, start: Any = None, **names: Any
    ) -> None:
        if start is None:
            start = least if least > -math.inf else 0.0
        super().__init__(lambda: start, lambda value: finite(value, least, most), **names)

    def dump(self, owner: Any) -> float:
        return float(getattr(owner, self.name))


# `AtLeast(0.0)` and `Number()` say what is meant.
AtLeast = Number = Between


# An integer of at least 0, the starting value.
Count = functools.partial(Field[int], int, count)

# A dict of plain values or objects, which `_check_restored` validates; empty at the start.
Dict = functools.partial(Field[dict[Any, Any]], dict)

# The constructor seeds it.
Random = Field[random.Random]


class Array(Field[Floats]):
    """An array of floats: zeros of the shape `start`, unless the constructor makes it.

    Its shape is numbers and (dotted) names of attributes. The state is cut or filled to this shape.
    """

    def __init__(self, *shape: int | str, start: Sequence[int] | None = None, **names: Any) -> None:
        super().__init__(None if start is None else lambda: np.zeros(start), **names)
        self.shape = shape

    def dump(self, owner: Any) -> Floats:
        shape = self._shape_of(owner)
        return padded(getattr(owner, self.name)[tuple(map(slice, shape))], *shape)

    def load(self, owner: Any, value: Any) -> None:
        setattr(owner, self.name, floats(value, self._shape_of(owner), LARGEST_SUM))

    def _shape_of(self, owner: Any) -> list[int]:
        return [n if isinstance(n, int) else operator.attrgetter(n)(owner) for n in self.shape]


class Learned:
    """An object that learns what its class and the bases of that declare, those of bases first."""

    # By the names of the attributes.
    _fields: ClassVar[dict[str, Field[Any]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        # Attributes that a class has, too, are slower to read.
        for name in own:
            delattr(cls, name)
        bases = (getattr(base, "_fields", {}) for base in reversed(cls.__bases__))
        cls._fields = functools.reduce(operator.or_, [*bases, own])

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        learned = super().__new__(cls)
        for name, field in cls._fields.items():
            if field.make is not None:
                setattr(learned, name, field.make())
        return learned

    @classmethod
    def _check_arrays(cls, parameters: State, state: State) -> None:
        """Raise ValueError if a state lacks large arrays that an object with these parameters makes.

        It is asked before the object is made: a file of a few bytes must not make it take gigabytes.
        """

    def state(self) -> State:
        """Return the learned state as plain values and arrays."""
        return {field.key: field.dump(self) for field in self._fields.values()}

    def restore(self, state: State) -> None:
        """Restore a new object from the state of another. Raises ValueError if it is invalid."""
        for field in self._fields.values():
            field.load(self, state[field.key])
        self._check_restored()

    def _check_restored(self) -> None:
        """Raise ValueError if restored values contradict each other, and derive others from them."""


def bytes_of(value: Any) -> int:
    """Return the memory of a value in bytes: its `nbytes`, or that of what it declares."""
    if isinstance(value, random.Random | dict):
        return sys.getsizeof(value)
    if hasattr(value, "nbytes") and not isinstance(value, np.generic):
        return value.nbytes
    return sum(bytes_of(getattr(value, name)) for name in getattr(value, "_fields", ()))
