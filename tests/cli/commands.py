"""What the tests of the command line share."""

from __future__ import annotations

import json
import subprocess
import sys

CSV = "u,v,y\n" + "".join(f"{t % 7},{t % 3},{'yes' if t % 2 else 'no'}\n" for t in range(60))

# Five clusters with text labels, of which the third comes at line 12 and the fifth at line 46.
CLUSTERS = "u,v,y\n" + "".join(
    f"{3 * (c % 3) + t % 2},{4 * (c // 3) + t % 5 / 4},{name}\n"
    for t in range(100)
    for c in [t % 2 if t < 10 else t % 4 if t < 40 else t % 5]
    for name in [["ham", "spam", "new eggs", "änd", "3"][c]]
)


def learned(run, directory, *options):
    """Return the path of a checkpoint of a model that has learned `CSV`."""
    data, path = directory / "some.csv", directory / "model"
    data.write_text(CSV)
    assert run("learn", data, *options, "--checkpoint", path)[0] == 0
    return path


def answers_of(out):
    return [json.loads(line) for line in out.splitlines()]


def started(*arguments, code=None, **streams):
    """Start a command in a process of its own, with `python -m` or by some code."""
    command = ["-m", "river_budget"] if code is None else ["-c", code]
    streams = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    } | streams
    return subprocess.Popen([sys.executable, *command, *map(str, arguments)], text=True, **streams)
