from __future__ import annotations

import math

import numpy as np
import pytest
from river import linear_model
from runs import mistakes_percent, orders
from traces import replay

import river_budget as rb
from benchmarks.reproduce import published
from benchmarks.reproduce.verdicts import verdict
from river_budget import synth


@pytest.mark.parametrize(
    ("mode", "first", "second"),
    [
        # loss 1 on (2), then loss 1 + 1/2 on (-1, +) for w = 1/2; limited by C or damped by 1/(2C)
        (0, 0.25, 1.5),
        (1, 0.2, 0.2),
        (2, 1 / (4 + 2.5), None),
    ],
)
def test_a_trace_by_hand(mode, first, second):
    model = rb.KernelPAClassifier(rb.Linear(), C=0.2, mode=mode)
    model.learn_one({"u": 2.0}, True)
    assert model.coefficients == pytest.approx([first])
    w = 2 * first
    model.learn_one({"u": -1.0}, True)
    expected = (1 + w) / 3.5 if second is None else second
    assert model.coefficients == pytest.approx([first, expected])
    assert model.n_mistakes == 2


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_the_linear_kernel_is_rivers_classifier(mode):
    model = rb.KernelPAClassifier(rb.Linear(), C=0.1, mode=mode)
    linear = linear_model.PAClassifier(C=0.1, mode=mode, learn_intercept=False)
    for x, y in synth.TwoGaussians(500, seed=1):
        p = linear.predict_proba_one(x)[True] if linear.weights else 0.5
        f = model.decision_function_one(x)
        assert 1 / (1 + math.exp(-f)) == pytest.approx(p, abs=1e-9)
        if len(model.classes) == 2:
            assert model.predict_proba_one(x)[True] == pytest.approx(p, abs=1e-9)
        model.learn_one(x, y)
        linear.learn_one(x, y)


def test_against_the_projectron_authors_library():
    model = rb.KernelPAClassifier(rb.RBF(gamma=1.0))
    margins, sizes, trace = replay(model, "pa1")
    assert np.array_equal(sizes, trace["num_sv"])
    assert np.abs(margins - trace["margin"]).max() < 1e-7
    assert np.abs(model.coefficients - trace["alpha"]).max() < 1e-7


@pytest.mark.slow
def test_adult9_as_published(adult9):
    """Table 1 of the Projectron paper."""
    models = [rb.KernelPAClassifier(rb.RBF(gamma=1 / 50)) for _ in range(2)]
    errors = [
        mistakes_percent(model, adult9, order)
        for model, order in zip(models, orders(len(adult9)), strict=True)
    ]
    expected = published.projectron()["Adult9", "KernelPAClassifier", None]
    assert verdict(errors, expected["mistakes"]) == "within"
    assert verdict([model.n_support for model in models], expected["support"]) == "within"


def test_the_zero_vector_is_not_stored():
    for mode in [0, 1, 2]:
        model = rb.KernelPAClassifier(rb.Linear(), mode=mode)
        model.learn_one({}, True)
        assert (model.n_support, model.n_mistakes) == (0, 1)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [({"C": 0}, "C"), ({"C": math.inf}, "C"), ({"mode": 3}, "mode"), ({"mode": True}, "mode")],
)
def test_parameters_out_of_range(parameters, name):
    with pytest.raises(ValueError, match=name):
        rb.KernelPAClassifier(**parameters)


def test_a_mode_from_a_grid_of_numpy():
    assert [rb.KernelPAClassifier(mode=mode).mode for mode in np.arange(3)] == [0, 1, 2]
