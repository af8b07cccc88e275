"""All machines compute the same bits: here those with vectors of 2, 4 and 8 doubles."""

from __future__ import annotations

import pathlib
import re

import bits
import pytest
import yaml

from river_budget._core.loops import use_lanes
from river_budget.catalog import ALGORITHMS

ROOT = pathlib.Path(__file__).parents[1]
WORKFLOW = ROOT / ".github" / "workflows" / "tests.yml"


@pytest.fixture
def lanes():
    """Yield a function that sets the widest vectors; afterwards the widest possible are used."""
    yield use_lanes
    use_lanes(8)


@pytest.mark.parametrize("row", ALGORITHMS.values(), ids=lambda row: row.name)
def test_all_lanes_give_the_same_hash(row, lanes):
    hashes, model = set(), row.build(budget=bits.BUDGET, seed=1)
    for width in (2, 4, 8):
        lanes(width)
        hashes.add(bits.bits(model.clone()))
    assert len(hashes) == 1


def test_a_hash_tells_models_apart(tmp_path):
    bits.write(tmp_path / "bits.txt")
    lines = (tmp_path / "bits.txt").read_bytes().decode("ascii").splitlines(keepends=True)
    assert [line.split()[0] for line in lines] == [kind.__name__ for kind in bits.EXACT]
    assert len({line.split()[1] for line in lines}) == len(lines) == 10
    assert all(line.endswith("\n") and "\r" not in line for line in lines)


def test_the_hash_has_the_last_bit():
    """A kernel that differs in its last bits only has another hash."""
    kind = ALGORITHMS["Forgetron"]
    widths = 0.5, 0.5 * (1 + 2**-50)
    assert len({bits.bits(kind.model(gamma=gamma, budget=bits.BUDGET)) for gamma in widths}) == 2


@pytest.mark.skipif(not WORKFLOW.exists(), reason="an sdist has no workflows")
def test_the_workflow_runs_all_versions_of_python_on_all_systems():
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    matrix = jobs["tests"]["strategy"]["matrix"]
    classifiers = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert matrix["python"] == classifiers
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert jobs["bits"]["needs"] == "tests"
