"""The sections of the results, in the order in which they are measured."""

from __future__ import annotations

from benchmarks import late, short
from benchmarks.cells import Section

SECTIONS: dict[str, Section] = {module.SECTION.name: module.SECTION for module in (short, late)}
