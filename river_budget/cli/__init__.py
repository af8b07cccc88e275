"""The command line. It needs typer and rich, which the extra `cli` installs."""

from __future__ import annotations

# Each module but `app` adds its command.
from . import certify, compare, keyed, learn, lifelong
from .app import app, main

__all__ = ["app", "certify", "compare", "keyed", "learn", "lifelong", "main"]
