from __future__ import annotations

__all__ = ["DatasetError"]


class DatasetError(OSError):
    """A data set cannot be had. The message tells why, and what can be done about it."""
