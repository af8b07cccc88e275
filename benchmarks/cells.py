"""What is measured: sections of cells, each of which is measured once for the code of the package.

A section is a module with a `SECTION`. Its results are in `benchmarks/results`, in a file of its name, and its tables
are written from that file into the pages.

"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
CACHE = ROOT / "build" / "benchmarks"

# Suffixes of native code, and what has texts for readers and computes no figure.
NATIVE = {".pyx", ".pxd", ".h"}
TEXTS = ("cli/", "base/documented.py")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

# What the cells of a section have measured, by row and column.
Found = dict[str, dict[str, Any]]


class Cell(NamedTuple):
    """One cell of a section.

    Attributes
    ----------
    row, column
        Its place, which no other cell of the section has.
    measure, arguments
        A function at the top level of a module, since other processes import it, and what it is called with. What it
        returns can be written as JSON.

    """

    row: str
    column: str
    measure: Callable[..., Any]
    arguments: tuple[Any, ...]

    @property
    def key(self) -> str:
        """What the cell is kept under."""
        return json.dumps([self.row, self.column, self.arguments], default=str)


def nothing() -> str:
    """Return that nothing is missing."""
    return ""


class Section(NamedTuple):
    """What is measured together.

    Attributes
    ----------
    name
        Its name on the command line, and that of its file.
    cells
        Returns the cells, or a few small ones that take seconds if it is called with True.
    tables
        The blocks of the pages that it fills, by name, each with a function of what its cells have measured.
        A function makes a table of whatever rows and columns there are.
    minutes
        About how many minutes of processor time its cells take.
    is_timed
        Whether times are what it is about: then its cells are measured one after the other, and nothing beside them.
    missing
        Returns what it needs that is not there, or an empty text.

    """

    name: str
    cells: Callable[[bool], list[Cell]]
    tables: Mapping[str, Callable[[Found], str]]
    minutes: float
    is_timed: bool = False
    missing: Callable[[], str] = nothing

    @property
    def path(self) -> Path:
        return RESULTS / f"{self.name}.json"


@functools.cache
def code() -> str:
    """Return a digest of the code that figures depend on, which comments and docstrings in Python do not change."""
    digest = hashlib.sha256()
    package = ROOT / "river_budget"
    for path in sorted(package.rglob("*")):
        if path.relative_to(package).as_posix().startswith(TEXTS):
            continue
        if path.suffix == ".py":
            digest.update(without_docstrings(path.read_text()).encode())
        elif path.suffix in NATIVE:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def without_docstrings(source: str) -> str:
    """Return the syntax tree of a Python file without its docstrings, as text."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree)


@functools.cache
def settings() -> dict[str, Any]:
    """Return what all figures depend on. The commit is the last one that has changed the package."""
    commit = ["git", "log", "-1", "--format=%h", "--", "river_budget"]
    return {
        "commit": subprocess.check_output(commit, cwd=ROOT, text=True).strip(),
        "code": code(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "Python": platform.python_version(),
        **{name: importlib.metadata.version(name.lower()) for name in ("River", "NumPy")},
    }


def processor() -> str:
    """Return the name of the processor, or what kind it is where nothing says more."""
    found = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", found.read_text()) if found.exists() else []
    return next(iter(names), platform.machine())


def run(cells: Sequence[Cell], path: Path, n_processes: int) -> Found:
    """Measure the cells that a file does not have, and return what all of them have measured.

    Each result is in the file as soon as it is there, so an interrupted run loses only what it was about to measure.

    """
    path.parent.mkdir(parents=True, exist_ok=True)
    known = dict(_read(path)) if path.exists() else {}
    due = [cell for cell in cells if cell.key not in known]
    with ProcessPoolExecutor(n_processes) as pool, path.open("a") as file:
        # The last line may be incomplete; the next result starts a new one.
        file.write("\n" if file.tell() else "")
        jobs = {pool.submit(cell.measure, *cell.arguments): cell for cell in due}
        try:
            for job in as_completed(jobs):
                cell = jobs[job]
                known[cell.key] = job.result()
                file.write(json.dumps([cell.key, known[cell.key]]) + "\n")
                file.flush()
                print(f"{path.stem}: {cell.row}, {cell.column}", file=sys.stderr, flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    found: Found = {}
    for cell in cells:
        found.setdefault(cell.row, {})[cell.column] = known[cell.key]
    return found


def _read(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the results in a file, without incomplete lines."""
    for line in path.read_text().splitlines():
        with contextlib.suppress(ValueError):
            yield tuple(json.loads(line))


def kept_under(now: dict[str, Any]) -> str:
    """Return the name of what has figures that are still good: those of the same code and of the same versions."""
    machine = {"commit", "processor", "cores"}
    return "-".join(str(value) for name, value in now.items() if name not in machine)


def measure(section: Section, n_processes: int, *, again: bool = False) -> None:
    """Measure the cells of a section that are not cached for the code of today, or all, and write its file."""
    now = settings()
    cached = CACHE / kept_under(now) / f"{section.name}.jsonl"
    if again:
        cached.unlink(missing_ok=True)
    found = run(section.cells(False), cached, 1 if section.is_timed else n_processes)
    RESULTS.mkdir(exist_ok=True)
    section.path.write_text(dumped(now, found))


def dumped(now: dict[str, Any], found: Found) -> str:
    """Return settings and cells as JSON, with a line for each cell."""
    rows = []
    for row, own in found.items():
        lines = (
            f"  {json.dumps(column)}: {json.dumps(figures)}" for column, figures in own.items()
        )
        rows.append(f" {json.dumps(row)}: {{\n" + ",\n".join(lines) + "\n }")
    return f'{{"settings": {json.dumps(now)},\n"cells": {{\n' + ",\n".join(rows) + "\n}}\n"


def stored(section: Section) -> dict[str, Any]:
    """Return the file of a section: its settings and its cells."""
    return json.loads(section.path.read_text())
