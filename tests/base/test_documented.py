"""Docstrings that are completed with what all classifiers share."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

from river_budget._state import Number
from river_budget.base import Perceptron, documented
from river_budget.catalog import ALGORITHMS

CLASSES = {name: row.model for name, row in ALGORITHMS.items()}
each_class = pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES)


def entries(kind, section):
    """Return the names that a section of a docstring describes, in order."""
    _, heading, rest = inspect.getdoc(kind).partition(f"\n{section}\n{'-' * len(section)}\n")
    assert heading, f"{kind.__name__} has no section {section}"
    body = re.split(r"^\w+\n-+\n", rest, maxsplit=1, flags=re.MULTILINE)[0]
    return [name for line in re.findall(r"^\w.*$", body, re.MULTILINE) for name in line.split(", ")]


@each_class
def test_a_docstring_is_whole_and_in_the_order_of_numpydoc(kind):
    """Each parameter and attribute is described once."""
    parameters = list(inspect.signature(kind).parameters)
    assert entries(kind, "Parameters") == parameters
    names = entries(kind, "Attributes")
    assert len(names) == len(set(names))
    assert {"classes", "n_rounds", "memory_bytes"} < set(names)
    assert not set(names) & set(parameters)
    sections = re.findall(r"^(\w+)\n-+$", inspect.getdoc(kind), re.MULTILINE)
    assert sections == ["Parameters", "Attributes", "Raises", "Examples", "References"]


class Own(Perceptron):
    """A class of its own.

    Parameters
    ----------
    colour
        One of many.
    gamma
        What it says itself.

    Attributes
    ----------
    last
        No property.

    """

    size = Number(least=0.0, doc="The `size of all` that is declared.")

    def __init__(self, gamma, undescribed, colour, dtype="float32"):
        """Do nothing."""


def test_a_docstring_is_completed():
    kind = documented(Own)
    text = kind.__doc__
    assert entries(kind, "Parameters") == ["gamma", "colour", "dtype"], "none is undescribed"
    assert "gamma\n    What it says itself.\ncolour\n    One of many.\ndtype\n    Type" in text
    assert entries(kind, "Attributes")[-2:] == ["size", "last"]
    assert text.startswith("A class of its own.\n\nParameters")


@pytest.mark.slow
def test_without_docstrings_all_is_imported():
    script = "import river_budget as rb; assert not rb.Forgetron.__doc__; rb.Forgetron(budget=2)"
    subprocess.run([sys.executable, "-OO", "-c", script], check=True)
