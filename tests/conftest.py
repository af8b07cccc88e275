from __future__ import annotations

import os
import pathlib
import warnings

import numpy as np
import pytest

SHARED = pathlib.Path(
    os.environ.get("RIVER_BUDGET_SHARED", pathlib.Path(__file__).parents[2] / "shared")
)


@pytest.fixture(scope="session")
def shared():
    """Return a loader of the reference material that is not part of the repository."""

    def load(name):
        path = SHARED / name
        if not path.exists():
            message = f"{path} is absent: the comparison with reference data did not run"
            warnings.warn(message, stacklevel=2)
            pytest.skip(message)
        with np.load(path) as archive:
            return {key: archive[key] for key in archive.files}

    return load
