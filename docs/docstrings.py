"""Docstrings, whose links and references are Markdown as in River, as reStructuredText."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

from sphinx.util.inspect import signature, stringify_signature

from river_budget._state import Learned

__all__ = ["setup"]

REFERENCE = re.compile(r"^(\s*)\[\^(\d+)\]: ")
MARK = re.compile(r"\[\^(\d+)\]")
# Members for developers of algorithms; `docs/algorithms/your_own.md` describes them.
INTERNAL = {"check_label", "numerical_errors", "restore", "state"}
LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)]+)\)")


def to_rst(line: str) -> str:
    """Return a line of a docstring without Markdown."""
    line = REFERENCE.sub(r"\1| [\2] ", line)
    line = MARK.sub(r"[\1]", line)
    return LINK.sub(r"`\1 <\2>`__", line)


def convert(app: Any, kind: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    # Napoleon takes what is before a colon in the first line of a property for its type.
    start = [""] if kind == "property" else []
    lines[:] = start + [to_rst(line) for line in lines]


def is_attribute(obj: Any) -> bool:
    """Return whether the Parameters or Attributes section of a class says all of a member of it."""
    if not isinstance(obj, property):
        return type(obj).__name__ == "_tuplegetter"
    if not inspect.isfunction(obj.fget):
        return True
    owner = sys.modules[obj.fget.__module__]
    for part in obj.fget.__qualname__.split(".")[:-1]:
        owner = getattr(owner, part)
    if issubclass(owner, Learned):
        return True
    section = (inspect.getdoc(owner) or "").partition("\nAttributes\n")[2]
    # The line of names it is in, more of them, and the start of what is said of these.
    entry = rf"^(?:[\w ,]+ )?{obj.fget.__name__}\b[\w ,]*\n(?:[\w ,]+\n)*( +.*)"
    found = re.search(entry, section, re.MULTILINE)
    if found is None or "see each property" in found[1]:
        return False
    return "\n" not in (obj.__doc__ or "")


def is_foreign(obj: Any) -> bool:
    """Return whether a class inherits a member from another library."""
    function = getattr(obj, "fget", obj)
    return not (getattr(function, "__module__", None) or "").startswith("river_budget")


def hide(app: Any, kind: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Skip what a section of the class describes, what is River's, and what only developers use."""
    is_hidden = kind == "class" and (name in INTERNAL or is_foreign(obj))
    return is_hidden or is_attribute(obj) or None


def own_signature(app: Any, kind: str, name: str, obj: Any, *_: Any) -> tuple[str, str] | None:
    """Return the parameters of a class that is made by `Learned.__new__`, which takes any."""
    if not (kind == "class" and issubclass(obj, Learned)):
        return None
    parameters = signature(obj.__init__, bound_method=True)
    return stringify_signature(parameters, show_return_annotation=False), ""


def setup(app: Any) -> dict[str, bool]:
    # Before napoleon, whose priority is 500.
    app.connect("autodoc-process-docstring", convert, priority=400)
    app.connect("autodoc-process-signature", own_signature)
    app.connect("autodoc-skip-member", hide)
    return {"parallel_read_safe": True}
