"""Times and mistakes of KOL and BudgetedSVM on the same examples, and the ratios of our times to theirs.

Neither is part of this repository: RIVER_BUDGET_KOL and RIVER_BUDGET_BUDGETEDSVM are the directories of their programs.

Both sides learn the same examples in the same order, with the same kernel and budget; we learn them one by one from
dicts (`learn_one`), and in blocks of 1,000 rows (`learn_many`). The three run alternately, and the fastest of three
runs of each counts. All times are processor times of one thread, without reading files. Errors and support vectors
tell where both sides do the same work.

"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import river_budget as rb
from benchmarks.cells import Cell, Found, Section
from benchmarks.peers import budgetedsvm, kol
from benchmarks.peers.shared import READ, blocks, dicts, write
from benchmarks.tables import markdown

PEERS = {"KOL": kol, "BudgetedSVM": budgetedsvm}
REPEATS = 3
N_EXAMPLES = {"2-D": 20_000, "Bananas": 4_300, "Adult": 20_000}
N_QUICK = 500


def seconds(learn: Callable, examples: list) -> float:
    """Return the time of learning all examples or blocks."""
    start = time.thread_time()
    for X, y in examples:
        learn(X, y)
    return time.thread_time() - start


def compared(name: str, stream_name: str, title: str, n: int) -> dict[str, Any]:
    """Return microseconds per example, errors in percent and support vectors of both sides."""
    peer, stream = PEERS[name], READ[stream_name](n)
    case, kernel = peer.cases(stream_name)[title], rb.RBF(gamma=stream.gamma)
    one_by_one, in_blocks = dicts(stream.learn), blocks(stream.learn)
    rounds = []
    with tempfile.TemporaryDirectory() as directory:
        write(stream.learn, Path(directory, "learn"))
        write(stream.test, Path(directory, "test"))
        for _ in range(REPEATS):
            learned = peer.learned(case, stream, Path(directory))
            model, other = case.ours(kernel), case.ours(kernel)
            ours = seconds(model.learn_one, one_by_one), seconds(other.learn_many, in_blocks)
            rounds.append((learned.seconds, *ours))
    theirs, one, many = (1e6 * min(values) / n for values in zip(*rounds, strict=True))
    return {
        "theirs": round(theirs, 4), "one": round(one, 4), "many": round(many, 4),
        "their_errors": learned.errors, "our_errors": round(peer.errors(model, stream), 3),
        "their_vectors": learned.n_support, "our_vectors": model.n_support,
    }  # fmt: skip


def cells(is_quick: bool) -> list[Cell]:
    """Return a cell for each algorithm, or the last one of each library on a part of Bananas."""
    found = [
        Cell(f"{stream}: {title}", name, compared, (name, stream, title, N_EXAMPLES[stream]))
        for name, peer in PEERS.items()
        for stream in peer.BUDGETS
        for title in peer.cases(stream)
    ]
    if not is_quick:
        return found
    on_bananas = {cell.column: cell for cell in found if cell.row.startswith("Bananas")}
    return [own._replace(arguments=(*own.arguments[:-1], N_QUICK)) for own in on_bananas.values()]


def table_of(name: str) -> Callable[[Found], str]:
    """Return the table of a library."""
    return lambda found: markdown({
        row: shown(columns[name]) for row, columns in found.items() if name in columns
    })  # fmt: skip


def shown(own: dict[str, Any]) -> dict[str, str]:
    return {
        "theirs (µs)": f"{own['theirs']:,.2f}",
        "`learn_one`": f"{own['one']:,.2f}",
        "`learn_many`": f"{own['many']:,.2f}",
        "one / theirs": f"{own['one'] / own['theirs']:.3f}",
        "many / theirs": f"{own['many'] / own['theirs']:.3f}",
        "errors (%)": f"{own['their_errors']:.2f}, {own['our_errors']:.2f}",
        "vectors": f"{own['their_vectors']:,}, {own['our_vectors']:,}",
    }


def missing() -> str:
    """Return the environment variables that are not set."""
    unset = [peer.VARIABLE for peer in PEERS.values() if peer.VARIABLE not in os.environ]
    return f"{' and '.join(unset)} not set" if unset else ""


SECTION = Section(
    "peers",
    cells,
    {"peers_kol": table_of("KOL"), "peers_budgetedsvm": table_of("BudgetedSVM")},
    minutes=8,
    is_timed=True,
    missing=missing,
)
