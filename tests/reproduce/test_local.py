"""Local copies of the data sets."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.local import load
from river_budget.datasets import DatasetError


def test_local_arrays(monkeypatch, tmp_path):
    np.savez(tmp_path / "toy.npz", X=np.eye(2), y=[1, -1])
    assert load("toy", tmp_path)["y"].tolist() == [1, -1]
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(tmp_path))
    assert load("toy")["X"].tolist() == [[1, 0], [0, 1]]


def test_local_arrays_that_do_not_exist(monkeypatch, tmp_path):
    monkeypatch.delenv("RIVER_BUDGET_DATA", raising=False)
    with pytest.raises(DatasetError, match="RIVER_BUDGET_DATA"):
        load("toy")
    with pytest.raises(DatasetError, match=r"toy.npz does not exist; .* directory: none"):
        load("toy", tmp_path / "nowhere")
    np.savez(tmp_path / "one.npz", X=[1])
    np.savez(tmp_path / "other.npz", X=[1])
    with pytest.raises(DatasetError, match=r"toy.npz does not exist; .* directory: one, other"):
        load("toy", tmp_path)


@pytest.mark.parametrize("content", [b"", b"no arrays", b"PK\x03\x04 a broken zip"])
def test_local_files_without_arrays(tmp_path, content):
    (tmp_path / "toy.npz").write_bytes(content)
    with pytest.raises(DatasetError, match=r"is not an .npz file of arrays"):
        load("toy", tmp_path)


def test_local_files_with_objects_are_not_unpickled(tmp_path):
    np.savez(tmp_path / "toy.npz", X=np.array([{}], dtype=object))
    np.save(tmp_path / "single.npy", np.eye(2))
    (tmp_path / "single.npy").rename(tmp_path / "single.npz")
    for name in ["toy", "single"]:
        with pytest.raises(DatasetError, match=r"is not an .npz file of arrays"):
            load(name, tmp_path)
