from __future__ import annotations

__all__ = ["DatasetError"]


class DatasetError(OSError):
    """A data set is not available. The message states the reason and a remedy."""
