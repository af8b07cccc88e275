"""Streams that are hard for budgets, and checks of the theorems on them."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

import river_budget as rb
from river_budget.theory.comparators import Comparator, Span

SLACK = 1e-6
ROOT_SLACK = 1e-4  # for square roots of rounding errors


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


def hard_pool(seed):
    """Return examples with 3 to 10 labels at orthogonal or close points, the labels 0 and 1 first."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(3, 11))
    n_points = int(rng.integers(n_labels, 2 * n_labels + 1))
    close = _unit_vectors(rng, n_points, int(rng.integers(2, 7)))
    points = close if rng.random() < 0.5 else np.eye(n_points)
    return [(dict(enumerate(x)), i % n_labels) for i, x in enumerate(points.tolist())]


def hard_multiclass_stream(seed, n_rounds=120):
    """Return examples of a hard pool, which are repeated many times.

    In a cycle, the oldest support vector is removed shortly before it is needed. New labels may
    come late, and a tenth of the labels may be random.

    """
    rng, pool = np.random.default_rng(seed), hard_pool(seed)
    rounds, n_points = np.arange(n_rounds), len(pool)
    order = rounds % n_points if rng.random() < 0.5 else rng.integers(n_points, size=n_rounds)
    if rng.random() < 0.5:
        order %= 2 + rounds * (n_points - 1) // n_rounds
    labels = np.array([y for _, y in pool])[order]
    noise = rng.random(n_rounds) < rng.choice([0.0, 0.1])
    labels[noise] = rng.permutation(labels)[noise]
    return pool[:2] + [(pool[i][0], y) for i, y in zip(order, labels.tolist(), strict=True)]


def hardest_stream(model, seed, n_rounds=120):
    """Train a model on the example of a hard pool with the lowest margin in each round.

    Returns the stream. The pool starts with two examples and grows to its full size.

    """
    pool = hard_pool(seed)
    trained(model, stream := pool[:2])
    for t in range(n_rounds):
        known = pool[: 2 + t * (len(pool) - 1) // n_rounds]
        stream.append(
            min(known, key=lambda example: margin(all_scores(model, *example, known), example[1]))
        )
        model.learn_one(*stream[-1])
    return stream


def _unit_vectors(rng, n, n_features):
    vectors = rng.normal(size=(n, n_features))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def comparators(model, stream, seed):
    """Yield the best comparator for each theorem about a trained model, and random ones."""
    kernel = model.resolved_kernel
    distinct = list({tuple(x.items()): x for x, _ in stream}.values())
    span = _span(kernel, tuple((tuple(x.items()), y) for x, y in stream))
    for i in range(len(model.guarantees(0.0, 0.0))):
        yield span.best(lambda norm, loss, i=i: model.guarantees(norm, loss)[i].mistakes)
    rng, classes = np.random.default_rng(seed), model.classes
    shape = (len(distinct), len(classes)) if len(classes) > 2 else len(distinct)
    for size in [0.1, 1.0, 3.0]:
        yield Comparator(kernel, distinct, size * rng.normal(size=shape), classes)


@functools.lru_cache(maxsize=200)
def _span(kernel, items):
    """Return the span of a stream; it keeps the minimizers, which are the same for all algorithms."""
    return Span(kernel, [(dict(x), y) for x, y in items])


def violated_theorems(model, stream, seed=0):
    """Return the theorems whose bounds a trained model exceeds on its stream."""
    violated = []
    for comparator in comparators(model, stream, seed):
        loss = comparator.hinge_losses(stream).sum()
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


def all_scores(model, x, y, stream):
    """Return the score of each label, also of y and of the second one in a stream if they are new."""
    scores, labels = model.scores_one(x), [*dict.fromkeys(label for _, label in stream), None, None]
    if len(scores) < 2:
        f = scores.get(labels[0], 0.0)
        return {labels[0]: f, labels[1]: -f}
    return {y: 0.0, **scores}


def margin(scores, y):
    """Return the margin of an example, half of what its label's score is above all others."""
    return (scores[y] - max(score for label, score in scores.items() if label != y)) / 2


def summed_psi(model, stream):
    """Train a Forgetron, and return the sum of Psi over all removals, by its definition."""
    damage, vectors, directions, steps = 0.0, [], [], np.zeros(0)
    for x, y in stream:
        mistakes, scores = model.n_mistakes, all_scores(model, x, y, stream)
        model.learn_one(x, y)
        if model.n_mistakes == mistakes:
            continue
        rival = max((label for label in scores if label != y), key=scores.get)
        vectors, directions, steps = [*vectors, x], [*directions, {y: 1, rival: -1}], [*steps, 1.0]
        if len(vectors) > model.budget:
            phi, sigma = model.last_shrink_factor, steps[0]
            mu = sum(
                step * model.resolved_kernel(vectors[0], z) * _product(directions[0], direction) / 2
                for z, direction, step in zip(vectors, directions, steps, strict=True)
            )
            damage += (sigma * phi) ** 2 + 2 * sigma * phi * (1 - phi * mu)
            vectors, directions, steps = vectors[1:], directions[1:], phi * np.array(steps[1:])
    return damage


def _product(a, b):
    return sum(value * b.get(label, 0) for label, value in a.items())


class Projected(NamedTuple):
    """An example that a Projectron learned, before it did so.

    Attributes
    ----------
    margin
        Its margin.
    square, delta
        The squared norm of its projection onto the span, and its distance from the span.
    is_added
        Whether it became a support vector.

    """

    margin: float
    square: float
    delta: float
    is_added: bool


def projections(model, stream):
    """Train a Projectron, and yield the projection of each example with a loss."""
    kernel, gram = model.resolved_kernel, np.zeros((0, 0))
    for x, y in stream:
        vectors, before = model.support_vectors, margin(all_scores(model, x, y, stream), y)
        model.learn_one(x, y)
        if before < 1:
            n = len(vectors)
            if n > len(gram):  # no vector is ever removed
                gram = np.reshape([kernel(a, b) for a in vectors for b in vectors], (n, n))
            row = np.array([kernel(a, x) for a in vectors])
            square = float(row @ np.linalg.solve(gram, row))
            delta = math.sqrt(max(0.0, kernel(x, x) - square))
            yield Projected(before, square, delta, model.n_support > n)


def summed_beta(model, stream):
    """Train a Projectron++ with a norm bound, and return the sum of beta by Eq. 16 and 17."""
    improvement = 0.0
    for example in projections(model, stream):
        if example.margin > 0:
            loss = 1 - example.margin
            tau = min(loss / example.square, 1.0)
            beta = tau * (2 * loss - tau * example.square - 2 * model.norm_bound * example.delta)
            improvement += max(0.0, beta)
    return improvement


def least_progress(model, stream):
    """Train a Projectron with a norm bound, and return the least progress of a projected mistake.

    Corollary 1 needs 1/2, which is what Eq. 13 is for.

    """
    progress = [
        2 * (1 - example.margin) - example.square - 2 * model.norm_bound * example.delta
        for example in projections(model, stream)
        if example.margin <= 0 and not example.is_added
    ]
    return min(progress, default=math.inf)


def contradictions(make, stream, seed):
    """Return which theorems, and which definitions in them, a model contradicts on a stream."""
    model = trained(make(), stream)
    found = violated_theorems(model, stream, seed)
    if abs(model.norm - Comparator.of(model).norm) > SLACK:
        found.append("norm")
    if isinstance(model, rb.Forgetron):
        damage = summed_psi(make(), stream)
        if abs(damage - model.removal_damage) > SLACK:
            found.append("removal damage")
        if damage > 15 / 32 * model.n_mistakes + SLACK:
            found.append("limit of the removal damage")
    if isinstance(model, rb.Projectron) and model.norm_bound:
        found += ["progress of a projection"] * (least_progress(make(), stream) < 0.5 - ROOT_SLACK)
    if isinstance(model, rb.ProjectronPlusPlus):
        difference = summed_beta(make(), stream) - model.bound_improvement
        found += ["bound improvement"] * (abs(difference) > ROOT_SLACK)
    return found


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
    "BudgetPassiveAggressive-S": lambda kernel: rb.BudgetPassiveAggressive(
        kernel, budget=2, maintenance="simple"
    ),
    "BudgetPassiveAggressive-NN": lambda kernel: rb.BudgetPassiveAggressive(
        kernel, budget=3, C=0.5
    ),
    "BudgetPassiveAggressive-P": lambda kernel: rb.BudgetPassiveAggressive(
        kernel, budget=2, maintenance="projection"
    ),
    "ProjectedGradient": lambda kernel: rb.ProjectedGradient(kernel, 3, eta=0.4, norm_bound=1.5),
    "Ahpatron-4": lambda kernel: rb.Ahpatron(kernel, budget=4),
    "Ahpatron-U": lambda kernel: rb.Ahpatron(kernel, budget=50, norm_bound=0.8),
}

# Kernels with k(x, x) <= 1 on the unit ball.
KERNELS = [
    rb.Linear(),
    rb.RBF(gamma=1.0),
    rb.Laplacian(gamma=0.5),
    rb.RationalQuadratic(gamma=2.0),
    rb.Normalized(rb.Polynomial(degree=3, coef0=1.0)),
]
