"""What `import river_budget` gives, and what it leaves for later."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import river_budget as rb


def run(code, **settings):
    done = subprocess.run(
        [sys.executable, "-c", code], text=True, capture_output=True, check=True, **settings
    )
    return done.stdout.split()


@pytest.mark.slow
def test_subpackages_are_imported_on_first_use():
    code = """
import sys
import river_budget as rb
print(*(name for name in sorted(rb.SUBPACKAGES) if f"river_budget.{name}" in sys.modules))
for name in rb.SUBPACKAGES:
    assert name in dir(rb)
    assert getattr(rb, name).__name__ == f"river_budget.{name}"
"""
    assert run(code) == ["theory"]


def test_what_there_is_not():
    with pytest.raises(AttributeError, match="no attribute 'forests'"):
        rb.forests  # noqa: B018


@pytest.mark.slow
def test_no_heavy_library_is_imported_with_the_package():
    heavy = ["sklearn", "matplotlib", "pandas", "scipy.linalg", "scipy.special", "typer", "pooch"]
    code = f"import sys, river_budget; print(*(m for m in {heavy} if m in sys.modules))"
    assert run(code) == []


@pytest.mark.slow
def test_what_runs_models_does_not_wait_for_all_of_river():
    """Its metrics, streams and transformers take seconds to import."""
    slow = ["sklearn", "scipy.stats", "river.metrics", "river.datasets", "river.preprocessing"]
    code = f"""
import sys
import river_budget as rb
import river_budget.cli
import river_budget.keyed
import river_budget.checkpoint
model = rb.Mnemotron(budget=3)
model.learn_one({{"a": 1.0}}, True)
learner = rb.keyed.KeyedLearner(model.clone)
learner.step(None, rb.keyed.Event("ann", 0, {{"a": 1.0}}, True))
print(*(m for m in {slow} if m in sys.modules))
"""
    assert run(code) == []


@pytest.mark.slow
def test_scipy_is_imported_when_a_model_that_needs_it_is_made():
    code = """
import sys
import river_budget as rb
before = "scipy.special" in sys.modules
rb.TightestPerceptron()
print(before, "scipy.special" in sys.modules)
"""
    assert run(code) == ["False", "True"]


LEARN = """
import warnings
warnings.simplefilter("error", RuntimeWarning)
import river_budget as rb
model = rb.RemoveOldestPerceptron(budget=2)
for t in range(9):
    model.learn_one({"a": t % 3}, t % 2 == 0)
print(model.n_rounds)
"""


@pytest.mark.slow
def test_a_package_that_nobody_may_write_to_of_a_user_without_a_home(tmp_path):
    """Learning leaves no file behind, neither beside the package nor where the user may write."""
    root = Path(rb.__file__).parent
    absent = str(tmp_path / "absent")
    places = {
        "HOME": absent,
        "USERPROFILE": absent,
        "TMPDIR": str(tmp_path),
        "XDG_CACHE_HOME": absent,
    }
    environment = {**os.environ, **places, "PYTHONDONTWRITEBYTECODE": "1"}
    before = set(root.rglob("*"))
    assert run(LEARN, env=environment) == ["9"]
    assert set(root.rglob("*")) == before
    assert list(tmp_path.rglob("*")) == []
