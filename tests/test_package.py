"""What `import river_budget` gives, and what it leaves for later."""

from __future__ import annotations

import json
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


STAGES = """
import json
import sys
stages = {}
import river_budget as rb
stages["package"] = list(sys.modules)
rb.TightestPerceptron()
stages["tightest"] = list(sys.modules)
import river_budget.cli
import river_budget.keyed
import river_budget.checkpoint
model = rb.Mnemotron(budget=3)
model.learn_one({"a": 1.0}, True)
learner = rb.keyed.KeyedLearner(model.clone)
learner.step(None, rb.keyed.Event("ann", 0, {"a": 1.0}, True))
stages["models"] = list(sys.modules)
for name in rb.SUBPACKAGES:
    assert name in dir(rb)
    assert getattr(rb, name).__name__ == f"river_budget.{name}"
stages["subpackages"] = list(sys.modules)
print(json.dumps(stages))
"""


@pytest.fixture(scope="module")
def imported():
    """Return a function that tells which of some modules are imported after a stage."""
    stages = json.loads(" ".join(run(STAGES)))
    return lambda stage, names: [name for name in names if name in stages[stage]]


@pytest.mark.slow
def test_subpackages_are_imported_on_first_use(imported):
    names = [f"river_budget.{name}" for name in sorted(rb.SUBPACKAGES)]
    assert imported("package", names) == ["river_budget.theory"]


@pytest.mark.slow
def test_no_subpackage_needs_pytest(imported):
    assert imported("subpackages", ["pytest", "hypothesis"]) == []


def test_what_there_is_not():
    with pytest.raises(AttributeError, match="no attribute 'forests'"):
        rb.forests  # noqa: B018


@pytest.mark.slow
def test_no_heavy_library_is_imported_with_the_package(imported):
    heavy = ["sklearn", "matplotlib", "pandas", "scipy.linalg", "scipy.special", "typer"]
    assert imported("package", heavy) == []


@pytest.mark.slow
def test_what_runs_models_does_not_wait_for_all_of_river(imported):
    """Its metrics, streams and transformers take seconds to import."""
    slow = ["sklearn", "scipy.stats", "river.metrics", "river.datasets", "river.preprocessing"]
    assert imported("models", slow) == []


@pytest.mark.slow
def test_scipy_is_imported_when_a_model_that_needs_it_is_made(imported):
    assert imported("package", ["scipy.special"]) == []
    assert imported("tightest", ["scipy.special"]) == ["scipy.special"]


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
