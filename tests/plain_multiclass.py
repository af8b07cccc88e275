"""Plain reference implementations of all perceptrons with any number of labels.

Written from the specification alone, with dicts, lists and loops. Nothing is cached but the kernel
of two dicts: every other value is recomputed from the support vectors in every round. A kernel is a
function k(x, z) of two dicts, a label is any hashable value.

Labels are numbered by columns: 0 is the negative one, 1 the positive one, then come the others by
first appearance. The columns 0 and 1 exist before their labels are seen. The coefficients of a
vector are a dict from columns to numbers that sum to zero; a column that is absent is zero. The
score of column c is g_c(x) = sum_i A_ic k(v_i, x).

Sums use math.fsum, whose result does not depend on the order of the terms, so duplicate support
vectors tie exactly. Vectors are listed oldest first, so values.index(min(values)) is the oldest
vector among ties, and values.index(max(values)) the first column among ties.
"""

from __future__ import annotations

import functools
import math
import random

import numpy as np
from plain import (
    Reservoir,
    between,
    drawn,
    golden_section,
    logistic_slope,
    remembered,
    squared_distance,
)
from scipy import integrate, special


class Plain:
    """The perceptron's template: update on a mistake, (g_y(x) - g_s(x)) / 2 <= 0."""

    def __init__(self, kernel):
        self.kernel = remembered(kernel)
        self.vectors = []  # support vectors, oldest first
        self.rows = []  # their coefficients by columns
        self.columns = {}  # the column of each label
        self.n_rounds = 0
        self.n_mistakes = 0
        self.weight = 1.0  # of this round's example

    @property
    def classes(self):
        """The labels seen, in the order of their columns."""
        return sorted(self.columns, key=self.columns.get)

    @property
    def coefficients(self):
        """The coefficients of each vector by labels, oldest first."""
        return [
            {label: row.get(column, 0.0) for label, column in self.columns.items()}
            for row in self.rows
        ]

    def column(self, label):
        """Return the column of a label, seen or not."""
        if label in self.columns:
            return self.columns[label]
        if not self.columns:
            return 1 if label == 1 else 0  # True == 1
        if len(self.columns) == 1:
            return 1 - next(iter(self.columns.values()))
        return len(self.columns)

    def n_columns(self):
        """Return the number of columns: one for each label, at least two."""
        return max(2, len(self.columns))

    def values(self, x, without=None):
        """Return [g_0(x), g_1(x), ...], optionally without one vector."""
        terms = [[] for _ in range(self.n_columns())]
        for i, (vector, row) in enumerate(zip(self.vectors, self.rows, strict=True)):
            if i != without:
                k = self.kernel(vector, x)
                for column, coefficient in row.items():
                    terms[column].append(coefficient * k)
        return [math.fsum(column) for column in terms]

    def scores(self, x):
        """Return the score of each label."""
        values = self.values(x)
        return {label: values[self.columns[label]] for label in self.classes}

    def margin(self, x, label):
        """Return the margin of an example with a label, seen or not."""
        y, values = self.column(label), self.values(x)
        return margin([*values, 0.0] if y == len(values) else values, y)

    def learn(self, x, label, w=1.0):
        """Learn one example; nothing if its weight is 0."""
        if w == 0:
            return
        self.weight = w
        self.n_rounds += 1
        y = self.columns.setdefault(label, self.column(label))
        values = self.values(x)
        s, m = rival(values, y), margin(values, y)
        if m <= 0:
            self.n_mistakes += 1
            self.mistake(x, y, s, m)
        else:
            self.correct(x, y, s, m)

    def mistake(self, x, y, s, m):
        """Handle a mistake with rival s and margin m."""
        self.add(x, y, s)

    def correct(self, x, y, s, m):
        """Handle a correct prediction."""

    def add(self, x, y, s, tau=1.0):
        """Append a vector, with tau times its weight for its label, and minus that for its rival."""
        self.vectors.append(dict(x))
        self.rows.append({y: self.weight * tau, s: -self.weight * tau})

    def remove(self, i):
        """Remove the vector with index i; 0 is the oldest."""
        del self.vectors[i]
        del self.rows[i]

    def scale(self, factor):
        """Multiply all scores by a factor."""
        self.rows = [{c: factor * value for c, value in row.items()} for row in self.rows]

    def norm(self):
        """Return sqrt(1/2 sum_c ||g_c||^2)."""
        pairs = [
            (row, other, self.kernel(v, w))
            for v, row in zip(self.vectors, self.rows, strict=True)
            for w, other in zip(self.vectors, self.rows, strict=True)
        ]
        terms = [
            row[c] * other[c] * k for row, other, k in pairs for c in row.keys() & other.keys()
        ]
        return math.sqrt(max(math.fsum(terms) / 2, 0.0))

    def project_onto_ball(self, radius):
        """Scale the scores so that the norm is at most the radius."""
        norm = self.norm()
        if norm > radius:
            self.scale(radius / norm)


def rival(values, y):
    """Return the column with the largest score but y, the first one among ties."""
    others = [value if column != y else -math.inf for column, value in enumerate(values)]
    return others.index(max(others))


def margin(values, y):
    """Return (g_y - g_s) / 2 with the rival s of y."""
    return (values[y] - values[rival(values, y)]) / 2


def margins(values):
    """Return the margin of every column as if it were that of the label."""
    largest = rival(values, None)
    second = values[rival(values, largest)]
    return [(v - (second if c == largest else values[largest])) / 2 for c, v in enumerate(values)]


def label_of(row):
    """Return the column of the label of a row with one positive and one negative coefficient."""
    return max(row, key=row.get)


def rival_of(row):
    """Return the column of the stored rival of such a row."""
    return min(row, key=row.get)


class Budgeted(Plain):
    """A model with at most `budget` support vectors."""

    def __init__(self, kernel, budget=100):
        super().__init__(kernel)
        self.budget = budget


class KernelPerceptron(Plain):
    """Every mistake becomes a support vector with coefficients 1 and -1."""


class Stoptron(Budgeted):
    """The perceptron that stops learning once its budget is full."""

    def mistake(self, x, y, s, m):
        if len(self.vectors) < self.budget:
            self.add(x, y, s)


class RemoveOldestPerceptron(Budgeted):
    """Over budget, the oldest vector is removed."""

    def mistake(self, x, y, s, m):
        self.add(x, y, s)
        if len(self.vectors) > self.budget:
            self.remove(0)


class Slotted(Budgeted):
    """A model whose vectors have numbered slots, from which a vector is drawn at random."""

    def __init__(self, kernel, budget=100, seed=None):
        super().__init__(kernel, budget)
        self.key = random.Random(seed).getrandbits(62)
        self.slots = []  # in slot 0, 1, ...: the number of the mistake that added the vector
        self.ages = []  # the same numbers, oldest first

    def put(self, slot, x, y, s, tau):
        """Add a vector in an empty slot, the first one after the others, or replace another."""
        if slot < len(self.slots):
            i = self.ages.index(self.slots[slot])
            self.remove(i)
            del self.ages[i]
            self.slots[slot] = self.n_mistakes
        else:
            self.slots.append(self.n_mistakes)
        self.add(x, y, s, tau)
        self.ages.append(self.n_mistakes)


class RandomizedBudgetPerceptron(Slotted):
    """With a full budget, a random vector is removed before the incoming example is added."""

    def mistake(self, x, y, s, m):
        full = len(self.slots) == self.budget
        slot = int(self.budget * drawn(self.key, self.n_rounds)) if full else len(self.slots)
        self.put(slot, x, y, s, 1.0)


class ModifiedRandomizedBudgetPerceptron(Slotted):
    """w = ball(w + eta z - s(w)), with the term s(w) of a random one of B slots, or 0."""

    def __init__(self, kernel, budget=100, learning_rate=1 / 16, seed=None):
        super().__init__(kernel, budget, seed)
        self.learning_rate = learning_rate

    def mistake(self, x, y, s, m):
        # Drawn at every mistake, full or not.
        slot = int(self.budget * drawn(self.key, self.n_rounds))
        self.put(slot, x, y, s, self.learning_rate)
        self.project_onto_ball(math.sqrt(self.budget) / 8)


class FixedBudgetPerceptron(Budgeted):
    """CKS: over budget, the vector with the largest margin without itself is removed."""

    def mistake(self, x, y, s, m):
        self.add(x, y, s)
        if len(self.vectors) > self.budget:
            margins = [
                margin(self.values(vector, without=j), label_of(row))
                for j, (vector, row) in enumerate(zip(self.vectors, self.rows, strict=True))
            ]
            self.remove(margins.index(max(margins)))


class Forgetron(Budgeted):
    """Self-tuned: shrink the scores just enough to limit the damage of the oldest's removal."""

    def __init__(self, kernel, budget=100):
        super().__init__(kernel, budget)
        self.damage = 0.0  # the paper's Q

    def mistake(self, x, y, s, m):
        self.add(x, y, s)
        if len(self.vectors) > self.budget:
            sigma, mu = max(self.rows[0].values()), self.mu()
            phi = self.largest_phi(sigma, mu, 15 / 32 * self.n_mistakes - self.damage)
            self.scale(phi)  # the incoming example, too
            self.damage += self.psi(sigma, mu, phi)
            self.remove(0)

    def mu(self):
        """Return half the difference of the scores of the oldest vector's label and its rival.

        Both are those of the round in which it was added. The incoming example is in the scores.
        """
        values = self.values(self.vectors[0])
        return (values[label_of(self.rows[0])] - values[rival_of(self.rows[0])]) / 2

    @staticmethod
    def psi(sigma, mu, phi):
        """Return the damage of a removal to the mistake bound."""
        return (sigma * phi) ** 2 + 2 * sigma * phi * (1 - phi * mu)

    def largest_phi(self, sigma, mu, slack):
        """Return the largest phi in (0, 1] with psi = a phi^2 + b phi <= slack, slack > 0."""
        if self.psi(sigma, mu, 1.0) <= slack:
            return 1.0
        a, b = sigma * (sigma - 2 * mu), 2 * sigma
        return 2 * slack / (b + math.sqrt(b * b + 4 * a * slack))  # the root between 0 and 1


class SimplifiedForgetron(Budgeted):
    """If full, remove the smallest step size; decay, add the example, project onto the ball."""

    def __init__(self, kernel, budget=500, learning_rate=1 / 32):
        super().__init__(kernel, budget)
        self.learning_rate = learning_rate
        self.U = math.sqrt(budget / (32 * math.log2(8 * budget)))  # Eq. 12

    def mistake(self, x, y, s, m):
        if len(self.vectors) == self.budget:
            sizes = [max(row.values()) for row in self.rows]
            self.remove(sizes.index(min(sizes)))
        self.scale(max(0.0, 1 - self.learning_rate / self.U**2))
        self.add(x, y, s, self.learning_rate)
        self.project_onto_ball(self.U / 2)


class Projectron(Plain):
    """Mistakes close to the span of the support vectors are projected, others are added."""

    def __init__(self, kernel, eta=None, norm_bound=None, budget=None):
        super().__init__(kernel)
        self.eta = 0.1 if eta is None else eta
        self.norm_bound = norm_bound  # the paper's U
        self.budget = math.inf if budget is None else budget

    def projection(self, x):
        """Return d, ||delta|| and ||Pk||^2 of the projection of k(x, .) (Eqs. 8 and 9)."""
        row = [self.kernel(v, x) for v in self.vectors]
        gram = [[self.kernel(v, w) for w in self.vectors] for v in self.vectors]
        d = np.linalg.solve(gram, row).tolist() if row else []
        projected = math.fsum(di * ki for di, ki in zip(d, row, strict=True))
        k = self.kernel(x, x)
        square = k - projected
        return d, math.sqrt(square) if square > 1e-12 * k else 0.0, projected

    def shift(self, d, y, s, tau):
        """Add tau d times the weight to the label's column, and subtract it from the rival's."""
        tau *= self.weight
        for row, di in zip(self.rows, d, strict=True):
            row[y] = row.get(y, 0.0) + tau * di
            row[s] = row.get(s, 0.0) - tau * di

    def largest_distance(self, m, projected):
        """Return eta, given or by Eq. 13: project if ||delta|| <= eta."""
        if self.norm_bound is None:
            return self.eta
        return (2 * (1 - m) - projected - 0.5) / (2 * self.norm_bound)

    def mistake(self, x, y, s, m):
        d, distance, projected = self.projection(x)
        full = len(self.vectors) >= self.budget
        close = self.vectors and distance <= self.largest_distance(m, projected)
        if distance == 0 or full or close:
            self.shift(d, y, s, 1.0)
        else:
            self.add(x, y, s)


class ProjectronPlusPlus(Projectron):
    """The Projectron that also updates on margin errors if this improves the bound."""

    def correct(self, x, y, s, m):
        if m < 1:
            d, distance, projected = self.projection(x)
            self.shift(d, y, s, self.tau(1 - m, distance, projected))

    def tau(self, loss, distance, projected):
        """Return the step of a margin error; 0 for no update."""
        if self.norm_bound is not None:
            tau = min(1.0, ratio(loss, projected))  # Eq. 17
            beta = tau * (2 * loss - tau * projected - 2 * self.norm_bound * distance)  # Eq. 16
            return tau if beta >= 0 else 0.0
        improvement = loss - (ratio(distance, self.eta) if distance > 0 else 0.0)
        if improvement <= 0:
            return 0.0
        return min(1.0, ratio(loss, projected), ratio(2 * improvement, projected))


def ratio(a, b):
    """Return a / b for a, b >= 0, infinite if b is 0."""
    return a / b if b > 0 else math.inf


class KernelPAClassifier(Plain):
    """Passive-aggressive: the smallest step with no hinge loss; modes 0, 1, 2: PA, I, II."""

    def __init__(self, kernel, C=1.0, mode=1):
        super().__init__(kernel)
        self.C = C
        self.mode = mode

    def tau(self, loss, square):
        """Return the step for an example with k(x, x) = square; 0 if that is 0, as in River."""
        if self.mode == 2:
            return loss / (square + 0.5 / self.C)
        if square == 0:
            return 0.0
        return min(self.C if self.mode == 1 else math.inf, loss / square)

    def update(self, x, y, s, m):
        """Make a step if there is a loss."""
        tau = self.tau(1 - m, self.kernel(x, x)) if m < 1 else 0.0
        if tau > 0:
            self.add(x, y, s, tau)

    mistake = update
    correct = update


class BudgetPassiveAggressive(Budgeted):
    """BPA: the step of PA-I, and the removal of the vector that is closest to a projection.

    A removed row is projected column by column. The residual is orthogonal to the incoming example,
    so the objective is the sum of that of the step and half the squared norm of the residual.
    """

    def __init__(self, kernel, budget=100, C=1.0, maintenance="nearest"):
        super().__init__(kernel, budget)
        self.C = C
        self.maintenance = maintenance

    def tau(self, loss, square):
        """Return the step along a vector with a squared norm."""
        return min(self.C, loss / square) if square > 0 else 0.0

    def rest(self, loss, square):
        """Return the objective of that step."""
        tau = self.tau(loss, square)
        return tau**2 * square / 2 + self.C * max(0.0, loss - tau * square)

    def projection(self, vector, onto):
        """Return the coefficients of the projection onto vectors, its square and the residual's."""
        row = np.array([self.kernel(v, vector) for v in onto])
        if not onto:
            return row, 0.0, self.kernel(vector, vector)
        d = np.linalg.solve([[self.kernel(v, w) for w in onto] for v in onto], row)
        return d, float(d @ row), max(0.0, self.kernel(vector, vector) - float(d @ row))

    def taking(self, r, x):
        """Return the indices of the vectors that take over the term of the vector r, beside x."""
        others = [i for i in range(len(self.vectors)) if i != r]
        if self.maintenance == "projection":
            return others
        if self.maintenance == "simple" or not others or r == len(self.vectors):
            return []

        def distance(i):
            v = self.vectors[i]
            return self.kernel(v, v) - 2 * self.kernel(v, self.vectors[r])

        near = min(others, key=distance)
        square = self.kernel(self.vectors[near], self.vectors[near])
        return [near] if self.projection(self.vectors[near], [x])[2] > 1e-10 * square else []

    def update(self, x, y, s, m):
        """Make a step if there is a loss."""
        k, n, loss = self.kernel(x, x), len(self.vectors), 1 - m
        if loss <= 0 or k == 0:
            return
        spanning = self.taking(n, x)
        own = self.projection(x, [self.vectors[i] for i in spanning])
        if own[2] > 1e-10 * k and n < self.budget:
            self.add(x, y, s, self.tau(loss, k))
            return
        r = self.cheapest(x, loss, own) if own[2] > 1e-10 * k else n
        if r == n:
            for i, d in zip(spanning, own[0].tolist(), strict=True):
                self.change(
                    self.rows[i], {y: 1.0, s: -1.0}, self.weight * self.tau(loss, own[1]) * d
                )
            return
        taking = self.taking(r, x)
        weights, _, _ = self.projection(self.vectors[r], [*(self.vectors[i] for i in taking), x])
        self.add(x, y, s, self.tau(loss, k))
        for i, d in zip([*taking, n], weights.tolist(), strict=True):
            self.change(self.rows[i], self.rows[r], d)
        self.remove(r)

    mistake = update
    correct = update

    def cheapest(self, x, loss, own):
        """Return the vector to remove, the number of vectors for x."""
        objectives = []
        for r, (vector, row) in enumerate(zip(self.vectors, self.rows, strict=True)):
            onto = [*(self.vectors[i] for i in self.taking(r, x)), x]
            size = sum(value**2 for value in row.values()) / 2
            residual = self.projection(vector, onto)[2]
            objectives.append(size * residual / 2 + self.rest(loss, self.kernel(x, x)))
        objectives.append(self.rest(loss, own[1]))
        limit = min(objectives) + 1e-12 * self.C * loss
        return next(r for r, objective in enumerate(objectives) if objective <= limit)

    @staticmethod
    def change(row, other, factor):
        """Add a multiple of another row to a row."""
        for column, value in other.items():
            row[column] = row.get(column, 0.0) + factor * value


class Ahpatron(Budgeted):
    """Updates below a margin of 1 - epsilon; half of the rows are projected onto the other half."""

    def __init__(self, kernel, budget=100, epsilon=0.5, learning_rate=0.25, norm_bound=None):
        super().__init__(kernel, budget)
        self.epsilon = epsilon
        self.learning_rate = learning_rate
        self.norm_bound = norm_bound  # the radius U of the ball

    def update(self, x, y, s, m):
        """Make a step if the margin is below 1 - epsilon."""
        if m < 1 - self.epsilon:
            if len(self.vectors) == self.budget:
                self.halve()
            self.add(x, y, s, self.learning_rate)
            self.project_onto_ball(self.norm_bound or math.sqrt(self.budget) / 2)

    mistake = update
    correct = update

    def halve(self):
        """Keep the half with the larger rows."""
        norm = self.norm()
        sizes = [math.hypot(*row.values()) for row in self.rows]
        ranks = [round(size / max(sizes), 9) for size in sizes]
        by_size = sorted(range(len(sizes)), key=lambda i: -ranks[i])  # stable: the older one first
        kept = []
        for i in by_size[: len(sizes) // 2]:
            k = self.kernel(self.vectors[i], self.vectors[i])
            if k - float(self.project(i, kept) @ self.inner(i, kept)) > 1e-8 * k:
                kept.append(i)
        for i in set(range(len(sizes))) - set(kept):
            for j, d in zip(kept, self.project(i, kept).tolist(), strict=True):
                for column, value in self.rows[i].items():
                    self.rows[j][column] = self.rows[j].get(column, 0.0) + d * value
        self.vectors = [v for i, v in enumerate(self.vectors) if i in kept]
        self.rows = [row for i, row in enumerate(self.rows) if i in kept]
        if self.norm() ** 2 > 1e-8 * norm**2:
            self.scale(norm / self.norm())

    def inner(self, i, others):
        """Return the kernel row of a vector over others."""
        return np.array([self.kernel(self.vectors[i], self.vectors[j]) for j in others])

    def project(self, i, others):
        """Return the coefficients of its projection onto their span."""
        gram = np.array([self.inner(j, others) for j in others])
        return np.linalg.solve(gram, self.inner(i, others)) if others else np.zeros(0)


class ProjectedGradient(Projectron):
    """Steps of U / sqrt(3 + the squared gradients so far) in a ball, along projected gradients."""

    def __init__(self, kernel, budget=100, eta=0.1, norm_bound=10.0):
        super().__init__(kernel, eta=eta, budget=budget)
        self.radius = norm_bound
        self.squares = []

    def update(self, x, y, s, m):
        """Make a step if there is a loss."""
        k = self.kernel(x, x)
        if m < 1 and k > 0:
            d, distance, projected = self.projection(x)
            tau = self.radius / math.sqrt(3 + sum(self.squares))
            apart = distance > self.eta and distance**2 > 1e-10 * k
            if not self.vectors or (apart and len(self.vectors) < self.budget):
                self.add(x, y, s, tau)
                self.squares.append(k)
            else:
                self.shift(d, y, s, tau)
                self.squares.append(projected)
            self.project_onto_ball(self.radius)

    mistake = update
    correct = update


class BudgetedOGD(Budgeted):
    """BOGD: decayed gradient steps; a random row is removed, the others are divided by 1 - p."""

    def __init__(self, kernel, budget=100, loss="hinge", learning_rate=0.25, regularization=1e-4,
                 clip=4.0, sampling="weighted", seed=None):  # fmt: skip
        super().__init__(kernel, budget)
        self.loss = loss
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.clip = clip
        self.sampling = sampling
        self.key = random.Random(seed).getrandbits(62)
        self.slots = []  # in slot 0, 1, ...: the round that added the vector
        self.ages = []  # the same rounds, oldest first

    def update(self, x, y, s, m):
        """Decay all rows, and make a step along the gradient."""
        self.scale(1 - self.learning_rate * self.regularization)
        slope = {"hinge": float(m < 1), "logistic": logistic_slope(m)}[self.loss]
        if slope * self.kernel(x, x) == 0:
            return
        if len(self.slots) < self.budget:
            self.slots.append(self.n_rounds)
        else:
            self.remove_one()
        self.add(x, y, s, self.learning_rate * slope)
        self.ages.append(self.n_rounds)

    mistake = update
    correct = update

    def remove_one(self):
        """Draw a slot, which becomes that of this round's example."""
        chances = self.chances()
        limit, slot, total = drawn(self.key, self.n_rounds) * sum(chances), 0, chances[0]
        while total <= limit:
            slot += 1
            total += chances[slot]
        i = self.ages.index(self.slots[slot])
        for age, row in zip(self.ages, self.rows, strict=True):
            if age != self.slots[slot]:
                step = max(row.values())
                limit = self.clip * self.learning_rate
                factor = min(
                    1 / (1 - chances[self.slots.index(age)]), limit / step if step else 1.0
                )
                row.update({column: factor * value for column, value in row.items()})
        self.remove(i)
        del self.ages[i]
        self.slots[slot] = self.n_rounds

    def chances(self):
        """Return the chance of each slot."""
        norms = [
            max(row.values()) * math.sqrt(self.kernel(v, v))
            for v, row in zip(self.vectors, self.rows, strict=True)
        ]
        if self.sampling == "uniform" or sum(norms) == 0:
            return [1 / self.budget] * self.budget
        mean = sum(norms) / (self.budget - 1) if self.budget > 1 else math.inf
        chances = [max(0.0, 1 - norms[self.ages.index(age)] / mean) for age in self.slots]
        return [chance / sum(chances) for chance in chances]


class BudgetedSGD(Budgeted):
    """BSGD: Pegasos; over budget, the vector with the smallest row is merged or removed."""

    def __init__(self, kernel, budget=100, loss="hinge", regularization=1e-3, maintenance=None):
        super().__init__(kernel, budget)
        self.loss = loss
        self.regularization = regularization
        default = "merging" if type(kernel).__name__ == "RBF" else "removal"
        self.maintenance = maintenance or default
        self.longest = 0

    def update(self, x, y, s, m):
        """Decay all rows, and make a step along the gradient."""
        t = self.n_rounds
        self.scale((t - 1) / t)
        slope = {"hinge": float(m < 1), "logistic": logistic_slope(m)}[self.loss]
        if slope * self.kernel(x, x) == 0:
            return
        self.longest = max(self.longest, len(x))
        self.add(x, y, s, slope / (self.regularization * t))
        if len(self.vectors) > self.budget:
            sizes = [product(row, row) for row in self.rows]
            if self.maintenance == "removal":
                pairs = zip(sizes, self.vectors, strict=True)
                sizes = [size * self.kernel(v, v) for size, v in pairs]
            r = [size <= min(sizes) * (1 + 1e-9) for size in sizes].index(True)
            if self.maintenance == "merging":
                self.merge(r, x)
            else:
                self.remove(r)

    mistake = update
    correct = update

    def merge(self, r, x):
        """Merge a vector with the one that loses least; the result is older than this example."""
        options = [self.option(r, i) for i in range(len(self.vectors))]
        losses = [option[0] for option in options]
        limit = min(losses) + 1e-12 * max(product(row, row) for row in self.rows)
        i = [loss <= limit for loss in losses].index(True)
        vector = between(options[i][1], self.vectors[r], self.vectors[i], 2 * self.longest)
        row, last = options[i][2], self.rows[-1]
        survives = self.budget not in (r, i)
        for index in sorted((r, i), reverse=True):
            self.remove(index)
        if survives:
            self.remove(self.budget - 2)
        self.vectors.append(vector)
        self.rows.append(row)
        if survives:
            self.vectors.append(dict(x))
            self.rows.append(last)

    def option(self, r, i):
        """Return the loss of merging the vectors r and i, the place on the segment and the row."""
        a, b, k = self.rows[r], self.rows[i], self.kernel(self.vectors[r], self.vectors[i])

        def merged(h):
            near, far = k ** ((1 - h) ** 2), k ** (h * h)
            return {c: near * a.get(c, 0.0) + far * b.get(c, 0.0) for c in {**a, **b}}

        def kept(h):
            return product(merged(h), merged(h))

        sizes = product(a, a) + product(b, b)
        h = golden_section(kept, 1e-12 * sizes)
        h = h if kept(h) >= kept(0.0) - 1e-12 * sizes else 0.0
        loss = math.inf if i == r else max(0.0, sizes + 2 * k * product(a, b) - kept(h))
        return loss, h, merged(h)


def product(row, other):
    """Return the inner product of two rows."""
    return sum(value * other.get(column, 0.0) for column, value in row.items())


class TighterPerceptron(Budgeted):
    """Over budget, remove the vector without which there are the fewest validation errors."""

    def __init__(self, kernel, budget=100, validation="support", seed=None):
        super().__init__(kernel, budget)
        self.validation = validation  # "support", "all" or the size of a reservoir
        self.seen = []  # pairs of an example and the column of its label
        self.reservoir = Reservoir(0 if isinstance(validation, str) else validation, seed)

    def correct(self, x, y, s, m):
        self.seen.append((dict(x), y))
        self.reservoir.offer(x, y, self.n_rounds)

    def mistake(self, x, y, s, m):
        self.seen.append((dict(x), y))
        self.add(x, y, s)
        if len(self.vectors) > self.budget:
            errors = [self.n_errors(without=j) for j in range(len(self.vectors))]
            r = errors.index(min(errors))
            self.reservoir.offer(self.vectors[r], label_of(self.rows[r]), self.n_rounds)
            self.remove(r)

    def n_errors(self, without):
        """Return the number of examples with a margin of at most 0 without one vector."""
        return sum(margin(self.values(x, without), y) <= 0 for x, y in self.examples())

    def examples(self):
        """Return the validation set as pairs of an example and the column of its label."""
        if self.validation == "support":
            return list(zip(self.vectors, map(label_of, self.rows), strict=True))
        return self.seen if self.validation == "all" else self.reservoir.examples


class TightestPerceptron(Budgeted):
    """Over budget, remove the vector without which the expected hinge loss is smallest."""

    def __init__(self, kernel, budget=100, prior=1.0):
        super().__init__(kernel, budget)
        self.prior = prior
        self.counts = []  # the counts of each vector by columns, oldest first

    def mistake(self, x, y, s, m):
        self.add(x, y, s)
        self.counts.append({y: self.weight})
        if len(self.vectors) > self.budget:
            losses = [self.loss(without=j) for j in range(len(self.vectors))]
            r = losses.index(min(losses))
            vector, counts = self.vectors[r], self.counts[r]
            self.remove(r)
            del self.counts[r]
            self.count(vector, counts)

    def correct(self, x, y, s, m):
        self.count(x, {y: self.weight})

    def loss(self, without):
        """Return the expected hinge loss without one vector, on all vectors, that one included."""
        terms = []
        for vector, counts in zip(self.vectors, self.counts, strict=True):
            values = self.values(vector, without)
            parameters = [counts.get(c, 0.0) + self.prior for c in range(len(values))]
            weights = probabilities_of_the_largest(parameters)
            terms += [w * max(0.0, 1 - m) for w, m in zip(weights, margins(values), strict=True)]
        return math.fsum(terms) / len(self.vectors)

    def count(self, x, counts):
        """Add counts to the nearest vector, times max(0, k(x, nearest))."""
        distances = [squared_distance(v, x) for v in self.vectors]
        nearest = distances.index(min(distances))
        k = max(0.0, self.kernel(self.vectors[nearest], x))
        for column, n in counts.items():
            self.counts[nearest][column] = self.counts[nearest].get(column, 0.0) + n * k


def probabilities_of_the_largest(parameters):
    """Return P(theta_c is the largest) for each c, theta of a Dirichlet distribution."""
    return [
        probability_of_the_largest(own, tuple(sorted([*parameters[:c], *parameters[c + 1 :]])))
        for c, own in enumerate(parameters)
    ]


@functools.cache
def probability_of_the_largest(own, others):
    """Return P(G > max of the others) for independent Gamma variables of scale 1.

    Their shares of their sum have the Dirichlet distribution. The integral is over z, where
    log G = log(own) + z / sqrt(own): the density is smooth in z, and as wide for every parameter.
    """
    root, shapes = math.sqrt(own), np.array(others)

    def density(z):
        return math.exp(own * (z / root - math.expm1(z / root)))

    def below(z):
        return math.prod(special.gammainc(shapes, own * math.exp(z / root)).tolist())

    def z_of(t):
        return root * math.log(t / own)

    ends = z_of(special.gammaincinv(own, 1e-17)), z_of(special.gammainccinv(own, 1e-17))
    inside = {z_of(special.gammaincinv(shape, 0.5)) for shape in (own, others[0], others[-1])}
    options = {
        "points": sorted(z for z in inside if ends[0] < z < ends[1]),
        "epsabs": 1e-12, "epsrel": 1e-12, "limit": 400,
    }  # fmt: skip
    total, _ = integrate.quad(density, *ends, **options)
    part, _ = integrate.quad(lambda z: density(z) * below(z), *ends, **options)
    return part / total
