"""Forged files that could be loaded and did harm later: with memory, NaN, or files that are refused."""

from __future__ import annotations

import contextlib
import copy
import math
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from algorithms import CLASSES
from forging import UNIT_NORM, forged, parts

import river_budget as rb
from river_budget import checkpoint, synth
from river_budget.checkpoint import CheckpointError

ROWS = list(synth.NoisyCheckerboard(130, seed=3))
MANY_LABELS = [(x, "abcd"[t % 4]) for t, (x, _) in enumerate(ROWS)]
LARGE = 2.0**63 - 1024


def policy():
    """Return a policy with two arms."""
    policy = rb.bandit.ArmClassifiers(rb.Mnemotron(budget=30), seed=1)
    for t, (x, y) in enumerate(ROWS[:60]):
        policy.update(t % 2, x, y)
    return policy


def trained(model, rows=ROWS[:100]):
    for x, y in rows:
        model.learn_one(x, y)
    return model


def refused(content, tensors, message):
    with pytest.raises(CheckpointError, match=message):
        checkpoint.loads(forged(content, tensors))


def test_a_file_of_many_arms_cannot_name_the_arrays_of_one():
    content, tensors = parts(policy())
    models = content["model"]["state"]["models"]["dict"]
    models[1][1] = models[0][1]
    refused(content, tensors, "an array is missing, or is named twice")


def claims(model, name):
    """Return the parts of a checkpoint, with 10,000 as the value of a parameter."""
    content, tensors = parts(trained(model))
    content["model"]["parameters"][name] = 10_000
    return content, tensors


@pytest.mark.parametrize(
    ("model", "name"),
    [(rb.KernelLDA(n_features=20), "n_features"), (rb.Mnemotron(budget=5, archive=20), "archive")],
    ids=["KernelLDA", "archive"],
)
def test_random_features_are_counted_before_their_matrix_is_made(model, name):
    """It would take 200 MB."""
    content, tensors = claims(model, name)
    data = forged(content, tensors)
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match="an inverse is not that of 10000 features"):
            checkpoint.loads(data)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 50 * len(data)


@pytest.mark.parametrize("n_features", [None, "x", -2, 21, 10**12, True])
def test_what_is_no_number_of_random_features_is_refused(n_features):
    content, tensors = parts(trained(rb.KernelLDA(n_features=20)))
    content["model"]["parameters"]["n_features"] = n_features
    refused(content, tensors, "n_features|inverse|NoneType|str")


LOAD = """
import resource
import sys
from river_budget import checkpoint
checkpoint.loads(checkpoint.dumps(checkpoint.load(sys.argv[1])))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = checkpoint.load(sys.argv[2])
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(model.budget, model.memory_bytes, (after - before) * 1024)
"""


@pytest.mark.slow
def test_the_matrices_of_a_budget_take_memory_when_vectors_come(tmp_path):
    content, tensors = parts(trained(rb.Mnemotron(budget=5)))
    (tmp_path / "small").write_bytes(forged(content, tensors))
    content["model"]["parameters"]["budget"] = 3000
    (tmp_path / "large").write_bytes(forged(content, tensors))
    command = [sys.executable, "-c", LOAD, str(tmp_path / "small"), str(tmp_path / "large")]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    budget, claimed, taken = map(int, found.stdout.split())
    assert budget == 3000
    assert claimed > 500_000_000
    assert taken < 50_000_000


def loaded(content, tensors):
    """Return the model of a forged file, or None if it is refused."""
    with contextlib.suppress(CheckpointError):
        return checkpoint.loads(forged(content, tensors))


def goes_on(model, rows):
    """Let a model predict finite numbers, learn, be saved, and be loaded after that."""
    for x, y in rows:
        assert all(map(math.isfinite, model.predict_proba_one(x).values()))
        try:
            model.learn_one(x, y)
        except ValueError as error:
            if "a coefficient is not finite or too large" not in str(error):
                raise
    checkpoint.loads(checkpoint.dumps(model))


def with_large_elements(tensors):
    """Yield arrays with a large number as the first element of one, or with a negative one as the last."""
    for name, array in tensors.items():
        if array.size and array.dtype.kind == "f":
            for place, value in ((0, LARGE), (-1, -LARGE)):
                changed = array.copy()
                changed.flat[place] = value
                yield {**tensors, name: changed}


MODELS = {
    **CLASSES,
    "KernelLDA": lambda _: rb.KernelLDA(n_features=20),
    "archive": lambda _: rb.Mnemotron(budget=5, archive=20),
    "regions": lambda _: rb.Mnemotron(budget=5, regions=4, region_budget=5),
    "Calibrated": lambda _: rb.Calibrated(rb.Forgetron(budget=5)),
    "PredictionSets": lambda _: rb.PredictionSets(rb.Forgetron(budget=5)),
}


@pytest.mark.slow
@pytest.mark.parametrize("rows", [ROWS, MANY_LABELS], ids=["two", "four"])
@pytest.mark.parametrize("name", MODELS)
def test_a_large_number_is_refused_or_does_no_harm(name, rows):
    content, tensors = parts(trained(MODELS[name](None), rows[:100]))
    for changed in with_large_elements(tensors):
        model = loaded(content, changed)
        if model is not None:
            goes_on(model, rows[100:])


def test_a_large_coefficient_of_random_features_is_refused():
    content, tensors = parts(trained(rb.KernelLDA(n_features=20)))
    for name, message in [
        ("coefficients", "a coefficient is too large"),
        ("residuals", "the inverse of the residuals is too large"),
        ("inverse", "an inverse is too large"),
    ]:
        tensor = content["model"]["state"]["hypothesis"]["state"][name]["tensor"]
        changed = tensors[tensor].copy()
        changed.flat[0] = LARGE
        refused(content, {**tensors, tensor: changed}, message)


@pytest.mark.parametrize("is_arm", [False, True], ids=["model", "arm"])
def test_a_large_term_of_an_inverse_is_refused(is_arm):
    model = policy() if is_arm else trained(rb.Mnemotron(budget=30), ROWS[:29])
    content, tensors = parts(model)
    node = content["model"]["state"]["models"]["dict"][1][1] if is_arm else content["model"]
    inverses = node["state"]["hypothesis"]["state"]["posteriors"]["state"]["inverses"]["state"]
    terms = tensors[inverses["terms"]["tensor"]]
    assert terms.size
    for value in (LARGE, -LARGE):
        changed = terms.copy()
        changed.flat[0] = value
        refused(content, {**tensors, inverses["terms"]["tensor"]: changed}, "inverse")


DERIVING = {
    "Mnemotron": rb.Mnemotron(budget=5),
    "Projectron": rb.Projectron(budget=5),
    "ProjectronPlusPlus": rb.ProjectronPlusPlus(budget=5),
    "ProjectedGradient": rb.ProjectedGradient(budget=5),
}


@pytest.mark.parametrize("name", DERIVING)
def test_what_follows_from_vectors_is_compared_with_them(name):
    rows = [({"a": x[0], "b": 100 * x[1], "c": 0.1 * x[0] * x[1]}, y) for x, y in ROWS]
    content, tensors = parts(trained(DERIVING[name].clone(), rows))
    store = content["model"]["state"]["hypothesis"]["state"]["store"]["state"]
    for forge in (swap_names, change_a_value, change_the_width):
        forgery = copy.deepcopy(content)
        changed = dict(tensors)
        forge(forgery["model"]["state"]["hypothesis"]["state"]["store"]["state"], changed)
        refused(forgery, changed, "is not that of")
    assert len(store["names"]["tuple"]) == 3


def swap_names(store, tensors):
    names = store["names"]["tuple"]
    names[0], names[1] = names[1], names[0]


def change_a_value(store, tensors):
    values = store["values"]["tensor"]
    tensors[values] = tensors[values] * np.linspace(0.5, 2.0, tensors[values].size)


def change_the_width(store, tensors):
    store["kernels"]["tuple"][0]["parameters"]["gamma"] *= 3.0


@pytest.mark.parametrize(
    "names", [2**63, None, "ab", ["a"], {"tuple": [["a"]]}, {"set": ["a"]}], ids=str
)
def test_the_names_of_a_transformer_are_a_tuple_of_names(names):
    node = copy.deepcopy(UNIT_NORM)
    node["state"]["names"] = names
    refused({"model": node, "extra": {"state": {}}}, {}, "no tuple of names|unhashable")


def test_counts_are_counts():
    content, tensors = parts(trained(rb.Mnemotron(budget=5)))
    runs = content["model"]["state"]["hypothesis"]["state"]["repeats"]["state"]["counts"]["tensor"]
    refused(content, {**tensors, runs: tensors[runs] - 1.0}, "a count of runs is negative")

    content, tensors = parts(trained(rb.Calibrated(rb.Forgetron(budget=5))))
    columns = content["model"]["state"]["calibrator"]["state"]["columns"]["dict"]
    columns[0][1] = float(columns[0][1])
    refused(content, tensors, "is not a count")

    content, tensors = parts(policy())
    rewards = content["model"]["state"]["rewards"]["dict"]
    rewards[0][1]["state"]["n"] = -1.0
    refused(content, tensors, "the rewards of 0 are wrong")
