"""The papers' data sets as arrays, by the names that the papers use."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from numpy.typing import NDArray

from benchmarks import local
from benchmarks.reproduce.published import tightest_data_sets
from river_budget import datasets, synth


class Split(NamedTuple):
    """Training and test examples, and their labels: whether each is positive, or its class."""

    X_train: NDArray[Any]
    y_train: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]


class Frames(NamedTuple):
    """Training examples with their labels, and test examples with theirs."""

    train: Any
    labels: Any
    test: Any
    truth: NDArray[Any]


FILES = {
    "Adult9": "adult_a9a",
    "Banana": "banana",
    "Covertypes": "covtype",
    "IJCNN": "ijcnn1",
    "Letter": "letter",
    "MNIST": "mnist",
    "Pendigits": "pendigits",
    "USPS": "usps",
    "Vehicle": "vehicle",
    "Waveform": "waveform_gen",
    "census-income": "census_income_kdd_testpart",
}

# Labels of the positive class where it is not the labels above 0.
POSITIVE = {
    "MNIST": [8],
    "Pendigits": [0, 3, 6, 8, 9],
    "USPS": [0, 3, 6, 8, 9],
    "Letter": list(range(14, 27)),
    "Waveform": [1, 2],
}

# Data sets whose publisher's training and test part are the paper's, so that they can be downloaded.
DOWNLOADS: dict[str, type[Any]] = {
    "IJCNN": datasets.IJCNN1,
    "Letter": datasets.Letter,
    "Pendigits": datasets.Pendigits,
    "USPS": datasets.USPS,
    "Vehicle": datasets.SensITVehicle,
}
PARTS = ("train", "test")


def has(data_set: str, directory: Path | None) -> bool:
    """Tell whether a data set is in the directory or downloaded."""
    if directory is not None and data_set in FILES and _path(data_set, directory).exists():
        return True
    return data_set in DOWNLOADS and all(DOWNLOADS[data_set](part=p).is_downloaded for p in PARTS)


def download(directory: Path | None) -> None:
    """Download the missing data sets that have a publisher to River's data directory."""
    for data_set, stream in DOWNLOADS.items():
        if not has(data_set, directory):
            for part in PARTS:
                stream(part=part).download()


def load(data_set: str, directory: Path | None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a data set."""
    if directory is not None and _path(data_set, directory).exists():
        return local.load(FILES[data_set], directory)
    parts = {part: list(DOWNLOADS[data_set](part=part)) for part in PARTS}
    names = list(dict.fromkeys(name for x, _ in parts["train"] for name in x))
    return {f"X_{part}": _dense(rows, names) for part, rows in parts.items()} | {
        f"y_{part}": np.array([1 if y else -1 for _, y in rows]) for part, rows in parts.items()
    }


def _dense(rows: list[Any], names: list[Any]) -> NDArray[Any]:
    return np.array([[x.get(name, 0.0) for name in names] for x, _ in rows])


def _path(data_set: str, directory: Path) -> Path:
    return directory / f"{FILES[data_set]}.npz"


def sparse_training_part(data_set: str, directory: Path | None) -> list[Any]:
    """Return the training examples as dicts of their nonzero features."""
    arrays = load(data_set, directory)
    return [
        ({j: float(row[j]) for j in np.flatnonzero(row).tolist()}, label > 0)
        for row, label in zip(arrays["X_train"], arrays["y_train"].tolist(), strict=True)
    ]


def split(data_set: str, seed: int, directory: Path | None) -> Split:
    """Return the training and test part; where the paper samples them, each seed gives a new sample."""
    if data_set == "NCheckerb":
        return _checkerboard(seed)
    arrays = load(data_set, directory)
    if "X" in arrays:
        return _sampled(data_set, arrays, seed)
    parts: list[Any] = []
    for part in PARTS:
        X, labels = arrays[f"X_{part}"], arrays[f"y_{part}"]
        kept = np.ones(len(X), bool)
        if f"complete_{part}" in arrays:
            kept = arrays[f"complete_{part}"].astype(bool)
        if data_set == "MNIST":
            kept = np.isin(labels, [3, 8])
        parts += [X[kept].astype(float), _is_positive(data_set, labels[kept])]
    return Split(*parts)


def frames(split: Split, seed: int) -> Frames:
    """Return the scaled and shuffled training part, and the scaled test part."""
    mean, sd = split.X_train.mean(axis=0), split.X_train.std(axis=0)
    sd[sd == 0] = 1.0
    order = np.random.default_rng(seed).permutation(len(split.X_train))
    train = pd.DataFrame((split.X_train[order] - mean) / sd)
    test = pd.DataFrame((split.X_test - mean) / sd)
    return Frames(train, pd.Series(split.y_train[order]), test, split.y_test)


def _is_positive(data_set: str, labels: NDArray[Any]) -> NDArray[np.bool_]:
    if data_set in POSITIVE and labels.min() >= 0:
        return np.isin(labels, POSITIVE[data_set])
    return labels > 0


def _sampled(data_set: str, arrays: dict[str, NDArray[Any]], seed: int) -> Split:
    sizes = tightest_data_sets()[data_set]
    X, y = arrays["X"], _is_positive(data_set, arrays["y"])
    order = np.random.default_rng(seed).permutation(len(X))
    train, test, _ = np.split(order, [sizes.n_train, sizes.n_train + sizes.n_test])
    return Split(X[train].astype(float), y[train], X[test].astype(float), y[test])


def _checkerboard(seed: int) -> Split:
    sizes = tightest_data_sets()["NCheckerb"]
    noisy = synth.NoisyCheckerboard(sizes.n_train, seed=2 * seed)
    clean = synth.NoisyCheckerboard(sizes.n_test, noise=0.0, seed=2 * seed + 1)
    parts: list[Any] = []
    for stream in [noisy, clean]:
        pairs = list(stream)
        parts += [np.array([list(x.values()) for x, _ in pairs]), np.array([y for _, y in pairs])]
    return Split(*parts)
