from __future__ import annotations

import sys
import threading

import pandas as pd
import pytest
from algorithms import ALGORITHMS, PATHS

import river_budget as rb
from river_budget import synth

N_THREADS = 4


@pytest.fixture
def frequent_switches():
    """Switch threads as often as the interpreter can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def evaluations(model):
    """Return the methods that evaluate one example without learning."""
    methods = [model.decision_function_one, model.predict_one, model.predict_proba_one]
    for name in ["averaged_decision_function_one", "posterior_one"]:
        if hasattr(model, name):
            methods.append(getattr(model, name))
    return methods


def outputs(model, examples):
    one = [method(x) for x in examples for method in evaluations(model)]
    frame = pd.DataFrame(examples).fillna(0.0)
    many = [
        model.decision_function_many(frame).tolist(),
        model.predict_many(frame).tolist(),
        model.predict_proba_many(frame).to_numpy().tolist(),
    ]
    return one, many, model.norm, model.coefficients.tolist(), model.support_vectors


def in_parallel(*functions):
    """Run functions in parallel threads and return their results."""
    results = [None] * len(functions)
    start = threading.Barrier(len(functions))

    def run(i):
        start.wait()
        results[i] = functions[i]()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kernel"),
    [(name, None) for name in ALGORITHMS]
    + [(name, rb.FunctionKernel(rb.RBF(gamma=0.7))) for name in PATHS],
    ids=str,
)
def test_threads_that_predict_get_what_one_thread_gets(name, kernel, frequent_switches):
    model = ALGORITHMS[name](kernel)
    for x, y in synth.TwoGaussians(60, seed=1):
        model.learn_one(x, y)
    examples = [
        dict(list(x.items())[t % 3 == 0 :])
        for t, (x, _) in enumerate(synth.TwoGaussians(15 * N_THREADS, seed=2))
    ]
    parts = [examples[i::N_THREADS] for i in range(N_THREADS)]
    expected = [outputs(model, part) for part in parts]
    for _ in range(10):
        assert in_parallel(*(lambda part=part: outputs(model, part) for part in parts)) == expected
