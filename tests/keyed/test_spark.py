"""The recipe for Spark as its page shows it, killed in the middle of a batch and started again."""

from __future__ import annotations

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
import snippets

import river_budget as rb
from river_budget import keyed

pytest.importorskip(
    "pyspark",
    reason="pyspark is not installed: the recipe for Spark did not run (pip install '.[spark]')",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("java") is None, reason="there is no Java: the recipe for Spark did not run"
    ),
]

ROOT = pathlib.Path(rb.__file__).parents[1]
PAGE = (ROOT / "docs/recipes/spark.md").read_text()

N_KEYS, N_EVENTS, N_FILES = 1_000, 20_000, 4
PATIENCE = 600.0
REFUSED = [
    '{"seq": 3',
    "[3]",
    '{"seq": 3.5, "x": {"f0": 1.0}}',
    '{"seq": 10000000, "x": {"f0": []}}',
]

# The answers and states of all keys, as lines of JSON.
COLLECT = """
answers.write.json("all-answers")
states.selectExpr("key.key", "hex(value.state) state").write.json("all-states")
"""


def script(name):
    """Return the snippet of the page that begins with the name of its file."""
    (code,) = [
        block for block, _ in snippets.blocks(PAGE, "python") if block.startswith(f"# {name}\n")
    ]
    return code


def labelled_events():
    """Yield events of random keys; a fourth of the labels come later, and out of order."""
    rng, late = random.Random(1), []
    last = dict.fromkeys(range(N_KEYS), -1)
    for _ in range(N_EVENTS):
        if late and rng.random() < 0.2:
            yield late.pop(rng.randrange(len(late)))
            continue
        number = rng.randrange(N_KEYS)
        key, last[number] = f"key-{number}", last[number] + 1
        x = {f"f{j}": round(rng.gauss(0, 1), 3) for j in range(10)} | {"kind": rng.choice("abc")}
        y = rng.choice(["spam", "ham"]) if number % 2 else x["f0"] + x["f1"] > 0
        event = keyed.Event(key, last[number], x, y)
        if rng.random() < 0.25:
            late.append(event._replace(x=None))
            event = event._replace(y=None)
        yield event


def value_of(event):
    return json.dumps({name: event._asdict()[name] for name in ("seq", "x", "y")})


def messages(events):
    """Yield the key and the value of each event, and a refused one before each hundredth."""
    for i, event in enumerate(events):
        if i % 100 == 0:
            yield event.key, REFUSED[i // 100 % len(REFUSED)]
        yield event.key, value_of(event)


def write_events(directory, events):
    """Write the lines of the page, and events in files whose lines are in any order."""
    directory.mkdir()
    (of_page,) = (block for block, _ in snippets.blocks(PAGE, "json"))
    lines = [
        json.dumps({"key": key, "offset": offset, "value": value})
        for offset, (key, value) in enumerate(messages(events))
    ]
    size, rng = -(-len(lines) // N_FILES), random.Random(2)
    parts = [lines[i * size : (i + 1) * size] for i in range(N_FILES)]
    texts = [of_page, *("\n".join(rng.sample(part, len(part))) for part in parts)]
    for i, text in enumerate(texts):
        file = directory / f"{i}.json"
        file.write_text(text)
        os.utime(file, (i, i))  # Spark takes the oldest file first.


def start(directory, name, code):
    """Start a script in a session of its own, so that it can be killed with what it has started."""
    (directory / name).write_text(code)
    local = directory / "local"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_DIRS": str(local),
        "SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": f"-Djava.io.tmpdir={directory}",
    }  # fmt: skip
    with open(directory / f"{name}.log", "a") as log:
        return subprocess.Popen(
            [sys.executable, name],
            cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=log,
            text=True, start_new_session=True,
        )  # fmt: skip


def run(directory, name, code):
    """Run a script to its end, and return what it prints."""
    process = start(directory, name, code)
    printed, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, (directory / f"{name}.log").read_text()[-5000:]
    return printed


def names(directory):
    return {path.name for path in directory.glob("[!.]*")}


def kill_in_mid_batch(directory):
    """Kill the query and Spark when a later batch has begun to write its answers."""
    process = start(directory, "agents.py", script("agents.py"))
    checkpoint, deadline = directory / "checkpoint", time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, (directory / "agents.py.log").read_text()[-5000:]
        assert time.monotonic() < deadline, "no batch has begun to write answers"
        n_done = len(names(checkpoint / "commits"))
        # Each batch writes one file for each of two partitions.
        if n_done >= 2 and len(list((directory / "answers").glob("part-*"))) > 2 * n_done:
            break
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return names(checkpoint / "offsets") - names(checkpoint / "commits")


def rows_of(directory):
    files = sorted(directory.glob("part-*.json"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_a_query_that_is_killed_in_mid_batch_learns_and_answers_each_event_once(tmp_path):
    events = list(labelled_events())
    write_events(tmp_path / "events", events)
    unfinished = kill_in_mid_batch(tmp_path)
    run(tmp_path, "agents.py", script("agents.py"))
    printed = run(tmp_path, "look.py", script("look.py") + COLLECT)
    answers = [row for row in rows_of(tmp_path / "all-answers") if row["key"] != "ann"]
    found = {row["key"]: bytes.fromhex(row["state"]) for row in rows_of(tmp_path / "all-states")}

    states = {}
    learner = keyed.KeyedLearner(lambda: rb.Forgetron(budget=30))
    expected = [json.dumps(p._asdict()) for p in keyed.run_local(events, learner, states)]
    assert len(unfinished) == 1
    refused = [row["value"] for row in answers if "error" in json.loads(row["value"])]
    assert len(refused) == N_EVENTS // 100
    assert sorted(row["value"] for row in answers) == sorted(expected + refused)
    del found["ann"]
    assert found == states
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert printed == shown
