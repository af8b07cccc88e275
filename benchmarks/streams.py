"""Streams to measure on, as lists of pairs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from river.datasets import synth

DATA = Path(os.environ.get("RIVER_BUDGET_DATA", Path(__file__).parents[2] / "shared" / "data"))


def load(name: str) -> dict[str, np.ndarray]:
    """Return the arrays of one of the sets in `DATA`."""
    with np.load(DATA / f"{name}.npz") as archive:
        return {key: archive[key] for key in archive.files}


def numeric(n_samples: int = 20_000, n_features: int = 10) -> list:
    """River's random radial basis functions: numeric features, two classes."""
    stream = synth.RandomRBF(
        seed_model=42, seed_sample=42, n_classes=2, n_features=n_features, n_centroids=50
    )
    return [({f"f{j}": v for j, v in x.items()}, y == 1) for x, y in stream.take(n_samples)]


def noise(n_samples: int = 6_000, n_features: int = 20) -> list:
    """Normal features and labels that have nothing to do with them: every other round errs."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(n_samples, n_features)), rng.random(n_samples) < 0.5
    names = [f"f{j}" for j in range(n_features)]
    return [
        (dict(zip(names, x, strict=True)), t) for x, t in zip(X.tolist(), y.tolist(), strict=True)
    ]


def adult(n_samples: int = 32_561) -> list | None:
    """Adult (a9a) as sparse dicts, 14 of 123 features present, or None where it is absent."""
    try:
        data = load("adult_a9a")
    except FileNotFoundError:
        return None
    X, y = data["X_train"][:n_samples], data["y_train"][:n_samples]
    return [
        ({f"f{j}": 1.0 for j in np.flatnonzero(row)}, bool(label > 0))
        for row, label in zip(X, y, strict=True)
    ]
