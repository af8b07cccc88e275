"""The columns that a model knows, beside those of an input."""

from __future__ import annotations

from collections.abc import Iterable

from river_budget.cli.files import Reader

# So many names are listed; the others are counted.
N_NAMES = 8


def difference(known: Iterable[str], reader: Reader) -> str:
    """Return a text on the columns that a model knows and an input lacks, and on those that are new.

    It is empty if there are none. Rows of JSON need not have all keys, so new ones alone are no
    difference there.
    """
    known = list(known)
    absent = [name for name in known if reader.takes(name) and name not in reader.names]
    new = [name for name in reader.names if name not in known]
    if not known or not (absent or (new and reader.header)):
        return ""
    parts = [f"the model knows {listed(absent)}, which {_where(reader)}"] if absent else []
    parts += [f"new: {listed(new)}"] if new else []
    return "; ".join(parts)


def _where(reader: Reader) -> str:
    """Return a text that says where columns were looked for in vain."""
    if reader.header:
        return "this file lacks"
    if reader.n_first == 1:
        return "the first line lacks"
    return f"the first {reader.n_first:,} lines lack"


def listed(names: list[str]) -> str:
    """Return names as a text, the first ones of many."""
    more = f" and {len(names) - N_NAMES:,} more" if len(names) > N_NAMES else ""
    return ", ".join(names[:N_NAMES]) + more
