"""What the tests of the command line share."""

from __future__ import annotations

import json
import subprocess
import sys

CSV = "u,v,y\n" + "".join(f"{t % 7},{t % 3},{'yes' if t % 2 else 'no'}\n" for t in range(60))


def answers_of(out):
    return [json.loads(line) for line in out.splitlines()]


def without_compiling(err):
    """Return what a command says apart from the line that depends on Numba's cache."""
    return "".join(line for line in err.splitlines(keepends=True) if "compiling" not in line)


def started(*arguments, **streams):
    """Start a command in a process of its own."""
    streams = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    } | streams
    return subprocess.Popen(
        [sys.executable, "-m", "river_budget", *map(str, arguments)], text=True, **streams
    )
