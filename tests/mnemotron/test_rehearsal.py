"""Labels that are absent: their exemplars keep the weights of the experts that remember."""

from __future__ import annotations

import copy
import math

import numpy as np
import pandas as pd
import pytest
from states import content

import river_budget as rb
from river_budget import checkpoint

CENTERS = [(4 * math.cos(a), 4 * math.sin(a)) for a in np.linspace(0, 5, 6)]


def tasks(n_tasks=3, length=200, seed=1):
    """Return examples of two labels at a time, which never come back."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n_tasks) * 2, length) + rng.integers(0, 2, n_tasks * length)
    points = np.array(CENTERS)[labels] + rng.normal(size=(len(labels), 2))
    return [
        ({"u": float(u), "v": float(v)}, int(y)) for (u, v), y in zip(points, labels, strict=True)
    ]


def learned(examples, **parameters):
    model = rb.Mnemotron(**{"budget": 30, **parameters})
    for x, y in examples:
        model.learn_one(x, y)
    return model


def exemplars(model):
    store = model._f.rehearsal.store
    return [store.vector(slot) for slot in store.by_age]


def accuracy(model, examples):
    return np.mean([model.predict_one(x) == y for x, y in examples])


def test_tasks_are_remembered():
    model = learned(tasks())
    assert accuracy(model, tasks(length=50, seed=2)) > 0.85
    weights = model.expert_weights
    assert sum(w for (_, factor, _), w in weights.items() if factor == 1) > 0.99


def test_the_first_of_two_tasks_is_remembered():
    """Exactly half of the labels are absent then."""
    model = learned(tasks(n_tasks=2))
    test = tasks(n_tasks=2, length=50, seed=2)
    assert accuracy(model, test[:50]) > 0.85
    assert accuracy(model, test[50:]) > 0.85


def test_a_single_absent_label_is_not_rehearsed():
    """It is half of two labels, as the alarms of a stream that has few of them."""
    absent, others = (
        [(x, y) for x, y in tasks(n_tasks=1) if y == label][:length]
        for label, length in ((0, 70), (1, 90))
    )
    model = learned(absent)
    for x, y in others:
        model.learn_one(x, y)
        assert model._f.own_state()["rehearsal"]["turn"] == 0


def test_the_newest_two_exemplars_of_a_label_are_kept():
    examples, due = tasks(length=600), []
    for label in range(6):
        own = [x for x, y in examples if y == label]
        due += [own[63], own[255]]
    assert sorted(map(str, exemplars(learned(examples)))) == sorted(map(str, due))


def test_a_model_without_absent_labels_rehearses_nothing():
    """It is another model than that of sorted labels, but its weights are those of live examples."""
    examples = [xy for rows in zip(*[iter(tasks(1))] * 2, strict=True) for xy in rows]
    model = learned(examples)
    assert model._f.own_state()["rehearsal"]["turn"] == 0
    assert learned(tasks())._f.own_state()["rehearsal"]["turn"] != 0


def test_the_memory_of_exemplars_is_counted_and_bounded():
    model, sizes = rb.Mnemotron(budget=5), []
    for x, y in tasks(length=400):
        model.learn_one(x, y)
        sizes.append((model.memory_bytes, model._f.rehearsal.store.n))
    assert max(n for _, n in sizes) == 12
    assert sizes[-1][0] == sizes[-200][0]
    assert model._f.rehearsal.store.nbytes > 12 * 2 * 8
    assert model._f.nbytes > model._f.rehearsal.store.nbytes + model._f.posteriors.nbytes


def arrays_of(examples):
    return [({"a": np.array([x["u"], x["v"]], np.float32), "n": x["u"]}, y) for x, y in examples]


@pytest.mark.parametrize("kind", [list, arrays_of])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: checkpoint.loads(checkpoint.dumps(m))])
def test_copies_and_checkpoints_go_on_with_the_same_examples(copied, kind):
    examples = kind(tasks())
    model = learned(examples[:450])
    other = copied(model)
    assert str(exemplars(other)) == str(exemplars(model))
    for x, y in examples[450:]:
        assert other.predict_proba_one(x) == pytest.approx(model.predict_proba_one(x), rel=1e-6)
        model.learn_one(x, y)
        other.learn_one(x, y)
    assert str(exemplars(other)) == str(exemplars(model))
    mine, others = model._f.own_state()["rehearsal"], other._f.own_state()["rehearsal"]
    assert content(mine) == content(others)


@pytest.mark.parametrize("kernels", [None, (rb.Normalized(rb.FunctionKernel(rb.RBF(0.5))),)])
def test_blocks_rehearse_like_their_rows(kernels):
    examples = tasks(length=120)
    one = learned(examples, budget=10, kernels=kernels)
    many = rb.Mnemotron(budget=10, kernels=kernels)
    many.learn_many(pd.DataFrame([x for x, _ in examples]), pd.Series([y for _, y in examples]))
    assert content(many._f.own_state()) == content(one._f.own_state())
    assert exemplars(many) == exemplars(one)


def test_exemplars_whose_names_have_vanished_or_changed():
    """Exemplars have an array where later vectors have a number: they are passed over."""
    kinds = [
        lambda x: {"a": np.array(list(x.values())), "old": 1.0},
        lambda x: {"b": x["u"], "c": x["v"]},
        lambda x: {"a": x["u"], "c": x["v"]},
    ]
    model = rb.Mnemotron(budget=2, forgetting=((0.9, 0.1),))
    examples = tasks(length=200)
    for t, (x, y) in enumerate(examples):
        x = kinds[t // 200](x)
        assert sum(model.predict_proba_one(x).values()) == pytest.approx(1.0 if t else 0.0)
        model.learn_one(x, y)
        if t == 399:
            assert not any("a" in vector for vector in model.support_vectors)
    assert model._f.rehearsal.store.n == 8


@pytest.mark.parametrize("is_exemplar", [False, True])
def test_an_interrupt_changes_nothing(is_exemplar):
    """At an example of a round that rehearses, and at one that becomes an exemplar."""
    examples, calls = tasks(length=120), []
    start = [i for i, (_, y) in enumerate(examples) if y == 4][15] if is_exemplar else 320

    def function(x, z):
        if calls:
            calls.pop()
            if not calls:
                raise KeyboardInterrupt
        return 1 / (1 + sum((x[i] - z[i]) ** 2 for i in x))

    model = learned(
        examples[:start], budget=8, kernels=(rb.Normalized(rb.FunctionKernel(function)),)
    )
    before, (x, y) = content(model._f.own_state()), examples[start]
    n_interrupts = 0
    for n in range(1, 1000):
        other = copy.deepcopy(model)
        calls.extend(range(n))
        try:
            other.learn_one(x, y)
        except KeyboardInterrupt:
            n_interrupts += 1
            assert content(other._f.own_state()) == before
            assert exemplars(other) == exemplars(model)
        if calls:
            break
    # A row of the example, and one among exemplars; or two rows, and one of an exemplar in between.
    assert (8 + 2 * 4 if is_exemplar else 3 * 8) < n_interrupts < 999
