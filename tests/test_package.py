"""What `import river_budget` gives, and what it leaves for later."""

from __future__ import annotations

import subprocess
import sys

import pytest

import river_budget as rb


def run(code):
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(rb.SUBPACKAGES))
def test_subpackages_are_imported_on_first_use(name):
    code = f"""
import sys
import river_budget as rb
print("river_budget.{name}" in sys.modules, "{name}" in dir(rb), rb.{name}.__name__)
"""
    assert run(code) == [str(name == "theory"), "True", f"river_budget.{name}"]


def test_what_there_is_not():
    with pytest.raises(AttributeError, match="no attribute 'forests'"):
        rb.forests  # noqa: B018


@pytest.mark.slow
def test_no_heavy_library_is_imported_with_the_package():
    heavy = ["sklearn", "matplotlib", "pandas", "scipy.linalg", "scipy.special", "typer", "pooch"]
    code = f"import sys, river_budget; print(*(m for m in {heavy} if m in sys.modules))"
    assert run(code) == []
