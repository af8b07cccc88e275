"""What type checkers say of a user's code, and annotations at run time."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import typing

import pytest

import river_budget as rb

ACCEPTED = '''\
"""The typed code of a user."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

import river_budget as rb

x: dict[str, float] = {"a": 1.0, "b": 2.0}
model = rb.Mnemotron(budget=50, kernels=(rb.RBF(gamma=0.5),))
model.learn_one(x, True, w=2.0)
label = model.predict_one(x)
probabilities: dict[str, float] = model.predict_proba_one(x)
answer = model.ask(x)
model.learn(answer, y="spam")
scores: dict[str, float] = answer.scores
n: int = model.n_rounds + model.n_support

columns: dict[str, NDArray[np.float64]] = {"a": np.zeros(3), "c": np.ones((3, 2))}
model.learn_many(columns, np.array([True, False, True]))
labels: NDArray[np.bool_] = model.predict_many(columns)
by_label: dict[str, NDArray[np.float64]] = model.predict_proba_many(columns)

frame = pl.DataFrame({"a": [1.0, 2.0]})
model.learn_many(frame, pl.Series([True, False]), w=[1.0, 0.5])
series: pl.Series = model.predict_many(frame)
table: pl.DataFrame = model.scores_many(frame)

stream = rb.synth.TwoGaussians(100, seed=1)
wrapped = rb.Calibrated(rb.Reject(rb.Projectron(budget=10)))
wrapped.learn_one(x, 1)
query = rb.Query(rb.Mnemotron(), rate=0.1, seed=1)
policy = rb.ArmClassifiers(costs={"large": 0.2}, seed=1)
ticket: rb.bandit.Ticket = policy.decide(["small", "large"], x)
is_known: bool = policy.reward(ticket.id, 1)
rb.testing.check_repeatability(rb.Forgetron(budget=5), seed=1)
'''

REFUSED = """\
import polars as pl
import river_budget as rb

rb.synth.NoSuch(3)
rb.Forgetroon()
rb.Forgetron(bugdet=3)
rb.Mnemotron(budget="many")
rows: int = rb.Projectron().predict_many(pl.DataFrame({"a": [1.0]}))
rb.Projectron().learn_many([1.0, 2.0], [True, False])
rb.testing.check_repeatability(rb.Forgetron(), sede=1)
"""

CHECKERS = {
    "mypy": ["mypy", "--strict", "--config-file=", "--cache-dir=cache"],
    "pyright": ["basedpyright", "--level=error"],
}


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_the_typed_code_of_a_user(checker, tmp_path):
    pytest.importorskip(CHECKERS[checker][0])
    (tmp_path / "accepted.py").write_text(ACCEPTED)
    (tmp_path / "refused.py").write_text(REFUSED)
    command = [sys.executable, "-m", *CHECKERS[checker], "accepted.py", "refused.py"]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=False)
    printed = done.stdout + done.stderr
    found = re.findall(r"(accepted|refused)\.py:(\d+):.*error", printed)
    wrong = range(4, 1 + len(REFUSED.splitlines()))
    assert {*found} == {("refused", str(n)) for n in wrong}, printed
    assert done.returncode == 1, printed


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
