"""Docstrings, whose links and references are Markdown as in River, as reStructuredText."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["setup"]

REFERENCE = re.compile(r"^(\s*)\[\^(\d+)\]: ")
MARK = re.compile(r"\[\^(\d+)\]")
LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)]+)\)")
NORM = re.compile(r"(`[^`]*`)|\|")


def to_rst(line: str) -> str:
    """Return a line of a docstring without Markdown."""
    line = REFERENCE.sub(r"\1| [\2] ", line)
    line = MARK.sub(r"[\1]", line)
    return LINK.sub(r"`\1 <\2>`__", line)


def convert(app: Any, kind: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = map(to_rst, lines)


def hide(app: Any, kind: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Skip a property that the Attributes section of its class describes."""
    return None


def setup(app: Any) -> dict[str, bool]:
    # Before napoleon, whose priority is 500.
    app.connect("autodoc-process-docstring", convert, priority=400)
    return {"parallel_read_safe": True}
