from __future__ import annotations

import contextlib
import enum
import json
import os
import pickle
from typing import NamedTuple

import numpy as np
import pytest
from algorithms import PATHS, each_algorithm, each_kernel, each_path
from forging import forged_text, parts_of
from hypothesis import given
from hypothesis import strategies as st
from river import linear_model, preprocessing
from safetensors.numpy import save as write_tensors

import river_budget as rb
from river_budget import checkpoint, synth
from river_budget.checkpoint import CheckpointError

ROWS = list(synth.NoisyCheckerboard(160, seed=3))


class Place(NamedTuple):
    row: int
    column: int


class Answer(enum.IntEnum):
    NO = 0
    YES = 1


def trained(model, rows=ROWS[:100]):
    for x, y in rows:
        model.learn_one(x, y)
    return model


def go_on_alike(model, other, rows=ROWS[100:]):
    for x, y in rows:
        assert model.decision_function_one(x) == other.decision_function_one(x)
        model.learn_one(x, y)
        other.learn_one(x, y)
    assert model.support_vectors == other.support_vectors
    assert model.coefficients.tolist() == other.coefficients.tolist()
    assert (model.n_rounds, model.n_mistakes) == (other.n_rounds, other.n_mistakes)


@each_algorithm
def test_a_loaded_model_goes_on_bit_for_bit(make):
    for n_learned in [0, 1, 5, 100]:
        model = trained(make(None), ROWS[:n_learned])
        loaded, extra = checkpoint.restores(checkpoint.dumps(model, {"n": 3}))
        assert type(loaded) is type(model)
        assert repr(loaded) == repr(model)
        assert extra == {"n": 3}
        go_on_alike(model, loaded)


def alternating(values, n=1):
    return [({"a": value}, i % 2 == 0) for i, value in enumerate(values * n)]


EXTREMES = {
    "squares of Laplacian": (rb.Laplacian(), alternating([1.0, 2e75, 0.5])),
    "sums of squares": (None, alternating([9e74, -9e74], 3)),
    "sums of many squares": (None, alternating([1e73, -1e73], 2000)),
    "arrays": (None, [({"e": np.array([s * 9e74])}, s > 0) for s in (1, -1) * 3]),
    "small and large": (rb.Linear(), alternating([1e-300, 1e75, 1e-300, 1e74, -1e75])),
}


@pytest.mark.parametrize(("kernel", "rows"), EXTREMES.values(), ids=EXTREMES)
def test_the_largest_values_that_are_learned_can_be_loaded(kernel, rows):
    model = trained(rb.Forgetron(kernel, budget=5, dtype="float64"), rows)
    assert model.n_rounds == len(rows)
    go_on_alike(model, checkpoint.loads(checkpoint.dumps(model)), rows)


@each_path
@pytest.mark.parametrize(
    ("kernel", "exponents"),
    [
        (rb.Laplacian(), (-300, 75)), (rb.Linear(), (-300, 75)), (None, (73, 75)),
        (None, (140, 150)), (rb.Linear(), (-160, -140)),
    ],
    ids=str,
)  # fmt: skip
def test_whatever_is_learned_can_be_loaded(make, kernel, exponents):
    rng = np.random.default_rng(1)
    model = make(kernel)
    for values, sign, y in zip(
        10 ** rng.uniform(*exponents, (60, 3)), rng.choice([-1, 1], (60, 3)), rng.random(60) < 0.5,
        strict=True,
    ):  # fmt: skip
        with contextlib.suppress(ValueError):
            model.learn_one(dict(zip("abc", (values * sign).tolist(), strict=True)), bool(y))
    data = checkpoint.dumps(model)
    assert checkpoint.dumps(checkpoint.loads(data)) == data


@each_kernel
def test_kernels_are_kept(kernel):
    model = trained(rb.KernelPerceptron(kernel))
    if isinstance(kernel, rb.FunctionKernel):
        with pytest.raises(CheckpointError, match=r"FunctionKernel.* cannot be stored"):
            checkpoint.dumps(model)
        return
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert loaded.resolved_kernel == model.resolved_kernel
    go_on_alike(model, loaded)


def test_equal_models_are_equal_bytes():
    models = [trained(rb.TightestPerceptron(budget=5)) for _ in range(2)]
    assert checkpoint.dumps(models[0]) == checkpoint.dumps(models[1])


def test_names_come_and_go():
    model = rb.TightestPerceptron(budget=6)
    rows = [
        ({f"n{t % 9}": 1.0, ("pair", t // 3): 0.5, t: -1.0, None: 2.0}, t % 5 < 2)
        for t in range(60)
    ]
    trained(model, rows[:40])
    loaded = checkpoint.loads(checkpoint.dumps(model))
    go_on_alike(model, loaded, rows[40:])


LABELS = {
    "texts": ["ham", "spam", "", "state"],
    "integers": [3, -1, 0, 10**20],
    "truth values and more": [True, False, "maybe", 0.5],
    "tuples": [("a", 1), ("a", ("b", 2.5)), (), frozenset({1, "x"})],
}


def labelled(labels, examples=ROWS):
    """Return examples with random labels, of which the last one comes late."""
    rng = np.random.default_rng(1)
    return [(x, labels[rng.integers(3 if t < 70 else 4)]) for t, (x, _) in enumerate(examples)]


def check_further_labels(make, labels, n_learned):
    examples = labelled(labels)
    model = trained(make(None), examples[:n_learned])
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert list(map(type, loaded.classes)) == list(map(type, model.classes))
    for x, y in examples[n_learned:]:
        assert loaded.scores_one(x) == model.scores_one(x)
        assert loaded.predict_one(x) == model.predict_one(x)
        model.learn_one(x, y)
        loaded.learn_one(x, y)
    assert set(loaded.classes) == set(labels)
    assert checkpoint.dumps(loaded) == checkpoint.dumps(model)


@each_path
@pytest.mark.parametrize("n_learned", [2, 60])
def test_a_loaded_model_learns_further_labels(make, n_learned):
    check_further_labels(make, LABELS["tuples"], n_learned)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_a_loaded_model_learns_further_labels_of_any_kind(labels):
    check_further_labels(PATHS["Forgetron"], labels, n_learned=60)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (trained(rb.Forgetron(), [({}, Answer.YES), ({}, Answer.NO)]), "Answer cannot be stored"),
        (
            trained(rb.Forgetron(), [({}, "a"), ({}, "b"), ({}, b"c")]),
            "Forgetron: bytes cannot",
        ),
        (linear_model.PAClassifier(), "PAClassifier cannot be stored"),
        (preprocessing.StandardScaler(window_size=9) | rb.Forgetron(), "window_size"),
        (rb.Forgetron(rb.FunctionKernel(max)), "Forgetron: FunctionKernel cannot be stored"),
        (
            trained(rb.Forgetron(), [({frozenset("a"): 1.0, b"b": 1.0}, True)]),
            "bytes cannot be stored, as it is no plain value, unless its class is registered",
        ),
        (trained(rb.Forgetron(), [({}, Place(1, 2)), ({}, "b")]), "Place cannot be stored"),
        (trained(rb.Forgetron(), [({Place(1, 2): 1.0}, True)]), "Place cannot be stored"),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else "",
)
def test_what_cannot_be_stored_is_named(model, message):
    with pytest.raises(CheckpointError, match=message):
        checkpoint.dumps(model)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def test_files_are_replaced_as_a_whole(path, monkeypatch):
    first, second = trained(rb.Forgetron(budget=5)), trained(rb.Forgetron(budget=9))
    checkpoint.save(first, path)

    def fail(source, target):
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        checkpoint.save(second, path)
    assert os.listdir(path.parent) == [path.name]
    assert checkpoint.load(path).budget == 5
    monkeypatch.undo()
    checkpoint.save(second, path, {"note": "two"})
    loaded, extra = checkpoint.restore(path)
    assert (loaded.budget, extra) == (9, {"note": "two"})
    assert os.listdir(path.parent) == [path.name]


def test_errors_name_the_file(path):
    path.write_bytes(b"once upon a time")
    with pytest.raises(CheckpointError, match=r"model\.safetensors: this is no valid checkpoint"):
        checkpoint.load(path)
    with pytest.raises(FileNotFoundError):
        checkpoint.load(path.with_name("absent"))


DATA = checkpoint.dumps(trained(rb.TightestPerceptron(budget=5)), {"n": 1})


@given(st.integers(0, 8 * len(DATA) - 1))
def test_no_flipped_bit_goes_unnoticed(bit):
    changed = bytearray(DATA)
    changed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(CheckpointError):
        checkpoint.loads(bytes(changed))


@given(st.integers(0, len(DATA) - 1), st.binary(max_size=20))
def test_no_torn_file_goes_unnoticed(length, rest):
    if DATA[:length] + rest != DATA:
        with pytest.raises(CheckpointError):
            checkpoint.loads(DATA[:length] + rest)


@given(st.binary(max_size=300))
def test_noise_is_no_checkpoint(data):
    with pytest.raises(CheckpointError):
        checkpoint.loads(data)


def test_foreign_files_and_other_versions():
    for metadata in [{"format": "other"}, None]:
        with pytest.raises(CheckpointError, match="another program wrote it"):
            checkpoint.loads(write_tensors({"a": np.zeros(3)}, metadata))
    with pytest.raises(
        CheckpointError, match="this is no valid checkpoint: it is a pickle; load that"
    ):
        checkpoint.loads(pickle.dumps(rb.Forgetron()))
    for version in (0, 1, "2", "2.0", True, None, [2]):
        refused_version(version, "it has the format .*, and only 2 can be read")
    refused_version(3, "it was written by a newer version of river_budget")


def refused_version(version, message):
    content, tensors = parts_of(DATA)
    with pytest.raises(CheckpointError, match=message):
        checkpoint.loads(forged_text(json.dumps(content | {"version": version}), tensors))


def test_a_checkpointer_keeps_the_last_ones(path):
    model = rb.Forgetron(budget=5)
    checkpointer = checkpoint.Checkpointer(model, path, every=10, keep=3)
    for t, (x, y) in enumerate(ROWS[:55], 1):
        model.learn_one(x, y)
        checkpointer.step({"example": t})
    saved = [checkpoint.restore(path.with_name(path.name + end)) for end in ("", ".1", ".2")]
    assert [extra["example"] for _, extra in saved] == [50, 40, 30]
    assert [model.n_rounds for model, _ in saved] == [50, 40, 30]
    assert len(os.listdir(path.parent)) == 3


def test_a_checkpointer_refuses_at_once(path):
    with pytest.raises(ValueError, match="every"):
        checkpoint.Checkpointer(rb.Forgetron(), path, every=0)
    with pytest.raises(ValueError, match="keep"):
        checkpoint.Checkpointer(rb.Forgetron(), path, keep=0)
    with pytest.raises(CheckpointError, match="FunctionKernel"):
        checkpoint.Checkpointer(rb.Forgetron(rb.FunctionKernel(max)), path)


def examples_with_a_time_stamp(n):
    rng = np.random.default_rng(1)
    for _ in range(n):
        names = [name for name in "abcdefgh" if rng.random() < 0.5]
        x = {name: float(rng.normal()) for name in names}
        yield x | {"time": 1.7e9 + float(rng.normal())}, bool(rng.random() < 0.5)


@each_path
def test_sums_over_missing_names_do_not_depend_on_where_they_are_stored(make):
    rows = list(examples_with_a_time_stamp(300))
    model = trained(make(rb.RBF(gamma=0.1)), rows[:100])
    loaded = checkpoint.loads(checkpoint.dumps(model))
    go_on_alike(model, loaded, rows[100:])


def test_distances_in_input_space_do_not_depend_on_where_names_are_stored():
    rng = np.random.default_rng(2)
    rows = [
        ({name: float(rng.integers(9)) / 10 for name in rng.permutation(list("abcdef"))[:4]}, y)
        for y in rng.random(600) < 0.5
    ]
    model = trained(rb.TightestPerceptron(rb.Laplacian(gamma=0.3), budget=20), rows[:200])
    loaded = checkpoint.loads(checkpoint.dumps(model))
    go_on_alike(model, loaded, rows[200:])
