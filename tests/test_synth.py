from __future__ import annotations

import itertools

import numpy as np
import pytest
from algorithms import BUDGET, PERCEPTRONS, UNBOUNDED

import river_budget as rb
from river_budget import synth


def arrays(stream):
    pairs = list(stream)
    return np.array([list(x.values()) for x, _ in pairs]), np.array([y for _, y in pairs])


def test_two_gaussians_have_the_published_moments():
    X, y = arrays(synth.TwoGaussians(20_000, flip=0.0, seed=1))
    for label, mean in [(True, 1.0), (False, -1.0)]:
        assert X[y == label].mean(axis=0) == pytest.approx([mean, mean], abs=0.05)
        assert X[y == label].var(axis=0) == pytest.approx([0.2, 2.0], rel=0.05)
    assert y.mean() == pytest.approx(0.5, abs=0.02)


def test_labels_are_flipped_as_often_as_asked_for():
    X, y = arrays(synth.TwoGaussians(20_000, flip=0.1, seed=1))
    assert ((X.sum(axis=1) > 0) != y).mean() > 0.1
    far = np.abs(X[:, 0]) > 1.8
    assert ((X[far, 0] > 0) != y[far]).mean() == pytest.approx(0.1, abs=0.03)


def test_the_board_without_noise():
    for x, y in synth.NoisyCheckerboard(500, squares=3, noise=0.0, seed=2):
        assert y == ((int(3 * x[0]) + int(3 * x[1])) % 2 == 1)


def test_noise_flips_labels_and_nothing_else():
    noisy, clean = (list(synth.NoisyCheckerboard(5000, noise=p, seed=2)) for p in (0.15, 0.0))
    assert [x for x, _ in noisy] == [x for x, _ in clean]
    flipped = np.mean([a != b for (_, a), (_, b) in zip(noisy, clean, strict=True)])
    assert flipped == pytest.approx(0.15, abs=0.02)


@pytest.mark.parametrize("make", [synth.TwoGaussians, synth.NoisyCheckerboard])
def test_streams_are_seeded_and_end(make):
    assert list(make(10, seed=3)) == list(make(10, seed=3))
    assert list(make(10, seed=3)) != list(make(10, seed=4))
    assert list(make(10, seed=3)) == list(itertools.islice(make(99, seed=3), 10))
    assert make(10).n_samples == 10


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: synth.TwoGaussians(n_samples=0), "n_samples"),
        (lambda: synth.TwoGaussians(flip=1.5), "flip"),
        (lambda: synth.NoisyCheckerboard(noise=-0.1), "noise"),
        (lambda: synth.NoisyCheckerboard(squares=0), "squares"),
    ],
)
def test_parameters_out_of_range(make, name):
    with pytest.raises(ValueError, match=name):
        make()


@pytest.mark.parametrize("name", sorted(set(PERCEPTRONS) - UNBOUNDED))
def test_no_budget_withstands_the_unit_vectors(name):
    """Every round is a mistake, and the sum of the unit vectors never errs."""
    model = PERCEPTRONS[name](rb.Linear())
    stream = synth.UnitVectors(BUDGET, n_samples=200)
    comparator = dict.fromkeys(range(BUDGET + 1), 1.0)
    for x, y in stream.against(model):
        assert model.predict_one(x) is False
        model.learn_one(x, y)
        assert rb.Linear()(comparator, x) == 1.0
    assert model.n_mistakes == 200


def test_round_robin_is_the_worst_for_those_that_forget_the_oldest():
    for model in [rb.RemoveOldestPerceptron(rb.Linear(), 7), rb.Forgetron(rb.Linear(), 7)]:
        for x, y in synth.UnitVectors(7, n_samples=100):
            model.learn_one(x, y)
        assert model.n_mistakes == 100
