"""Runs of many tasks in several processes; an interrupted run resumes where it stopped."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from river_budget.reproduce.cells import Table

__all__ = ["Experiment", "Results", "Task", "run", "under"]

# The result of each task by the name of the task.
Results = dict[str, Any]

RESULTS_FILE = "results.jsonl"


@dataclasses.dataclass(frozen=True)
class Task:
    """A call whose result can be written as JSON.

    Attributes
    ----------
    name
        Unique among all tasks, and the same in every run.
    function, arguments
        The call. Processes import the function, so it must be at the top level of a module.

    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Experiment:
    """The experiments of a paper.

    Attributes
    ----------
    title
        The paper.
    tasks
        Takes the directory of the data sets, whether the run is quick, and the number of splits. Returns
        the tasks whose data set is available, and a note for each data set that is not.
    tables
        Takes the results and returns the tables.
    draw
        Takes the results and a directory, draws the figures into it, and returns their file names by
        title.

    """

    title: str
    tasks: Callable[[Path | None, bool, int], tuple[list[Task], list[str]]]
    tables: Callable[[Results], list[Table]]
    draw: Callable[[Results, Path], dict[str, str]]


def run(
    tasks: Sequence[Task],
    directory: Path,
    n_processes: int,
    after_task: Callable[[str], None] = lambda name: None,
) -> Results:
    """Run the tasks that have no result yet, and return the results of all.

    Each result is written when its task ends, so an interrupted run loses only the unfinished tasks.
    Results are found by the names of their tasks: use another directory for other data or another
    version.

    Parameters
    ----------
    tasks
        The tasks.
    directory
        The directory of the results; created if it does not exist.
    n_processes
        The number of processes.
    after_task
        Called with the name of each task once its result is known.

    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / RESULTS_FILE
    known = dict(_read(path)) if path.exists() else {}
    results = {task.name: known[task.name] for task in tasks if task.name in known}
    for name in results:
        after_task(name)
    remaining = [task for task in tasks if task.name not in results]
    with ProcessPoolExecutor(n_processes) as pool, path.open("a") as file:
        # The last line may be incomplete; the next result starts a new one.
        file.write("\n" if file.tell() else "")
        futures = {pool.submit(task.function, *task.arguments): task.name for task in remaining}
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
    """Return the results of the tasks whose names start with these parts."""
    prefix = "".join(f"{part}/" for part in parts)
    return [result for name, result in results.items() if name.startswith(prefix)]


def _read(path: Path) -> Iterable[tuple[str, Any]]:
    """Yield the results in a file and skip incomplete lines."""
    for line in path.read_text().splitlines():
        try:
            yield tuple(json.loads(line))
        except ValueError:
            continue


def _cancel(futures: Iterable[Future[Any]]) -> None:
    for future in futures:
        future.cancel()
