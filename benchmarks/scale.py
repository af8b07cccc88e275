"""What a model for every key costs: its state, and what a million keys write.

    python -m benchmarks.scale
    python -m benchmarks.figures write

The first command measures into `benchmarks/scale.json`, and the second writes the tables of `docs/scale.md`. The
budgets are full, and ten features have random values, which no compression makes smaller. Times are of the
processor, the least of several; events a second are of a quiet machine only if it is one. An engine that is not
installed is left out, and so are workers on a broker unless RIVER_BUDGET_KAFKA names one.

"""

from __future__ import annotations

import collections
import importlib.util
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import river_budget as rb
from benchmarks.keyed import (
    MILLION,
    N_QUIX_EVENTS,
    N_QUIX_KEYS,
    events,
    in_a_process,
    local_speed,
    through_quix,
)  # fmt: skip
from benchmarks.multiclass import markdown
from benchmarks.timing import seconds
from river_budget import checkpoint, keyed

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "scale.json"

MODELS: dict[str, Callable[[], Any]] = {
    "Forgetron(budget=30)": lambda: rb.Forgetron(budget=30),
    "Forgetron(budget=100)": lambda: rb.Forgetron(budget=100),
    "Mnemotron(budget=30)": lambda: rb.Mnemotron(budget=30),
    "Mnemotron(budget=50)": lambda: rb.Mnemotron(budget=50),
    "Mnemotron(budget=100)": lambda: rb.Mnemotron(budget=100),
}
N_FILLING = 1_200  # events, after which every budget is full
N_TIMED, N_REPEATS = 50, 10

N_IN_A_BATCH = 5_000

FEATURES = [100, 300, 480, 680, 1_000]
DTYPES = ["float32", "float64"]

WRITTEN = ["Forgetron(budget=30)", "Mnemotron(budget=30)"]
INTERVALS = [5, 60]


class Load(NamedTuple):
    """How many keys have events, and the events a second of all of them."""

    n_keys: int
    rate: float


LOADS = {
    "each key once an hour": Load(MILLION, MILLION / 3_600),
    "each key once a minute": Load(MILLION, MILLION / 60),
    "10,000 busy keys, each once a second": Load(10_000, 10_000),
}

Figures = dict[str, Any]


def changed_keys(load: Load, interval: float) -> float:
    """Return the expected number of keys with an event in an interval, if events have random keys."""
    return -load.n_keys * math.expm1(-load.rate * interval / load.n_keys)


def of_model(make: Callable[[], Any]) -> Figures:
    """Return the bytes of a state, and the seconds that a worker takes to load it, store it and use it."""
    learner = keyed.KeyedLearner(make)
    states: dict[str, bytes] = {}
    collections.deque(keyed.run_local(events(1, N_FILLING), learner, states), maxlen=0)
    state = states["key-0"]
    live = learner.deserialize(state)

    def least(work: Callable[[], object]) -> float:
        return min(seconds(work, time.thread_time) for _ in range(N_REPEATS))

    load = least(lambda: learner.deserialize(state))
    store = least(lambda: learner.serialize(live))

    later = events(1, N_TIMED * N_REPEATS, start=N_FILLING)
    chunks = [[next(later) for _ in range(N_TIMED)] for _ in range(N_REPEATS)]
    chunk = iter(chunks)
    advance = least(lambda: [learner.advance(live, event) for event in next(chunk)])
    return {
        "state": len(state), "compressed": len(checkpoint.dumps(live.model, live.state(), compress=True)),
        "load": load, "store": store, "event": advance / N_TIMED,
    }  # fmt: skip


def of_merged(n_features: int, dtype: str) -> int:
    """Return the bytes of what a worker of a fleet sends, with two labels."""
    model = rb.KernelLDA(n_features=n_features, dtype=dtype)
    for event in events(1, 300):
        model.learn_one(event.x, event.y)
    return len(checkpoint.dumps(model))


def spark_line(event: keyed.Event) -> str:
    """Return an event as a line of a file; numbers of events increase, and serve as offsets."""
    value = json.dumps({"seq": event.seq, "x": event.x, "y": event.y})
    return json.dumps({"key": event.key, "offset": event.seq, "value": value})


def spark_speed() -> float:
    """Return events a second of the recipe on two cores, from the end of its first batch to the last."""
    page = (ROOT / "docs/recipes/spark.md").read_text()
    (code,) = re.findall(r"```python\n(# agents.py\n.*?)```", page, re.DOTALL)
    stream = list(events(N_QUIX_KEYS, N_QUIX_EVENTS))
    with tempfile.TemporaryDirectory() as directory:
        inbox = Path(directory, "events")
        inbox.mkdir()
        for start in range(0, N_QUIX_EVENTS, N_IN_A_BATCH):
            lines = [spark_line(event) for event in stream[start : start + N_IN_A_BATCH]]
            file = inbox / f"{start}.json"
            file.write_text("\n".join(lines))
            os.utime(file, (start, start))  # Spark takes the oldest file first.
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
        subprocess.run(
            [sys.executable, "-c", code], cwd=directory, env=environment, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        commits = Path(directory, "checkpoint", "commits").glob("[0-9]*")
        first, *_, last = sorted(commit.stat().st_mtime for commit in commits)
    return (N_QUIX_EVENTS - N_IN_A_BATCH) / (last - first)


def engines() -> Figures:
    """Return the events a second of one process, or of Spark on two cores."""
    found = {"`run_local`": in_a_process(local_speed)}
    if importlib.util.find_spec("quixstreams") is not None:
        found["Quix Streams, mock broker"] = through_quix()
    if importlib.util.find_spec("pyspark") is not None:
        found["Spark, `local[2]`"] = spark_speed()
    return found


def workers() -> Figures:
    """Return what workers of Quix Streams take on the broker that RIVER_BUDGET_KAFKA names."""
    from benchmarks import keyed_kafka

    stream = list(events(keyed_kafka.N_KEYS, keyed_kafka.N_EVENTS))
    return {
        f"{guarantee}, {len(names)}": keyed_kafka.cost_of(guarantee, names, stream)._asdict()
        for guarantee in keyed_kafka.GUARANTEES
        for names in keyed_kafka.WORKERS
    }


def settings() -> dict[str, Any]:
    commit = ["git", "log", "-1", "--format=%h", "--", "river_budget"]
    return {
        "commit": subprocess.check_output(commit, cwd=ROOT, text=True).strip(),
        "cores": os.cpu_count(), "Python": platform.python_version(), "NumPy": np.__version__,
    }  # fmt: skip


def states(found: Figures) -> str:
    """Return the table of models."""
    return markdown({
        f"`{name}`": {
            "kB": f"{figures['state'] / 1e3:,.1f}",
            "kB, compressed": f"{figures['compressed'] / 1e3:,.1f}",
            "ms to load": f"{figures['load'] * 1e3:.2f}",
            "ms to store": f"{figures['store'] * 1e3:.2f}",
            "µs an event, live": f"{figures['event'] * 1e6:.0f}",
            "GB, a million states": f"{figures['state'] * MILLION / 1e9:,.1f}",
        }
        for name, figures in found["models"].items()
    })  # fmt: skip


def changelog(found: Figures) -> str:
    """Return the table of what a million keys write."""
    models = found["models"]
    rows = {}
    for name, load in LOADS.items():
        for interval in INTERVALS:
            changed = changed_keys(load, interval)
            row = {"events/s": f"{load.rate:,.0f}", "changed keys": f"{changed:,.0f}"}
            for model in WRITTEN:
                a_second = changed * models[model]["state"] / interval
                kind = model.partition("(")[0]
                row |= {
                    f"kB an event, {kind}": f"{a_second / load.rate / 1e3:,.2f}",
                    f"MB/s, {kind}": f"{a_second / 1e6:,.1f}",
                }
            rows[f"{name}, {interval} s"] = row
    return markdown(rows)


def messages(found: Figures) -> str:
    """Return the table of what the workers of a fleet send."""
    return markdown({
        f"D = {n_features}": {
            f"kB, {dtype}": f"{size / 1e3:,.0f}" for dtype, size in sizes.items()
        }
        for n_features, sizes in found["messages"].items()
    })  # fmt: skip


def speeds(found: Figures) -> str:
    """Return the table of engines."""
    return markdown({
        name: {"events/s": f"{speed:,.0f}"} for name, speed in found["engines"].items()
    })  # fmt: skip


def on_kafka(found: Figures) -> str:
    """Return the table of workers on a broker."""
    if not found["workers"]:
        return "These figures were not measured: there was no broker."
    return markdown({
        name: {
            "events/s": f"{cost['rate']:,.0f}",
            "µs an event": f"{cost['processor']:.0f}",
            "bytes an event": f"{cost['changelog']:,.0f}",
            "bytes a key": f"{cost['state']:,.0f}",
            "MB a worker": f"{cost['resident'] / 1e6:.0f}",
            "s, restart": f"{cost['restart']:.1f}",
            "s, without its disk": f"{cost['recovery']:.1f}",
        }
        for name, cost in found["workers"].items()
    })  # fmt: skip


def stated(found: Figures) -> str:
    """Return the settings as a sentence."""
    values = found["settings"]
    return (
        f"Python {values['Python']}, NumPy {values['NumPy']}, {values['cores']} cores, "
        f"commit {values['commit']}."
    )


def from_file(table: Callable[[Figures], str]) -> Callable[[Figures], str]:
    """Return a function for `benchmarks.figures` that makes a table of this file instead of its own."""
    return lambda _: table(json.loads(RESULTS.read_text()))


TABLES = {
    "states": from_file(states), "changelog": from_file(changelog), "messages": from_file(messages),
    "engines": from_file(speeds), "workers": from_file(on_kafka), "scale_settings": from_file(stated),
}  # fmt: skip


def main() -> None:
    found = {
        "settings": settings(),
        "models": {name: of_model(make) for name, make in MODELS.items()},
        "messages": {n: {dtype: of_merged(n, dtype) for dtype in DTYPES} for n in FEATURES},
        "engines": engines(),
        "workers": workers() if "RIVER_BUDGET_KAFKA" in os.environ else {},
    }
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
