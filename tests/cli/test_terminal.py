from __future__ import annotations

import os
import subprocess
import sys

import pytest
from commands import CSV, answers_of

pytestmark = pytest.mark.slow

pytest.importorskip("typer")
pty = pytest.importorskip("pty")


def with_stderr_on_a_terminal(arguments, stdout):
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "river_budget", *map(str, arguments)],
        stdin=subprocess.DEVNULL, stdout=stdout, stderr=end, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(end)
    shown = b""
    while chunk := read(terminal):
        shown += chunk
    os.close(terminal)
    out = process.stdout.read().decode() if process.stdout else ""
    return process.wait(), out, shown.decode()


def read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so where others return nothing.
        return b""


@pytest.mark.parametrize(("command", "into"), [("learn", "file"), ("keyed", "pipe")])
def test_answers_do_not_go_to_the_terminal(tmp_path, command, into):
    data, answers = tmp_path / "some.csv", tmp_path / "answers"
    data.write_text(CSV.replace("u,", "key,", 1))
    arguments = [command, data, "--target", "y", "--model", "stoptron", "--budget", "5"]
    if into == "file":
        with answers.open("wb") as file:
            code, _, shown = with_stderr_on_a_terminal(arguments, file)
        out = answers.read_text()
    else:
        code, out, shown = with_stderr_on_a_terminal(arguments, subprocess.PIPE)
    assert code == 0
    assert len(answers_of(out)) == 60
    assert '"prediction"' not in shown
    assert "60 lines" in shown


def test_certify_shows_how_far_it_is(tmp_path):
    arguments = ["certify", "--limit", "20", "--budget", "600"]
    code, out, shown = with_stderr_on_a_terminal(arguments, subprocess.PIPE)
    assert code == 0
    assert "SimplifiedForgetron" in out
    assert "the comparators' span done" in shown
    assert "100%" in shown


def test_compare_shows_how_far_it_is():
    arguments = ["compare", "--limit", "300", "--models", "stoptron,forgetron"]
    code, out, shown = with_stderr_on_a_terminal(arguments, subprocess.PIPE)
    assert code == 0
    assert "Stoptron" in out
    for percent in (25, 50, 75, 100):
        assert f"{percent}%" in shown
    assert "Forgetron" in shown
