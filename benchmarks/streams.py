"""Streams for the benchmarks, as lists of pairs of features and label."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from river import datasets
from river.datasets import synth

from benchmarks.local import load

# Largest number of examples of a named stream.
N = 20_000
# The share of flipped labels.
FLIPPED = 0.2


def numeric(n_samples: int = 20_000, n_features: int = 10) -> list:
    """Return examples of River's RandomRBF: numeric features, two classes."""
    stream = synth.RandomRBF(
        seed_model=42, seed_sample=42, n_classes=2, n_features=n_features, n_centroids=50
    )
    return [({f"f{j}": v for j, v in x.items()}, y == 1) for x, y in stream.take(n_samples)]


def noise(n_samples: int = 6_000, n_features: int = 20) -> list:
    """Return normal features with labels that do not depend on them: half of the rounds are mistakes."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(n_samples, n_features)), rng.random(n_samples) < 0.5
    names = [f"f{j}" for j in range(n_features)]
    return [
        (dict(zip(names, x, strict=True)), t) for x, t in zip(X.tolist(), y.tolist(), strict=True)
    ]


def gaussians(n_samples: int, n_features: int = 10) -> list:
    """Return examples of two Gaussians, whose means are four standard deviations apart; a fifth of the labels is flipped."""
    rng = np.random.default_rng(1)
    y = rng.random(n_samples) < 0.5
    X = rng.normal(size=(n_samples, n_features)) + (2 * y - 1)[:, None] * 2 / np.sqrt(n_features)
    labels = y ^ (rng.random(n_samples) < FLIPPED)
    return list(zip(dense(X), labels.tolist(), strict=True))


def adult(n_samples: int = 32_561) -> list:
    """Return Adult (a9a) as sparse dicts, 14 of 123 features present."""
    data = load("adult_a9a")
    X, y = data["X_train"][:n_samples], data["y_train"][:n_samples]
    return [
        ({f"f{j}": 1.0 for j in np.flatnonzero(row)}, bool(label > 0))
        for row, label in zip(X, y, strict=True)
    ]


def texts(n_samples: int = 2_000) -> list:
    """Return SpamAssassin's documents as the words that they have, shuffled and with norm 1."""
    data = load("spam_assassin")
    starts, words = data["csr_indptr"], data["csr_indices"]
    examples = []
    for i in np.random.default_rng(1).permutation(len(starts) - 1)[:n_samples]:
        own = words[starts[i] : starts[i + 1]].tolist()
        value = 1 / np.sqrt(max(1, len(own)))
        examples.append(({f"w{word}": value for word in own}, bool(data["y"][i] > 0)))
    return examples


def dense(X: np.ndarray) -> Iterator[dict]:
    names = [f"f{j}" for j in range(X.shape[1])]
    return (dict(zip(names, x, strict=True)) for x in X.astype(float).tolist())


def sparse(X: np.ndarray) -> Iterator[dict]:
    """Yield the values other than 0."""
    names = np.array([f"f{j}" for j in range(X.shape[1])], dtype=object)
    return (dict(zip(names[x != 0], x[x != 0].tolist(), strict=True)) for x in X)


def from_arrays(X: np.ndarray, y: np.ndarray) -> list:
    return list(zip(dense(X[:N]), map(bool, y[:N].tolist()), strict=True))


def named(name: str) -> list:
    """Return the first `N` examples of a stream, with all features present and boolean labels."""
    if name == "Bananas":
        return list(datasets.Bananas())
    if name == "Phishing":
        return list(datasets.Phishing())
    if name == "RandomRBFDrift":
        drifting = synth.RandomRBFDrift(
            seed_model=42, seed_sample=42, n_classes=2, n_features=10, n_centroids=50,
            change_speed=0.001, n_drift_centroids=50,
        )  # fmt: skip
        return [(x, y == 1) for x, y in drifting.take(N)]
    file = {"Elec2": "elec2", "Adult9": "adult_a9a", "Pendigits": "pendigits",
            "Covertype": "covtype", "SpamAssassin": "spam_assassin"}[name]  # fmt: skip
    data = load(file)
    if name == "Elec2":
        return from_arrays(data["X"][:, -6:], data["y"] > 0)
    if name == "Pendigits":
        return from_arrays(data["X_train"], np.isin(data["y_train"], [3, 6, 8, 9, 0]))
    if name == "Adult9":
        return from_arrays(data["X_train"], data["y_train"] > 0)
    return from_arrays(data["X"], data["y"] > 0)


def labelled(name: str, n_samples: int = N) -> list:
    """Return the first examples of a stream of many classes, with the publisher's labels."""
    if name == "ImageSegments":
        return list(datasets.ImageSegments().take(n_samples))
    data = load(name.lower())
    X, y = data["X_train"][:n_samples], data["y_train"][:n_samples].tolist()
    return list(zip(dense(X), y, strict=True))
