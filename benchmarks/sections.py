"""The sections of the results, in the order in which they are measured."""

from __future__ import annotations

from benchmarks import (
    costs,
    embeddings,
    engines,
    first,
    fleet,
    keyed,
    keyed_kafka,
    late,
    latency,
    long,
    queries,
    rare,
    ratios,
    rewards,
    sets,
    short,
    soak,
    targets,
    tasks,
    torture,
    torture_kafka,
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
        capymoa.SHORT_SECTION,
        capymoa.SECTION,
        tasks.SECTION,
        embeddings.SECTION,
        sets.SECTION,
        rare.SECTION,
        rewards.SECTION,
        targets.SECTION,
        queries.SECTION,
        fleet.SECTION,
        soak.SECTION,
        torture.SECTION,
        torture_kafka.SECTION,
        papers.SECTION,
        costs.SECTION,
        latency.SECTION,
        ratios.SECTION,
        keyed.SECTION,
        engines.SECTION,
        keyed_kafka.SECTION,
        peers.SECTION,
        first.SECTION,
    )
}
