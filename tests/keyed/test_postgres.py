"""The recipe for Postgres as its page shows it, on a server of its own."""

from __future__ import annotations

import json
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import threading

import pytest
import snippets

import river_budget as rb
from river_budget import keyed

psycopg = pytest.importorskip(
    "psycopg",
    reason="psycopg is not installed: the recipe for Postgres did not run (pip install 'psycopg[binary]')",
)

ROOT = pathlib.Path(rb.__file__).parents[1]
PAGE = (ROOT / "docs/recipes/postgres.md").read_text()
((CODE, _),) = snippets.blocks(PAGE, "python")

# Debian does not put the programs of the server on the path.
DEBIAN = map(str, sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin")))
INITDB = shutil.which("initdb", path=os.pathsep.join([os.environ.get("PATH", ""), *DEBIAN]))
# The server refuses to run as root.
OWNER = "postgres" if hasattr(os, "geteuid") and os.geteuid() == 0 else None

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        INITDB is None, reason="Postgres is not installed: the recipe for Postgres did not run"
    ),
]

N_KEYS, N_EVENTS = 5, 20
LONG = "".join(random.Random(1).choices(string.ascii_letters, k=10_000))


@pytest.fixture(scope="module")
def server():
    """Run a server that listens on a socket in its own directory, and yield that directory."""
    # The user of the server cannot enter the directories of pytest.
    with tempfile.TemporaryDirectory(prefix="postgres", ignore_cleanup_errors=True) as directory:
        if OWNER is not None:
            shutil.chown(directory, OWNER, OWNER)

        def run(program, *arguments):
            path = pathlib.Path(INITDB).with_name(program)
            command = [path, "-D", f"{directory}/data", *arguments]
            options = {"user": OWNER, "group": OWNER, "extra_groups": []} if OWNER else {}
            subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL, **options)

        run("initdb", "--username=ann", "--auth=trust", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories='{directory}' -c fsync=off"
        run("pg_ctl", "--wait", "-l", f"{directory}/log", "-o", options, "start")
        try:
            yield directory
        finally:
            run("pg_ctl", "--wait", "-m", "immediate", "stop")


@pytest.fixture
def database(server, monkeypatch):
    """Create an empty database, and let the variables of Postgres name it."""
    monkeypatch.setenv("PGHOST", server)
    monkeypatch.setenv("PGUSER", "ann")
    monkeypatch.setenv("PGDATABASE", "postgres")
    with psycopg.connect(autocommit=True) as connection:
        connection.execute("drop database if exists agents")
        connection.execute("create database agents")
    monkeypatch.setenv("PGDATABASE", "agents")


@pytest.fixture
def connection(database):
    with psycopg.connect(autocommit=True) as connection:
        connection.execute(recipe()["TABLES"])
        yield connection


def recipe():
    names = {"__name__": "agents"}
    exec(compile(CODE, "postgres.md", "exec"), names)
    return names


def learner(**options):
    return keyed.KeyedLearner(lambda: rb.Forgetron(rb.RBF(gamma=1.0), budget=10), **options)


def events():
    return [
        keyed.Event(f"key-{number}", seq, {"a": (seq * number) % 7}, y=seq % 3 > 0)
        for seq in range(N_EVENTS)
        for number in range(N_KEYS)
    ]


class Dying(psycopg.Connection):
    """A connection whose process is killed once it has stored a number of models."""

    n_left = None

    def execute(self, query, *arguments, **options):
        cursor = super().execute(query, *arguments, **options)
        if self.n_left is not None and "insert into models" in query:
            self.n_left -= 1
            if self.n_left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return cursor


def work(n_left):
    """Send all events, until the process is killed within the transaction of one of them."""
    process = recipe()["process"]
    with Dying.connect(autocommit=True) as connection:
        connection.n_left = n_left
        for event in events():
            process(connection, learner(), event)


def test_the_script_prints_what_the_page_shows(database, tmp_path):
    (tmp_path / "agents.py").write_text(CODE)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    printed = subprocess.check_output(
        [sys.executable, "agents.py"], cwd=tmp_path, env=environment, text=True
    )
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert printed == shown


def in_processes(*counts):
    """Run processes at the same time that send all events, and return how they ended."""
    spawned = multiprocessing.get_context("spawn")
    processes = [spawned.Process(target=work, args=(n_left,)) for n_left in counts]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [process.exitcode for process in processes]


def test_workers_of_which_one_is_killed_learn_and_answer_each_event_once(connection):
    assert in_processes(N_EVENTS) == [-signal.SIGKILL]
    assert connection.execute("select count(*) from answers").fetchone() == (N_EVENTS - 1,)
    assert in_processes(None, None) == [0, 0]

    states = {}
    predictions = list(keyed.run_local(events(), learner(), states))
    expected = {(p.key, p.seq): json.loads(json.dumps(p._asdict())) for p in predictions}
    assert dict(connection.execute("select key, state from models").fetchall()) == states
    rows = connection.execute("select key, seq, answer from answers").fetchall()
    assert {(key, seq): answer for key, seq, answer in rows} == expected


def test_events_of_a_new_key_wait_for_each_other(connection):
    process, ours = recipe()["process"], learner()

    def send_second():
        with psycopg.connect(autocommit=True) as other:
            process(other, ours, keyed.Event("ann", 1, {"a": 1.0}, False))

    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
    second = threading.Thread(target=send_second, daemon=True)
    with psycopg.connect(autocommit=True) as observer, connection.transaction():
        process(connection, ours, keyed.Event("ann", 0, {"a": 0.0}, True))
        second.start()
        while observer.execute(waiting).fetchone() == (0,):
            assert second.is_alive()
    second.join()
    (state,) = connection.execute("select state from models").fetchone()
    assert ours.deserialize(state).n_seen == 2


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (keyed.Event("ann", 9, {"a": []}, True), "expected a finite number"),
        (keyed.Event("ann", 9, {"a": LONG}, False), "5,000 are allowed"),
        (keyed.Event("ann", -1, {"a": 1.0}), "seq"),
    ],
)
def test_an_event_that_is_refused_changes_nothing(connection, event, error):
    process = recipe()["process"]
    process(connection, learner(max_state_bytes=5_000), keyed.Event("ann", 0, {"a": 1.0}, True))
    tables = "select key, state from models", "select key, answer from answers"
    before = [connection.execute(table).fetchall() for table in tables]
    with pytest.raises((ValueError, psycopg.errors.CheckViolation), match=error):
        process(connection, learner(max_state_bytes=5_000), event)
    assert [connection.execute(table).fetchall() for table in tables] == before


def test_the_answer_to_an_event_stays_as_it_was(connection):
    process, ours = recipe()["process"], learner()
    first = process(connection, ours, keyed.Event("ann", 0, {"a": 1.0}))
    late = process(connection, ours, keyed.Event("ann", 0, None, True))
    again = process(connection, ours, keyed.Event("ann", 0, {"a": 1.0}, True))
    assert first == late == again
    after = process(connection, ours, keyed.Event("ann", 1, {"a": 1.0}))
    assert (after["n_seen"], after["y_pred"]) == (2, True)
