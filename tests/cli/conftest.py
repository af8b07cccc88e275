from __future__ import annotations

import io
import sys

import pytest
from commands import without_compiling


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process."""
    cli = pytest.importorskip("river_budget.cli")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["river-budget", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, without_compiling(captured.err)

    return call


@pytest.fixture
def stdin(monkeypatch):
    """Give a text or bytes on standard input."""

    def give(content):
        data = content if isinstance(content, bytes) else content.encode()
        buffer = io.BufferedReader(io.BytesIO(data))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(buffer))

    return give
