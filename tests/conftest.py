from __future__ import annotations

import gc
import io
import os
import pathlib
import sys

# BLAS reads this when NumPy is loaded. The matrices of the tests are small, and threads that wait for
# each other take several times as long, most of all where the tests run in several processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import numpy as np
import pytest
from runs import sparse_examples

# What the imports of the tests make stays, and `pytest_collection_finish` collects what does not.
gc.disable()

hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

SHARED = pathlib.Path(
    os.environ.get("RIVER_BUDGET_SHARED", pathlib.Path(__file__).parents[2] / "shared")
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Let `-n auto` start one process more than there are processors: some tests mostly wait."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else None


@pytest.fixture(scope="session")
def shared():
    """Return a loader of the reference material that is not part of the repository."""

    def load(name):
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"{path} is absent: a comparison with reference data did not run")
        with np.load(path) as archive:
            return {key: archive[key] for key in archive.files}

    return load


@pytest.fixture(scope="session")
def adult9(shared):
    """Return the training part of Adult9 as sparse examples."""
    data = shared("data/adult_a9a.npz")
    return sparse_examples(data["X_train"], data["y_train"])


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process."""
    cli = pytest.importorskip("river_budget.cli")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["river-budget", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return call


@pytest.fixture
def stdin(monkeypatch):
    """Give a text or bytes on standard input."""

    def give(content):
        data = content if isinstance(content, bytes) else content.encode()
        buffer = io.BufferedReader(io.BytesIO(data))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(buffer))

    return give


def pytest_collection_finish():
    """Let collections of garbage pass over the thousands of tests: River's checks collect often."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter):
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if "reference data" in str(report.longrepr)
    ]
    if skipped:
        terminalreporter.write_line(
            f"WARNING: {len(skipped)} comparisons with reference data did not run, for want of {SHARED}",
            yellow=True, bold=True,
        )  # fmt: skip
