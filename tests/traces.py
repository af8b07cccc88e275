"""The reference traces of the Projectron author's library, replayed."""

from __future__ import annotations

import pathlib

import numpy as np

ORACLE = pathlib.Path(__file__).parent / "oracle"


def load(name):
    """Return the arrays of one file in `oracle` by their names."""
    with np.load(ORACLE / f"{name}.npz") as archive:
        return dict(archive)


def replay(model, name):
    """Return the model's margins and support sizes on the reference input, and the trace."""
    data = load("input")
    margins, sizes = [], []
    for x, y in zip(data["X"].tolist(), data["y"].tolist(), strict=True):
        margins.append(model.decision_function_one(dict(enumerate(x))))
        model.learn_one(dict(enumerate(x)), y > 0)
        sizes.append(model.n_support)
    return np.array(margins), np.array(sizes), load(name)
