"""What the synthetic streams have in common: they are dataclasses, whose fields are their parameters."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import random
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, dataclass_transform

from river import datasets
from river.datasets.base import BINARY_CLF

from river_budget import _checks

Point = dict[int, float]
Example = tuple[Point, Any]

REQUIRED: Any = dataclasses.MISSING


def parameter(default: Any, doc: str, check: Callable[[str, Any], None] | None = None) -> Any:
    """Return the field of a parameter, with its description and its check."""
    return dataclasses.field(default=default, metadata={"doc": doc, "check": check})


count = functools.partial(parameter, check=_checks.check_count)
real = functools.partial(parameter, check=_checks.check_real)
positive = functools.partial(parameter, check=_checks.check_positive)
not_negative = functools.partial(parameter, check=_checks.check_not_negative)
probability = functools.partial(parameter, check=_checks.check_probability)


def length(default: int | None = None) -> Any:
    """Return the field of the number of examples. Without a default, a stream is endless."""
    return count(default, f"Number of examples{'.' if default else '; endless by default.'}")


def seeded() -> Any:
    return parameter(None, "Random number generator seed for reproducibility.")


@dataclass_transform(eq_default=False)
class Stream(datasets.base.SyntheticDataset):
    """A synthetic stream. Each iteration starts over with the same seed."""

    task = BINARY_CLF
    n_features: int | None = 2
    n_classes: int | None = 2
    sparse = False
    n_samples: Any = None
    seed: Any = None

    def __init_subclass__(cls) -> None:
        """Make a dataclass of a stream, and add its parameters and attributes to its docstring."""
        made: Any = dataclasses.dataclass(eq=False, repr=False)(cls)
        sections = {
            "Parameters": {field.name: field.metadata["doc"] for field in dataclasses.fields(made)},
            "Raises": {"ValueError": "If a parameter is out of its range."},
            "Attributes": {n: v.__doc__ for n, v in vars(cls).items() if isinstance(v, property)},
        }
        text, heading, examples = inspect.cleandoc(cls.__doc__ or "").partition("Examples\n")
        for name, entries in sections.items():
            lines = [
                f"{entry}\n{textwrap.indent(textwrap.fill(doc or '', 92), '    ')}\n"
                for entry, doc in entries.items()
            ]
            text += f"{name}\n{'-' * len(name)}\n{''.join(lines)}\n" if lines else ""
        cls.__doc__ = textwrap.indent(text + heading + examples, "    ").lstrip()

    def __post_init__(self) -> None:
        fields: Any = dataclasses.fields(self)  # type: ignore[arg-type]
        for field in fields:
            check, value = field.metadata["check"], getattr(self, field.name)
            if check is not None and not (value is None and field.default is None):
                check(field.name, value)
        super().__init__(
            self.task, self.n_features, self.n_samples, self.n_classes, sparse=self.sparse
        )

    def __iter__(self) -> Iterator[Any]:
        rng = random.Random(self.seed)
        for t in itertools.islice(itertools.count(), self.n_samples):
            yield self._example(t, rng)

    def _example(self, t: int, rng: random.Random) -> Example:
        """Return example t (from 0)."""
        raise NotImplementedError
