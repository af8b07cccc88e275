"""When labels come, and how models are compared with late ones."""

from __future__ import annotations

import numpy as np
import pytest
from river import datasets, evaluate, metrics, stream

import river_budget as rb
from river_budget.evaluate import Delays

STREAM = [({"u": float(i)}, i % 3 == 0) for i in range(400)]


def ages(delays, examples=STREAM):
    """Return how many examples were predicted between each example and its label, by example."""
    n_predicted, found = 0, {}
    for number, x, y in delays.turns(examples):
        assert x == examples[number][0]
        if y is None:
            n_predicted += 1
        else:
            assert y == examples[number][1]
            found[number] = n_predicted - 1 - number
    return found


@pytest.mark.parametrize("delay", [0, 1, 7])
def test_a_fixed_delay(delay):
    found = ages(Delays(delay))
    assert sorted(found) == list(range(400))
    assert [found[i] for i in range(400 - delay)] == [delay] * (400 - delay)


def test_the_order_is_that_of_river():
    """Up to the moment: a label that is due with an example comes after it, and not before it."""
    ours = [(i, y) for i, _, y in Delays(3).turns(STREAM)]
    rivers = [(i, y) for i, _, y in stream.simulate_qa(STREAM, moment=None, delay=4)]
    assert ours == rivers


@pytest.mark.parametrize(
    ("distribution", "largest"), [("uniform", 40), ("exponential", 400), ("batches", 19)]
)
def test_drawn_delays(distribution, largest):
    found = ages(Delays(20, distribution, seed=1))
    drawn = [found[i] for i in range(300)]
    assert sorted(found) == list(range(400))
    assert max(drawn) <= largest
    mean = 9.5 if distribution == "batches" else 20
    assert np.mean(drawn) == pytest.approx(mean, abs=2.5)
    assert ages(Delays(20, distribution, seed=1)) == found


def test_labels_that_never_come():
    found = ages(Delays(5, missing=0.25, seed=1))
    assert len(found) == pytest.approx(300, abs=25)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mean": -1}, "mean"),
        ({"mean": 1, "distribution": "normal"}, "distribution"),
        ({"mean": 1, "missing": 1.5}, "missing"),
        ({"mean": 1, "seed": 0.5}, "seed"),
    ],
)
def test_parameters_that_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Delays(**parameters)


def test_a_comparison_with_late_labels_is_progressive_validation():
    examples = list(datasets.Bananas().take(500))
    model = rb.Forgetron(rb.RBF(gamma=1.0), budget=20)
    comparison = rb.evaluate.compare({"it": model}, examples, n_points=7, delays=Delays(30))
    (run,) = comparison.runs["it"]
    accuracy = evaluate.progressive_val_score(
        iter(examples), model.clone(), metrics.Accuracy(), delay=31
    )
    assert run.examples[-1] == 500
    # The first 31 have no prediction, which River's metrics pass over.
    assert run.mistakes[-1] - 31 == round((500 - 31) * (1 - accuracy.get()))


def test_continual_learning_with_late_labels():
    """What is learned in a step is the same, so the tests of a model that forgets nothing are."""
    tasks = [rb.synth.RotatingGaussians(speed=0, start=a, seed=1) for a in (0.0, 3.1)]
    model = rb.KernelPerceptron(rb.RBF(gamma=1.0))
    prompt, late = (
        rb.evaluate.lifelong(model, tasks, n_learn=200, n_test=50, delays=delays)
        for delays in (Delays(), Delays(20))
    )
    assert late.wrong.shape == prompt.wrong.shape
    assert late.wrong[:20].all()
    assert late.prequential_error > prompt.prequential_error
    assert late.accuracy_matrix == pytest.approx(prompt.accuracy_matrix)
    assert late.support_sizes[-1] == prompt.support_sizes[-1]
