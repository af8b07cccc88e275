"""Four papers' tables, ours beside theirs: Projectron, Tightest, Forgetron and budgeted SGD.

A cell is a setting of a paper, and has the figures of all its repeats. A figure is within two standard deviations
(the larger of theirs and ours) of the paper's, better, or worse. Data sets that `data` does not name, and
`TighterFull` where it takes hours, are left out. These are samples: three of the ten
repeats on Covertypes, and for the Forgetron six of the 126 splits of MNIST and six orders of census-income. All other
repeats of the papers are there.

"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import ModuleType

from benchmarks.cells import Cell, Found, Section
from benchmarks.reproduce import bsgd, forgetron, projectron, tightest
from benchmarks.reproduce.published import Setting
from benchmarks.reproduce.verdicts import Measured, verdicts
from benchmarks.tables import markdown

PAPERS: dict[str, ModuleType] = {
    "projectron": projectron, "tightest": tightest, "forgetron": forgetron, "bsgd": bsgd,
}  # fmt: skip


def column(setting: Setting) -> str:
    return "/".join(map(str, setting))


def setting_of(column: str) -> Setting:
    data_set, algorithm, budget = column.split("/")
    return Setting(data_set, algorithm, None if budget == "None" else int(budget))


def cells(is_quick: bool) -> list[Cell]:
    return [
        Cell(name, column(setting), paper.measured, (*setting, 1 if is_quick else paper.N_REPEATS))
        for name, paper in PAPERS.items()
        for setting in (paper.QUICK if is_quick else paper.SETTINGS)
    ]


def measured(found: Found, name: str) -> Measured:
    """Return what was measured for a paper, by setting."""
    return {setting_of(column): figures for column, figures in found.get(name, {}).items()}


def summary(found: Found) -> str:
    """Return how many figures of each paper are compared, within, better and worse, and which are worse."""
    rows: dict[str, dict[str, str]] = {}
    worse = []
    for name, paper in PAPERS.items():
        own = verdicts(measured(found, name), paper.PUBLISHED)
        counts = Counter(own.values())
        rows[name] = {
            "published": str(sum(map(len, paper.PUBLISHED.values()))),
            "compared": str(len(own)),
            **{title: str(counts[title]) for title in ("within", "better", "worse")},
        }
        worse += [
            f"{quantity} of {setting.title}"
            for (setting, quantity), text in own.items()
            if text == "worse"
        ]
    return f"{markdown(rows)}\n\nWorse: {'; '.join(worse) or 'none'}."


def table_of(name: str) -> Callable[[Found], str]:
    return lambda found: PAPERS[name].table(measured(found, name))


SECTION = Section(
    "papers",
    cells,
    {"papers_verdicts": summary, **{f"papers_{name}": table_of(name) for name in PAPERS}},
    minutes=40,
)
