"""Runs of many tasks over processes, which go on where they were stopped."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from river_budget.reproduce.cells import Table

__all__ = ["Experiment", "Results", "Task", "run", "under"]

# What each task returned, by its name.
Results = dict[str, Any]

RESULTS_FILE = "results.jsonl"


@dataclasses.dataclass(frozen=True)
class Task:
    """A call of a function of a module, whose result is plain types.

    Attributes
    ----------
    name
        What tells it from all other tasks, in this run and in one that was stopped.
    function, arguments
        The call.

    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Experiment:
    """A part of a paper.

    Attributes
    ----------
    title
        What it is.
    tasks
        Takes the folder of the data, whether the run is to be quick, and the number of splits, and
        returns the tasks whose data is there, and a note for each set whose data is not.
    tables
        Takes the results, and returns the tables.
    draw
        Takes the results and a folder, draws pictures there, and returns their names by title.

    """

    title: str
    tasks: Callable[[Path | None, bool, int], tuple[list[Task], list[str]]]
    tables: Callable[[Results], list[Table]]
    draw: Callable[[Results, Path], dict[str, str]]


def run(
    tasks: Sequence[Task],
    folder: Path,
    n_processes: int,
    after_task: Callable[[str], None] = lambda name: None,
) -> Results:
    """Run the tasks that have no result yet, and return the results of all.

    A result is written as soon as it is there, so a run that is stopped loses only what it was at.
    Results go by the names of their tasks: other data, or another version, takes another folder.

    Parameters
    ----------
    tasks
        The tasks.
    folder
        Where results are kept; it is made if there is none.
    n_processes
        Number of processes.
    after_task
        Called with the name of each task when it has a result.

    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RESULTS_FILE
    known = dict(_read(path)) if path.exists() else {}
    results = {task.name: known[task.name] for task in tasks if task.name in known}
    for name in results:
        after_task(name)
    left = [task for task in tasks if task.name not in results]
    with ProcessPoolExecutor(n_processes) as pool, path.open("a") as file:
        # A last line that was cut short must not take the next one with it.
        file.write("\n" if file.tell() else "")
        futures = {pool.submit(task.function, *task.arguments): task.name for task in left}
        try:
            for future in as_completed(futures):
                name = futures[future]
                results[name] = future.result()
                file.write(json.dumps([name, results[name]]) + "\n")
                file.flush()
                after_task(name)
        except BaseException:
            _cancel(futures)
            raise
    return {task.name: results[task.name] for task in tasks}


def under(results: Results, *parts: Any) -> list[Any]:
    """Return the results of the tasks whose names begin with these parts."""
    start = "".join(f"{part}/" for part in parts)
    return [result for name, result in results.items() if name.startswith(start)]


def _read(path: Path) -> Iterable[tuple[str, Any]]:
    """Yield the results of a file; the last line may have been cut short."""
    for line in path.read_text().splitlines():
        try:
            yield tuple(json.loads(line))
        except ValueError:
            continue


def _cancel(futures: Iterable[Future[Any]]) -> None:
    for future in futures:
        future.cancel()
