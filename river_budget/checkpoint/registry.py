"""The classes whose objects can be stored: their names in files, and the versions of their states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from river_budget._checks import check_count
from river_budget._state import State, require

Kind = TypeVar("Kind", bound=type)

# A function that turns a state of one version into one of the next.
Migration = Callable[[State], State]


class Entry(NamedTuple):
    """A registered class."""

    kind: Any
    name: str  # Its name in files.
    version: int  # The version of the states of its objects.
    migrations: Mapping[int, Migration]  # By the version that each one takes.

    def migrated(self, state: State, found: Any) -> State:
        """Return a state of the version `found` as one of this version.

        Raises ValueError if there is no such version, or if it is a later one.
        """
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
    """Allow objects of a class to be stored: in checkpoints, by `keyed` and by the command line.

    An algorithm of your own that declares what it learns is stored like those of this package. For any
    other class, such as a transformer of your own, the parameters of the constructor and all attributes
    are stored. They must be plain values, arrays, or objects of registered classes.

    A program can read a file only if it has registered the classes in the file, under the same names.
    So register a class in the module that defines it: whatever imports the class can then read its files.

    Parameters
    ----------
    cls
        The class. It is returned, so this is also a decorator.
    name
        Its name in files; by default the names of its module and of the class. Give one if the module is
        a script, or may be renamed.
    version
        The version of what its objects store, a whole number of at least 1. Increase it whenever the
        class could not read its former states any more.
    migrations
        For each earlier version, a function that takes a state of that version and returns one of the
        next. A state is a dict of plain values, arrays, objects and dicts. Its keys are the names of
        attributes without a leading underscore.

    Raises
    ------
    ValueError
        If a parameter is invalid, or if another class is registered under the name.

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
    former = _by_name.get(key)
    is_free = former is None or qualified(former.kind) == own
    require(is_free, f"the name {key!r} is that of another class: give a name of its own")

    if former is not None:
        # The class was defined again, as happens in a notebook.
        del _by_class[former.kind]
    if cls in _by_class:
        # The class is registered again, under another name or with another version.
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
