"""The command line. It needs typer and rich, which the extra `cli` installs."""

from __future__ import annotations

from .app import app, main

from . import certify, compare, keyed, learn, lifelong, reproduce  # each of them adds its command  # isort: skip

__all__ = ["app", "certify", "compare", "keyed", "learn", "lifelong", "main", "reproduce"]
