"""Extreme values: models stay finite and accurate, or refuse the example."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from algorithms import KERNELS, each_budgeted, each_budgeted_class, each_class, each_path
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses
from river import preprocessing
from runs import learned
from scipy import integrate, special

import river_budget as rb
from river_budget import synth
from river_budget.perceptrons import _dirichlet
from river_budget.perceptrons.forgetron import _largest_phi, _psi

pytestmark = pytest.mark.filterwarnings("error", "ignore:all kernel values of:UserWarning")

# Tolerance of incrementally updated values, relative to the largest k(x, x).
TOLERANCE = 1e-9
# The same for the inverses of Mnemotron, which checks one column at a time, to 1e-6.
TOLERANCE_OF_INVERSES = 1e-5

NOISY = list(synth.TwoGaussians(1000, flip=0.3, seed=1))


def assert_finite(model, x):
    assert math.isfinite(model.decision_function_one(x))
    assert np.isfinite(model.coefficients).all()
    assert math.isfinite(model.norm)
    probabilities = model.predict_proba_one(x).values()
    assert all(0 <= p <= 1 for p in probabilities)
    assert sum(probabilities) == pytest.approx(1.0)


def assert_accurate(model, largest=1.0):
    for name, residual in model.numerical_errors().items():
        tolerance = TOLERANCE_OF_INVERSES if name == "inverses" else TOLERANCE
        assert residual <= tolerance * max(1.0, largest), name


def learns(model, x, y):
    """Learn an example and return whether it was accepted. A refusal must not change the model."""
    before = pickle.dumps(model)
    try:
        model.learn_one(x, y)
    except ValueError:
        assert pickle.dumps(model) == before
        return False
    return True


def self_value(model, x):
    """Return k(x, x), which is 1 under all kernels of Mnemotron."""
    return 1.0 if isinstance(model, rb.Mnemotron) else model.resolved_kernel(x, x)


def magnitudes(lowest, highest):
    sizes = st.floats(lowest, highest).map(lambda exponent: 10.0**exponent)
    return st.builds(math.copysign, sizes, st.sampled_from([1, -1])) | st.just(0.0)


RANGES = [(-300, 300), (-170, 75), (-160, -70), (-20, 20), (60, 76)]
MAGNITUDES = st.sampled_from(RANGES).flatmap(
    lambda ends: st.lists(magnitudes(*ends), min_size=24, max_size=24)
)


@pytest.mark.slow
@each_class
@given(
    values=MAGNITUDES,
    kernel=st.sampled_from(KERNELS),
    order=st.lists(st.tuples(st.integers(0, 7), st.booleans()), min_size=10, max_size=30),
)
@settings(max_examples=6)
def test_values_from_1e_minus_300_to_1e300_are_learned_or_refused(make, values, kernel, order):
    """A few examples are repeated in random order."""
    examples = [dict(zip("abc", values[i : i + 3], strict=True)) for i in range(0, 24, 3)]
    model, largest = make(kernel), 1.0
    for i, y in order:
        if learns(model, examples[i], y):
            largest = max(largest, self_value(model, examples[i]))
            assert_finite(model, examples[i])
    assert_accurate(model, largest)


@each_path
def test_what_is_no_dict_is_refused(make):
    for model in [make(None), learned(make(None), NOISY[:10])]:
        for x in [None, 1.0, [1.0, 2.0], [[1.0]], "a"]:
            refuses("x must be a dict", model.learn_one, x, True)


def check_gammas(make, kernel, gammas):
    """All kernel values are almost 1 for the smallest gamma, and almost 0 for the largest."""
    for gamma in gammas:
        model = learned(make(kernel(gamma=gamma)), NOISY[:200])
        for x, _ in NOISY[:5]:
            assert_finite(model, x)
        assert_accurate(model)


@each_class
def test_gammas_from_1e_minus_9_to_1e9(make):
    check_gammas(make, rb.RBF, [1e-9, 1e-3, 1e3, 1e9])


@each_path
@pytest.mark.parametrize(
    "kernel", [rb.Laplacian, rb.RationalQuadratic, rb.AdditiveRationalQuadratic]
)
def test_extreme_gammas_of_other_kernels(make, kernel):
    check_gammas(make, kernel, [1e-9, 1e9])


@each_class
def test_duplicates_by_the_thousand(make):
    """Three of them, which depend on each other."""
    kernel, examples = rb.Linear(), [x for x, _ in NOISY[:3]]
    model = learned(make(kernel), [(examples[t % 3], y) for t, (_, y) in enumerate(NOISY)])
    for x in examples:
        assert_finite(model, x)
    assert_accurate(model, largest=max(kernel(x, x) for x in examples))


@each_class
def test_constant_features(make):
    """All features are constant, with and without a scaler."""
    for kernel in KERNELS:
        model = make(kernel)
        for pipeline in [model, preprocessing.StandardScaler() | make(kernel)]:
            for _, y in NOISY[:40]:
                pipeline.learn_one({"a": 5.0, "b": 0.0}, y)
            classifier = pipeline if pipeline is model else pipeline[-1]
            assert_finite(classifier, {"a": 5.0, "b": 0.0})
            assert_accurate(classifier, largest=kernel({"a": 5.0}, {"a": 5.0}))


@each_path
def test_a_constant_feature_beside_others_changes_nothing(make):
    kernel = rb.RBF(gamma=0.7)
    model, padded = make(kernel), make(kernel)
    for x, y in NOISY[:300]:
        wider = {**x, "constant": 1e6}
        assert padded.decision_function_one(wider) == model.decision_function_one(x)
        model.learn_one(x, y)
        padded.learn_one(wider, y)


@each_budgeted
def test_budgets_of_one_and_two(make):
    for budget, kernel in [(1, rb.RBF(gamma=0.7)), (2, rb.Normalized(rb.Polynomial(degree=2)))]:
        model = make(kernel).clone({"budget": budget})
        for x, y in NOISY[:150]:
            model.learn_one(x, y)
            assert model.n_support <= budget
        assert_finite(model, x)
        assert_accurate(model)


@pytest.mark.slow
@each_budgeted_class
def test_nothing_drifts_over_4000_mistakes(make):
    """Every label is the opposite of the prediction."""
    model = make(rb.RBF(gamma=0.7)).clone({"budget": 10})
    for t in range(4_000):
        x, _ = NOISY[t % len(NOISY)]
        model.learn_one(x, not model.predict_one(x))
    assert model.n_mistakes > 3_900
    assert_finite(model, x)
    assert_accurate(model)


@pytest.mark.parametrize("size", [1e-120, 1e-81, 1e-60, 1.0, 1e60])
def test_vectors_of_any_norm_are_normalized(size):
    kernel = rb.Normalized(rb.Linear())
    model = learned(rb.KernelPerceptron(kernel), [({"a": 3 * size, "b": 4 * size}, True)])
    assert kernel({"a": 3 * size, "b": 4 * size}, {"a": 1.0}) == pytest.approx(0.6)
    assert model.decision_function_one({"a": 3 * size, "b": 4 * size}) == pytest.approx(1.0)
    assert model.decision_function_one({"a": -size}) == pytest.approx(-0.6)


def test_counts_stay_finite_with_large_kernel_values():
    """k(x, x) is about 1e60, and every removal multiplies counts by that."""
    model = rb.TightestPerceptron(rb.Linear(), budget=2)
    for x, y in NOISY:
        x = {name: 1e30 * value for name, value in x.items()}
        model.learn_one(x, y)
        assert 0 <= model.posterior_one(x) <= 1
    assert model.state()["validation"]["counts"].max() > 1e60


@pytest.mark.parametrize(
    ("counts", "probability"), [([1e22, 1e22], 0.5), ([3e200, 1e200], 1.0), ([1.0, 1e17], 0.0)]
)
def test_posteriors_of_large_counts(counts, probability):
    negative, positive = counts[::-1]
    posteriors = _dirichlet.largest_share(np.array([[negative, positive]]))
    assert posteriors[0] == pytest.approx([1 - probability, probability])


@pytest.mark.parametrize("size", [1e3, 1e5, 9e5])
@pytest.mark.parametrize("sigmas", [0.0, 0.3, 1.0, 3.0])
def test_posteriors_of_two_large_counts_and_a_negligible_one(size, sigmas):
    larger = size + sigmas * math.sqrt(size)
    posteriors = _dirichlet.largest_share(np.array([[larger, size, 0.01]]))[0]
    probability = special.betainc(larger, size, 0.5)
    assert posteriors == pytest.approx([1 - probability, probability, 0.0], abs=1e-9)


@pytest.mark.parametrize(
    "parameters",
    [[0.02, 0.01, 0.01], [0.05, 0.03, 0.01, 0.01], [0.3, 0.2, 0.1], [0.01] * 30 + [0.4]],
)
def test_posteriors_of_small_priors(parameters):
    """The integrand is wide in log G: P(G < exp(-1000)) is 0.00005 for the parameter 0.01."""
    a = np.array(parameters)

    def log_below(t):
        if t < -40:  # where the distribution function is a power
            return a * t - special.gammaln(a + 1)
        return np.log(special.gammainc(a, math.exp(t)))

    def density(t, c):
        others = log_below(t).sum() - log_below(t)[c]
        return math.exp(a[c] * t - math.exp(t) - special.gammaln(a[c]) + others)

    ends = [-3000, -300, -40, -5, 0, 2, 5]
    expected = [
        sum(
            integrate.quad(density, *pair, args=(c,), epsabs=1e-12)[0]
            for pair in itertools.pairwise(ends)
        )
        for c in (0, len(a) - 1)
    ]
    assert _dirichlet.largest_share(a[None])[0][[0, -1]] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("counts", [[1e200, 1.0, 1.0], [1e22, 1e22, 1.0], [1e-300] * 3, [0.0] * 3])
def test_posteriors_of_extreme_counts(counts):
    posteriors = _dirichlet.largest_share(np.array([counts]) + 1e-14)[0]
    largest = np.array(counts) == max(counts)
    assert posteriors == pytest.approx(largest / largest.sum(), abs=1e-10)


@given(sigma=st.floats(0.01, 1.0))
def test_no_square_root_of_a_negative_rounding_error(sigma):
    """The parabola touches the slack at phi = 1, where the discriminant is 0."""
    mu = (1 + sigma) / 2
    slack = math.nextafter(_psi(sigma, 1.0, mu), 0.0)
    assert _largest_phi(sigma, mu, slack) == pytest.approx(1.0, abs=1e-6)


def test_the_slack_of_the_forgetron_is_never_negative():
    """With margins of 1e100 and more, the damage of a removal is subject to cancellation."""
    rng = np.random.default_rng(1)
    model = rb.Forgetron(rb.Linear(), budget=3)
    for _ in range(2000):
        x = {name: rng.normal() * 10 ** rng.uniform(55, 70) for name in "ab"}
        model.learn_one(x, not model.predict_one(x))
        assert model.removal_damage <= 15 / 32 * model.n_mistakes


@pytest.mark.parametrize("parameters", [{"mode": 0}, {"mode": 1, "C": 1e300}])
def test_a_passive_aggressive_step_that_would_overflow_is_not_made(parameters):
    model = rb.KernelPAClassifier(rb.Linear(), **parameters)
    learned(model, [({"a": 1e-160}, True), ({"a": 1e-70}, True)])
    assert model.n_support == 1
    assert model.decision_function_one({"a": 1e-70}) == pytest.approx(1.0)
