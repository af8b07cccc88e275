"""The archive of Mnemotron: a KernelLDA that is one more expert."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from states import content
from test_rehearsal import accuracy, exemplars, learned, tasks

import river_budget as rb
from river_budget import checkpoint


def archive_of(model):
    return model._archive._f


def test_it_is_the_discriminant_of_all_examples():
    examples = tasks()
    model = learned(examples, archive=20, max_classes=6)
    alone = rb.KernelLDA(20)
    for x, y in examples:
        alone.learn_one(x, y)
    assert content(archive_of(model).own_state()) == content(alone._f.own_state())


def test_tasks_are_remembered_by_the_archive_alone():
    """Experts that forget within rounds know nothing of the labels that have been away."""
    forgets = {"forgetting": ((0.5, 1.0),), "kernels": (rb.RBF(gamma=0.5),), "repeats": False}
    test = tasks(length=50, seed=2)
    assert accuracy(learned(tasks(), **forgets), test) < 0.5
    assert accuracy(learned(tasks(), archive=50, **forgets), test) > 0.8


def test_mixers_are_charged_for_exemplars_that_they_are_fitted_to():
    """The hedge is wholly on the archive then; the mixers know the exemplars better than the labels."""
    weights = learned(tasks(), archive=50).mixture_weights
    assert weights["hedge"] > 0.99
    assert learned(tasks()).mixture_weights["hedge"] < 0.5


@pytest.mark.parametrize(("first", "others"), [(1e12, 1e12), (1e6, 1e6), (1e-30, 1.0)])
def test_weights_of_any_size(first, others):
    model = rb.Mnemotron(budget=10, archive=20, class_weight="balanced")
    for t, (x, y) in enumerate(tasks(length=100)[:200]):
        model.learn_one(x, y, first if t < 2 else others)
    assert sum(model.predict_proba_one(x).values()) == pytest.approx(1.0)
    assert content(checkpoint.loads(checkpoint.dumps(model)).state()) == content(model.state())


@pytest.mark.slow
@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda m: pickle.loads(pickle.dumps(m)),
        lambda m: checkpoint.loads(checkpoint.dumps(m)),
    ],
)
@pytest.mark.parametrize("n", [0, 1, 100, 400])
def test_copies_and_checkpoints_go_on(copied, n):
    examples = tasks()
    model = learned(examples[:n], archive=20)
    other = copied(model)
    assert archive_of(other) is not archive_of(model)
    for x, y in examples[n:]:
        assert other.predict_proba_one(x) == pytest.approx(model.predict_proba_one(x), rel=1e-6)
        model.learn_one(x, y)
        other.learn_one(x, y)
    assert content(archive_of(other).own_state()) == content(archive_of(model).own_state())


def test_blocks_are_learned_like_their_rows():
    examples = tasks(length=120)
    one = learned(examples, budget=10, archive=20)
    many = rb.Mnemotron(budget=10, archive=20)
    many.learn_many(pd.DataFrame([x for x, _ in examples]), pd.Series([y for _, y in examples]))
    assert content(many._f.own_state()) == content(one._f.own_state())
    assert content(archive_of(many).own_state()) == content(archive_of(one).own_state())
    assert exemplars(many) == exemplars(one)


def test_its_memory_is_counted():
    without, model = learned(tasks()), learned(tasks(), archive=300)
    matrix = 4 * 300 * 301 / 2
    assert matrix < model.memory_bytes - without.memory_bytes < 3 * matrix


@pytest.mark.parametrize("value", [0, 11, 2.5, "many", 20_000])
def test_bad_values(value):
    with pytest.raises(ValueError, match="archive"):
        rb.Mnemotron(archive=value)


def test_arrays():
    examples = [({"v": np.array(list(x.values()), np.float32)}, y) for x, y in tasks()]
    assert accuracy(learned(examples, archive=20), examples) > 0.8
