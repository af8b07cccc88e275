"""Speed and memory of one model per key, and an estimate for a million keys.

python -m benchmarks.keyed [largest number of keys]

Each number of keys runs in a process of its own. The budgets are full from the start: 38 vectors with ten
features, 8 KB when serialized. If quixstreams is installed, the same events also go through Quix Streams,
from a mock broker in another process; if RIVER_BUDGET_KAFKA names a broker, workers run on that one, too, as
`benchmarks.keyed_kafka` says.

"""

from __future__ import annotations

import collections
import gc
import importlib.util
import json
import multiprocessing
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np

import river_budget as rb
from benchmarks.soak import resident_bytes
from river_budget import keyed
from river_budget.keyed import Event

SIZES = (1_000, 10_000, 100_000)
N_FEATURES, BUDGET, MAX_LIVE = 10, 38, 10_000
N_EVENTS = 30_000
N_QUIX_KEYS, N_QUIX_EVENTS = 200, 40_000
MILLION = 1_000_000


def learner() -> keyed.KeyedLearner:
    return keyed.KeyedLearner(lambda: rb.Forgetron(rb.RBF(gamma=0.1), budget=BUDGET))


def events(n_keys: int, n: int, start: int = 0) -> Iterator[Event]:
    """Yield events of random keys; random labels keep the models full and learning."""
    rng = random.Random(1)
    for seq in range(start, start + n):
        x = {f"f{j}": rng.gauss(0, 1) for j in range(N_FEATURES)}
        yield Event(f"key-{rng.randrange(n_keys)}", seq, x, rng.random() < 0.5)


def full_state() -> bytes:
    states: dict[str, bytes] = {}
    collections.deque(keyed.run_local(events(1, 10 * BUDGET), learner(), states), maxlen=0)
    return states["key-0"]


def measure(n_keys: int) -> dict[str, float]:
    """Measure a process with this many keys, of which at most `MAX_LIVE` are live."""
    full = full_state()
    gc.collect()
    empty = resident_bytes()
    states = {f"key-{i}": bytes(bytearray(full)) for i in range(n_keys)}
    stored = resident_bytes()
    cache = keyed.ModelCache(learner(), states.get, states.__setitem__, MAX_LIVE)
    for i in range(min(n_keys, MAX_LIVE)):
        cache.advance(Event(f"key-{i}", 0, None, None))
    live = resident_bytes()
    stream = list(events(n_keys, N_EVENTS, start=10 * BUDGET))
    start = time.perf_counter()
    for event in stream:
        cache.advance(event)
    took = time.perf_counter() - start
    return {
        "state": len(full), "stored": stored - empty, "live": live - stored,
        "per_second": N_EVENTS / took,
    }  # fmt: skip


def slope(sizes: list[int], amounts: list[float]) -> float:
    """Return the increase of the amount with each unit of size."""
    return float(np.polyfit(sizes, amounts, 1)[0])


def in_a_process(function, *arguments):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def local_speed() -> float:
    stream = list(events(N_QUIX_KEYS, N_QUIX_EVENTS))
    start = time.perf_counter()
    collections.deque(keyed.run_local(stream, learner()), maxlen=0)
    return N_QUIX_EVENTS / (time.perf_counter() - start)


def quix_speed(address: str) -> float:
    """Return events per second through Quix Streams, from the first event to the last commit."""
    from demos import mock_kafka
    from river_budget.keyed import quix

    with tempfile.TemporaryDirectory() as directory:
        app = mock_kafka.application(
            address, "benchmark",
            auto_offset_reset="earliest", state_dir=directory, loglevel="ERROR", commit_interval=5.0,
        )  # fmt: skip
        first: list[float] = []

        def started(value):
            if not first:
                first.append(time.perf_counter())
            return value

        topic = app.topic("events", key_deserializer="bytes", value_deserializer="bytes")
        quix.apply(app.dataframe(topic).apply(started), learner())
        app.run(count=N_QUIX_EVENTS, timeout=60, collect=False)
        return N_QUIX_EVENTS / (time.perf_counter() - first[0])


def through_quix() -> float:
    from confluent_kafka import Producer

    from demos import mock_kafka

    with mock_kafka.broker() as address:
        producer = Producer({"bootstrap.servers": address, "linger.ms": 20, "log_level": 0})
        for event in events(N_QUIX_KEYS, N_QUIX_EVENTS):
            x = {name: round(value, 3) for name, value in event.x.items()}
            value = json.dumps({"seq": event.seq, "x": x, "y": event.y})
            producer.produce("events", value, event.key)
            producer.poll(0)
        producer.flush(60)
        return in_a_process(quix_speed, address)


def main() -> None:
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else SIZES[-1]
    sizes = [size for size in SIZES if size <= largest]
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(f"{'keys':>9}{'live':>8}{'events/s':>10}{'bytes/key':>13}{'resident/live model':>22}")
    results = []
    for n_keys in sizes:
        result = in_a_process(measure, n_keys)
        results.append(result)
        n_live = min(n_keys, MAX_LIVE)
        print(
            f"{n_keys:>9,}{n_live:>8,}{result['per_second']:>10,.0f}"
            f"{result['stored'] / n_keys:>13,.0f}{result['live'] / n_live:>22,.0f}"
        )
    if len(sizes) > 1:
        plan(sizes, results)
    if importlib.util.find_spec("quixstreams") is None:
        print("Quix Streams: skipped, quixstreams is not installed")
        return
    ours, theirs = in_a_process(local_speed), through_quix()
    print(
        f"events/s with {N_QUIX_KEYS} keys: run_local {ours:,.0f}, Quix Streams {theirs:,.0f}, "
        f"ratio {theirs / ours:.2f} (goal: 0.33)"
    )
    if "RIVER_BUDGET_KAFKA" in os.environ:
        from benchmarks import keyed_kafka

        keyed_kafka.main()


def plan(sizes: list[int], results: list[dict[str, float]]) -> None:
    """Print the cost of a million keys, extrapolated from the cost of one more key here."""
    live = [
        (size, result["live"])
        for size, result in zip(sizes, results, strict=True)
        if size <= MAX_LIVE
    ]
    a_state = slope(sizes, [result["stored"] for result in results])
    a_model = slope(*map(list, zip(*live, strict=True)))
    cold, warm = results[-1]["per_second"], results[0]["per_second"]
    print(
        f"a million keys, extrapolated ({a_state:,.0f} bytes per state, {a_model:,.0f} per live model):"
    )
    print(f"  memory, all live           {MILLION * a_model / 1e9:8.1f} GB")
    print(f"  memory, {MAX_LIVE:,} live        {MAX_LIVE * a_model / 1e9:8.1f} GB per process")
    print(
        f"  disk, one copy             {MILLION * results[-1]['state'] / 1e9:8.1f} GB, and the same for each copy of the changelog"
    )
    for per_hour in (1, 60):
        rate = MILLION * per_hour / 3600
        print(
            f"  processes, {per_hour:>2} events per key and hour ({rate:,.0f}/s): "
            f"{-(-rate // warm):,.0f} with all live, {-(-rate // cold):,.0f} with {MAX_LIVE:,} of {sizes[-1]:,} live"
        )


if __name__ == "__main__":
    main()
