"""The classes whose objects can be stored: their names in files, and the versions of their states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from river_budget._checks import check_count
from river_budget._state import State, require

Kind = TypeVar("Kind", bound=type)

# It turns a state of one version into one of the next.
Migration = Callable[[State], State]


class Entry(NamedTuple):
    """What is known of a class whose objects can be stored."""

    kind: Any
    name: str
    version: int
    migrations: Mapping[int, Migration]

    def migrated(self, state: State, found: Any) -> State:
        """Return a state of the version `found` as one of this version. Raises ValueError."""
        is_version = type(found) is int and found >= 1
        require(is_version, f"{found!r:.20} is no version of the state of {self.name}")
        if found > self.version:
            raise ValueError(
                f"{self.name} was written by a newer version of its program, with version {found} of "
                f"its state, and only those up to {self.version} can be read: update the program"
            )
        for version in range(found, self.version):
            state = self.migrations[version](state)
        return state


_by_name: dict[str, Entry] = {}
_by_class: dict[Any, Entry] = {}


def register(
    cls: Kind,
    *,
    name: str | None = None,
    version: int = 1,
    migrations: Mapping[int, Migration] = MappingProxyType({}),
) -> Kind:
    """Let objects of a class be stored: in checkpoints, in `keyed` and by the command line.

    Objects of your own algorithm, which declares what it learns, are stored as those of this package.
    Of another class, such as a transformer of your own, the parameters of the constructor and all other
    attributes are stored, which must be plain values, arrays, or objects of registered classes.

    A file is only read where its classes are registered, under the same names. Register a class in the
    module that defines it, so that each program that imports the class can read its files.

    Parameters
    ----------
    cls
        The class. It is returned, so this is also a decorator.
    name
        Its name in files; by default, that of its module and its own. Give one if the module may get
        another name, or is a script.
    version
        The version of what its objects store, a whole number of at least 1. Increase it with each
        change that the class could not read otherwise.
    migrations
        For each version below this one, a function that takes a state of that version and returns one
        of the next. A state is a dict with the names of attributes, without the underscore in front, and
        of what their values tell: plain values, arrays, objects, or dicts.

    Raises
    ------
    ValueError
        If a parameter is invalid, or if another class has the name.

    Examples
    --------
    >>> from river_budget import checkpoint
    >>> from river_budget.base import BudgetPerceptron, Count

    >>> @checkpoint.register
    ... class Replacing(BudgetPerceptron):
    ...     \"""Replaces the oldest support vector.\"""
    ...
    ...     n_replaced = Count()
    ...
    ...     def _update(self, f, y):
    ...         if f.n < self.budget:
    ...             f.add(y)
    ...         else:
    ...             f.replace(f.oldest, y)
    ...             self.n_replaced += 1

    >>> checkpoint.loads(checkpoint.dumps(Replacing(budget=5))).budget
    5

    The first version had another name for the number:

    >>> def renamed(state):
    ...     return {**state, "n_replaced": state["replaced"]}

    >>> checkpoint.register(Replacing, version=2, migrations={1: renamed}) is Replacing
    True
    """
    require(isinstance(cls, type), f"cls must be a class, got {cls!r}")
    has_state = hasattr(cls, "restore") or cls.__dictoffset__
    require(has_state, f"objects of {cls.__name__} have no attributes that could be stored")
    check_count("version", version)
    _check_migrations(migrations, version)
    own = qualified(cls)
    key = own if name is None else name
    require(isinstance(key, str) and key, f"name must be a text, got {name!r}")
    before = _by_name.get(key)
    is_free = before is None or qualified(before.kind) == own
    require(is_free, f"the name {key!r} is that of another class: give a name of its own")
    if before is not None:
        # The class was defined again, as in a notebook.
        del _by_class[before.kind]
    if cls in _by_class:
        del _by_name[_by_class[cls].name]
    _by_name[key] = _by_class[cls] = Entry(cls, key, version, dict(migrations))
    return cls


def _check_migrations(migrations: Any, version: int) -> None:
    """Raise ValueError unless there is a migration from each version to the next."""
    is_complete = isinstance(migrations, Mapping) and set(migrations) == set(range(1, version))
    expected = f"must have a function for each version from 1 to {version - 1}"
    require(is_complete, f"migrations {expected}, got {migrations!r}")
    require(all(map(callable, migrations.values())), f"migrations {expected}, got {migrations!r}")


def qualified(kind: type) -> str:
    """Return the name of a class with that of its module."""
    return f"{kind.__module__}.{kind.__qualname__}"


def entry_named(name: Any) -> Entry:
    """Return the entry of the class with a name. Raises ValueError if there is none."""
    if name not in _by_name:
        _register_rivers()
    entry = _by_name.get(name)
    if entry is None:
        raise ValueError(
            f"the class {name!r:.100} is not known: import the module that registers it, or see "
            "checkpoint.register"
        )
    return entry


def entry_of(value: Any) -> Entry:
    """Return the entry of an object's class. Raises ValueError if it is not registered."""
    kind = type(value)
    if kind not in _by_class:
        _register_rivers()
    if kind not in _by_class:
        raise ValueError(
            f"{kind.__name__} cannot be stored, as it is no plain value, unless its class is registered "
            f"by checkpoint.register({kind.__name__})"
        )
    return _by_class[kind]


def _register_rivers() -> None:
    """Register the classes of River, whose import takes seconds."""
    from river_budget.checkpoint import rivers  # noqa: F401
