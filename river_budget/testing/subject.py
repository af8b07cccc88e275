"""What a check looks at: a model, its examples, and what it holds as values that can be compared."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import pickle
import random
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from river_budget import checkpoint
from river_budget._state import dumped, require
from river_budget.base import OnlineClassifier
from river_budget.kernels import Features
from river_budget.testing.streams import Line, come_and_go, steady, weight

# A larger budget would be full too late.
LARGEST_BUDGET = 10

# Examples that a model has learned before it is disturbed. The next update of scales is far.
N_LEARNED = 100

# Predictions that wait for their labels, which a prediction adds to.
TICKETS = "tickets"


def expect(condition: Any, message: str) -> None:
    """Raise AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


class Subject:
    """A model that is checked, untrained and on a small budget, and examples that it takes.

    Attributes
    ----------
    seed
        The seed of all that is random.
    is_function
        Whether the kernel is a function, which takes any values, and which no checkpoint stores.
    is_importable
        Whether the class is found by its name in its module, as pickles need it.
    given
        The examples of the user, or None.
    """

    def __init__(self, model: Any, seed: int, examples: Iterable[tuple[Features, Any]] | None):
        is_ours = isinstance(model, OnlineClassifier)
        expected = "expected an object of a class that is derived from one of river_budget.base"
        require(is_ours, f"model is a {type(model).__name__}: {expected}")
        self._model: OnlineClassifier = model.clone(_parameters(model, seed))
        self.seed = seed
        self.is_function = has_function(self._model)
        self.is_importable = _is_importable(type(model))
        self.labels = "abc"[: model.max_classes]
        rng = random.Random(seed)
        self.given = None if examples is None else [(x, y, weight(rng)) for x, y in examples]
        require(self.given is None or self.given, "there are no examples")

    def new(self, **parameters: Any) -> Any:
        """Return an untrained model."""
        return self._model.clone(parameters)

    def takes(self, value: Any) -> bool:
        """Return whether the model takes features like a value."""
        try:
            self.new().ask({"u": value})
        except ValueError:
            return False
        return True

    def lines(self, share_of_arrays: float = 0.3) -> list[Line]:
        """Return the given examples, or examples with all kinds of features that the model takes."""
        if self.given is not None:
            return self.given
        if self.is_function:
            return self.steady_lines()
        kinds = (1.0, "k", np.ones(2), None)
        taken = {type(value) for value in kinds if self.takes(value)}
        return [
            ({name: value for name, value in x.items() if type(value) in taken}, y, w)
            for x, y, w in come_and_go(self.seed, share_of_arrays, self.labels)
        ]

    def steady_lines(self) -> list[Line]:
        """Return the given examples, or examples of numbers whose names stay."""
        return self.given or list(steady(self.seed, self.labels))

    def trained(self) -> Any:
        """Return a model that has learned `N_LEARNED` examples."""
        lines = itertools.islice(itertools.cycle(self.steady_lines()), N_LEARNED)
        return learned(self.new(), lines)

    def copies(self, model: Any) -> Iterator[tuple[str, Any]]:
        """Yield copies of a model with the names of the ways to make them."""
        yield "copy.copy", copy.copy(model)
        yield "copy.deepcopy", copy.deepcopy(model)
        yield "clone(include_attributes=True)", model.clone(include_attributes=True)
        if self.is_importable and not self.is_function:
            yield "pickle", pickle.loads(pickle.dumps(model))

    def saved(self, model: Any) -> Any:
        """Return a model that was saved and loaded, or, as functions cannot be saved, a copy of it."""
        return copy.deepcopy(model) if self.is_function else saved(model)


def _parameters(model: Any, seed: int) -> dict[str, Any]:
    """Return a small budget and a seed, where a model has them as parameters."""
    names, found = inspect.signature(type(model)).parameters, {}
    if "budget" in names and model.budget is not None:
        found["budget"] = min(model.budget, LARGEST_BUDGET)
    if "seed" in names and model.seed is None:
        found["seed"] = seed
    return found


def _is_importable(kind: type) -> bool:
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is kind


def learned(model: Any, lines: Iterable[Line]) -> Any:
    """Return a model after it has learned examples."""
    for x, y, w in lines:
        model.learn_one(x, y, w)
    return model


def saved(model: Any) -> Any:
    """Return a model that was saved and loaded. Raises AssertionError if that is not possible."""
    try:
        return checkpoint.loads(checkpoint.dumps(model))
    except checkpoint.CheckpointError as error:
        reason = str(error)
    raise AssertionError(f"A model can be saved and loaded, but {reason}.")


def state_of(model: Any) -> dict[str, Any]:
    """Return what a model has learned: what its class declares, and attributes that users read."""
    f, fields = model._f, model._fields  # noqa: SLF001
    own = vars(model).keys() - fields.keys() - {field.name for field in dataclasses.fields(model)}
    public = {name: dumped(vars(model)[name]) for name in sorted(own) if not name.startswith("_")}
    declared = {name: field.dump(model) for name, field in fields.items() if name != "_f"}
    # A function as a kernel has no state.
    hypothesis = (
        {**f.learned(), "store": model.support_vectors} if has_function(model) else f.state()
    )
    return {**public, **declared, "_f": hypothesis}


def has_function(model: Any) -> bool:
    """Return whether the kernel of a model is a function."""
    return any(kernel.spec is None for kernel in model._f.store.kernels)  # noqa: SLF001


def require_same(
    found: Any,
    expected: Any,
    promise: str,
    *,
    tolerance: float = 0.0,
    without: Collection[str] = (),
) -> None:
    """Raise AssertionError with a promise, and with what differs, unless two models hold the same."""
    where = next(differences(state_of(found), state_of(expected), tolerance, without), None)
    expect(where is None, f"{promise} (It differs in `{where}`.)")


def differences(
    found: Any, expected: Any, tolerance: float, skipped: Collection[str], path: str = ""
) -> Iterator[str]:
    """Yield the paths of the parts in which two values differ."""
    found, expected = _opened(found), _opened(expected)
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for name in {**expected, **found}:
            inner = f"{path}.{name}" if path else str(name)
            if name not in found or name not in expected:
                yield inner
            elif name not in skipped:
                yield from differences(found[name], expected[name], tolerance, skipped, inner)
    elif isinstance(found, list | tuple) and isinstance(expected, list | tuple):
        if len(found) != len(expected):
            yield path
        for pair in zip(found, expected, strict=False):
            yield from differences(*pair, tolerance, skipped, path)
    elif not _is_same(found, expected, tolerance):
        yield path


def _opened(value: Any) -> Any:
    """Return the attributes of an object whose class has no equality of its own, else the value."""
    kind: Any = type(value)
    is_opened = kind.__eq__ is object.__eq__ and hasattr(value, "__dict__")
    return vars(value) if is_opened else value


def _is_same(found: Any, expected: Any, tolerance: float) -> bool:
    """Return whether two values that are no containers are equal, numbers up to a tolerance."""
    if type(found) is not type(expected):
        return False
    is_array = isinstance(found, np.ndarray)
    if is_array and (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return False
    if not is_array and not isinstance(found, float):
        return found == expected
    if tolerance and np.asarray(found).dtype.kind == "f":
        return np.allclose(found, expected, rtol=tolerance, atol=tolerance)
    return np.asarray(found).tobytes() == np.asarray(expected).tobytes()
