"""Streams that are hard for budgets, and checks of the theorems on them."""

from __future__ import annotations

import numpy as np

import river_budget as rb
from river_budget.theory.comparators import Comparator, Span

SLACK = 1e-6


def hard_stream(seed, n_rounds=120):
    """Return examples at a few points of the unit ball, which are repeated many times.

    A removal forgets points that occur again. A projection may confuse points with their
    neighbours: each of the first points has one neighbour on either side, mostly with different
    labels.

    """
    rng = np.random.default_rng(seed)
    n_points, n_features = int(rng.integers(1, 5)), int(rng.integers(2, 7))
    points, sides = (_unit_vectors(rng, n_points, n_features) for _ in range(2))
    sides -= (sides * points).sum(axis=1, keepdims=True) * points
    sides /= np.linalg.norm(sides, axis=1, keepdims=True)
    angle = rng.uniform(0.1, 1.0)
    pairs = [np.cos(angle) * points + sign * np.sin(angle) * sides for sign in (1, -1)]
    labels = (
        rng.random(2 * n_points) < 0.5 if rng.random() < 0.3 else np.arange(2 * n_points) < n_points
    )
    order = rng.integers(2 * n_points, size=n_rounds)
    if rng.random() < 0.5:
        order = np.sort(order) if rng.random() < 0.2 else np.arange(n_rounds) % (2 * n_points)
    flipped = rng.random(n_rounds) < rng.choice([0.0, 0.1])
    X = np.concatenate([points, np.concatenate(pairs)[order]])
    y = np.concatenate([rng.random(n_points) < 0.5, labels[order] != flipped])
    return [(dict(enumerate(x)), label) for x, label in zip(X.tolist(), y.tolist(), strict=True)]


def _unit_vectors(rng, n, n_features):
    vectors = rng.normal(size=(n, n_features))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def comparators(model, stream, seed):
    """Yield the best comparator for each theorem about a trained model, and random ones."""
    kernel = model.resolved_kernel
    distinct = list({tuple(x.items()): x for x, _ in stream}.values())
    span = Span(kernel, stream)
    for i in range(len(model.guarantees(0.0, 0.0))):
        yield span.best(lambda norm, loss, i=i: model.guarantees(norm, loss)[i].mistakes)
    rng = np.random.default_rng(seed)
    for size in [0.1, 1.0, 3.0]:
        yield Comparator(kernel, distinct, size * rng.normal(size=len(distinct)))


def violated_theorems(model, stream, seed=0):
    """Return the theorems whose bounds a trained model exceeds on its stream."""
    violated = []
    for comparator in comparators(model, stream, seed):
        loss = comparator.hinge_loss(stream)
        violated += [
            guarantee.theorem
            for guarantee in model.guarantees(comparator.norm, loss)
            if model.n_mistakes > guarantee.mistakes + SLACK
        ]
    return violated


def trained(model, stream):
    for x, y in stream:
        model.learn_one(x, y)
    return model


def summed_psi(model, stream):
    """Train a Forgetron, and return the sum of Psi over all removals, by its definition."""
    damage = 0.0
    for x, y in stream:
        mistakes, vectors, alphas = model.n_mistakes, model.support_vectors, model.coefficients
        model.learn_one(x, y)
        if model.n_mistakes == mistakes or len(vectors) < model.budget:
            continue
        sign = 1.0 if y else -1.0
        grown = Comparator(model.resolved_kernel, [*vectors, x], [*alphas, sign])
        mu = np.sign(alphas[0]) * grown.decision_function_one(vectors[0])
        weight, phi = abs(alphas[0]) * model.last_shrink_factor, model.last_shrink_factor
        damage += weight**2 + 2 * weight * (1 - phi * mu)
    return damage


MODELS = {
    "KernelPerceptron": rb.KernelPerceptron,
    "Forgetron-2": lambda kernel: rb.Forgetron(kernel, budget=2),
    "Forgetron-5": lambda kernel: rb.Forgetron(kernel, budget=5),
    "Forgetron-83": lambda kernel: rb.Forgetron(kernel, budget=83),
    "Projectron-eta": lambda kernel: rb.Projectron(kernel, eta=0.3),
    "Projectron-0": lambda kernel: rb.Projectron(kernel, eta=0),
    "Projectron-U": lambda kernel: rb.Projectron(kernel, norm_bound=2.0),
    "Projectron-U-5": lambda kernel: rb.Projectron(kernel, norm_bound=2.0, budget=5),
    "ProjectronPlusPlus-eta": lambda kernel: rb.ProjectronPlusPlus(kernel, eta=0.3),
    "ProjectronPlusPlus-U": lambda kernel: rb.ProjectronPlusPlus(kernel, norm_bound=2.0),
    "SimplifiedForgetron": lambda kernel: rb.SimplifiedForgetron(kernel, budget=500),
}

# Kernels with k(x, x) <= 1 on the unit ball.
KERNELS = [
    rb.Linear(),
    rb.RBF(gamma=1.0),
    rb.Laplacian(gamma=0.5),
    rb.RationalQuadratic(gamma=2.0),
    rb.Normalized(rb.Polynomial(degree=3, coef0=1.0)),
]
