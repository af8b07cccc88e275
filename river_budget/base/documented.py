"""Docstrings of classifiers, completed with what all of them share.

An algorithm describes only its own parameters. `documented` adds the shared ones, all attributes, the
errors, and (by `with_example`) an example that is tested.
"""

from __future__ import annotations

import inspect
import itertools
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from river_budget._state import Field

PARAMETERS = """\
kernel
    The kernel; `RBF()` by default.
budget
    Maximum number of support vectors.
learning_rate
    Coefficient of a new support vector, positive.
seed
    Random number generator seed for reproducibility.
gamma
    Short for the kernel `RBF(gamma)`.
class_weight
    Weights of the labels as a dict, 1 for labels that are not in it; or `"balanced"`,
    `n / (C n_y)` for a label that `n_y` of the `n` examples so far have, if there are `C` labels.
    They multiply the weights of the examples.
max_classes
    Maximum number of labels.
dtype
    Type of the elements of stored arrays: `"float32"` or `"float64"`. Sums are always of doubles.
"""
RAISES = "ValueError\n    If a parameter is out of range."
ARGUMENTS = {
    "x": "The features of an example, as a dict.",
    "y": "A label.",
    "w": "Weight of the example, as in `learn_one`.",
    "answer": "What `ask` returned, possibly long ago, in another process, or before a checkpoint.",
    "X": "A frame of features, or a dict with an array for each feature.",
    "state": "What `state` returned.",
    "parameters": "The parameters of the constructor, by name.",
    "new_params": "Parameters that get other values, by name.",
    "include_attributes": "Whether to copy what was learned, too.",
}
EXAMPLE = """\
>>> from river import datasets, evaluate, metrics, preprocessing
>>> import river_budget as rb
>>> perceptron = rb.{}(rb.RBF(gamma=1.0){})
>>> model = preprocessing.StandardScaler() | perceptron
>>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
Accuracy: {}"""

HEADING = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)
ENTRY = re.compile(r"^(\w+)\n", re.MULTILINE)

Kind = TypeVar("Kind", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])


def documented(kind: Kind, example: str = "") -> Kind:
    """Complete the docstring of a class, and return the class.

    Parameters are listed in the order of the signature. The text for a parameter is that of the class,
    else that of its base class, else the one of this module. Attributes are the public properties and
    the fields with a description.
    """
    if kind.__doc__ is None:  # Python runs with -OO.
        return kind
    summary, own = _split(HEADING, inspect.cleandoc(kind.__doc__))

    _, of_base = _split(HEADING, inspect.cleandoc(kind.__base__.__doc__ or ""))

    texts: dict[str, str] = {}
    for section in PARAMETERS, of_base.get("Parameters", ""), own.pop("Parameters", ""):
        texts |= _split(ENTRY, section)[1]
    parameters = {name: texts[name] for name in inspect.signature(kind).parameters if name in texts}

    attributes = f"{_joined(_attributes(kind))}\n{own.pop('Attributes', '')}"
    sections = {"Parameters": _joined(parameters), "Attributes": attributes, "Raises": RAISES}
    sections |= {"Examples": example, **own}
    kind.__doc__ = "\n\n".join(map(str.rstrip, [summary, *_titled(sections)]))
    _describe_methods(kind)
    return kind


def described(function: Function, texts: Mapping[str, str], raises: str = "") -> Function:
    """Add sections on the parameters and the errors to the docstring of a function, before its examples.

    `texts` says what the parameters are, by name. A docstring that has such a section stays as it is.
    """
    doc = function.__doc__  # None if Python runs with -OO.
    names = [name for name in inspect.signature(function).parameters if name in texts]
    if not doc or not names or "Parameters\n" in doc:
        return function
    parameters = "\n".join(f"{name}\n    {texts[name]}" for name in names)
    text, heading, examples = inspect.cleandoc(doc).partition("Examples\n")
    parts = [text.rstrip(), *_titled({"Parameters": parameters, "Raises": raises})]
    function.__doc__ = "\n\n".join([*parts, f"{heading}{examples}"]).rstrip()
    return function


def describing(texts: Mapping[str, str], raises: str = "") -> Callable[[Function], Function]:
    """Return `described` as a decorator."""
    return lambda function: described(function, texts, raises)


def with_example(accuracy: str, **parameters: Any) -> Callable[[Kind], Kind]:
    """Return a decorator as `documented`, which also adds an example on River's Bananas.

    `accuracy` is what the example prints, and `parameters` are those that it sets beside the kernel.
    """
    given = "".join(f", {name}={value}" for name, value in parameters.items())
    return lambda kind: documented(kind, EXAMPLE.format(kind.__name__, given, accuracy))


def _split(names: re.Pattern[str], text: str) -> tuple[str, dict[str, str]]:
    """Return what comes before the first name in a text, and what follows each name."""
    first, *parts = names.split(text)
    found, following = parts[::2], parts[1::2]
    return first, dict(zip(found, following, strict=True))


def _describe_methods(kind: type) -> None:
    """Complete the docstrings of the public methods that a class has from this package."""
    bases = [base for base in kind.__mro__ if base.__module__.startswith("river_budget.")]
    for name, value in itertools.chain.from_iterable(vars(base).items() for base in bases):
        function = getattr(value, "__func__", value)
        if inspect.isfunction(function) and not name.startswith("_"):
            described(function, ARGUMENTS)


def _titled(sections: dict[str, str]) -> list[str]:
    return [f"{name}\n{'-' * len(name)}\n{text}" for name, text in sections.items() if text]


def _joined(entries: dict[str, str]) -> str:
    return "\n".join(f"{name}\n{text.rstrip()}" for name, text in entries.items())


def _attributes(kind: type) -> dict[str, str]:
    """Return the descriptions of the public attributes of a class by name, those of bases first."""
    texts = {}
    for base in reversed(kind.__mro__):
        for name, value in (vars(base) | getattr(base, "_fields", {})).items():
            is_described = isinstance(value, property | Field) and value.__doc__
            if is_described and not name.startswith("_"):
                texts[name] = textwrap.indent(inspect.cleandoc(value.__doc__), "    ")
    return texts
