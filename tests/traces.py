"""The reference traces of the Projectron author's library, replayed."""

from __future__ import annotations

import numpy as np


def replay(model, shared, name):
    """Return the model's margins and support sizes on the reference input, and the trace."""
    data = shared("oracle/input_synth_p0_first2000.npz")
    trace = {key: value.ravel() for key, value in shared(f"oracle/{name}.npz").items()}
    margins, sizes = [], []
    for x, y in zip(data["X"].tolist(), data["y"].ravel(), strict=True):
        margins.append(model.decision_function_one(dict(enumerate(x))))
        model.learn_one(dict(enumerate(x)), y > 0)
        sizes.append(model.n_support)
    return np.array(margins), np.array(sizes), trace
