"""River's checks of an estimator."""

from __future__ import annotations

from river import checks

# It reads ten times as many examples as the others.
OF_MEMORY = "check_bounded_memory_growth"


def run(model):
    """Run all checks but the one of memory. The traceback of a failure names the check."""
    assert not model._unit_test_skips()
    for check in checks.yield_checks(model):
        if check.__name__ != OF_MEMORY:
            check(model.clone())


def run_those_without_examples(model):
    """Run the checks of parameters, copies and texts."""
    for check in checks.yield_checks(model):
        if not reads_examples(check):
            check(model.clone())


def reads_examples(check):
    """Return whether River has bound a check to a data set."""
    return "dataset" in getattr(check, "keywords", {})


def run_that_of_memory(model):
    for check in checks.yield_checks(model):
        if check.__name__ == OF_MEMORY:
            check(model.clone())
