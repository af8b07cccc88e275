"""What a model for every key costs: its state, what a million keys write, and what a fleet sends.

The budgets are full, and ten features have random values, which no compression makes smaller. Times are of the
processor, the least of ten runs. The memory of a live model is what the resident size of a process grows by for each.

"""

from __future__ import annotations

import collections
import gc
import math
import random
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import river_budget as rb
from benchmarks.cells import Cell, Found, Section
from benchmarks.processes import alone, resident_bytes
from benchmarks.tables import markdown
from benchmarks.timing import seconds
from river_budget import checkpoint, keyed

MILLION = 1_000_000

MODELS: dict[str, Callable[[], Any]] = {
    "Forgetron(budget=30)": lambda: rb.Forgetron(budget=30),
    "Forgetron(budget=100)": lambda: rb.Forgetron(budget=100),
    "Mnemotron(budget=30)": lambda: rb.Mnemotron(budget=30),
    "Mnemotron(budget=50)": lambda: rb.Mnemotron(budget=50),
    "Mnemotron(budget=100)": lambda: rb.Mnemotron(budget=100),
}
N_FEATURES = 10
N_FILLING = 1_200  # events, after which every budget is full
N_TIMED, N_REPEATS = 50, 10
N_LIVE = 100

N_COMPONENTS = [100, 300, 480, 680, 1_000]
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


def events(n_keys: int, n: int, start: int = 0) -> Iterator[keyed.Event]:
    """Yield events of random keys; random labels keep the models full and learning."""
    rng = random.Random(1)
    for seq in range(start, start + n):
        x = {f"f{j}": rng.gauss(0, 1) for j in range(N_FEATURES)}
        yield keyed.Event(f"key-{rng.randrange(n_keys)}", seq, x, rng.random() < 0.5)


def changed_keys(load: Load, interval: float) -> float:
    """Return the expected number of keys with an event in an interval, if events have random keys."""
    return -load.n_keys * math.expm1(-load.rate * interval / load.n_keys)


def full_state(learner: keyed.KeyedLearner) -> bytes:
    """Return the state of a key whose budget is full."""
    states: dict[str, bytes] = {}
    collections.deque(keyed.run_local(events(1, N_FILLING), learner, states), maxlen=0)
    return states["key-0"]


def least(work: Callable[[], object]) -> float:
    return min(seconds(work, time.thread_time) for _ in range(N_REPEATS))


def of_model(name: str, n_live: int) -> dict[str, float]:
    """Return the bytes of a state and of a live model, and the seconds to load it, store it and use it."""
    learner = keyed.KeyedLearner(MODELS[name])
    state = full_state(learner)
    live = learner.deserialize(state)
    load, store = least(lambda: learner.deserialize(state)), least(lambda: learner.serialize(live))
    later = events(1, N_TIMED * N_REPEATS, start=N_FILLING)
    chunks = iter([[next(later) for _ in range(N_TIMED)] for _ in range(N_REPEATS)])
    advance = least(lambda: [learner.advance(live, event) for event in next(chunks)])
    return {
        "state": len(state),
        "compressed": len(checkpoint.dumps(live.model, live.state(), compress=True)),
        "live": alone(live_bytes, name, state, n_live),
        "load": round(load, 6), "store": round(store, 6), "event": round(advance / N_TIMED, 8),
    }  # fmt: skip


def live_bytes(name: str, state: bytes, n: int) -> float:
    """Return the memory of a live model."""
    learner = keyed.KeyedLearner(MODELS[name])
    models = [learner.deserialize(state)]
    gc.collect()
    before = resident_bytes()
    models += [learner.deserialize(state) for _ in range(n)]
    return (resident_bytes() - before) / n


def of_message(n_components: int, dtype: str) -> int:
    """Return the bytes of what a worker of a fleet sends, with two labels."""
    model = rb.KernelLDA(n_features=n_components, dtype=dtype)
    for event in events(1, 300):
        model.learn_one(event.x, event.y)
    return len(checkpoint.dumps(model))


def cells(is_quick: bool) -> list[Cell]:
    models, n_live, sizes = (
        (WRITTEN, 5, [100]) if is_quick else (list(MODELS), N_LIVE, N_COMPONENTS)
    )
    return [
        *(Cell(name, "state", of_model, (name, n_live)) for name in models),
        *(Cell(f"D = {n}", dtype, of_message, (n, dtype)) for n in sizes for dtype in DTYPES),
    ]


def states(found: Found) -> str:
    """Return the table of models."""
    measured = {name: row["state"] for name, row in found.items() if name in MODELS}
    return markdown({
        f"`{name}`": {
            "kB": f"{figures['state'] / 1e3:,.1f}",
            "kB, compressed": f"{figures['compressed'] / 1e3:,.1f}",
            "kB, live": f"{figures['live'] / 1e3:,.1f}",
            "ms to load": f"{figures['load'] * 1e3:.2f}",
            "ms to store": f"{figures['store'] * 1e3:.2f}",
            "µs an event, live": f"{figures['event'] * 1e6:.0f}",
            "GB, a million states": f"{figures['state'] * MILLION / 1e9:,.1f}",
        }
        for name, figures in measured.items()
    })  # fmt: skip


def changelog(found: Found) -> str:
    """Return the table of what a million keys write."""
    return markdown({
        f"{name}, {interval} s": written(found, load, interval)
        for name, load in LOADS.items()
        for interval in INTERVALS
    })  # fmt: skip


def written(found: Found, load: Load, interval: float) -> dict[str, str]:
    """Return the row of a load, with a commit after each interval of so many seconds."""
    changed = changed_keys(load, interval)
    row = {"events/s": f"{load.rate:,.0f}", "changed keys": f"{changed:,.0f}"}
    for name in WRITTEN:
        a_second = changed * found[name]["state"]["state"] / interval
        kind = name.partition("(")[0]
        row[f"kB an event, {kind}"] = f"{a_second / load.rate / 1e3:,.2f}"
        row[f"MB/s, {kind}"] = f"{a_second / 1e6:,.1f}"
    return row


def messages(found: Found) -> str:
    """Return the table of what the workers of a fleet send."""
    return markdown({
        name: {f"kB, {dtype}": f"{size / 1e3:,.0f}" for dtype, size in sizes.items()}
        for name, sizes in found.items()
        if name not in MODELS
    })  # fmt: skip


TABLES = {"states": states, "changelog": changelog, "messages": messages}
SECTION = Section("keyed", cells, TABLES, minutes=0.5, is_timed=True)
