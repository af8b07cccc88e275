"""What each public module exports, and what the root gives."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
from pathlib import Path

import pytest

import river_budget as rb

# The files of a package are public only by its `__all__`, but for these.
INNER = ["keyed.quix", "theory.bounds", "theory.comparators"]
PUBLIC = [m.name for m in pkgutil.iter_modules(rb.__path__) if not m.name.startswith("_")] + INNER


@pytest.fixture(params=PUBLIC)
def module(request):
    return importlib.import_module(f"river_budget.{request.param}")


def imported(module):
    """Return the name of each import of a module, and the module that it comes from."""
    for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
        if isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            source = importlib.util.resolve_name(origin, module.__spec__.parent)
            yield from ((name.asname or name.name, source) for name in node.names)
        elif isinstance(node, ast.Import):
            yield from ((name.asname or name.name, name.name) for name in node.names)


def is_own(source, module):
    """Return whether a module may export what it imports from a source.

    Private modules and the files of a package have no other door, and `base` is the workshop of packages.
    """
    doors = ["river_budget._core.", module.__name__]
    if hasattr(module, "__path__"):
        doors += ["river_budget._", "river_budget.base"]
    return any(source.startswith(door) for door in doors)


def test_what_a_public_module_exports_is_there_and_its_own(module):
    names = module.__all__
    assert len(set(names)) == len(names)
    assert [name for name in names if not hasattr(module, name)] == []
    foreign = [n for n, source in imported(module) if n in names and not is_own(source, module)]
    assert foreign == []


def test_what_a_public_module_defines_and_documents_is_exported(module):
    """A class that is not for users has an underscore, or is listed in INTERNAL."""
    own = [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__ and name[0] != "_"
    ]
    assert set(own) - set(module.__all__) <= INTERNAL.get(module.__name__, set())


INTERNAL = {
    "river_budget.calibration": {"ClassifierWrapper"},
    "river_budget.datasets": {"File"},
    "river_budget.kernels": {"Category", "Function", "RadialKernel", "Spec", "Statistic"},
    "river_budget.prediction_sets": {"Quantile", "Quantiles"},
    "river_budget.synth": {"Stream"},
}


def test_a_name_from_elsewhere_is_found():
    assert not is_own("river_budget._state", rb.active)
    assert not is_own("river", rb.checkpoint)
    assert ("Learned", "river_budget._state") in set(imported(rb.active))


def test_the_wrappers_and_the_policy_are_at_the_root():
    assert rb.Query is rb.active.Query
    assert rb.ArmClassifiers is rb.bandit.ArmClassifiers
    assert {"ArmClassifiers", "Calibrated", "PredictionSets", "Query", "Reject"} <= set(
        rb.__all__
    ) & set(dir(rb))
