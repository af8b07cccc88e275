"""Docstrings that are completed with what all classifiers share."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

from river_budget import checkpoint, evaluate, kernels, plots, synth, theory
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


def own_parameters(function):
    return inspect.signature(function).parameters.keys() - {"self", "cls", "kwargs"}


def functions_with_arguments():
    """Return the public functions of some modules and classes that take arguments, by name."""
    owners = [checkpoint, evaluate, kernels, plots, theory, theory.bounds, *CLASSES.values()]
    owners += [checkpoint.Checkpointer, theory.Comparator, theory.Span]
    owners += [getattr(synth, name) for name in synth.__all__]
    found = {}
    for name, value in (pair for owner in owners for pair in inspect.getmembers(owner)):
        is_function = inspect.isfunction(value) or inspect.ismethod(value)
        if is_function and not name.startswith("_") and own_parameters(value):
            found[f"{value.__module__}.{value.__qualname__}"] = value
    public = re.compile(r"river_budget\.(?!_|base\.documented)")
    return {name: value for name, value in found.items() if public.match(name)}


FUNCTIONS = functions_with_arguments()


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_arguments_of_public_functions_are_described(function):
    described = {name for line in entries(function, "Parameters") for name in line.split(", ")}
    assert own_parameters(function) <= described
