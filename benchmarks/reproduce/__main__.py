"""Print the papers' tables with our figures beside theirs, and draw their figures.

    python -m benchmarks.reproduce [--quick] [--papers NAME,NAME] [--data DIRECTORY] [--out DIRECTORY]

A cell is ours, the paper's in brackets, and a verdict: within two standard deviations (the larger of
theirs and ours) of the paper, better or worse.

"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.reproduce import bsgd, data, forgetron, projectron, run, tightest
from benchmarks.reproduce.runner import Results
from river_budget.datasets import DatasetError

PAPERS = {"projectron": projectron, "tightest": tightest, "forgetron": forgetron, "bsgd": bsgd}


def chosen(names: str) -> list[ModuleType]:
    """Return the papers of these names, with commas."""
    for name in names.split(","):
        if name not in PAPERS:
            known = ", ".join(PAPERS)
            raise argparse.ArgumentTypeError(f"no paper is called {name!r}: give {known}")
    return [PAPERS[name] for name in names.split(",")]


def existing_directory(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a directory")
    return Path(text)


def positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return int(text)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce", description=__doc__.splitlines()[0]
    )
    made.add_argument(
        "--papers", type=chosen, default=",".join(PAPERS), help=f"{', '.join(PAPERS)}, with commas"
    )
    made.add_argument(
        "--data", type=existing_directory, default=os.environ.get("RIVER_BUDGET_DATA"),
        help="directory of the data sets, as *.npz files (RIVER_BUDGET_DATA)",
    )  # fmt: skip
    downloads = ", ".join(data.DOWNLOADS)
    made.add_argument("--download", action="store_true", help=f"download {downloads} if need be")
    made.add_argument(
        "--out", type=Path, default=Path("reproduction"),
        help="directory of results; a run that was stopped goes on from there. Take another one for "
        "other data",
    )  # fmt: skip
    made.add_argument(
        "--quick", action="store_true", help="one repeat of some rows, in two minutes"
    )
    made.add_argument(
        "--splits", type=positive, default=3,
        help="number of the 126 splits of MNIST, and of orders of census",
    )  # fmt: skip
    made.add_argument(
        "--processes", type=positive, default=os.cpu_count() or 1, help="number of processes"
    )
    return made


def page(papers: list[ModuleType], results: Results, notes: list[str], out: Path) -> str:
    """Return the report in Markdown."""
    packages = ["river-budget", "river", "numpy"]
    parts = [
        "ours (the paper's) verdict; mean ± standard deviation",
        f"Python {platform.python_version()}, "
        + ", ".join(f"{package} {version(package)}" for package in packages)
        + f", {platform.processor() or platform.machine()}",
        *notes,
    ]
    for paper in papers:
        parts += map(str, paper.tables(results))
        parts += [f"![{title}]({name})" for title, name in paper.draw(results, out).items()]
    return "\n\n".join(parts)


def main(arguments: list[str] | None = None) -> None:
    options: Any = parser().parse_args(arguments)
    if options.download:
        try:
            data.download(options.data)
        except DatasetError as error:
            sys.exit(str(error))
    tasks, notes = [], []
    for paper in options.papers:
        found, missing = paper.tasks(options.data, options.quick, options.splits)
        tasks += found
        notes += [f"Left out: {paper.TITLE}, {note}." for note in missing]
    results = run(tasks, options.out, options.processes, lambda name: print(name, file=sys.stderr))
    text = page(options.papers, results, notes, options.out)
    print(text)
    (options.out / "report.md").write_text(text + "\n")
    (options.out / "figures.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
