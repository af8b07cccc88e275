"""How long the first steps of the README take: to install the package, and to the result of the first example.

The package is installed from a clean clone into a new virtual environment, as pip does it, with the packages that its
cache has; the seconds include those of `python -m venv`. The wheel alone is built with the packages of this environment.
The example runs in new processes of Python, and the median counts.

"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.cells import ROOT, Cell, Found, Section

N_RUNS = 5


def timed(*command: str | Path) -> tuple[float, str]:
    """Return the seconds that a command takes, and what it prints."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE)
    return time.perf_counter() - start, done.stdout


def clone(directory: str) -> Path:
    source = Path(directory, "source")
    timed("git", "clone", "--quiet", ROOT, source)
    return source


def wheel() -> float:
    """Return the seconds to build a wheel."""
    with tempfile.TemporaryDirectory() as directory:
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", directory]
        seconds, _ = timed(sys.executable, "-m", "pip", "wheel", *options, clone(directory))
    return round(seconds, 2)


def install() -> float:
    """Return the seconds to make an environment, and to install the package into it."""
    with tempfile.TemporaryDirectory() as directory:
        source, environment = clone(directory), Path(directory, "environment")
        made, _ = timed(sys.executable, "-m", "venv", environment)
        python = environment / "bin" / "python"
        installed, _ = timed(python, "-m", "pip", "install", "--quiet", source)
    return round(made + installed, 2)


def example(n_runs: int) -> dict[str, Any]:
    """Return the seconds from the start of Python to the end of the first example, and its result."""
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    runs = [timed(sys.executable, "-c", code) for _ in range(n_runs)]
    seconds = statistics.median(seconds for seconds, _ in runs)
    return {"seconds": round(seconds, 3), "result": runs[0][1].splitlines()[0]}


def cells(is_quick: bool) -> list[Cell]:
    if is_quick:
        return [Cell("example", "first", example, (1,))]
    return [
        Cell("install", "first", install, ()),
        Cell("wheel", "first", wheel, ()),
        Cell("example", "first", example, (N_RUNS,)),
    ]


SENTENCES = {
    "install": "Both took {:.0f} seconds together, with the packages in pip's cache,",
    "wheel": "and {:.0f} of these to compile the package.",
    "example": "The example above prints `{0[result]}`, {0[seconds]:.1f} seconds after Python was started.",
}


def text(found: Found) -> str:
    """Return what the first steps took, a sentence for each."""
    return " ".join(
        sentence.format(found[name]["first"])
        for name, sentence in SENTENCES.items()
        if name in found
    )


SECTION = Section("first", cells, {"first": text}, minutes=2, is_timed=True)
