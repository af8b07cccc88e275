"""What a check looks at: an untrained model, and examples that it takes."""

from __future__ import annotations

import copy
import inspect
import itertools
import pickle
import random
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from river_budget import checkpoint
from river_budget._state import require
from river_budget.base import OnlineClassifier
from river_budget.kernels import Features
from river_budget.testing.comparison import PromiseError, has_function
from river_budget.testing.streams import Line, come_and_go, steady, weight

# A larger budget would be full too late.
LARGEST_BUDGET = 10

# Examples that a model has learned before it is disturbed. The next update of scales is far away.
N_LEARNED = 100


class Subject:
    """A model that is checked, untrained and on a small budget, and examples that it takes."""

    def __init__(self, model: Any, seed: int, examples: Iterable[tuple[Features, Any]] | None):
        is_ours = isinstance(model, OnlineClassifier)
        expected = "expected an object of a class that is derived from one of river_budget.base"
        require(is_ours, f"model is a {type(model).__name__}: {expected}")
        self._model: OnlineClassifier = model.clone(_small_budget_and_seed(model, seed))
        self.seed = seed
        # A function as a kernel takes any values, and no checkpoint stores it.
        self.is_function = has_function(self._model)
        # Pickles need a class that is found by its name in its module.
        self.is_importable = _is_importable(type(model))
        self.labels = "abc"[: model.max_classes]
        rng = random.Random(seed)
        # The examples of the user, or None.
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

    def ways_to_copy(self) -> dict[str, Callable[[Any], Any]]:
        """Return functions that copy a model, by their names."""
        ways: dict[str, Callable[[Any], Any]] = {
            "copy.copy": copy.copy,
            "copy.deepcopy": copy.deepcopy,
            "clone(include_attributes=True)": lambda model: model.clone(include_attributes=True),
        }
        if self.is_importable and not self.is_function:
            ways["pickle"] = lambda model: pickle.loads(pickle.dumps(model))
        return ways

    def saved(self, model: Any) -> Any:
        """Return a model that was saved and loaded, or, as functions cannot be saved, a copy of it."""
        return copy.deepcopy(model) if self.is_function else saved(model)


def _small_budget_and_seed(model: Any, seed: int) -> dict[str, Any]:
    """Return values of the parameters `budget` and `seed`, as far as a model has them."""
    names = inspect.signature(type(model)).parameters
    values = {}
    if "budget" in names and model.budget is not None:
        values["budget"] = min(model.budget, LARGEST_BUDGET)
    if "seed" in names and model.seed is None:
        values["seed"] = seed
    return values


def _is_importable(kind: type) -> bool:
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is kind


class Check(Protocol):
    """A function that checks a promise."""

    __name__: str

    def __call__(
        self, model: Any, *, seed: int = 0, examples: Iterable[tuple[Features, Any]] | None = None
    ) -> None: ...


def as_check(body: Callable[[Subject], None]) -> Check:
    """Return a check of a model, given that of a subject.

    The docstring is a promise, and says how to mend a class that breaks it. Errors begin and end with it.
    """
    promise, _, advice = inspect.cleandoc(body.__doc__ or "").partition("\n\n")

    def check(
        model: Any, *, seed: int = 0, examples: Iterable[tuple[Features, Any]] | None = None
    ) -> None:
        subject = Subject(model, seed, examples)
        try:
            with warnings.catch_warnings():
                # These warnings are about the examples, not about the model.
                warnings.simplefilter("ignore", UserWarning)
                body(subject)
        except PromiseError as error:
            error.args = (" ".join(f"{promise} {error} {advice}".split()),)
            raise
        except Exception as error:
            advice_on_calls = "see the error above; it comes from your class, or from your kernel"
            if subject.is_function and subject.given is None:
                advice_on_calls += ", which may need examples of your own: give them as `examples`"
            raise AssertionError(
                f"A call that is valid raised {error!r}: {advice_on_calls}."
            ) from error

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(check, name, getattr(body, name))
    return check


def learned(model: Any, lines: Iterable[Line]) -> Any:
    """Return a model after it has learned examples."""
    for x, y, w in lines:
        model.learn_one(x, y, w)
    return model


def as_bytes(model: Any) -> bytes:
    """Return a model as `checkpoint.dumps` does. Raises PromiseError if that is not possible."""
    try:
        return checkpoint.dumps(model)
    except checkpoint.CheckpointError as error:
        reason = str(error)
    raise PromiseError(f"A model should be saved and loaded, but {reason}.")


def saved(model: Any) -> Any:
    """Return a model that was saved and loaded. Raises PromiseError if that is not possible."""
    return checkpoint.loads(as_bytes(model))
