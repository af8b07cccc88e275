"""The sections of the results, in the order in which they are measured."""

from __future__ import annotations

from benchmarks import (
    embeddings,
    fleet,
    late,
    long,
    queries,
    rare,
    rewards,
    sets,
    short,
    targets,
    tasks,
)
from benchmarks.cells import Section
from benchmarks.long import capymoa
from benchmarks.peers import peers
from benchmarks.reproduce import papers

SECTIONS: dict[str, Section] = {
    section.name: section
    for section in (
        short.SECTION,
        late.SECTION,
        long.SECTION,
        capymoa.SECTION,
        capymoa.SHORT_SECTION,
        tasks.SECTION,
        embeddings.SECTION,
        sets.SECTION,
        rare.SECTION,
        rewards.SECTION,
        targets.SECTION,
        queries.SECTION,
        fleet.SECTION,
        papers.SECTION,
        peers.SECTION,
    )
}
