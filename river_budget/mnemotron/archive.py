"""The archive of `Mnemotron`."""

from __future__ import annotations

from river_budget._core.discriminant import Discriminant
from river_budget.kernel_lda import KernelLDA


class Archive(KernelLDA):
    """A `KernelLDA` whose rounds another model goes through, with columns as labels."""

    @property
    def engine(self) -> Discriminant:
        """What goes through the rounds."""
        return self._f

    def follow(self) -> None:
        """Update scales and width if the last round has made that due, or an interrupt prevented it."""
        self._recover()
