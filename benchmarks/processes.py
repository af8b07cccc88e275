"""Processes to measure: one that has done nothing before, and what a running one takes (Linux)."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any


def alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a new process, where nothing else has taken memory, and return its result."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def resident_bytes(process: int | str = "self") -> int:
    """Return the resident size of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return 1024 * int(line.split()[1])


def processor_seconds(process: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
