from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget.datasets import DatasetError

__all__ = ["load"]


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a local copy of a data set, the file `NAME.npz`.

    It has `X_train`, `y_train`, `X_test` and `y_test` if the publisher splits the data set,
    otherwise `X` and `y`; it may have other arrays too.

    Parameters
    ----------
    name
        Name of the data set, such as "adult_a9a".
    data_dir
        Directory of the files; by default the value of the environment variable
        `RIVER_BUDGET_DATA`.

    Raises
    ------
    DatasetError
        If there is no such directory or file, or the file is not an archive of arrays.

    """
    directory = data_dir or os.environ.get("RIVER_BUDGET_DATA")
    if not directory:
        raise DatasetError(
            f"no directory to read {name}.npz from: pass data_dir or set RIVER_BUDGET_DATA"
        )
    path = Path(directory, f"{name}.npz")
    if not path.is_file():
        found = ", ".join(sorted(other.stem for other in path.parent.glob("*.npz"))) or "none"
        raise DatasetError(f"{path} does not exist; data sets in this directory: {found}")
    try:
        with np.load(path) as archive:
            return {key: archive[key] for key in archive.files}
    except (OSError, EOFError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise DatasetError(f"{path} is not an .npz file of arrays: {error}") from error
