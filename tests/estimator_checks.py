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


def run_that_of_memory(model):
    for check in checks.yield_checks(model):
        if check.__name__ == OF_MEMORY:
            check(model.clone())
