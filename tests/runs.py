"""Runs over examples, and those for the tests that hold the algorithms to published figures."""

from __future__ import annotations

import functools

import numpy as np


def learned(model, examples):
    """Return a model after it has learned examples."""
    for x, y in examples:
        model.learn_one(x, y)
    return model


@functools.cache
def orders(n_rows, n_orders=2):
    return [np.random.default_rng(seed).permutation(n_rows) for seed in range(n_orders)]


def sparse_examples(X, y):
    """Return the rows as dicts of what is not 0, and their labels."""
    return [
        (dict.fromkeys(np.flatnonzero(row).tolist(), 1.0), label > 0)
        for row, label in zip(X, y.tolist(), strict=True)
    ]


def mistakes_percent(model, examples, order):
    for t in order:
        model.learn_one(*examples[t])
    return 100 * model.n_mistakes / model.n_rounds
