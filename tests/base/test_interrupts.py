"""Signals at random moments: a model has learned whole examples only, goes on, saves and loads."""

from __future__ import annotations

import ast
import copy
import functools
import pathlib
import random
import signal
import threading
import timeit

import pandas as pd
import pytest
from algorithms import ALGORITHMS, BUDGET, PATHS, UNBOUNDED
from river import preprocessing
from states import content

import river_budget as rb
from river_budget import checkpoint, testing
from river_budget.base import Chain
from river_budget.testing.moments import InterruptError, interrupted
from river_budget.testing.streams import come_and_go

MODELS = {**ALGORITHMS, "KernelLDA": lambda kernel: rb.KernelLDA(n_features=20, kernel=kernel)}

LABELS = "abc"
N_INTERRUPTS = 40

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer"),
    pytest.mark.skipif(
        threading.current_thread() is not threading.main_thread(), reason="signals are for the main thread"
    ),
]  # fmt: skip


class Storm:
    """Interrupts calls at random moments of so many seconds, and counts those that it interrupts."""

    def __init__(self, seed, seconds):
        self.rng, self.seconds, self.n_interrupts = random.Random(seed), seconds, 0

    def __enter__(self):
        self.handler = signal.signal(signal.SIGALRM, self.strike)
        return self

    def __exit__(self, *error):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.handler)

    def strike(self, number, frame):
        raise InterruptError

    def call(self, act):
        """Call a function until it returns or is interrupted."""
        try:
            signal.setitimer(signal.ITIMER_REAL, self.rng.uniform(0.1, 1.0) * self.seconds)
            try:
                act()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except InterruptError:
            self.n_interrupts += 1


def rows(n, seed):
    rng = random.Random(seed)
    X = pd.DataFrame({name: [rng.gauss(0, 1) for _ in range(n)] for name in "uvwx"})
    return X, pd.Series(rng.choices(LABELS, k=n))


def cells(n, seed):
    """Return rows whose labels depend on the signs of two features."""
    X, _ = rows(n, seed)
    signs = zip(X["u"] > 0, X["v"] > 0, strict=True)
    return X, pd.Series([LABELS[u + v] for u, v in signs])


def learn_each(model, X, y):
    for x, label in zip(X.to_dict("records"), y, strict=True):
        model.predict_one(x)
        model.learn_one(x, label)


def learn_block(model, X, y):
    model.learn_many(X, y)


def seconds_of(learn, model, X, y):
    """Return the shortest time in which copies of a model learn rows."""
    copies = [copy.deepcopy(model) for _ in range(5)]
    return min(timeit.repeat(lambda: learn(copies.pop(), X, y), number=1, repeat=5))


@pytest.mark.parametrize(
    ("name", "is_learned"),
    [*((name, False) for name in MODELS), *((name, True) for name in [*PATHS, "KernelLDA"])],
)
def test_signals_at_random_moments(name, is_learned):
    kernel, learn = (None, learn_each) if is_learned else (rb.RBF(gamma=0.3), learn_block)
    model = MODELS[name](kernel).clone({"class_weight": "balanced"})
    # A label whose first example is interrupted stays known, so all come before.
    learn(model, *rows(9, seed=0))
    assert sorted(model.classes) == list(LABELS)
    twin = copy.deepcopy(model)
    seconds = seconds_of(learn, model, *rows(60, seed=0))
    with Storm(seed=3, seconds=seconds) as storm:
        for seed in range(1, 1001):
            if storm.n_interrupts == N_INTERRUPTS:
                break
            X, y = rows(60, seed)
            before = model.n_rounds
            storm.call(lambda: learn(model, X, y))  # noqa: B023
            n_learned = model.n_rounds - before
            assert 0 <= n_learned <= len(X)
            checkpoint.loads(checkpoint.dumps(model))
            if n_learned:
                learn(twin, X[:n_learned], y[:n_learned])
    assert storm.n_interrupts == N_INTERRUPTS
    assert all(error < 1e-6 for error in model.numerical_errors().values())
    X, y = rows(60, seed=1000)
    learn(model, X, y)
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert content(loaded.state()) == content(model.state())
    if name in ALGORITHMS and name not in UNBOUNDED:
        assert model.n_support <= BUDGET
    # An interrupt may leave out an update of scales, and the kernel differs until the next one.
    if kernel is not None:
        learn(twin, X, y)
        x = X.iloc[0].to_dict()
        assert model.n_mistakes == twin.n_mistakes
        if name in ALGORITHMS:
            assert model.support_vectors == twin.support_vectors
        assert model.scores_one(x) == pytest.approx(twin.scores_one(x), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", [*PATHS, "KernelLDA"])
def test_signals_while_features_come_and_go(name):
    """New names, arrays that no vector has any more and new labels are parts of a round, too."""
    model, seconds = MODELS[name](None), 0.002
    with Storm(seed=1, seconds=seconds) as storm:
        for seed in range(1, 1001):
            if storm.n_interrupts == 2 * N_INTERRUPTS:
                break
            examples = [(x, y) for x, y, _ in come_and_go(seed, share_of_arrays=0.3)]
            storm.call(lambda: [model.learn_one(x, y) for x, y in examples])  # noqa: B023
            loaded = checkpoint.loads(checkpoint.dumps(model))
            # A store without vectors gets its kernel with the first one.
            states = [content(each.state(), without=["kernels"]) for each in (loaded, model)]
            assert states[0] == states[1]
            model = loaded if seed % 10 else MODELS[name](None)
    assert storm.n_interrupts == 2 * N_INTERRUPTS


def test_signals_with_labels_outstanding():
    """A prediction leaves its ticket or none, and a late label takes it, if it is learned."""
    model, twin = (rb.Mnemotron(budget=5, kernels=(rb.RBF(gamma=0.3),)) for _ in range(2))
    # A label whose first example is interrupted stays known, so all come before.
    for each in (model, twin):
        each.learn_many(*rows(9, seed=0))
    X, labels = rows(1500, seed=1)
    stream = zip(X.to_dict("records"), labels, strict=True)
    with Storm(seed=1, seconds=4e-5) as storm:
        for _, x, y in rb.evaluate.Delays(20, "exponential", seed=1).turns(stream):
            if y is None:
                storm.call(lambda: model.predict_one(x))  # noqa: B023
                assert model.predict_proba_one(x) == twin.predict_proba_one(x)
                continue
            before = model.n_rounds
            storm.call(lambda: model.learn_one(x, y))  # noqa: B023
            if model.n_rounds > before:
                twin.learn_one(x, y)
            assert model.n_pending == twin.n_pending
    assert storm.n_interrupts >= N_INTERRUPTS
    assert model.late_weight > 0.0
    assert content(model.state()) == content(twin.state())


def test_signals_while_regions_are_divided():
    """Blocks are interrupted; the model goes on like one that is not, and divides the same regions."""
    model = rb.Mnemotron(budget=5, regions=6, region_budget=5)
    learn_block(model, *rows(9, seed=0))
    twin = copy.deepcopy(model)
    seconds = 0.3 * seconds_of(learn_block, model, *rows(60, seed=0))
    with Storm(seed=3, seconds=seconds) as storm:
        for seed in range(1, 1001):
            if storm.n_interrupts >= N_INTERRUPTS and len(model.regions_) == 6:
                break
            X, y = cells(60, seed)
            before = model.n_rounds
            storm.call(lambda: model.learn_many(X, y))  # noqa: B023
            n_learned = model.n_rounds - before
            twin.learn_many(X[:n_learned], y[:n_learned])
            assert len(model.regions_) == len(twin.regions_)
    assert storm.n_interrupts >= N_INTERRUPTS
    assert [region.rule for region in model.regions_] == [region.rule for region in twin.regions_]
    assert len(model.regions_) == 6
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert content(loaded.state()) == content(model.state())


def learned(model):
    X, y = rows(31, seed=0)
    learn_each(model, X, y)
    return model


def two_labels(n=60):
    X, y = rows(n, seed=0)
    return [(x, label == "a") for x, label in zip(X.to_dict("records"), y, strict=True)]


# The posterior of three labels takes an integral, whose hundreds of moments are alike.
FEW_MOMENTS = {"TightestPerceptron": two_labels()}


@pytest.mark.parametrize("name", MODELS)
def test_an_update_passes_on_what_the_handler_raises(name):
    testing.check_interrupts(MODELS[name](rb.RBF(gamma=0.3)), examples=FEW_MOMENTS.get(name))


WRAPPERS = {
    "Calibrated": rb.Calibrated,
    "PredictionSets": rb.PredictionSets,
    "Reject": functools.partial(rb.Reject, doubt="entropy"),
    "Reject with a share": functools.partial(rb.Reject, share=0.1),
    "Query": functools.partial(rb.active.Query, seed=1),
    "Calibrated in Reject": lambda model: rb.Reject(rb.Calibrated(model), doubt="entropy"),
}


@pytest.mark.parametrize("is_scaled", [False, True])
@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("name", ["Forgetron", "Mnemotron", "KernelLDA"])
def test_wrappers_and_what_they_wrap_learn_the_same_examples(name, wrap, is_scaled):
    inner = MODELS[name](rb.RBF(gamma=0.3))
    model = learned(wrap(preprocessing.StandardScaler() | inner if is_scaled else inner))

    def learn(model):
        model.learn_one({"u": 0.5, "v": -0.5}, "a")

    def learned_by(model):
        parts = [model]
        while hasattr(parts[-1], "model"):
            parts.append(Chain(parts[-1].model).last)
        # A prediction that waits for its label tells nothing of what was learned.
        return [content(part.state(), without=["tickets"]) for part in parts]

    whole = copy.deepcopy(model)
    learn(whole)
    before, after = learned_by(model), learned_by(whole)
    found = [learned_by(part) for part in interrupted(lambda: copy.deepcopy(model), learn)]
    assert before in found
    assert after in found
    assert all(part in (before, after) for part in found)


LOOPS = ast.For | ast.While | ast.ListComp | ast.SetComp | ast.DictComp


def test_no_handler_of_interrupts_has_a_loop():
    """Since Python 3.12, it misses an interrupt at the jump to the start of the loop."""
    n_handlers = 0
    for path in pathlib.Path(rb.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Try):
                continue
            caught = [ast.unparse(handler.type) for handler in node.handlers if handler.type]
            if "BaseException" in caught:
                n_handlers += 1
                inside = [inner for part in node.body for inner in ast.walk(part)]
                assert not any(isinstance(inner, LOOPS) for inner in inside), (path, node.lineno)
    assert n_handlers > 3
