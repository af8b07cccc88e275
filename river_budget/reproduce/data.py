"""The papers' data sets by the papers' names, as arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget import datasets, synth
from river_budget.published import TIGHTEST_DATA_SETS

__all__ = ["Split", "download", "has", "load", "sparse_training_part", "split"]

# Training examples and whether each is positive, then those to test on.
Split = tuple[NDArray[Any], NDArray[np.bool_], NDArray[Any], NDArray[np.bool_]]

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

# Labels of the positive class, where they are not above 0.
POSITIVE = {
    "MNIST": [8],
    "Pendigits": [0, 3, 6, 8, 9],
    "USPS": [0, 3, 6, 8, 9],
    "Letter": list(range(14, 27)),
    "Waveform": [1, 2],
}


# Sets whose published parts are the papers': a download does as well as a file.
PUBLISHED: dict[str, type[Any]] = {
    "IJCNN": datasets.IJCNN1,
    "Letter": datasets.Letter,
    "Pendigits": datasets.Pendigits,
    "USPS": datasets.USPS,
    "Vehicle": datasets.SensITVehicle,
}
PARTS = ("train", "test")


def has(data_set: str, folder: Path | None) -> bool:
    """Tell whether a data set is in a folder, or was downloaded."""
    if folder is not None and data_set in FILES and _path(data_set, folder).exists():
        return True
    return data_set in PUBLISHED and all(PUBLISHED[data_set](part=p).is_downloaded for p in PARTS)


def download(folder: Path | None) -> None:
    """Download, into River's own folder, the sets that a download does for and that are not there.

    Raises
    ------
    DatasetError
        If one cannot be had.

    """
    for data_set, published in PUBLISHED.items():
        if not has(data_set, folder):
            for part in PARTS:
                published(part=part).download()


def load(data_set: str, folder: Path | None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a data set."""
    if folder is not None and _path(data_set, folder).exists():
        return datasets.load(FILES[data_set], folder)
    parts = {part: list(PUBLISHED[data_set](part=part)) for part in PARTS}
    names = list(dict.fromkeys(name for x, _ in parts["train"] for name in x))
    return {f"X_{part}": _dense(rows, names) for part, rows in parts.items()} | {
        f"y_{part}": np.array([1 if y else -1 for _, y in rows]) for part, rows in parts.items()
    }


def _dense(rows: list[Any], names: list[Any]) -> NDArray[Any]:
    return np.array([[x.get(name, 0.0) for name in names] for x, _ in rows])


def _path(data_set: str, folder: Path) -> Path:
    return folder / f"{FILES[data_set]}.npz"


def sparse_training_part(data_set: str, folder: Path | None) -> list[Any]:
    """Return training examples as dicts of what is not 0."""
    arrays = load(data_set, folder)
    return [
        ({j: float(row[j]) for j in np.flatnonzero(row).tolist()}, label > 0)
        for row, label in zip(arrays["X_train"], arrays["y_train"].tolist(), strict=True)
    ]


def split(data_set: str, seed: int, folder: Path | None) -> Split:
    """Return training and test part; where the paper draws them, each seed draws its own."""
    if data_set == "NCheckerb":
        return _checkerboard(seed)
    arrays = load(data_set, folder)
    if "X" in arrays:
        return _drawn(data_set, arrays, seed)
    parts: list[Any] = []
    for part in ["train", "test"]:
        X, labels = arrays[f"X_{part}"], arrays[f"y_{part}"]
        kept = np.ones(len(X), bool)
        if f"complete_{part}" in arrays:
            kept = arrays[f"complete_{part}"].astype(bool)
        if data_set == "MNIST":
            kept = np.isin(labels, [3, 8])
        parts += [X[kept].astype(float), _is_positive(data_set, labels[kept])]
    return tuple(parts)


def _is_positive(data_set: str, labels: NDArray[Any]) -> NDArray[np.bool_]:
    if data_set in POSITIVE and labels.min() >= 0:
        return np.isin(labels, POSITIVE[data_set])
    return labels > 0


def _drawn(data_set: str, arrays: dict[str, NDArray[Any]], seed: int) -> Split:
    n_train, n_test, *_ = TIGHTEST_DATA_SETS[data_set]
    X, y = arrays["X"], _is_positive(data_set, arrays["y"])
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    return X[train].astype(float), y[train], X[test].astype(float), y[test]


def _checkerboard(seed: int) -> Split:
    n_train, n_test, *_ = TIGHTEST_DATA_SETS["NCheckerb"]
    noisy = synth.NoisyCheckerboard(n_train, seed=2 * seed)
    clean = synth.NoisyCheckerboard(n_test, noise=0.0, seed=2 * seed + 1)
    parts: list[Any] = []
    for stream in [noisy, clean]:
        pairs = list(stream)
        parts += [np.array([list(x.values()) for x, _ in pairs]), np.array([y for _, y in pairs])]
    return tuple(parts)
