from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("typer")

CSV = "key,u,v,y\n" + "".join(f"{t % 2},{t % 7},{t % 3},{t % 2}\n" for t in range(80))

# Runs commands in one process: what one of them compiles, it says, so none hides it from the next.
COMMANDS = """
import io, json, sys
from river_budget import cli

csv, commands = json.load(sys.stdin)
for arguments in commands:
    sys.argv = ["river-budget", *arguments]
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(csv.encode())))
    try:
        cli.main()
    except SystemExit as ended:
        assert not ended.code, arguments
"""


def python(cache, *arguments, given):
    """Return what Python says on standard error, with a cache of its own for Numba.

    The compiler optimizes little: what is compiled, and when, is the same, and it takes less time.

    """
    ended = subprocess.run(
        [sys.executable, *arguments], input=given, capture_output=True, text=True, check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_OPT": "1"},
    )  # fmt: skip
    return ended.stderr


def output_of(cache, *arguments):
    return python(cache, "-m", "river_budget", *arguments, given=CSV)


def n_compiled(cache):
    return len(list(cache.rglob("*.nbc")))


@pytest.mark.slow
def test_a_cold_start_says_once_that_it_compiles(tmp_path):
    arguments = ["learn", "--target", "y", "--budget", "5", "--model"]
    first, second = (output_of(tmp_path, *arguments, "stoptron") for _ in range(2))
    assert first.count("compiling for this machine, once") == 1
    assert "compiling" not in second
    before = n_compiled(tmp_path)
    assert output_of(tmp_path, *arguments, "remove-oldest-perceptron", "--quiet") == ""
    assert n_compiled(tmp_path) > before


@pytest.mark.slow
def test_nothing_is_compiled_after_a_warmup(tmp_path):
    cache, saved, three = tmp_path / "cache", tmp_path / "model", tmp_path / "three.csv"
    three.write_text(CSV.replace("6,0,0\n", "6,0,2\n"))
    err = output_of(cache, "warmup")
    assert "Mnemotron" in err
    assert "beforehand" not in err
    assert err.splitlines()[-1].endswith(" s")
    learn = ["learn", "--target", "y", "--budget", "5", "--checkpoint", str(saved)]
    commands = [
        learn,
        learn,
        ["predict", "--model-file", str(saved)],
        ["keyed", "--budget", "5"],
        ["compare", "--limit", "100", "--budget", "5"],
        ["compare", "--stream", "phishing", "--limit", "100", "--budget", "5"],
        ["lifelong", "--learn", "50", "--test", "20", "--budget", "5"],
        ["certify", "--limit", "100", "--budget", "600"],
        ["learn", str(three), "--target", "y", "--model", "tighter", "--budget", "5"],
        ["keyed", str(three), "--budget", "5"],
        ["compare", "--stream", str(three), "--target", "y", "--budget", "5"],
        ["lifelong", "--stream", "class-incremental", "--learn", "50", "--test", "20"],
        ["certify", "--stream", str(three), "--target", "y"],
    ]
    err = python(cache, "-c", COMMANDS, given=json.dumps([CSV, commands]))
    assert "lines, accuracy" in err
    assert "compiling" not in err
