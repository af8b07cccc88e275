"""The figures of the pages: written between their marks, and nowhere else."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from benchmarks import cells, picture, summary
from benchmarks.sections import SECTIONS

PAGES = [
    cells.ROOT / "README.md",
    cells.ROOT / "benchmarks/RESULTS.md",
    *sorted(cells.ROOT.glob("docs/**/*.md")),
]

BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`|\$[^$]+\$", re.DOTALL | re.MULTILINE)
# A number with the unit of an accuracy, a time or a memory, and a cell of a table with nothing else.
FIGURE = re.compile(
    r"[\d.,]*\d\s?(?:%|µs|ms\b|kB|KB|MB|GB|microseconds|milliseconds|seconds|points|bytes)"
    r"|(?<=\|) *[-+]?\d[-+±/%(). ,\d]*(?=\|)"
)


@functools.cache
def stored(name: str) -> dict:
    return cells.stored(SECTIONS[name])


def stated() -> str:
    """Return what the figures depend on as a sentence, and the sections that are of other code than most."""
    files = {name: stored(name)["settings"] for name in SECTIONS if SECTIONS[name].path.exists()}
    codes = [values["code"] for values in files.values()]
    most = max(codes, key=codes.count)
    values = next(values for values in files.values() if values["code"] == most)
    versions = ", ".join(f"{name} {values[name]}" for name in ("Python", "River", "NumPy"))
    others = [
        f"`{name}` is of {one['commit']}" for name, one in files.items() if one["code"] != most
    ]
    exceptions = f" But {', '.join(others)}." if others else ""
    machine = f"{values['cores']} cores of {values['processor']}"
    return f"{versions}, {machine}, the code of commit {values['commit']}.{exceptions}"


def found(name: str) -> cells.Found:
    """Return what a section has measured, or nothing if it has not been measured."""
    return stored(name)["cells"] if SECTIONS[name].path.exists() else {}


def of_section(name: str, table: Callable[[cells.Found], str]) -> str:
    """Return a block of a section, or that it has no figures yet."""
    return table(found(name)) if SECTIONS[name].path.exists() else "Not measured yet."


TABLES: dict[str, Callable[[], str]] = {
    "settings": stated,
    **{block: functools.partial(table, found) for block, table in summary.TABLES.items()},
    **{
        block: functools.partial(of_section, name, table)
        for name, section in SECTIONS.items()
        for block, table in section.tables.items()
    },
}


def written(text: str) -> str:
    """Return a page with what the files say between its marks."""
    return BLOCK.sub(lambda block: f"{block[1]}\n{TABLES[block[2]]()}\n\n{block[3]}", text)


def strays(text: str) -> list[str]:
    """Return the figures of a page that are neither between marks nor in code."""
    return [figure.strip() for figure in FIGURE.findall(CODE.sub("", BLOCK.sub("", text)))]


def write() -> None:
    """Write the pages that the files change, and the picture."""
    stored.cache_clear()
    for page in PAGES:
        text = page.read_text()
        if (new := written(text)) != text:
            page.write_text(new)
    picture.write(found)
