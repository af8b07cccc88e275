"""The papers' data sets as arrays, by the names that the papers use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.local import load
from benchmarks.reproduce.published import tightest_data_sets
from benchmarks.streams import sparse
from river_budget import synth
from river_budget.base import Machine

FILES = {
    "Adult9": "adult_a9a",
    "Banana": "banana",
    "Covertypes": "covtype",
    "MNIST": "mnist",
    "Pendigits": "pendigits",
    "Waveform": "waveform_gen",
    "census-income": "census_income_kdd_testpart",
}

# Labels of the positive class where it is not the labels above 0.
POSITIVE = {"MNIST": [8], "Pendigits": [0, 3, 6, 8, 9], "Waveform": [1, 2]}


class Split(NamedTuple):
    """Training and test examples, and their labels: whether each is positive, or its class."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


class Frames(NamedTuple):
    """Training examples with their labels, and test examples with theirs."""

    train: pd.DataFrame
    labels: pd.Series
    test: pd.DataFrame
    truth: np.ndarray

    def accuracy(self, learner: Machine) -> float:
        """Let a model learn, and return its accuracy on the test part in percent."""
        learner.learn_many(self.train, self.labels)
        right = np.asarray(learner.predict_many(self.test)) == self.truth
        return round(100 * float(right.mean()), 3)


def sparse_training_part(data_set: str) -> list[tuple[dict, bool]]:
    """Return the training examples as dicts of their nonzero features."""
    arrays = load(FILES[data_set])
    labels = (arrays["y_train"] > 0).tolist()
    return list(zip(sparse(arrays["X_train"].astype(float)), labels, strict=True))


def split(data_set: str, seed: int) -> Split:
    """Return the training and test part; where the paper samples them, each seed gives a new sample."""
    if data_set == "NCheckerb":
        return _checkerboard(seed)
    arrays = load(FILES[data_set])
    if "X" in arrays:
        return _sampled(data_set, arrays, seed)
    parts: list[np.ndarray] = []
    for part in ("train", "test"):
        X, labels = arrays[f"X_{part}"], arrays[f"y_{part}"]
        kept = arrays.get(f"complete_{part}", np.ones(len(X))).astype(bool)
        if data_set == "MNIST":
            kept = np.isin(labels, [3, 8])
        parts += [X[kept].astype(float), is_positive(data_set, labels[kept])]
    return Split(*parts)


def frames(split: Split, seed: int) -> Frames:
    """Return the scaled and shuffled training part, and the scaled test part."""
    mean, sd = split.X_train.mean(axis=0), split.X_train.std(axis=0)
    sd[sd == 0] = 1.0
    order = np.random.default_rng(seed).permutation(len(split.X_train))
    train = pd.DataFrame((split.X_train[order] - mean) / sd)
    test = pd.DataFrame((split.X_test - mean) / sd)
    return Frames(train, pd.Series(split.y_train[order]), test, split.y_test)


def is_positive(data_set: str, labels: np.ndarray) -> np.ndarray:
    return np.isin(labels, POSITIVE[data_set]) if data_set in POSITIVE else labels > 0


def _sampled(data_set: str, arrays: dict[str, np.ndarray], seed: int) -> Split:
    sizes = tightest_data_sets()[data_set]
    X, y = arrays["X"], is_positive(data_set, arrays["y"])
    order = np.random.default_rng(seed).permutation(len(X))
    train, test, _ = np.split(order, [sizes.n_train, sizes.n_train + sizes.n_test])
    return Split(X[train].astype(float), y[train], X[test].astype(float), y[test])


def _checkerboard(seed: int) -> Split:
    sizes = tightest_data_sets()["NCheckerb"]
    noisy = synth.NoisyCheckerboard(sizes.n_train, seed=2 * seed)
    clean = synth.NoisyCheckerboard(sizes.n_test, noise=0.0, seed=2 * seed + 1)
    parts: list[np.ndarray] = []
    for stream in (noisy, clean):
        pairs = list(stream)
        parts += [np.array([list(x.values()) for x, _ in pairs]), np.array([y for _, y in pairs])]
    return Split(*parts)
