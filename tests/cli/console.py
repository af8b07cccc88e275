"""Commands and what they print, as a page shows them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import NamedTuple

from snippets import blocks


class Shown(NamedTuple):
    """A command of a page, and the output that the page shows."""

    command: str
    output: str


def commands_of(text):
    """Return the commands in the blocks of a page; one that ends in a backslash goes on."""
    shown = []
    for block, _ in blocks(text, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, output = re.fullmatch(r"((?:.*\\\n)*.*\n)([\s\S]*)", part).groups()
            shown.append(Shown(command, output))
    return shown


def printed(command, folder):
    """Return what a command prints on both streams, with bytes and times replaced by dots."""
    program = folder / "river-budget"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m river_budget "$@"\n')
    program.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=os.environ | {"PATH": path}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return varying(done.stdout)


def varying(text):
    """Return a text with dots in the place of what differs between machines, the last digits among them."""
    text = re.sub(r"(\.\d{6})\d+", r"\1...", text)
    text = re.sub(r"[\d,]+ bytes", "... bytes", text)
    text = re.sub(r"[\d,.]+ µs a line", "... µs a line", text)
    return re.sub(r"(?m)(\s[\d,]+)\s+[\d,]+\s+[\d,.]+(\s+0\.\d{4})$", r"\1 ... ...\2", text)
