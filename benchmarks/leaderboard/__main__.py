"""All classes of the package beside River's, on the tracks of River's benchmark and on synthetic streams.

    python -m benchmarks.leaderboard [--limit N] [--seconds S] [--streams NAME ...] [--tracks NAME ...]
                                     [--models NAME ...] [--again NAME ...] [--river PYTHON]
                                     [--late FILE] [--out DIRECTORY]

Every pair of a stream and a model is measured in a process of its own, with default parameters. The
models of the package see the values as they are; River's are those of its benchmark, with its scalers. The
tracks are those of `benchmarks.lifelong`, where classes come one after the other. DIRECTORY, docs by default,
gets `leaderboard.json`, one cell a line, and the page `leaderboard.md`, which is made from that file alone.
What the file has is kept, so that an interrupted run continues; a cell with fewer examples than asked for is
measured again, and so are those of the models after --again. On a stream, a model stops after S seconds, 1800
by default; its row has the number of examples.

FILE is what `benchmarks.late --save` wrote, with a delay of 100 among others, for the section on late labels.
PYTHON is an interpreter with the River of the published page, for the figures beside that page's. Data
sets that are not part of River are read from the directory given by RIVER_BUDGET_DATA.

"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import platform
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy
import river

from benchmarks import late, lifelong
from benchmarks.leaderboard import track
from benchmarks.leaderboard.cells import STREAMS, Cell, measure, models
from benchmarks.leaderboard.page import DELAY, page
from benchmarks.record import parsed

T = TypeVar("T")

VERSIONS = {
    "Python": platform.python_version(), "River": river.__version__,
    "NumPy": numpy.__version__, "machine": platform.machine(),
}  # fmt: skip
MODELS = list(
    dict.fromkeys(
        itertools.chain(*map(models, STREAMS), *map(lifelong.models, lifelong.TRACKS.values()))
    )
)


class Board:
    """The cells so far, in a file.

    Parameters
    ----------
    path
        The file, which may exist. It is not continued with other versions of Python or of libraries.

    """

    def __init__(self, path: Path):
        self.path = path
        self.cells: dict[tuple[str, str], Cell] = {}
        # Accuracies of the published models by stream, with the River of the published page.
        self.reproduced: dict[str, dict[str, float]] = {}
        # Figures of `benchmarks.lifelong` by track and model.
        self.tracks: dict[str, dict[str, dict[str, float]]] = {}
        # Accuracies with late labels by stream and model.
        self.late: dict[str, dict[str, float]] = {}
        if path.exists():
            found = json.loads(path.read_text())
            if found["versions"] != VERSIONS:
                raise SystemExit(f"{path} is of {found['versions']}, and this is {VERSIONS}")
            self.cells = {(cell["stream"], cell["model"]): Cell(**cell) for cell in found["cells"]}
            self.reproduced, self.tracks = found["reproduced"], found["tracks"]
            self.late = found["late"]

    def has(self, stream: str, model: str, n: int) -> bool:
        """Return whether there is a cell for which at least `n` examples were asked for."""
        cell = self.cells.get((stream, model))
        return cell is not None and cell.asked >= n

    def add(self, cell: Cell) -> None:
        self.cells[cell.stream, cell.model] = cell
        self.save()

    def drop(self, models: list[str]) -> None:
        """Forget the figures of models, in memory until a new one is added."""
        self.cells = {key: cell for key, cell in self.cells.items() if cell.model not in models}
        for rows in self.tracks.values():
            for model in rows.keys() & set(models):
                del rows[model]

    def save(self) -> None:
        lines = ",\n".join(json.dumps(cell._asdict()) for cell in self.cells.values())
        draft = self.path.with_suffix(".draft")
        draft.write_text(
            f'{{"versions": {json.dumps(VERSIONS)},\n'
            f'"reproduced": {json.dumps(self.reproduced)},\n'
            f'"tracks": {json.dumps(self.tracks)},\n'
            f'"late": {json.dumps(self.late)},\n'
            f'"cells": [\n{lines}\n]}}\n'
        )
        draft.replace(self.path)


def in_own_process(function: Callable[..., T], *arguments: Any) -> T:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(function, *arguments).result()


def fill(board: Board, streams: list[str], chosen: set[str], limit: int, seconds: float) -> None:
    """Measure the cells that the board does not have, and show them as progress."""
    for stream in streams:
        n = min(limit, STREAMS[stream].n_examples)
        for model in models(stream):
            if model not in chosen or board.has(stream, model, n):
                continue
            cell = in_own_process(measure, stream, model, n, seconds)
            board.add(cell)
            print(
                f"{stream}, {model}: {cell.accuracy:.2f} % of {cell.examples:,}, "
                f"{cell.processor:,.1f} µs, {cell.bytes:,} bytes",
                file=sys.stderr, flush=True,
            )  # fmt: skip


def fill_tracks(board: Board, tracks: list[str], chosen: set[str]) -> None:
    """Measure the rows of tracks that the board does not have, and show them as progress."""
    for name in tracks:
        rows = board.tracks.setdefault(name, {})
        for model in lifelong.models(lifelong.TRACKS[name]):
            if model in chosen and model not in rows:
                rows[model] = in_own_process(lifelong.figures, name, model)
                board.save()
                print(f"{name}, {model}: {rows[model]}", file=sys.stderr, flush=True)


def reproduce(board: Board, streams: list[str], chosen: set[str], interpreter: str) -> None:
    """Run the published models with the River of an interpreter, except those that the board has."""
    for stream in streams:
        for model in track.PUBLISHED.get(stream, {}):
            if model not in chosen or model in board.reproduced.get(stream, {}):
                continue
            command = [interpreter, track.__file__, stream, model]
            found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
            if found["river"] != track.RELEASE:
                raise SystemExit(f"{interpreter} has River {found['river']}, not {track.RELEASE}")
            board.reproduced.setdefault(stream, {})[model] = found["accuracy"]
            board.save()
            print(f"{stream}, {model}: {found}", file=sys.stderr, flush=True)


def take_late(board: Board, path: Path) -> None:
    """Take the accuracies with labels late by 100 from a file of `benchmarks.late`."""
    results = parsed(json.loads(path.read_text()), late.Figures)
    suffix = f" @ {DELAY}"
    for stream, row in results.items():
        own = board.late.setdefault(stream, {})
        for key, figures in row.items():
            if key.endswith(suffix):
                own[key.removesuffix(suffix)] = round(figures.accuracy, 2)
    board.save()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaderboard")
    parser.add_argument("--limit", type=int, default=sys.maxsize, metavar="N")
    parser.add_argument("--seconds", type=float, default=1800.0, metavar="S")
    parser.add_argument(
        "--streams", nargs="+", choices=STREAMS, default=list(STREAMS), metavar="NAME"
    )
    parser.add_argument(
        "--tracks",
        nargs="*",
        choices=lifelong.TRACKS,
        default=list(lifelong.TRACKS),
        metavar="NAME",
    )
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS, metavar="NAME")
    parser.add_argument("--again", nargs="+", choices=MODELS, default=[], metavar="NAME")
    parser.add_argument("--river", metavar="PYTHON")
    parser.add_argument("--late", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, default=Path("docs"), metavar="DIRECTORY")
    options = parser.parse_args(arguments)
    board = Board(options.out / "leaderboard.json")
    board.drop(options.again)
    chosen = set(options.models)
    fill(board, options.streams, chosen, options.limit, options.seconds)
    fill_tracks(board, options.tracks, chosen)
    if options.river:
        reproduce(board, options.streams, chosen, options.river)
    if options.late:
        take_late(board, options.late)
    text = page(json.loads(board.path.read_text()))
    board.path.with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()
