"""What a checkpoint keeps of a run beside its model, and how a later run goes on with it."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

from river_budget import checkpoint
from river_budget.cli import files
from river_budget.cli.app import CommandError, notes

# What the record has: columns, the names of the features of the last input, the place in it, and the counts
# of `Tally` and `Alerts`, each with its type.
COLUMNS: dict[str, Any] = {"target": str, "features": list, "ignored": list, "has_texts": dict}
PLACE = {"name": str, "n_lines": int, "digests": list}
COUNTS = {"n_seen": int, "n_labelled": int, "n_right": int, "labels": dict, "alerts": dict}
RECORD = COLUMNS | {"feature_names": list} | PLACE | COUNTS


def restored(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the model of a checkpoint, and the record of a run beside it; an empty one if there is none."""
    model, extra = checkpoint.restore(path)
    record = extra.get("run", {})
    is_valid = type(record) is dict and all(RECORD.get(n) is type(record[n]) for n in record)
    if not is_valid:
        raise CommandError(f"{path} keeps no record of a run beside its model")
    return model, record


def completed(columns: files.Columns, record: dict[str, Any]) -> files.Columns:
    """Return the columns that are given, completed with those of the record of the last run."""
    taken: dict[str, Any] = {name: getattr(columns, name) or record.get(name) for name in COLUMNS}
    if columns.features:
        taken["ignored"] = columns.ignored
    return columns._replace(**taken)


def continued(lines: files.Lines, record: dict[str, Any]) -> files.Lines:
    """Return all lines of an input, at the place of the last run if that has seen the first of them.

    Reads no more lines than tell whether it has.
    """
    n, digests = record.get("n_lines", 0), record.get("digests", [])
    is_same_name = lines.name == record.get("name")
    seen = files.Lines(itertools.islice(lines, n if is_same_name else 0), lines.name)
    read = tempfile.TemporaryFile("w+", encoding="utf-8", newline="")  # noqa: SIM115
    for line in seen:
        read.write(line)
        if seen.digests != digests[: len(seen.digests)]:
            break
    read.seek(0)
    seen.done()

    continued = files.Lines(itertools.chain(read, lines), lines.name)
    if seen.place.items() <= record.items():
        continued.place = seen.place
        notes.info(f"the checkpoint has seen {n:,} lines of this input: going on at line {n + 1:,}")
    else:
        notes.info("the checkpoint has seen other input than this: learning from line 1")
    return continued
