"""What the synthetic streams have in common: they are dataclasses, whose fields are their parameters."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import random
import re
import textwrap
from collections.abc import Iterator
from typing import Any, dataclass_transform

from river import datasets
from river.datasets.base import BINARY_CLF

Point = dict[int, float]
Example = tuple[Point, Any]


@dataclass_transform(eq_default=False)
def stream(cls: type) -> Any:
    """Make a dataclass of a stream, and add its parameters and attributes to its docstring."""
    dataclasses.dataclass(eq=False, repr=False)(cls)
    sections = {
        "Parameters": {field.name: field.metadata["doc"] for field in dataclasses.fields(cls)},
        "Raises": {"ValueError": "If a parameter is out of its range."},
        "Attributes": {n: v.__doc__ for n, v in vars(cls).items() if isinstance(v, property)},
    }
    text, *rest = re.split(r"(?m)^(?=Examples$)", inspect.cleandoc(cls.__doc__ or ""))
    for heading, entries in sections.items():
        if entries:
            lines = [heading, "-" * len(heading)]
            for name, entry in entries.items():
                lines += [name, textwrap.indent(textwrap.fill(entry or "", 92), "    ")]
            text += "\n".join(lines) + "\n\n"
    cls.__doc__ = textwrap.indent("".join([text, *rest]), "    ").lstrip()
    return cls


class Stream(datasets.base.SyntheticDataset):
    """A synthetic stream. Each iteration starts over with the same seed."""

    task = BINARY_CLF
    n_features: int | None = 2
    n_classes: int | None = 2
    sparse = False
    n_samples: Any = None
    seed: Any = None

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
