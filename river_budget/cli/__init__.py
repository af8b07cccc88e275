"""The command line. It needs typer and rich, which the extra `cli` installs."""

from __future__ import annotations

# Each module but `app` adds its commands.
from . import learn, studies
from .app import app, main

__all__ = ["app", "learn", "main", "studies"]
