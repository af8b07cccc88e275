"""All figures of the pages: measured section by section, and written into README.md, RESULTS.md and docs.

    RIVER_BUDGET_DATA=DIR python -m benchmarks.all [SECTION ...] [--processes N] [--again] [--write]

Without sections, all of them, those that are about times last and by themselves: leave the machine alone then. A run
that is stopped goes on from there, since `build/benchmarks` keeps each cell for the code of the package and the arguments
of the cell. `--again` measures the cells of the sections anew, after a change of how they are measured.
`--write` only writes the pages. A section whose needs are not met is left out, with a message; the pages go on to show
its last figures, and say of which commit they are.

"""

from __future__ import annotations

import argparse
import sys

from benchmarks import cells, pages
from benchmarks.sections import SECTIONS


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m benchmarks.all", description=__doc__.splitlines()[0]
    )
    made.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    made.add_argument("--processes", type=int, default=2, metavar="N")
    made.add_argument("--again", action="store_true", help="forget the cells of the sections first")
    made.add_argument("--write", action="store_true", help="only write the pages")
    return made


def chosen(names: list[str]) -> list[cells.Section]:
    """Return the sections of these names, by default all; those that are about times are last."""
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        raise SystemExit(f"no section is called {unknown[0]!r}: give {', '.join(SECTIONS)}")
    return sorted((SECTIONS[name] for name in names or SECTIONS), key=lambda one: one.is_timed)


def main(arguments: list[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    for section in [] if options.write else chosen(options.sections):
        if missing := section.missing():
            print(f"{section.name}: left out, {missing}", file=sys.stderr)
            continue
        print(f"{section.name}: about {section.minutes:g} minutes of a processor", file=sys.stderr)
        cells.measure(section, options.processes, again=options.again)
    pages.write()


if __name__ == "__main__":
    main()
