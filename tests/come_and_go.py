"""Examples whose features come and go: numbers, texts, arrays, gaps, and names that never come again."""

from __future__ import annotations

import random

import numpy as np

N_EXAMPLES = 120


def stream(seed, share_of_arrays):
    """Yield examples whose features come and go, with the labels that they tell of, and weights."""
    rng = random.Random(seed)
    for _ in range(N_EXAMPLES):
        label = rng.choice("abc")
        center = "abc".index(label)
        x = {name: rng.gauss(center, 1.0) for name in "uvw" if rng.random() < 0.8}
        if rng.random() < share_of_arrays:
            x["array"] = np.array([rng.gauss(center, 1.0) for _ in range(4)])
        if rng.random() < 0.05:
            x["rare array"] = np.array([rng.gauss(center, 1.0), 1.0])
        if rng.random() < 0.2:
            x["text"] = rng.choice("klm")
        if rng.random() < 0.1:
            x["v"] = None
        if rng.random() < 0.1:
            x = {f"new-{rng.random()}": 1.0}
        yield x, label, rng.choice([1.0, 1.0, 0.5, 2.0])
