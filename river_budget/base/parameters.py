"""Parameters of a constructor, declared by a class like the fields of a dataclass."""

from __future__ import annotations

import dataclasses
from typing import Any, dataclass_transform

from river_budget._checks import Check


def parameter(*, default: Any, check: Check | None = None, kw_only: bool = False) -> Any:
    """Declare a parameter. `check(name, value)` raises ValueError if a value is invalid.

    None as a default is not checked.
    """
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

    A subclass may extend `__post_init__`, which ends the constructor, or have its own constructor.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Also without new parameters, so that errors about arguments name the class.
        dataclasses.dataclass(eq=False, repr=False, match_args=False)(cls)
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            setattr(cls, field.name, SetOnce(field.name))

    def __post_init__(self) -> None:
        check_parameters(self)
