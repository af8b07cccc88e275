"""What the other libraries have in common."""

from __future__ import annotations

import abc
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import river_budget as rb
from benchmarks.peers.data import Stream


class Algorithm(NamedTuple):
    """An algorithm that both sides have: what selects it there, and our model for a kernel and budget."""

    title: str
    theirs: Sequence[str]
    ours: Callable[..., Any]


class Case(NamedTuple):
    """An algorithm and its budget, None without one."""

    algorithm: Algorithm
    budget: int | None = None

    @property
    def title(self) -> str:
        return self.algorithm.title + (f" B={self.budget}" if self.budget else "")

    def ours(self, gamma: float):
        """Return our model."""
        kernel = rb.RBF(gamma=gamma)
        return self.algorithm.ours(*([kernel] if self.budget is None else [kernel, self.budget]))


class Learned(NamedTuple):
    """The time of learning in seconds, the errors in percent, and the number of support vectors."""

    seconds: float
    errors: float
    n_support: int


class Peer(abc.ABC):
    """Another library.

    Attributes
    ----------
    name
        Its name.
    note
        What to know of its figures.
    streams
        Functions that return the streams to learn.

    """

    name: ClassVar[str]
    note: ClassVar[str]
    streams: ClassVar[Sequence[Callable[[], Stream]]]

    @abc.abstractmethod
    def cases(self, stream: Stream) -> list[Case]:
        """Return the algorithms that both sides have, with their budgets."""

    @abc.abstractmethod
    def write(self, stream: Stream, directory: Path) -> None:
        """Write the files that their program reads."""

    @abc.abstractmethod
    def learned(self, case: Case, stream: Stream, directory: Path) -> Learned:
        """Run their program on the files."""

    def errors(self, model, stream: Stream) -> float:
        """Return the errors of our model in percent: its mistakes while learning."""
        return 100 * model.n_mistakes / len(stream.learn.y)


def executable(path: Path, name: str) -> Path:
    """Return an executable, which may be given by its directory."""
    binary = path / name if path.is_dir() else path
    found = shutil.which(binary)
    if found is None:
        sys.exit(f"{binary} is no executable: give the executable {name} or its directory")
    return Path(found).resolve()


def field(output: str, pattern: str, program: str) -> float:
    """Return the number after a pattern in the output of a program."""
    found = re.search(rf"{pattern} *([-+.\de]*\d)", output)
    if found is None:
        raise ValueError(f"no {pattern!r} in the output of {program}: {output[-500:]!r}")
    return float(found[1])
