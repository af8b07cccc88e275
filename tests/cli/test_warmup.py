from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("typer")

CSV = "key,u,v,y\n" + "".join(f"{t % 2},{t % 7},{t % 3},{t % 2}\n" for t in range(80))


def output_of(cache, *arguments):
    ended = subprocess.run(
        [sys.executable, "-m", "river_budget", *map(str, arguments)],
        input=CSV, capture_output=True, text=True, check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )  # fmt: skip
    return ended.stderr


@pytest.mark.slow
def test_a_cold_start_says_once_that_it_compiles(tmp_path):
    arguments = ["learn", "--target", "y", "--model", "stoptron", "--budget", "5"]
    first, second = output_of(tmp_path, *arguments), output_of(tmp_path, *arguments)
    assert first.count("compiling for this machine, once") == 1
    assert "compiling" not in second
    assert output_of(tmp_path / "other", *arguments, "--quiet") == ""


@pytest.mark.slow
def test_nothing_is_compiled_after_a_warmup(tmp_path):
    saved = tmp_path / "model"
    three = tmp_path / "three.csv"
    three.write_text(CSV.replace("6,0,0\n", "6,0,2\n"))
    err = output_of(tmp_path / "cache", "warmup")
    assert "Mnemotron" in err
    assert "beforehand" not in err
    assert err.splitlines()[-1].endswith(" s")
    for arguments in [
        ["learn", "--target", "y", "--budget", "5", "--checkpoint", saved],
        ["learn", "--target", "y", "--budget", "5", "--checkpoint", saved],
        ["predict", "--model-file", saved],
        ["keyed", "--budget", "5"],
        ["compare", "--limit", "100", "--budget", "5"],
        ["compare", "--stream", "phishing", "--limit", "100", "--budget", "5"],
        ["lifelong", "--learn", "50", "--test", "20", "--budget", "5"],
        ["certify", "--limit", "100", "--budget", "600"],
        ["learn", three, "--target", "y", "--model", "tighter", "--budget", "5"],
        ["keyed", three, "--budget", "5"],
        ["compare", "--stream", three, "--target", "y", "--budget", "5"],
        ["lifelong", "--stream", "class-incremental", "--learn", "50", "--test", "20"],
        ["certify", "--stream", three, "--target", "y"],
    ]:
        assert "compiling" not in output_of(tmp_path / "cache", *arguments)
