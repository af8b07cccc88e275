"""What type checkers say of a user's code, and annotations at run time."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing

import pytest
from user_code import ACCEPTED, WRONG, errors_of, write_user_code

import river_budget as rb


@pytest.mark.slow
def test_the_typed_code_of_a_user(tmp_path):
    """Here for pyright. Mypy is given an installed wheel in `test_distribution.py`."""
    pytest.importorskip("basedpyright")
    command = [sys.executable, "-m", "basedpyright", "--level=error", *write_user_code(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=False)
    printed = done.stdout + done.stderr
    assert errors_of(printed) == WRONG, printed


def test_the_code_that_checkers_accept_runs():
    exec(compile(ACCEPTED, "accepted", "exec", dont_inherit=True), {})


def methods(kind):
    """Return the public functions of a class that are this package's, compiled ones and properties too."""
    for name in filter(lambda name: not name.startswith("_"), dir(kind)):
        member = inspect.getattr_static(kind, name)
        function = getattr(member, "fget", None) or getattr(member, "__func__", member)
        is_function = inspect.isroutine(function) and hasattr(function, "__annotations__")
        if is_function and function.__module__.startswith("river_budget"):
            yield function


@pytest.mark.parametrize("kind", [rb.Forgetron, rb.Mnemotron, rb.KernelLDA, rb.Reject])
def test_annotations_have_a_meaning_at_run_time(kind):
    hints = {function.__name__: typing.get_type_hints(function) for function in methods(kind)}
    assert hints["learn_one"]["x"] == rb.kernels.Features
    assert {"learn_one", "predict_one", "predict_proba_one"} <= hints.keys()
