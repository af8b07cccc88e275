"""The native parts of Mnemotron: triangles with terms, states, copies, and equal bits on all lanes."""

from __future__ import annotations

import copy
import math
import pickle
import sys

import numpy as np
import pytest
from states import content

import river_budget as rb
from river_budget import synth
from river_budget._core.loops import use_lanes
from river_budget._core.posteriors import Posteriors, Triangles
from river_budget._core.store import Store

EXPERTS = [(0, 1.0, 0.1), (0, 0.998, 0.1)]


def matrix_of(n, seed=1):
    points = np.random.default_rng(seed).normal(size=(n, n + 2))
    return points @ points.T / (n + 2)


def learned(n_rounds=150, budget=17, n_labels=2, **parameters):
    """Return a model that has replaced vectors, and whose matrices have terms that wait."""
    model = rb.Mnemotron(budget, **parameters)
    for t, (x, _) in enumerate(synth.TwoGaussians(n_rounds, flip=0.2, seed=2)):
        model.predict_one(x)
        model.learn_one(x, t % n_labels if t % 3 else x[0] > 0, w=1.0 + t % 2)
    return model


@pytest.fixture
def lanes():
    """Yield a function that sets the widest vectors; afterwards the widest possible are used."""
    yield use_lanes
    use_lanes(8)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 8, 9, 31])
def test_triangles_give_back_their_matrices(n):
    triangles, matrices = Triangles(2, 32), [matrix_of(n), matrix_of(n, 2)]
    for i, matrix in enumerate(matrices):
        triangles.set(i, matrix)
    assert (triangles.matrices_of(n) == np.array(matrices)).all()
    other = Triangles(2, 32)
    other.restore(triangles.state(n), n)
    assert content(other.state(n)) == content(triangles.state(n))


def test_terms_belong_to_the_matrices():
    state = learned()._f.posteriors.covariances.state(17)
    assert state["signs"].any()
    triangles = Triangles(len(state["signs"]), 24)
    triangles.restore(state, 17)
    without = {**state, "terms": state["terms"][:0], "signs": 0 * state["signs"]}
    plain = Triangles(len(state["signs"]), 24)
    plain.restore(without, 17)
    difference = triangles.matrices_of(17) - plain.matrices_of(17)
    expected, places = np.zeros_like(difference), np.argwhere(state["signs"])
    for (i, k), term in zip(places, state["terms"], strict=True):
        expected[i] += state["signs"][i, k] * np.outer(term, term)
    assert difference == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_labels", [2, 4])
def test_all_lanes_give_the_same_bits(lanes, n_labels):
    states = []
    for most in (2, 4, 8):
        lanes(most)
        states.append(content(learned(n_labels=n_labels)._f.own_state()))
    assert states[0] == states[1] == states[2]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_go_on_with_the_same_bits(copied):
    model = learned()
    other = copied(model)
    for x, y in synth.TwoGaussians(100, seed=3):
        assert other.predict_proba_one(x) == model.predict_proba_one(x)
        model.learn_one(x, y)
        other.learn_one(x, y)
    assert content(other._f.own_state()) == content(model._f.own_state())


def test_questions_change_nothing():
    model = learned()
    before = content(model.state())
    for x, _ in synth.TwoGaussians(20, seed=4):
        model.novelty_one(x)
        model.ask(x)
        model.scores_one(x)
    model.numerical_errors()
    assert content(model.state()) == before


def test_means_are_those_of_the_plain_sum():
    posteriors = Posteriors(Store((rb.RBF(gamma=0.5),), "float32", [False]), EXPERTS, 9)
    matrices = np.array([-0.1 * matrix_of(9), -0.2 * matrix_of(9, 2)])
    means = np.arange(18.0).reshape(2, 1, 9)
    posteriors.replace([0], np.eye(9)[None], [0, 1], matrices, means)
    assert (posteriors.moments(9)[0] == matrices).all()
    assert (posteriors.moments(9)[1] == means).all()
    assert posteriors.mean(np.array([0.25, 0.75]), 9) == pytest.approx(
        0.25 * means[0] + 0.75 * means[1]
    )


def test_no_python_code_runs_while_all_posteriors_are_set():
    """An interrupt in between would leave half of a change of the prior, which would be made again."""
    posteriors = Posteriors(Store((rb.RBF(gamma=0.5),), "float32", [False]), EXPERTS, 9)
    inverses = np.eye(9)[None]
    moments = np.array([-0.1 * matrix_of(9)] * 2), np.ones((2, 1, 9))
    calls, former = [], sys.getprofile()
    sys.setprofile(lambda frame, event, argument: calls.append((event, frame.f_code.co_name)))
    try:
        posteriors.replace([0], inverses, [0, 1], *moments)
    finally:
        sys.setprofile(former)
    assert [name for event, name in calls if event == "call"] == []
    assert posteriors.moments(9)[1].all()


@pytest.mark.parametrize("step", ["rescale", "grams", "replace"])
def test_an_interrupt_while_scales_change_leaves_no_half_of_it(step):
    """The change of the prior is applied once, whatever was interrupted."""
    model, other = learned(4), learned(4)
    scales = model._feature_scales
    scales.factors, scales.gamma = {0: 2.0, 1: 0.5}, 0.3
    other._rescale(scales)

    class Interrupted:
        """The experts, their store or their posteriors, of which one method raises once."""

        def __init__(self, inner):
            vars(self)["inner"] = inner

        def __setattr__(self, name, value):
            setattr(self.inner, name, value)

        def __getattr__(self, name):
            if name in ("store", "posteriors"):
                return Interrupted(getattr(self.inner, name))
            if name != step:
                return getattr(self.inner, name)

            def interrupted(*values):
                getattr(self.inner, name)(*values)
                raise KeyboardInterrupt

            return interrupted

    f = model._f
    model._f = Interrupted(f)
    with pytest.raises(KeyboardInterrupt):
        model._rescale(scales)
    model._f = f
    model._rescale(scales)
    assert model.coefficients == pytest.approx(other.coefficients, rel=1e-9)
    assert model.numerical_errors()["inverses"] < 1e-9


def forged(state, *keys, value):
    """Return a copy of a state with another value under nested keys."""
    first, *others = keys
    return {**state, first: forged(state[first], *others, value=value) if others else value}


@pytest.mark.parametrize(
    ("keys", "change", "message"),
    [
        (("posteriors", "means"), lambda a: a * math.nan, "not finite"),
        (("posteriors", "means"), lambda a: a[:, :, 1:], "shape"),
        (("posteriors", "inverses", "blocks"), lambda a: -a, "inverse Gram matrix"),
        (("posteriors", "inverses", "blocks"), lambda a: a[:, 1:], "shape"),
        (("posteriors", "covariances", "blocks"), lambda a: -a, "covariance"),
        (("posteriors", "covariances", "blocks"), lambda a: 1e6 * a, "is wrong"),
        (("posteriors", "covariances", "terms"), lambda a: 1e6 * a, "is wrong"),
        (("posteriors", "covariances", "terms"), lambda a: a[:, 1:], "shape"),
        (("posteriors", "covariances", "signs"), lambda a: a[:, 1:], "shape"),
        (("posteriors", "covariances", "signs"), lambda a: a.astype(int), "shape"),
        (("weights", "prompt"), lambda a: a[1:], "shape"),
        (("weights", "late"), lambda a: a * math.inf, "not finite"),
        (("weights", "switch"), lambda a: a[1:], "shape"),
        (("weights", "is_awake"), lambda a: 1, "whether a label was late"),
        (("repeats", "last"), lambda a: 7, "last label"),
        (("repeats", "last"), lambda a: None, "last label"),
        (("repeats", "length"), lambda a: -1, "count"),
        (("rehearsal", "labels"), lambda a: a[1:], "shape"),
        (("rehearsal", "labels"), lambda a: a - [0, 0, -1, -1], "exemplars"),
        (("rehearsal", "labels"), lambda a: a - [0, 0, 9, 9], "exemplars"),
        (("rehearsal", "owners"), lambda a: a + 1, "label of a vector"),
        (("rehearsal", "owners"), lambda a: a[1:], "shape"),
        (("rehearsal", "turn"), lambda a: -1, "count"),
        (("rehearsal", "turn"), lambda a: 0.0, "count"),
        (("n_mistakes",), lambda a: 10**6, "more mistakes"),
        (("posteriors", "n_rebuilds"), lambda a: -1, "count"),
    ],
)
def test_forged_states_are_refused(keys, change, message):
    model = learned()
    state, value = model.state(), model._f.learned()
    for key in keys:
        value = value[key]
    with np.errstate(invalid="ignore"):
        hypothesis = forged(state["hypothesis"], *keys, value=change(value))
    with pytest.raises(ValueError, match=message):
        rb.Mnemotron(17).restore({**state, "hypothesis": hypothesis})


def test_more_vectors_than_the_budget_are_refused():
    with pytest.raises(ValueError, match="budget"):
        rb.Mnemotron(16).restore(learned().state())
