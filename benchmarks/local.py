from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from river_budget.datasets import DatasetError


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a local copy of a data set, the file `NAME.npz`.

    They are `X_train`, `y_train`, `X_test` and `y_test` if the publisher splits the data set, otherwise
    `X` and `y`, and maybe others. The directory is by default that of the environment variable
    `RIVER_BUDGET_DATA`. A DatasetError says what is missing, or that the file has no arrays.

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
