"""Where compiled functions are cached, and what is imported when."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from river_budget import _compile

LEARN = """
import tempfile, warnings
from pathlib import Path
from numba.core import caching

def refuse(locator):
    raise OSError("read-only")

# The package's directory and the user's cache directory cannot be written to.
for name, locator in vars(caching).items():
    if name.endswith(("InTreeCacheLocator", "UserWideCacheLocator")):
        locator.ensure_cache_path = refuse
tempfile.tempdir = {directory!r}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import river_budget as rb
print([str(w.message) for w in caught if "NUMBA_CACHE_DIR" in str(w.message)])
model = rb.RemoveOldestPerceptron(budget=2)
for t in range(9):
    model.learn_one({{"a": t % 3}}, t % 2 == 0)
print(model.n_rounds)
"""


@pytest.mark.slow
@pytest.mark.parametrize("exists", [True, False], ids=["a temporary directory", "no place at all"])
def test_a_read_only_package_of_a_user_without_a_home(tmp_path, exists):
    """As in a usual container."""
    directory = tmp_path if exists else tmp_path / "absent"
    environment = {name: v for name, v in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", LEARN.format(directory=str(directory))],
        env=environment, text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    warned, n_rounds = done.stdout.splitlines()
    assert n_rounds == "9"
    assert warned.count("set NUMBA_CACHE_DIR to a persistent directory") == 1
    assert ("are cached in" in warned) == exists
    assert bool(list(tmp_path.rglob("*.nbi"))) == exists


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files here")
def test_a_directory_that_others_can_write_to_is_no_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    Path(tmp_path, f"river_budget-{os.getuid()}").mkdir(mode=0o777)
    Path(tmp_path, f"river_budget-{os.getuid()}").chmod(0o777)
    with pytest.raises(PermissionError, match="owned or writable by another user"):
        _compile._private_directory()


def test_scipy_is_imported_when_a_model_that_needs_it_is_made():
    code = """
import sys
import river_budget as rb
before = "scipy.special" in sys.modules
rb.TightestPerceptron()
print(before, "scipy.special" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout.split() == ["False", "True"]
