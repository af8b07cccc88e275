"""Plain second implementations of all perceptrons: dicts, lists and loops, from the papers.

Nothing here is fast and nothing is cached: every value is recomputed from the support vectors
in every round. A kernel is a function k(x, z) of two dicts, a sign is -1.0 or +1.0.

Sums are taken with math.fsum, whose result does not depend on the order of the terms: so two
duplicate support vectors tie exactly. Vectors are listed oldest first, and list.index finds the
first: values.index(min(values)) is the oldest vector of smallest value.
"""

from __future__ import annotations

import math
import random

import numpy as np
from scipy import stats


class Plain:
    """The perceptron's template: learn from a mistake, y f(x) <= 0, and leave the rest alone."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.vectors = []  # support vectors, oldest first
        self.alphas = []  # their signed coefficients
        self.n_rounds = 0
        self.n_mistakes = 0

    def decide(self, x, without=None):
        """f(x), the sum of alpha_i k(v_i, x), if wanted without the vector of one index."""
        pairs = enumerate(zip(self.vectors, self.alphas, strict=True))
        return math.fsum(a * self.kernel(v, x) for i, (v, a) in pairs if i != without)

    def learn(self, x, sign):
        """One round."""
        self.n_rounds += 1
        margin = sign * self.decide(x)
        if margin <= 0:
            self.n_mistakes += 1
            self.mistake(x, sign, margin)
        else:
            self.correct(x, sign, margin)

    def mistake(self, x, sign, margin):
        """What to do after a mistake."""
        self.add(x, sign)

    def correct(self, x, sign, margin):
        """What to do after a correct prediction."""

    def add(self, x, alpha):
        """Append a vector, the youngest from now on."""
        self.vectors.append(dict(x))
        self.alphas.append(alpha)

    def remove(self, i):
        """Forget the vector of index i (0 is the oldest)."""
        del self.vectors[i]
        del self.alphas[i]

    def scale(self, factor):
        """Multiply f by a factor."""
        self.alphas = [factor * alpha for alpha in self.alphas]

    def norm(self):
        """The norm of f in the kernel's Hilbert space."""
        pairs = list(zip(self.vectors, self.alphas, strict=True))
        square = math.fsum(a * b * self.kernel(v, w) for v, a in pairs for w, b in pairs)
        return math.sqrt(max(square, 0.0))

    def pull_into_ball(self, radius):
        """Project f onto the ball {f : ||f|| <= radius}."""
        norm = self.norm()
        if norm > radius:
            self.scale(radius / norm)


class Budgeted(Plain):
    """A model of at most `budget` support vectors."""

    def __init__(self, kernel, budget=100):
        super().__init__(kernel)
        self.budget = budget


class KernelPerceptron(Plain):
    """Every mistake becomes a support vector of weight y."""


class Stoptron(Budgeted):
    """The perceptron that stops learning once its budget is full."""

    def mistake(self, x, sign, margin):
        if len(self.vectors) < self.budget:
            self.add(x, sign)


class RemoveOldestPerceptron(Budgeted):
    """Over budget, the oldest vector goes."""

    def mistake(self, x, sign, margin):
        self.add(x, sign)
        if len(self.vectors) > self.budget:
            self.remove(0)


class Slotted(Budgeted):
    """Vectors live in numbered slots, so that a random draw can name a vector by its slot."""

    def __init__(self, kernel, budget=100, seed=None):
        super().__init__(kernel, budget)
        self.rng = random.Random(seed)
        self.arrivals = []  # name of each vector (the mistake it came with), oldest first
        self.slots = []  # the name of the vector in slot 0, 1, ...

    def append(self, x, alpha):
        """Put a newcomer into the next empty slot."""
        self.add(x, alpha)
        self.arrivals.append(self.n_mistakes)
        self.slots.append(self.n_mistakes)

    def replace(self, slot, x, alpha):
        """Drop the vector in a slot and put a newcomer there."""
        i = self.arrivals.index(self.slots[slot])
        self.remove(i)
        del self.arrivals[i]
        self.append(x, alpha)
        self.slots[slot] = self.slots.pop()  # not the next empty slot but the freed one


class RandomizedBudgetPerceptron(Slotted):
    """With a full budget, a random old vector goes before the newcomer is added."""

    def mistake(self, x, sign, margin):
        if len(self.slots) < self.budget:
            self.append(x, sign)
        else:
            self.replace(self.rng.randrange(self.budget), x, sign)


class ModifiedRandomizedBudgetPerceptron(Slotted):
    """w = ball(w + eta y phi(x) - s(w)): s(w) is what a random one of all B slots holds, or 0."""

    def __init__(self, kernel, budget=100, learning_rate=1 / 16, seed=None):
        super().__init__(kernel, budget, seed)
        self.learning_rate = learning_rate
        self.radius = math.sqrt(budget) / 8  # Theorem 1, for every learning rate

    def mistake(self, x, sign, margin):
        slot = self.rng.randrange(self.budget)  # drawn at every mistake, full or not
        if slot < len(self.slots):  # occupied
            self.replace(slot, x, self.learning_rate * sign)
        else:
            self.append(x, self.learning_rate * sign)
        self.pull_into_ball(self.radius)


class FixedBudgetPerceptron(Budgeted):
    """CKS: over budget, the vector goes that has the largest margin once it is left out."""

    def mistake(self, x, sign, margin):
        self.add(x, sign)
        if len(self.vectors) > self.budget:
            margins = [
                math.copysign(1.0, alpha) * self.decide(v, without=j)
                for j, (v, alpha) in enumerate(zip(self.vectors, self.alphas, strict=True))
            ]
            self.remove(margins.index(max(margins)))


class Forgetron(Budgeted):
    """Self-tuned: shrink f just enough that the oldest vector can go without much damage."""

    def __init__(self, kernel, budget=100):
        super().__init__(kernel, budget)
        self.damage = 0.0  # the paper's Q

    def mistake(self, x, sign, margin):
        self.add(x, sign)  # f' = f + y k(x, .)
        if len(self.vectors) > self.budget:
            sigma = abs(self.alphas[0])
            mu = math.copysign(1.0, self.alphas[0]) * self.decide(self.vectors[0])  # y_r f'(x_r)
            phi = self.largest_phi(sigma, mu, 15 / 32 * self.n_mistakes - self.damage)
            self.scale(phi)  # the newcomer too
            self.damage += self.psi(sigma, phi, mu)
            self.remove(0)

    @staticmethod
    def psi(sigma, phi, mu):
        """What the removal adds to the mistake bound."""
        return (sigma * phi) ** 2 + 2 * sigma * phi * (1 - phi * mu)

    @staticmethod
    def largest_phi(sigma, mu, room):
        """The largest phi in (0, 1] with psi <= room, where room > 0.

        psi is a phi^2 + b phi with b > 0, and it is 0 <= room at phi = 0. Either it is <= room
        at phi = 1 as well (and what it does between does not matter), or it crosses room exactly
        once on the way there, whichever way the parabola opens.
        """
        if Forgetron.psi(sigma, 1.0, mu) <= room:
            return 1.0
        a, b = sigma**2 - 2 * sigma * mu, 2 * sigma
        return 2 * room / (b + math.sqrt(b * b + 4 * a * room))


class SimplifiedForgetron(Budgeted):
    """Drop the smallest weight if full, decay the rest, add the newcomer, pull into the ball."""

    def __init__(self, kernel, budget=500, learning_rate=1 / 32):
        super().__init__(kernel, budget)
        self.learning_rate = learning_rate
        self.U = math.sqrt(budget / (32 * math.log2(8 * budget)))  # Eq. 12
        self.decay = max(0.0, 1 - learning_rate / self.U**2)  # 1 - lambda eta, lambda = 1 / U^2

    def mistake(self, x, sign, margin):
        if len(self.vectors) == self.budget:
            sizes = [abs(alpha) for alpha in self.alphas]
            self.remove(sizes.index(min(sizes)))
        self.scale(self.decay)
        self.add(x, self.learning_rate * sign)
        self.pull_into_ball(self.U / 2)


class Projectron(Plain):
    """A mistake close to the span of the support vectors is projected onto it, others are added."""

    def __init__(self, kernel, eta=None, norm_bound=None, budget=None):
        super().__init__(kernel)
        self.eta = 0.1 if eta is None and norm_bound is None else eta
        self.norm_bound = norm_bound  # the paper's U
        self.budget = math.inf if budget is None else budget

    def project(self, x):
        """(d, ||delta||, ||Pk||^2) of k(x, .) and the span of the support vectors: Eqs. 8, 9."""
        row = [self.kernel(v, x) for v in self.vectors]
        gram = [[self.kernel(v, w) for w in self.vectors] for v in self.vectors]
        d = np.linalg.solve(gram, row).tolist() if row else []
        projected = math.fsum(di * ki for di, ki in zip(d, row, strict=True))
        square = self.kernel(x, x) - projected
        if square <= 1e-12 * self.kernel(x, x):  # numerically in the span: no distance at all
            square = 0.0
        return d, math.sqrt(square), projected

    def threshold(self, loss, projected):
        """eta, given or by Eq. 13: project when ||delta|| <= eta."""
        if self.norm_bound is None:
            return self.eta
        return (2 * loss - projected - 0.5) / (2 * self.norm_bound)

    def add_projected(self, d, weight):
        """f + weight * sum of d_i k(v_i, .)."""
        self.alphas = [alpha + weight * di for alpha, di in zip(self.alphas, d, strict=True)]

    def mistake(self, x, sign, margin):
        d, distance, projected = self.project(x)
        empty, full = not self.vectors, len(self.vectors) >= self.budget
        close = not empty and distance <= self.threshold(1 - margin, projected)
        if distance == 0 or full or close:
            self.add_projected(d, sign)
        else:
            self.add(x, sign)


class ProjectronPlusPlus(Projectron):
    """The Projectron that also learns from a margin error, if the projection makes progress."""

    def correct(self, x, sign, margin):
        if margin < 1:
            d, distance, projected = self.project(x)
            self.add_projected(d, sign * self.step(1 - margin, distance, projected))

    def step(self, loss, distance, projected):
        """tau of a margin error, 0 for no update."""
        if self.norm_bound is not None:
            tau = self.capped(loss, projected)  # Eq. 17
            beta = tau * (2 * loss - tau * projected - 2 * self.norm_bound * distance)  # Eq. 16
            return tau if beta >= 0 else 0.0
        if distance == 0:
            return self.capped(loss, projected)
        progress = loss - distance / self.eta if self.eta > 0 else -math.inf
        return self.capped(min(loss, 2 * progress), projected) if progress > 0 else 0.0

    @staticmethod
    def capped(a, b):
        """min(a / b, 1) for a >= 0, also when b is 0."""
        return 1.0 if a >= b else a / b


class KernelPAClassifier(Plain):
    """Passive-aggressive: the least step that mends the hinge loss; modes 0, 1, 2: PA, I, II."""

    def __init__(self, kernel, C=1.0, mode=1):
        super().__init__(kernel)
        self.C = C
        self.mode = mode

    def tau(self, loss, square):
        """The step for a loss at an example with k(x, x) = square (0 there: as River does)."""
        if self.mode == 2:
            return loss / (square + 0.5 / self.C)
        if square == 0:
            return 0.0
        return loss / square if self.mode == 0 else min(self.C, loss / square)

    def update(self, x, sign, margin):
        if margin < 1:
            tau = self.tau(1 - margin, self.kernel(x, x))
            if tau > 0:
                self.add(x, sign * tau)

    mistake = update
    correct = update


class Reservoir:
    """A uniform sample of the examples that were offered, by Vitter's algorithm R."""

    def __init__(self, size, seed=None):
        self.size = size
        self.rng = random.Random(seed)
        self.n_offered = 0
        self.examples = []

    def offer(self, x, sign):
        """Keep an example, or not."""
        self.n_offered += 1
        if len(self.examples) < self.size:
            self.examples.append((dict(x), sign))
        elif (place := self.rng.randrange(self.n_offered)) < self.size:
            self.examples[place] = (dict(x), sign)


class TighterPerceptron(Budgeted):
    """Over budget, the vector goes without which f errs least often on a validation set."""

    def __init__(self, kernel, budget=100, validation="support", seed=None):
        super().__init__(kernel, budget)
        self.validation = validation  # "support", "all" or the size of a reservoir
        self.seen = []
        self.reservoir = Reservoir(0 if isinstance(validation, str) else validation, seed)

    def learn(self, x, sign):
        self.seen.append((dict(x), sign))
        super().learn(x, sign)

    def correct(self, x, sign, margin):
        self.reservoir.offer(x, sign)

    def mistake(self, x, sign, margin):
        self.add(x, sign)
        if len(self.vectors) > self.budget:
            examples = self.examples()
            errors = [
                sum(y * self.decide(z, without=j) <= 0 for z, y in examples)
                for j in range(len(self.vectors))
            ]
            r = errors.index(min(errors))
            self.reservoir.offer(self.vectors[r], self.alphas[r])
            self.remove(r)

    def examples(self):
        """The validation set, as pairs of an example and its sign."""
        if self.validation == "support":
            return list(zip(self.vectors, self.alphas, strict=True))
        return self.seen if self.validation == "all" else self.reservoir.examples


class TightestPerceptron(Budgeted):
    """Over budget, the vector goes without which the expected hinge loss (Eq. 2) is least."""

    def __init__(self, kernel, budget=100, prior=1.0):
        super().__init__(kernel, budget)
        self.prior = prior
        self.counts = []  # [c+, c-] of each vector, oldest first

    def mistake(self, x, sign, margin):
        self.add(x, sign)
        self.counts.append([1.0, 0.0] if sign > 0 else [0.0, 1.0])
        if len(self.vectors) > self.budget:
            losses = [self.loss(without=j) for j in range(len(self.vectors))]
            r = losses.index(min(losses))
            vector, (plus, minus) = self.vectors[r], self.counts[r]
            self.remove(r)
            del self.counts[r]
            self.update_summary(vector, plus, minus)

    def correct(self, x, sign, margin):
        self.update_summary(x, *([1.0, 0.0] if sign > 0 else [0.0, 1.0]))

    def loss(self, without):
        """Eq. 2 for f without one vector, over all vectors, that one included."""
        terms = []
        for v, (plus, minus) in zip(self.vectors, self.counts, strict=True):
            f = self.decide(v, without)
            w = stats.beta.sf(0.5, plus + self.prior, minus + self.prior)  # P(Beta > 1/2)
            terms.append(w * max(0.0, 1 - f) + (1 - w) * max(0.0, 1 + f))
        return math.fsum(terms) / len(terms)

    def update_summary(self, x, plus, minus):
        """Credit counts to the nearest vector, softly: times k(x, nearest), or 0 if it is less."""
        distances = [squared_distance(v, x) for v in self.vectors]
        k = distances.index(min(distances))
        closeness = max(0.0, self.kernel(self.vectors[k], x))
        self.counts[k][0] += plus * closeness
        self.counts[k][1] += minus * closeness


def squared_distance(x, z):
    """Squared Euclidean distance of two dicts; a missing name is 0."""
    return math.fsum((x.get(name, 0.0) - z.get(name, 0.0)) ** 2 for name in {**x, **z})
