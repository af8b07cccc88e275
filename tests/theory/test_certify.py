from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest
from theorems import MODELS, hard_multiclass_stream, hard_stream, trained

import river_budget as rb
from river_budget import synth
from river_budget.theory import certify
from river_budget.theory.comparators import Comparator, Span

KERNEL = rb.RBF(gamma=1.0)


def spanned_by(comparator):
    """Return a span that has one comparator."""
    return SimpleNamespace(best=lambda bound: comparator)


@pytest.fixture(scope="module")
def stream():
    return list(synth.RotatingGaussians(300, speed=0, seed=1))


def test_a_certificate_by_hand():
    stream = [({"a": 1.0}, True), ({"a": 1.0}, True), ({"a": -1.0}, False), ({"a": -0.5}, True)]
    comparator = Comparator(rb.Linear(), [{"a": 1.0}], [0.5])
    certificate = certify(rb.KernelPerceptron(rb.Linear()), stream, spanned_by(comparator))
    assert certificate.examples == (1, 2, 3, 4)
    (guarantee,) = certificate.guarantees
    assert (guarantee.norm, guarantee.loss) == (0.5, pytest.approx(0.5 + 0.5 + 0.5 + 1.25))
    assert guarantee.mistakes == pytest.approx(0.25 + 2 * 2.75)
    assert certificate.mistakes[-1] <= certificate.bounds[-1]
    assert certificate.mistakes == (1, 1, 1, 2)
    assert certificate.bounds == pytest.approx((1.25, 2.25, 3.25, 5.75))


def test_a_certificate_of_three_labels_by_hand():
    stream = [({"a": 1.0}, y) for y in ["u", "u", "w", "v"]] + [({"b": 1.0}, "v")]
    comparator = Comparator(rb.Linear(), [{"a": 1.0}], [[1.0, -1.0, 0.0]], ["u", "v", "w"])
    certificate = certify(rb.KernelPerceptron(rb.Linear()), stream, spanned_by(comparator))
    # In the second round, the scores of u, v and w are 1, -1 and 0; in the fourth 0, -1 and 1.
    assert certificate.mistakes == (1, 1, 2, 3, 4)
    (guarantee,) = certificate.guarantees
    assert (guarantee.norm, guarantee.loss) == (1.0, 0.5 + 0.5 + 1.5 + 2.0 + 1.0)
    assert certificate.bounds == pytest.approx((2, 3, 6, 10, 12))
    assert certificate.bounds[-1] == 12
    assert certificate.mistakes[-1] <= certificate.bounds[-1]


@pytest.mark.slow
def test_the_stream_is_read_once_and_the_model_stays(stream):
    certified = rb.ModifiedRandomizedBudgetPerceptron(KERNEL, budget=20)
    certificate = certify(certified, iter(stream))
    assert certificate.examples[-1] == len(stream)
    assert certified.n_rounds == 0


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize(
    ("make_stream", "coefficients"),
    [(hard_stream, [0.3, -0.3]), (hard_multiclass_stream, [[0.3, -0.3, 0.1], [-0.3, 0.1, 0.3]])],
)
def test_each_point_is_the_bound_of_the_model_at_that_time(
    monkeypatch, make, make_stream, coefficients
):
    monkeypatch.setitem(certify.__globals__, "N_POINTS", 8)
    stream = make_stream(seed=3)
    g = Comparator(KERNEL, [stream[0][0], stream[-1][0]], coefficients)
    certificate = certify(make(KERNEL), stream, spanned_by(g))
    for n, mistakes, bound in zip(
        certificate.examples, certificate.mistakes, certificate.bounds, strict=True
    ):
        model = trained(make(KERNEL), stream[:n])
        guarantees = model.guarantees(g.norm, g.hinge_losses(stream[:n]).sum())
        assert mistakes == model.n_mistakes
        assert bound == pytest.approx(min(guarantee.mistakes for guarantee in guarantees))


def test_large_values_fail_an_assumption():
    stream = [({"a": 2.0}, True), ({"a": -2.0}, False)]
    certificate = certify(rb.KernelPerceptron(rb.Linear()), stream)
    assert certificate.guarantees[0].failed == ["k(x, x) <= 1"]
    assert certificate.bounds[-1] == math.inf
    assert "FAILS: k(x, x) <= 1" in certificate.table()
    assert json.loads(json.dumps(certificate.to_dict()))["bounds"] == [None, None]


@pytest.mark.slow
def test_each_theorem_has_its_own_comparator(stream):
    certificate = certify(rb.Forgetron(KERNEL, budget=100), stream)
    theorem, run = certificate.guarantees
    assert theorem.norm < run.norm
    assert certificate.mistakes[-1] <= certificate.bounds[-1] == run.mistakes < theorem.mistakes


@pytest.mark.slow
def test_the_model_is_cloned_and_spans_are_shared(stream):
    model, span = rb.ProjectronPlusPlus(KERNEL, norm_bound=2.0), Span(KERNEL, stream)
    shared, alone = certify(model, stream, span=span), certify(model, stream)
    assert model.n_rounds == 0
    assert shared.to_dict() == alone.to_dict()


def test_the_hypothesis_of_a_model_as_comparator_of_another_order_of_labels():
    stream = hard_multiclass_stream(seed=1)
    comparator = Comparator.of(trained(rb.KernelPerceptron(KERNEL), stream))
    loss = comparator.hinge_losses(stream).sum()
    for order in stream, stream[::-1]:
        certificate = certify(rb.KernelPerceptron(KERNEL), order, spanned_by(comparator))
        assert certificate.guarantees[0].loss == pytest.approx(loss)
        assert certificate.mistakes[-1] <= certificate.bounds[-1]


def test_models_without_a_theorem(stream):
    with pytest.raises(ValueError, match="no theorem about TightestPerceptron"):
        certify(rb.TightestPerceptron(), stream)


def test_an_empty_stream():
    with pytest.raises(ValueError, match="no examples"):
        certify(rb.Forgetron(), [])
