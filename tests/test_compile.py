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
    environment["NUMBA_OPT"] = "1"  # takes less time, and caches as much
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


CALLEE = """
from river_budget._compile import compiled

@compiled()
def value():
    return {value}
"""

CALLER = """
from river_budget._compile import compiled
from river_budget.kernels import _compiled

@compiled()
def caller():
    return _compiled.value()

print(caller(), sum(caller.stats.cache_hits.values()))
"""


def test_a_caller_is_compiled_again_if_the_file_of_its_callee_changed(tmp_path):
    """Numba itself compares the file of the caller only."""
    package = tmp_path / "river_budget"
    for directory in [package, package / "kernels", package / "support"]:
        directory.mkdir()
        (directory / "__init__.py").touch()
    (package / "_compile.py").write_text(Path(_compile.__file__).read_text())
    (package / "support/_compiled.py").write_text(CALLER)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    printed = []
    for value in [1, 1, 2]:
        (package / "kernels/_compiled.py").write_text(CALLEE.format(value=value))
        done = subprocess.run(
            [sys.executable, "-B", "-m", "river_budget.support._compiled"],
            cwd=tmp_path, env={**environment, "PYTHONPATH": str(tmp_path)},
            text=True, capture_output=True, check=True,
        )  # fmt: skip
        printed.append(done.stdout.split())
    assert printed == [["1", "0"], ["1", "1"], ["2", "0"]]


def test_every_compiled_function_is_in_a_package_that_the_stamp_covers():
    root = Path(_compile.__file__).parent
    compiled = [file for file in root.rglob("*.py") if "\n@compiled(" in file.read_text()]
    assert len(compiled) > 10
    assert {file.relative_to(root).parts[0] for file in compiled} <= set(_compile.COMPILED)


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
