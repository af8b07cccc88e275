"""Prints the ratios of `benchmarks.ratios`, or those whose names contain one of the arguments.

RIVER_BUDGET_DATA=DIR python -m benchmarks [NAME ...]

"""

import sys

from benchmarks.ratios import SECTION

names = [name.casefold() for name in sys.argv[1:]]
for cell in SECTION.cells(False):
    if not names or any(name in cell.row.casefold() for name in names):
        times = cell.measure(*cell.arguments)
        print(
            SECTION.tables["ratios"]({cell.row: {cell.column: times}}).splitlines()[-1], flush=True
        )
