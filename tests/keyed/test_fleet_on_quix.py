"""The recipe of a fleet on Quix topics as its page shows it, on a mock broker in this process."""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import pathlib
import threading
import types
import uuid

import pytest
import snippets

pytest.importorskip(
    "quixstreams",
    reason="quixstreams is not installed: the recipe of a fleet did not run (pip install quixstreams)",
)

import mock_kafka
import numpy as np
from quixstreams import Application
from river.datasets import ImageSegments

import river_budget as rb
from benchmarks.fleet import matrices

pytestmark = pytest.mark.slow

PAGE = pathlib.Path(rb.__file__).parents[1] / "docs/recipes/fleet_quix.md"
((CODE, _),) = snippets.blocks(PAGE.read_text(), "python")

ROWS = list(ImageSegments())[:1000]
LABELS = sorted({y for _, y in ROWS})
# Each worker sees only the rows of some labels.
PARTS = {
    f"worker-{i}": [(x, y) for x, y in ROWS[256:] if LABELS.index(y) % 4 == i] for i in range(4)
}


@pytest.fixture
def fleet():
    module = types.ModuleType("fleet")
    exec(compile(CODE, PAGE.name, "exec"), vars(module))
    return module


BROKERS = [
    "mock",
    pytest.param(
        "real",
        marks=pytest.mark.skipif(
            "RIVER_BUDGET_KAFKA" not in os.environ,
            reason="RIVER_BUDGET_KAFKA names no broker: the recipe of a fleet did not run on Kafka (.ci/kafka/start)",
        ),
    ),
]


@pytest.fixture(params=BROKERS)
def on_broker(request, fleet, tmp_path):
    """Let the applications run on a broker, and end after some messages that they send.

    Each group of consumers gets all messages from the first one.
    """
    fleet.FLEET = uuid.uuid4().hex
    is_mock = request.param == "mock"
    named = contextlib.nullcontext(os.environ.get("RIVER_BUDGET_KAFKA"))
    make = mock_kafka.application if is_mock else application_of
    with mock_kafka.broker() if is_mock else named as address:

        def use(group, n=None):
            def application():
                app = make(
                    address, f"{fleet.FLEET}-{group}",
                    auto_offset_reset="earliest", state_dir=tmp_path, loglevel="ERROR",
                )  # fmt: skip
                app.run = functools.partial(app.run, count=n, timeout=60)
                return app

            fleet.application = application

        yield use


def application_of(address, group, **options):
    return Application(address, consumer_group=group, **options)


class KnownBases:
    """The bases of a merger without a broker."""

    def __init__(self, fleet, base):
        self.known = {}
        self.newest, self.add = (
            functools.partial(method, self) for method in (fleet.Bases.newest, fleet.Bases.add)
        )
        self.read = self.newest
        self.add(base, {"version": 0, "learned": {}})


def learned(base, rows):
    model = copy.deepcopy(base)
    for x, y in rows:
        model.learn_one(x, y)
    return model


def check_the_same(merged, whole):
    """All but the temperature is the same, up to rounding errors."""
    assert merged.n_rounds == whole.n_rounds
    ours, theirs = matrices(merged), matrices(whole)
    for name, expected in theirs.items():
        assert np.abs(ours[name] - expected).max() < 1e-9 * np.abs(expected).max()


def bases_of(fleet):
    app = fleet.application()
    return fleet.Bases(app, fleet.topics(app)[1])


def test_workers_and_a_merger_learn_all_rows_once(fleet, on_broker):
    """A second merger gets all models, also those that the first one has added."""
    on_broker("first", 2)
    fleet.STEP = 200
    fleet.begin(ROWS[:256])
    waiting = bases_of(fleet)
    base, _ = waiting.read()
    workers = [
        threading.Thread(target=fleet.work, args=part, daemon=True) for part in PARTS.items()
    ]
    for worker in workers:
        worker.start()
    n_models = sum(-(-len(rows) // fleet.STEP) for rows in PARTS.values())
    fleet.merge()
    on_broker("second", n_models - 2)
    fleet.merge()
    for worker in workers:
        worker.join(60)
        assert not worker.is_alive()
    # A merger that has waited all the time.
    assert fleet.add(waiting, a_model(base, "worker-0", 0, 50)) is None
    merged, note = waiting.newest()
    assert note["version"] == n_models
    assert note["learned"] == {worker: len(rows) for worker, rows in PARTS.items()}
    check_the_same(merged, learned(base, ROWS[256:]))


@pytest.fixture(scope="module")
def base():
    return learned(rb.KernelLDA(n_features=300, dtype="float64"), ROWS[:256])


def a_model(base, worker, start, stop):
    """Return what a worker sends that has learned rows on a copy of the first base."""
    note = {"worker": worker, "base": 0, "start": start, "stop": stop}
    return rb.checkpoint.dumps(learned(base, PARTS[worker][start:stop]), note)


def test_a_model_that_comes_again_is_not_added_again(fleet, base):
    bases, sent = KnownBases(fleet, base), a_model(base, "worker-0", 0, 50)
    assert fleet.add(bases, sent) is not None
    assert fleet.add(bases, sent) is None
    assert fleet.add(bases, a_model(base, "worker-0", 50, 80)) is not None
    merged, note = bases.newest()
    assert note == {"version": 2, "learned": {"worker-0": 80}}
    check_the_same(merged, learned(base, PARTS["worker-0"][:80]))


def test_a_copy_of_a_base_that_is_gone_is_not_added(fleet, base):
    fleet.KEPT = 2
    bases, late = KnownBases(fleet, base), a_model(base, "worker-1", 0, 50)
    assert fleet.add(bases, a_model(base, "worker-0", 0, 50)) is not None
    assert fleet.add(bases, a_model(base, "worker-0", 50, 60)) is not None
    before = bases.newest()
    assert fleet.add(bases, late) is None
    assert bases.newest() is before


def test_the_broker_keeps_the_last_bases(fleet):
    keys = [fleet.slot(version) for version in range(3 * fleet.KEPT)]
    assert len(set(keys)) == fleet.KEPT
    assert len(set(keys[-fleet.KEPT :])) == fleet.KEPT


@pytest.mark.parametrize(("dtype", "n_features"), [("float64", 480), ("float32", 680)])
def test_a_model_of_the_size_that_the_page_names_fits_into_a_message(dtype, n_features):
    rows = ROWS[:300]
    model = learned(rb.KernelLDA(n_features=n_features, dtype=dtype), rows)
    assert 900_000 < len(rb.checkpoint.dumps(model)) < 1_000_000
