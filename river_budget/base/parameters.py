"""Parameters of a constructor, declared by a class like the fields of a dataclass."""

from __future__ import annotations

import dataclasses
from typing import Any, dataclass_transform

from river_budget._checks import check_parameters, parameter


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
