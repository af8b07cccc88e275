"""Imports go downward only."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import river_budget

ROOT = Path(river_budget.__file__).parent

# From the lowest layer up. A module imports from its own layer and from lower ones; the names of a
# layer that stand on one line do not import each other.
LAYERS = [
    ["_arrays", "_checks"],
    ["_state"],
    ["kernels"],
    ["_features", "_frequencies"],
    ["_vectors"],
    ["_core"],
    ["base"],
    ["theory"],
    ["kernel_lda", "_regions", "_experts"],
    ["perceptrons", "mnemotron", "calibration", "merging"],
    ["prediction_sets", "rejection", "bandit", "active"],
    ["explanation"],
    ["__init__"],
    ["catalog", "synth", "datasets", "metrics", "preprocessing"],
    ["checkpoint", "evaluate"],
    ["keyed", "plots", "testing"],
    ["cli"],
    ["__main__"],
]
HEIGHTS = {name: height for height, names in enumerate(LAYERS) for name in names}

MODULES = sorted([*ROOT.rglob("*.py"), *ROOT.rglob("*.pyx"), *ROOT.rglob("*.pxd")])
# What Cython files import, each on a line of its own.
NATIVE = re.compile(r"^from ([\w.]+) c?import", re.MULTILINE)


def layer(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path):
    """Return the layers that a module imports from; the package itself counts as its __init__."""
    if path.suffix != ".py":
        yield from (name.split(".") for name in NATIVE.findall(path.read_text()))
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".") for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ([*node.module.split("."), name.name] for name in node.names)


def upward(path):
    """Return the imports of a module from its own height or above, as texts."""
    own = layer(path)
    for package, *rest in imported(path):
        if package == "river_budget":
            other = rest[0] if rest and rest[0] in HEIGHTS else "__init__"
            if other != own and HEIGHTS[other] >= HEIGHTS[own]:
                yield f"{path.relative_to(ROOT)} imports {other}"


def test_imports_go_downward_only():
    assert len(MODULES) > 50
    assert [message for path in MODULES for message in upward(path)] == []


def test_an_upward_import_is_found(tmp_path):
    module, native = tmp_path / "module.py", tmp_path / "module.pyx"
    module.write_text("from river_budget import keyed\nimport river_budget.cli\nimport numpy\n")
    native.write_text("from river_budget.base cimport (\n    a)\nfrom river_budget.cli import b\n")
    for path, expected in [(module, [["keyed"], ["cli"]]), (native, [["base"], ["cli"]])]:
        names = [rest for package, *rest in imported(path) if package == "river_budget"]
        assert names == expected
