from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget.datasets.errors import DatasetError

__all__ = ["load"]


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a local copy of a data set.

    It is the file `NAME.npz`, with `X_train`, `y_train`, `X_test` and `y_test` where the publisher
    has a split, and else `X` and `y`; there may be others.

    Parameters
    ----------
    name
        Name of the set, such as "adult_a9a".
    data_dir
        Folder of the files; by default the one that the environment variable `RIVER_BUDGET_DATA`
        names.

    Raises
    ------
    DatasetError
        If there is no such folder or file, or it holds no arrays.

    """
    folder = data_dir or os.environ.get("RIVER_BUDGET_DATA")
    if not folder:
        raise DatasetError(
            f"{name}.npz is looked for in the folder that RIVER_BUDGET_DATA names, and it is not set"
        )
    path = Path(folder, f"{name}.npz")
    if not path.is_file():
        there = ", ".join(sorted(other.stem for other in Path(folder).glob("*.npz"))) or "no sets"
        raise DatasetError(f"{path} is absent; the folder has {there}")
    try:
        with np.load(path) as archive:
            return {key: archive[key] for key in archive.files}
    except (OSError, EOFError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise DatasetError(f"{path} is not an .npz file of arrays: {error}") from error
