"""Checks of your own algorithm or kernel: what this package promises of its own classes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from river_budget._checks import warn
from river_budget.kernels import Features

from .equality import (
    check_answers,
    check_blocks,
    check_copies,
    check_disturbances,
    check_order_of_features,
    check_repeatability,
    check_saving,
)
from .harm import check_interrupts, check_refusals, check_weights
from .rules import check_budget, check_labels, check_memory, check_predictions
from .subject import Subject

__all__ = [
    "check_answers", "check_blocks", "check_budget", "check_classifier", "check_copies",
    "check_disturbances", "check_interrupts", "check_labels", "check_memory",
    "check_order_of_features", "check_predictions", "check_refusals", "check_repeatability",
    "check_saving", "check_weights", "checks",
]  # fmt: skip

# Checks whose failures make others fail come first.
ALL = (
    check_repeatability, check_predictions, check_labels, check_refusals, check_weights,
    check_budget, check_memory, check_saving, check_copies, check_blocks, check_answers,
    check_disturbances, check_order_of_features, check_interrupts,
)  # fmt: skip


def check_classifier(
    model: Any, *, seed: int = 0, examples: Iterable[tuple[Features, Any]] | None = None
) -> None:
    """Check that a model keeps what this package promises of its own classes.

    These are all `checks`, one after the other. The model is left as it is: untrained clones of it are
    checked, with a budget of at most 10, which is full soon.

    Parameters
    ----------
    model
        A classifier whose class is derived from one of `river_budget.base`, or a class of this package
        with a kernel of your own.
    seed
        The seed of all that is random in the checks, and of a model without one.
    examples
        Pairs of features and a label, a hundred or so, for a kernel that takes only features of its
        own. By default, numbers, texts, arrays and gaps come and go as far as the model takes them; a
        function as a kernel gets three numbers, `u`, `v` and `w`.

    Raises
    ------
    AssertionError
        If a promise does not hold. The message says what was expected, and how to mend the class.
    ValueError
        If the model is of another class, or if there are no examples.

    Warns
    -----
    UserWarning
        If something is not checked: files and pickles where the kernel is a function, and pickles
        where the class is not at the top level of a module.

    Examples
    --------
    >>> import river_budget as rb
    >>> rb.testing.check_classifier(rb.Forgetron(budget=5))
    """
    for check in checks(model, seed=seed, examples=examples):
        check()


def checks(
    model: Any, *, seed: int = 0, examples: Iterable[tuple[Features, Any]] | None = None
) -> list[Callable[[], None]]:
    """Return the checks of a model, as functions without arguments that have the names of checks.

    A model without a budget gets no check of it, nor one of memory if it keeps support vectors. See
    `check_classifier` for the parameters, errors and warnings.

    Examples
    --------
    With pytest, each check is a test of its own:

    >>> import pytest
    >>> import river_budget as rb

    >>> @pytest.mark.parametrize("check", rb.testing.checks(rb.Forgetron(budget=5)))
    ... def test_promises(check):
    ...     check()
    """
    given = None if examples is None else list(examples)
    subject = Subject(model, seed, given)
    if subject.is_function:
        warn("files and pickles are not checked: the kernel is a function, which is code")
    elif not subject.is_importable:
        warn("pickles are not checked: they need a class at the top level of a module")
    has_budget = getattr(model, "budget", None) is not None
    left_out = {
        check_saving: subject.is_function,
        check_budget: not has_budget,
        check_memory: not has_budget and hasattr(model, "n_support"),
    }
    return [
        functools.update_wrapper(
            functools.partial(check, model, seed=seed, examples=given),
            check,
        )
        for check in ALL
        if not left_out.get(check)
    ]
