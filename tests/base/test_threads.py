"""Two threads at one model: a call gives what it gives alone, or says that the model is in use."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from algorithms import CLASSES
from states import content

import river_budget as rb
from river_budget import checkpoint, synth

N_THREADS = 4
MODELS = [(name, None) for name in CLASSES] + [
    (name, rb.FunctionKernel(rb.RBF(gamma=0.7))) for name in ("Forgetron", "Mnemotron")
]
each = pytest.mark.parametrize(("name", "kernel"), MODELS, ids=str)


@pytest.fixture
def frequent_switches():
    """Switch threads as often as the interpreter can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def learned(name, kernel):
    model = CLASSES[name](kernel)
    for x, y in synth.TwoGaussians(60, seed=1):
        model.learn_one(x, y)
    return model


def in_parallel(act, parts):
    """Call a function with parts in parallel threads, and return its results."""
    results, start = [None] * len(parts), threading.Barrier(len(parts))

    def run(i):
        start.wait()
        results[i] = act(parts[i])

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(parts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def or_in_use(method, *arguments):
    """Return what a method returns, or None if the model is in use."""
    try:
        return method(*arguments)
    except RuntimeError as error:
        return None if "the model is in use" in str(error) else error


def answers(model, examples):
    frame = pd.DataFrame(examples).fillna(0.0)
    methods = [model.decision_function_one, model.predict_one, model.predict_proba_one]
    one = [or_in_use(method, x) for x in examples for method in methods]
    many = [or_in_use(model.decision_function_many, frame), or_in_use(model.predict_many, frame)]
    return [*one, *(None if values is None else values.tolist() for values in many)]


@pytest.mark.slow
@each
def test_threads_that_predict(name, kernel, frequent_switches):
    model = learned(name, kernel)
    examples = [
        dict(list(x.items())[t % 3 == 0 :])
        for t, (x, _) in enumerate(synth.TwoGaussians(15 * N_THREADS, seed=2))
    ]
    parts = [examples[i::N_THREADS] for i in range(N_THREADS)]
    expected = [answers(model, part) for part in parts]
    for _ in range(4):
        for one, other in zip(
            in_parallel(lambda part: answers(model, part), parts), expected, strict=True
        ):
            assert all(a is None or a == b for a, b in zip(one, other, strict=True))


@pytest.mark.slow
@each
def test_threads_that_learn(name, kernel, frequent_switches):
    """Each example is learned or refused, as a whole."""
    model = learned(name, rb.RBF(gamma=0.7) if kernel is None else kernel)

    def learn(seed):
        n_learned = 0
        for x, y in synth.TwoGaussians(50, seed=seed):
            with contextlib.suppress(RuntimeError):
                model.learn_one(x, y)
                n_learned += 1
        return n_learned

    n_learned = sum(in_parallel(learn, range(N_THREADS)))
    assert n_learned > 0
    assert model.n_rounds == 60 + n_learned
    assert all(error < 1e-6 for error in model.numerical_errors().values())


@pytest.mark.slow
@each
def test_threads_that_predict_while_one_learns(name, kernel, frequent_switches):
    model = learned(name, kernel)
    streams = [list(synth.TwoGaussians(60, seed=3 + i)) for i in range(N_THREADS)]

    def act(i):
        if i:
            return answers(model, [x for x, _ in streams[i]])
        return [or_in_use(model.learn_one, x, y) for x, y in streams[i]]

    for results in in_parallel(act, range(N_THREADS)):
        assert [answer for answer in results if isinstance(answer, Exception)] == []
    assert model.n_rounds <= 60 + len(streams[0])
    assert all(error < 1e-6 for error in model.numerical_errors().values())
    if kernel is None:
        loaded = checkpoint.loads(checkpoint.dumps(model))
        assert content(loaded.state()) == content(model.state())


@pytest.mark.parametrize(
    "model",
    [CLASSES["ProjectedGradient"](None), CLASSES["Mnemotron"](None), rb.KernelLDA()],
    ids=lambda model: type(model).__name__,
)
def test_update_of_scales_is_part_of_its_round(model):
    refused = []
    stream = list(synth.TwoGaussians(256, seed=1))
    learn_scales = model._learn_scales

    def predict_in_another_thread():
        [answer] = in_parallel(lambda x: or_in_use(model.decision_function_one, x), [stream[0][0]])
        refused.append(answer is None)

    def disturbed():
        predict_in_another_thread()
        learn_scales()
        predict_in_another_thread()

    model._learn_scales = disturbed
    for x, y in stream:
        model.learn_one(x, y)
    assert refused
    assert all(refused)
    predict_in_another_thread()
    assert not refused[-1]


@pytest.mark.parametrize("name", ["RemoveOldestPerceptron", "TightestPerceptron", "Mnemotron"])
def test_a_block_is_learned_as_a_whole_beside_other_calls(name, frequent_switches):
    rng = np.random.default_rng(0)
    X = {f"f{i}": rng.normal(size=1500) for i in range(10)}
    y, part = (X["f0"] * X["f1"] > 0).astype(int), {n: values[:200] for n, values in X.items()}
    alone, model = (CLASSES[name](rb.RBF(gamma=0.1)) for _ in range(2))
    alone.learn_many(X, y)
    stopped = threading.Event()

    def ask():
        while not stopped.is_set():
            or_in_use(model.predict_many, part)
            or_in_use(model.learn_one, {"f0": 0.1}, 1, 0.0)
            or_in_use(model.predict_one, {"other": 1.0})

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        while or_in_use(model.learn_many, X, y) is None and not model.n_rounds:
            pass
    finally:
        stopped.set()
        thread.join()
    assert content(model.state(), without=["tickets"]) == content(
        alone.state(), without=["tickets"]
    )


def test_what_is_asked_of_one_example_is_of_that_example(frequent_switches):
    model, x, stopped = learned("Forgetron", None), {"x0": 0.3, "x1": -1.0}, threading.Event()
    novelty = model.novelty_one(x)

    def ask():
        while not stopped.is_set():
            or_in_use(model.predict_one, {"x0": 5.0})

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        found = {or_in_use(model.novelty_one, x) for _ in range(5000)}
    finally:
        stopped.set()
        thread.join()
    assert found <= {novelty, None}


def test_garbage_collection_may_use_the_model_while_a_block_is_scored():
    block, before = np.ones((1, 1)), gc.get_threshold()
    for threshold in range(1, 8):
        model = rb.RemoveOldestPerceptron(gamma=1.0, budget=3)
        for label in range(2):
            model.learn_one({"a": 1.0}, label)
        engine = model._f
        rows = engine.block(["a"], block)

        def collected(phase, info, model=model):
            with contextlib.suppress(RuntimeError):
                for label in range(90):
                    model.learn_one({"a": 3.0}, label)

        gc.collect()
        gc.callbacks.append(collected)
        gc.set_threshold(threshold)
        try:
            scores = engine.score_block(rows)
        finally:
            gc.callbacks.remove(collected)
            gc.set_threshold(*before)
        assert scores.shape[1] in (2, 90)
        assert np.isfinite(scores).all()
