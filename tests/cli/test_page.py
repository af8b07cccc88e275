"""The page on the command line shows what its commands print."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest
from console import commands_of, printed, varying
from snippets import blocks

pytest.importorskip("typer")

PAGE = (pathlib.Path(__file__).parents[2] / "docs/command_line.md").read_text()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the commands need a shell")
def test_the_page_shows_what_its_commands_print(tmp_path):
    ((code, _),) = blocks(PAGE, "python")
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    shown = commands_of(PAGE)
    assert len(shown) > 7
    for command, output in shown:
        assert printed(command, tmp_path) == varying(output)


def test_commands_are_found_with_their_output():
    text = "```console\n$ a \\\n  b\nx\ny\n$ c\n```\n"
    assert commands_of(text) == [("a \\\n  b\n", "x\ny\n"), ("c\n", "")]
