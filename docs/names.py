"""The table of all names on the first page of the API."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["table"]

REFERENCE = Path(__file__).parent / "reference"
TABLE = """
## All names

```{eval-rst}
.. currentmodule:: river_budget

.. autosummary::
   :nosignatures:

   """


def table() -> str:
    """Return a table of the names that the pages of the reference list."""
    pages = "".join(page.read_text() for page in REFERENCE.glob("*.md"))
    names = re.findall(r"^   ([\w.]+)$", pages, re.MULTILINE)
    names.sort(key=lambda name: name.rpartition(".")[2].lower())
    return TABLE + "\n   ".join(names) + "\n```\n"
