"""Events a second of a model for every key on each engine: a loop, Quix Streams with a mock broker, and Spark.

One process, or two cores for Spark, has 200 keys, each with a Forgetron whose budget is full after a while. Times are
those of the clock: of the loop for all events, of Quix Streams from the first event to the last commit, and of the
program of `docs/recipes/spark.md` from the end of its first batch to the end of the last.

"""

from __future__ import annotations

import collections
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import river_budget as rb
from benchmarks.cells import ROOT, Cell, Found, Section
from benchmarks.keyed import events
from benchmarks.processes import alone
from benchmarks.tables import markdown
from river_budget import keyed

N_KEYS, N_EVENTS = 200, 40_000
N_BATCHES = 8
BUDGET = 38
NEEDED = {"quixstreams": "quix", "pyspark": "spark"}


def learner() -> keyed.KeyedLearner:
    return keyed.KeyedLearner(lambda: rb.Forgetron(rb.RBF(gamma=0.1), budget=BUDGET))


def local_speed(n: int) -> float:
    stream = list(events(N_KEYS, n))
    start = time.perf_counter()
    collections.deque(keyed.run_local(stream, learner()), maxlen=0)
    return n / (time.perf_counter() - start)


def quix_speed(address: str, n: int) -> float:
    """Return the events a second of a worker whose topic has so many."""
    from demos import mock_kafka
    from river_budget.keyed import quix

    first: list[float] = []

    def started(value: Any) -> Any:
        if not first:
            first.append(time.perf_counter())
        return value

    with tempfile.TemporaryDirectory() as directory:
        app = mock_kafka.application(
            address, "benchmark",
            auto_offset_reset="earliest", state_dir=directory, loglevel="ERROR", commit_interval=5.0,
        )  # fmt: skip
        topic = app.topic("events", key_deserializer="bytes", value_deserializer="bytes")
        quix.apply(app.dataframe(topic).apply(started), learner())
        app.run(count=n, timeout=60, collect=False)
        return n / (time.perf_counter() - first[0])


def on_loop(n: int) -> float:
    return round(alone(local_speed, n))


def on_quix(n: int) -> float:
    """Run the mock broker here and its worker in another process."""
    from confluent_kafka import Producer

    from demos import mock_kafka

    with mock_kafka.broker() as address:
        producer = Producer({"bootstrap.servers": address, "linger.ms": 20, "log_level": 0})
        for event in events(N_KEYS, n):
            x = {name: round(value, 3) for name, value in event.x.items()}
            producer.produce(
                "events", json.dumps({"seq": event.seq, "x": x, "y": event.y}), event.key
            )
            producer.poll(0)
        producer.flush(60)
        return round(alone(quix_speed, address, n))


def spark_line(event: keyed.Event) -> str:
    """Return an event as a line of a file; numbers of events increase, and serve as offsets."""
    value = json.dumps({"seq": event.seq, "x": event.x, "y": event.y})
    return json.dumps({"key": event.key, "offset": event.seq, "value": value})


def on_spark(n: int) -> float:
    page = (ROOT / "docs/recipes/spark.md").read_text()
    (code,) = re.findall(r"```python\n(# agents.py\n.*?)```", page, re.DOTALL)
    stream, size = list(events(N_KEYS, n)), n // N_BATCHES
    with tempfile.TemporaryDirectory() as directory:
        inbox = Path(directory, "events")
        inbox.mkdir()
        for start in range(0, n, size):
            file = inbox / f"{start}.json"
            file.write_text("\n".join(map(spark_line, stream[start : start + size])))
            os.utime(file, (start, start))  # Spark takes the oldest file first.
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
        subprocess.run(
            [sys.executable, "-c", code], cwd=directory, env=environment, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        commits = Path(directory, "checkpoint", "commits").glob("[0-9]*")
        first, *_, last = sorted(commit.stat().st_mtime for commit in commits)
    return round((n - size) / (last - first))


ENGINES = {
    "`run_local`": on_loop,
    "Quix Streams, mock broker": on_quix,
    "Spark, `local[2]`": on_spark,
}


def cells(is_quick: bool) -> list[Cell]:
    names, n = (["`run_local`"], 500) if is_quick else (ENGINES, N_EVENTS)
    return [Cell(name, "events/s", ENGINES[name], (n,)) for name in names]


def missing() -> str:
    """Return what to install, since a table without one of the engines would not show that it is missing."""
    extras = [extra for name, extra in NEEDED.items() if importlib.util.find_spec(name) is None]
    return f"it needs pip install '.[{','.join(extras)}]'" if extras else ""


def speeds(found: Found) -> str:
    return markdown({name: {"events/s": f"{row['events/s']:,}"} for name, row in found.items()})


SECTION = Section(
    "engines", cells, {"engines": speeds}, minutes=1.5, is_timed=True, missing=missing
)
