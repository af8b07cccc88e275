from __future__ import annotations

import math

import numpy as np
import pytest
from river import datasets, evaluate, metrics, preprocessing
from river.datasets import synth as river_synth
from scipy.stats import norm

import river_budget as rb
from river_budget import synth


class Plain:
    """The algorithm as specified, with explicit matrices and inverses."""

    jitter, link, rho = 1e-3, 0.3, 0.995

    def __init__(self, kernels, forgetting, budget, novelty):
        self.kernels, self.budget, self.novelty = kernels, budget, novelty
        self.experts = [(z, *pair) for z in range(len(kernels)) for pair in forgetting]
        self.vectors = []
        self.means = [np.zeros(0) for _ in self.experts]
        self.covariances = [np.zeros((0, 0)) for _ in self.experts]
        self.log_weights = np.zeros(len(self.experts))
        self.n_replaced = 0

    def inverse(self, z, vectors):
        gram = np.array([[self.kernels[z](s, t) for t in vectors] for s in vectors])
        n = len(vectors)
        return np.linalg.inv(gram.reshape(n, n) + self.jitter * np.eye(n))

    def forecast(self, x):
        self.rows = [np.array([k(s, x) for s in self.vectors]) for k in self.kernels]
        self.m = np.array(
            [a @ self.rows[e[0]] for a, e in zip(self.means, self.experts, strict=True)]
        )
        self.p = norm.cdf(self.m / math.sqrt(self.link))
        self.w = np.exp(self.log_weights) / np.exp(self.log_weights).sum()
        return self.w @ (2 * self.p - 1)

    def learn(self, x, y):
        probabilities = self.p if y > 0 else 1 - self.p
        self.log_weights = self.rho * self.log_weights + np.log(0.02 + 0.96 * probabilities)
        c, q, r = [], [], []
        for e, (z, factor, noise) in enumerate(self.experts):
            self.means[e] = math.sqrt(factor) * self.means[e]
            self.covariances[e] = factor * self.covariances[e]
            m, k = math.sqrt(factor) * self.m[e], self.rows[z]
            c.append(self.covariances[e] @ k)
            v = noise + 1 + self.jitter + k @ c[-1]
            learns = y * m < 1
            q.append((y - m) / v if learns else 0.0)
            r.append(-1 / v if learns else 0.0)
        if not any(r):
            return
        inverses = [self.inverse(z, self.vectors) for z in range(len(self.kernels))]
        u = [inverse @ row for inverse, row in zip(inverses, self.rows, strict=True)]
        g = [1 + self.jitter - row @ v for row, v in zip(self.rows, u, strict=True)]
        share = sum(w * g[e[0]] for w, e in zip(self.w, self.experts, strict=True))
        add = not self.vectors or (share / (1 + self.jitter) > self.novelty and min(g) > 1e-7)
        # With the incoming example added, every score is a squared mean over a variance.
        vectors = [*self.vectors, x]
        grown = [self.inverse(z, vectors) for z in range(len(self.kernels))]
        means, covariances = [], []
        for e in range(len(self.experts)):
            s = np.append(c[e], 1.0)
            means.append(np.append(self.means[e], 0.0) + q[e] * s)
            covariances.append(np.pad(self.covariances[e], (0, 1)) + r[e] * np.outer(s, s))
        scores = sum(
            w * a**2 / (np.diag(grown[e[0]]) + np.diag(cov))
            for w, a, cov, e in zip(self.w, means, covariances, self.experts, strict=True)
        )
        full = len(self.vectors) == self.budget
        if add and full and scores[-1] <= scores[:-1].min():
            add = False
        if not add:
            for e, (z, _, _) in enumerate(self.experts):
                s, h = c[e] + u[z], 1 / (1 + r[e] * g[z])
                self.means[e] = self.means[e] + h * q[e] * s
                self.covariances[e] = self.covariances[e] + h * r[e] * np.outer(s, s)
            return
        self.vectors, self.means, self.covariances = vectors, means, covariances
        if full:
            j = int(np.argmin(scores[:-1]))
            self.n_replaced += 1
            keep = [i for i in range(len(vectors)) if i != j]
            for e, (z, _, _) in enumerate(self.experts):
                a, p = grown[z][:, j], (grown[z] + covariances[e])[:, j]
                mean = means[e] - means[e][j] / p[j] * p
                covariance = covariances[e] + np.outer(a, a) / a[j] - np.outer(p, p) / p[j]
                self.means[e], self.covariances[e] = mean[keep], covariance[np.ix_(keep, keep)]
            self.vectors = [vectors[i] for i in keep]


@pytest.mark.parametrize("budget", [12, 25])
def test_against_a_plain_implementation(budget):
    names = ("a", "b", "c")
    kernels = (
        rb.RationalQuadratic(gamma=1 / 3),
        rb.AdditiveRationalQuadratic(gamma=1 / 3, names=names),
    )
    forgetting = ((1.0, 0.1), (0.998, 0.1), (0.9, 0.5))
    model = rb.Mnemotron(budget, kernels, forgetting)
    plain = Plain(kernels, forgetting, budget, 0.01)
    rng = np.random.default_rng(3)
    for t in range(500):
        x = dict(zip(names, rng.normal(size=3).tolist(), strict=True))
        if t % 5 == 4:
            del x["b"]
        y = 1.0 if (x["a"] + math.sin(t / 50) > 0) != (rng.random() < 0.1) else -1.0
        f = plain.forecast(x)
        assert model.decision_function_one(x) == pytest.approx(f, abs=1e-8)
        assert list(model.expert_weights.values()) == pytest.approx(plain.w.tolist(), abs=1e-8)
        model.learn_one(x, y > 0)
        plain.learn(x, y)
        assert model.support_vectors == plain.vectors
    assert plain.n_replaced > 50
    mixed = sum(w * a for w, a in zip(softmax(plain.log_weights), plain.means, strict=True))
    assert model.coefficients == pytest.approx(mixed, abs=1e-8)


def softmax(values):
    return np.exp(values) / np.exp(values).sum()


def test_a_new_name_is_active_in_the_first_kernel_only():
    additive = rb.AdditiveRationalQuadratic(gamma=1.0, names=("a",))
    model = rb.Mnemotron(budget=10, kernels=(rb.RationalQuadratic(gamma=1.0), additive))
    for value in [-1.0, 1.0, -2.0, 2.0]:
        model.learn_one({"a": value}, value > 0)
    model.learn_one({"a": 0.5, "new": 9.0}, False)
    radial, additive = model._stores
    assert radial.vector(4) == {"a": 0.5, "new": 9.0}
    assert additive.vector(4) == {"a": 0.5}
    with pytest.raises(ValueError, match="'late'"):
        model.predict_one({"a": 1.0, "late": math.nan})


def test_the_leading_forgetting_factor_indicates_the_speed_of_drift():
    def leading_factor(stream):
        model = rb.Mnemotron(budget=50)
        for x, y in stream:
            model.learn_one(x, y)
        weights = {}
        for (_, factor, _), weight in model.expert_weights.items():
            weights[factor] = weights.get(factor, 0.0) + weight
        return max(weights, key=weights.get)

    stationary = synth.TwoGaussians(3000, seed=1)
    rotating = (
        ({0: math.cos(t / 40) * a - math.sin(t / 40) * b, 1: math.sin(t / 40) * a + math.cos(t / 40) * b}, y)
        for t, (x, y) in enumerate(synth.TwoGaussians(3000, seed=1))
        for a, b in [x.values()]
    )  # fmt: skip
    assert leading_factor(stationary) >= 0.9999
    assert leading_factor(rotating) <= 0.998


@pytest.mark.parametrize(
    ("dataset", "goal"), [(datasets.Bananas(), 0.893), (datasets.Phishing(), 0.912)], ids=str
)
def test_accuracy_on_rivers_data(dataset, goal):
    model = preprocessing.StandardScaler() | rb.Mnemotron()
    assert evaluate.progressive_val_score(dataset, model, metrics.Accuracy()).get() >= goal


@pytest.mark.slow
@pytest.mark.slow
def test_accuracy_on_a_drifting_stream():
    stream = river_synth.RandomRBFDrift(
        seed_model=42, seed_sample=42, n_classes=2, n_features=10, n_centroids=50,
        change_speed=0.001, n_drift_centroids=50,
    )  # fmt: skip
    model = preprocessing.StandardScaler() | rb.Mnemotron()
    accuracy = evaluate.progressive_val_score(stream.take(20_000), model, metrics.Accuracy())
    assert accuracy.get() >= 0.901


def test_inaccurate_inverses_are_recomputed():
    model = rb.Mnemotron(budget=20, kernels=(rb.RationalQuadratic(gamma=2.0),))
    stream = list(synth.TwoGaussians(4000, flip=0.3, seed=1))
    for x, y in stream[:2000]:
        model.learn_one(x, y)
    assert model.n_rebuilds == 0
    model._inverses[0, :20, :20] *= 1.001
    for x, y in stream[2000:]:
        model.learn_one(x, y)
    assert model.n_rebuilds == 1
    gram = [model._stores[0].row(slot) for slot in range(20)]
    residual = model._inverses[0, :20, :20] @ (np.array(gram) + 1e-3 * np.eye(20)) - np.eye(20)
    assert abs(residual).max() < 1e-6


def test_memory_is_as_documented():
    model = rb.Mnemotron(budget=100)
    assert model.memory_bytes == pytest.approx(8 * (8 + 2) * 101**2, rel=0.05)


def test_probabilities_are_those_of_the_mixture():
    model = rb.Mnemotron(budget=20)
    for x, y in synth.TwoGaussians(300, seed=1):
        model.learn_one(x, y)
    f, p = model.decision_function_one(x), model.predict_proba_one(x)
    assert p[True] == pytest.approx((1 + f) / 2)
    assert sum(model.expert_weights.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernels": (rb.Linear(),)}, "use Normalized"),
        ({"kernels": ()}, "kernels must be a tuple of kernels"),
        ({"kernels": rb.RBF()}, "kernels must be a tuple of kernels"),
        ({"kernels": (math.dist,)}, "kernel must be a kernel"),
        ({"forgetting": ()}, "forgetting must be pairs"),
        ({"forgetting": (1.0, 0.1)}, "forgetting must be pairs"),
        ({"forgetting": ((1.5, 0.1),)}, "at most 1"),
        ({"forgetting": ((0.0, 0.1),)}, "a forgetting factor must be a positive"),
        ({"forgetting": ((0.5, 0.0),)}, "a noise variance must be a positive"),
        ({"novelty": -1.0}, "novelty"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(ValueError, match=message):
        rb.Mnemotron(**parameters)


@pytest.mark.parametrize("order", [1, -1])
def test_a_name_that_one_kernel_ignores_is_read_by_the_other(order):
    """Two examples that are equal to one kernel must not be equal to the model."""
    kernels = (rb.AdditiveRationalQuadratic(gamma=0.5, names=("a",)), rb.RBF(gamma=0.5))[::order]
    model, asked = rb.Mnemotron(10, kernels=kernels), rb.Mnemotron(10, kernels=kernels)
    for t in range(30):
        x, y = {"a": t % 7 / 7, "new": t % 3 - 1.0}, t % 3 == 0
        f = model.decision_function_one(x)
        assert asked.decision_function_one({"a": x["a"], "new": 1.5}) is not None
        assert asked.decision_function_one(x) == f
        model.learn_one(x, y)
        asked.learn_one(x, y)
    assert asked.coefficients.tolist() == model.coefficients.tolist()
    assert model.support_vectors[0] == {"a": 0.0, "new": -1.0}
