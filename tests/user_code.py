"""The code of users that type checkers accept or refuse, and what they say of it."""

from __future__ import annotations

import re

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
with_sets = rb.PredictionSets(wrapped, coverage=0.95)
with_sets.learn_many(frame, pl.Series([1, 0]))
candidates: set[int] = with_sets.predict_set_one(x)
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

# All that comes after the imports and an empty line.
WRONG = {("refused", n) for n in range(4, 1 + len(REFUSED.splitlines()))}


def write_user_code(folder):
    """Write both texts, and return the names of their files."""
    (folder / "accepted.py").write_text(ACCEPTED)
    (folder / "refused.py").write_text(REFUSED)
    return ["accepted.py", "refused.py"]


def errors_of(printed):
    """Return the texts and the lines of the errors that a type checker printed."""
    found = re.findall(r"(accepted|refused)\.py:(\d+):.*error", printed)
    return {(name, int(line)) for name, line in found}
