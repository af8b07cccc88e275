"""Declared state: how a class says what it learns, and how that is saved and validated.

A `Learned` class has one class attribute for each thing that it learns, and each of these is a `Field`.
From these declarations follow the starting values, the state, its restoration and its size in bytes.
The instances themselves have plain attributes.

A state is a dict of plain values, arrays, kernels, other objects and nested dicts. It may come from an
untrusted file. So each field validates its own value when it is restored, and `_check_restored` of the
class validates that the values agree with each other. Parameters, which are not learned, are declared
beside them: `base` says how the two, and docstrings, go together.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import functools
import math
import operator
import random
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from river_budget._arrays import Floats, padded

State = dict[str, Any]
T = TypeVar("T")

LARGEST_NUMBER = 1e150  # No sum of products of such numbers overflows.
LARGEST_SUM = 1e305  # The limit of such a sum, which is never multiplied again.
LARGEST_COUNT = 2**62
LARGEST_ID = LARGEST_COUNT - 2  # The limit of event and ticket numbers: the next one fits a count.

# The largest error that rounding may leave in an element of a matrix, relative to its largest one.
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
    """Return a copy of an array of finite numbers. Raises ValueError if it is anything else.

    It must have the given shape, where None allows any length, and no value above `largest`.
    """
    is_array = isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == len(shape)
    if not is_array or not all(n in (None, m) for n, m in zip(shape, value.shape, strict=True)):
        raise ValueError(f"expected an array of {np.dtype(dtype)} with shape {tuple(shape)}")

    is_bounded = float(np.abs(value).max(initial=0)) <= largest
    require(is_bounded, "an array has a value that is not finite or too large")
    return value.copy()


integers = functools.partial(floats, dtype=np.int64)


def finite(value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """Return a value unchanged. Raises ValueError unless it is a finite float in the range."""
    if type(value) is not float or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite float")
    if not least <= value <= most:
        raise ValueError(f"{value!r} is not between {least} and {most}")
    return value


def count(value: Any) -> int:
    """Return a value unchanged. Raises ValueError unless it is an integer of at least 0."""
    if type(value) is not int or not 0 <= value < LARGEST_COUNT:
        raise ValueError(f"{value!r} is not a count")
    return value


# Whether the state that is restored comes from this process itself.
_is_trusted = contextvars.ContextVar("_is_trusted", default=False)


@contextlib.contextmanager
def trusting(is_own: bool) -> Iterator[None]:
    """While a state is restored, leave out the checks that take long if this process has written it."""
    token = _is_trusted.set(is_own)
    try:
        yield
    finally:
        _is_trusted.reset(token)


def is_trusted() -> bool:
    """Return whether the state that is restored comes from this process itself."""
    return _is_trusted.get()


def require_definite(matrices: Floats, otherwise: str) -> None:
    """Raise ValueError unless matrices (..., n, n) are symmetric and have no negative eigenvalue.

    Both hold up to rounding errors. `otherwise` begins the message of the error.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.abs(matrices).max(axis=(-2, -1), keepdims=True, initial=0.0)
        tolerance = ROUNDING * largest

        gaps = np.abs(matrices - matrices.swapaxes(-2, -1))
        require((gaps <= tolerance).all(), f"{otherwise}: not symmetric")

        # The factorization needs a positive diagonal, also for a matrix of zeros.
        added = tolerance + (largest == 0)
        try:
            np.linalg.cholesky(matrices + added * np.eye(matrices.shape[-1]))
        except np.linalg.LinAlgError:
            raise ValueError(f"{otherwise}: not positive semi-definite") from None


def probe(n: int) -> Floats:
    """Return a fixed random vector (n,), to test whether matrices are equal.

    If `A B` equals C, then `A (B v)` equals `C v`, which takes less time to compute. A wrong C passes
    this test only by a rare chance.
    """
    return np.random.default_rng(0).standard_normal(n)


def plain_value(held: Any) -> Any:
    """Return what an attribute holds as it is saved.

    A random number generator becomes an array, an object its `state()`, and any mapping a dict.
    """
    if isinstance(held, random.Random):
        return np.array(held.getstate()[1], np.uint32)
    if hasattr(held, "state"):
        return held.state()
    return dict(held.items()) if hasattr(held, "items") else held


def restore_attribute(owner: Any, name: str, value: Any, given: Iterable[Any] = ()) -> None:
    """Give an attribute the value that `plain_value` returned. Raises ValueError if it is invalid.

    What the attribute holds now decides how. If that is an object with `restore`, this is called with
    the value and what is `given`.
    """
    held: Any = getattr(owner, name, None)
    if isinstance(held, random.Random):
        internal = floats(value, (None,), dtype=np.uint32).tolist()
        held.setstate((held.VERSION, tuple(internal), None))
    elif hasattr(held, "restore"):
        held.restore(value, *given)
    elif hasattr(held, "items"):
        require(isinstance(value, dict), f"{name} is not a dict")
        # The mapping is kept and filled, because it may be of another type than dict.
        held.clear()
        held.update(value)
    else:
        setattr(owner, name, value)


@dataclasses.dataclass(eq=False, repr=False)
class Field(Generic[T]):
    """The declaration of one attribute that a class learns."""

    # Makes the starting value. Without it, the constructor of the class does.
    make: Callable[[], T] | None = None
    # Returns the value of a state if it is valid, and raises ValueError otherwise. A field without a check
    # holds None, which restoring leaves alone, a dict, or an object with `state` and `restore`.
    check: Callable[[Any], T] | None = None
    _: dataclasses.KW_ONLY
    # Names of attributes of the owner whose values `restore` of such an object takes, too.
    given: Sequence[str] = ()
    # The name in the state; by default that of the attribute, without the leading underscore.
    key: str = ""
    # What the attribute is, for the docstring of the class.
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

    def saved(self, owner: Any) -> Any:
        """Return the value of an object's attribute for its state."""
        return plain_value(getattr(owner, self.name))

    def restore(self, owner: Any, value: Any) -> None:
        """Give an object's attribute the value of a state. Raises ValueError if it is invalid."""
        if self.check is not None:
            restore_attribute(owner, self.name, self.check(value))
        elif getattr(owner, self.name) is not None:
            given = [getattr(owner, name) for name in self.given]
            restore_attribute(owner, self.name, value, given)


class Number(Field[float]):
    """A finite float from `least` to `most`, which are no limits by default.

    It starts at `start`; by default at `least`, or at 0 if there is no such limit. `key_and_doc` are
    those of a `Field`.
    """

    def __init__(
        self,
        least: float = -math.inf,
        most: float = math.inf,
        *,
        start: Any = None,
        **key_and_doc: Any,
    ) -> None:
        if start is None:
            start = least if least > -math.inf else 0.0
        super().__init__(lambda: start, lambda value: finite(value, least, most), **key_and_doc)

    def saved(self, owner: Any) -> float:
        return float(getattr(owner, self.name))


# An integer of at least 0, which is also where it starts.
Count = functools.partial(Field[int], int, count)

# A dict of plain values or objects, empty at the start. `_check_restored` has to validate it.
Dict = functools.partial(Field[dict[Any, Any]], dict)

# A random number generator, which the constructor makes and seeds.
Random = Field[random.Random]


class Array(Field[Floats]):
    """An array of floats. It may have room to grow: only the part with the declared shape is saved.

    The shape consists of numbers, and of names of attributes that hold numbers, which may be dotted
    (`"_f.n_labels"`). An array that is too short is padded with zeros. It starts as zeros of the shape
    `start`, unless the constructor makes it. `key_and_doc` are those of a `Field`.
    """

    def __init__(
        self, *shape: int | str, start: Sequence[int] | None = None, **key_and_doc: Any
    ) -> None:
        super().__init__(None if start is None else lambda: np.zeros(start), **key_and_doc)
        self.shape = shape

    def saved(self, owner: Any) -> Floats:
        shape = self._shape_of(owner)
        cut = getattr(owner, self.name)[tuple(map(slice, shape))]
        return padded(cut, *shape)

    def restore(self, owner: Any, value: Any) -> None:
        setattr(owner, self.name, floats(value, self._shape_of(owner), LARGEST_SUM))

    def _shape_of(self, owner: Any) -> list[int]:
        return [n if isinstance(n, int) else operator.attrgetter(n)(owner) for n in self.shape]


class Learned:
    """An object that learns what its class and its base classes declare."""

    # The fields by name of attribute, those of base classes first.
    _fields: ClassVar[dict[str, Field[Any]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        # An instance attribute is slower to read while the class has one of the same name.
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
        """Raise ValueError if a state lacks large arrays that its parameters imply.

        This is called before the object is made, because a forged file of a few bytes could otherwise
        make the constructor allocate gigabytes.
        """

    def state(self) -> State:
        """Return the learned state as plain values and arrays."""
        return {field.key: field.saved(self) for field in self._fields.values()}

    def restore(self, state: State) -> None:
        """Give a new object what another one with the same parameters has learned.

        Raises ValueError if a value is invalid, or if values contradict each other.
        """
        for field in self._fields.values():
            field.restore(self, state[field.key])
        self._check_restored()

    def _check_restored(self) -> None:
        """Derive what follows from the restored values. Raises ValueError if they contradict each other."""


def bytes_of(value: Any) -> int:
    """Return the memory of a value in bytes: its `nbytes`, or the sum over the fields that it declares."""
    if isinstance(value, random.Random | dict):
        return sys.getsizeof(value)
    if hasattr(value, "nbytes") and not isinstance(value, np.generic):
        return value.nbytes
    return sum(bytes_of(getattr(value, name)) for name in getattr(value, "_fields", ()))
