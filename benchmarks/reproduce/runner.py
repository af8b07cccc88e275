"""Runs of many tasks in several processes; an interrupted run resumes where it stopped."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

# The result of each task by the name of the task.
Results = dict[str, Any]

RESULTS_FILE = "results.jsonl"


class Task(NamedTuple):
    """A call whose result can be written as JSON."""

    name: str  # unique among all tasks, and the same in every run
    function: Callable[..., Any]  # processes import it, so it must be at the top level of a module
    arguments: tuple[Any, ...]


def run(
    tasks: Sequence[Task],
    directory: Path,
    n_processes: int,
    after_task: Callable[[str], None] = lambda name: None,
) -> Results:
    """Run the tasks that have no result yet, and return the results of all.

    Each result is written into the directory when its task ends, so an interrupted run loses only the
    unfinished tasks. Results are found by the names of their tasks: use another directory for other
    data or another version. `after_task` is called with the name of each task once its result is known.

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
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {task.name: results[task.name] for task in tasks}


def under(results: Results, *parts: Any) -> list[Any]:
    """Return the results of the tasks whose names start with these parts."""
    prefix = "".join(f"{part}/" for part in parts)
    return [result for name, result in results.items() if name.startswith(prefix)]


def _read(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the results in a file and skip incomplete lines."""
    for line in path.read_text().splitlines():
        with contextlib.suppress(ValueError):
            yield tuple(json.loads(line))
