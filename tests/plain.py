"""Plain reference implementations of all perceptrons from the papers, with dicts, lists and loops.

Nothing is cached but the kernel of two dicts: every other value is recomputed from the support
vectors in every round. A kernel is a function k(x, z) of two dicts, a sign is -1.0 or +1.0.

Sums use math.fsum, whose result does not depend on the order of the terms, so duplicate support
vectors tie exactly. Vectors are listed oldest first, so values.index(min(values)) is the oldest
vector among ties.
"""

from __future__ import annotations

import math
import random

import numpy as np
from scipy import special


def remembered(kernel):
    """Return a kernel that evaluates each pair of dicts once."""
    values = {}

    def value(x, z):
        pair = tuple(x.items()), tuple(z.items())
        if pair not in values:
            values[pair] = kernel(x, z)
        return values[pair]

    return value


class Plain:
    """The perceptron's template: update on a mistake, y f(x) <= 0."""

    def __init__(self, kernel):
        self.kernel = remembered(kernel)
        self.vectors = []  # support vectors, oldest first
        self.alphas = []  # their signed coefficients
        self.n_rounds = 0
        self.n_mistakes = 0
        self.weight = 1.0  # of this round's example

    def decision_function(self, x, without=None):
        """Return f(x), the sum of alpha_i k(v_i, x), optionally without one vector."""
        pairs = enumerate(zip(self.vectors, self.alphas, strict=True))
        return math.fsum(a * self.kernel(v, x) for i, (v, a) in pairs if i != without)

    def learn(self, x, sign, w=1.0):
        """Learn one example; nothing if its weight is 0."""
        if w == 0:
            return
        self.weight = w
        self.n_rounds += 1
        margin = sign * self.decision_function(x)
        if margin <= 0:
            self.n_mistakes += 1
            self.mistake(x, sign, margin)
        else:
            self.correct(x, sign, margin)

    def mistake(self, x, sign, margin):
        """Handle a mistake."""
        self.add(x, sign)

    def correct(self, x, sign, margin):
        """Handle a correct prediction."""

    def add(self, x, alpha):
        """Append a vector; the weight of the example multiplies its coefficient."""
        self.vectors.append(dict(x))
        self.alphas.append(self.weight * alpha)

    def remove(self, i):
        """Remove the vector with index i; 0 is the oldest."""
        del self.vectors[i]
        del self.alphas[i]

    def scale(self, factor):
        """Multiply f by a factor."""
        self.alphas = [factor * alpha for alpha in self.alphas]

    def norm(self):
        """Return the norm of f in the kernel's Hilbert space."""
        pairs = list(zip(self.vectors, self.alphas, strict=True))
        square = math.fsum(a * b * self.kernel(v, w) for v, a in pairs for w, b in pairs)
        return math.sqrt(max(square, 0.0))

    def project_onto_ball(self, radius):
        """Project f onto the ball {f : ||f|| <= radius}."""
        norm = self.norm()
        if norm > radius:
            self.scale(radius / norm)


class Budgeted(Plain):
    """A model with at most `budget` support vectors."""

    def __init__(self, kernel, budget=100):
        super().__init__(kernel)
        self.budget = budget


class KernelPerceptron(Plain):
    """Every mistake becomes a support vector with coefficient y."""


class Stoptron(Budgeted):
    """The perceptron that stops learning once its budget is full."""

    def mistake(self, x, sign, margin):
        if len(self.vectors) < self.budget:
            self.add(x, sign)


class RemoveOldestPerceptron(Budgeted):
    """Over budget, the oldest vector is removed."""

    def mistake(self, x, sign, margin):
        self.add(x, sign)
        if len(self.vectors) > self.budget:
            self.remove(0)


def drawn(key, n):
    """Return the number in [0, 1) that SplitMix64 draws after n steps from a key."""
    z = (key + n * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return ((z ^ (z >> 31)) >> 11) / 2**53


class Slotted(Budgeted):
    """A model whose vectors have numbered slots, from which a vector is drawn at random."""

    def __init__(self, kernel, budget=100, seed=None):
        super().__init__(kernel, budget)
        self.key = random.Random(seed).getrandbits(62)
        self.insertions = []  # number of the mistake that added each vector, oldest first
        self.slots = []  # the same for the vector in slot 0, 1, ...

    def append(self, x, alpha):
        """Add a vector in the next empty slot."""
        self.add(x, alpha)
        self.insertions.append(self.n_mistakes)
        self.slots.append(self.n_mistakes)

    def replace(self, slot, x, alpha):
        """Replace the vector in a slot."""
        i = self.insertions.index(self.slots[slot])
        self.remove(i)
        del self.insertions[i]
        self.append(x, alpha)
        self.slots[slot] = self.slots.pop()  # move it from the next slot to the freed one


class RandomizedBudgetPerceptron(Slotted):
    """With a full budget, a random vector is removed before the incoming example is added."""

    def mistake(self, x, sign, margin):
        if len(self.slots) < self.budget:
            self.append(x, sign)
        else:
            self.replace(int(self.budget * drawn(self.key, self.n_rounds)), x, sign)


class ModifiedRandomizedBudgetPerceptron(Slotted):
    """w = ball(w + eta y phi(x) - s(w)), with the term s(w) of a random one of B slots, or 0."""

    def __init__(self, kernel, budget=100, learning_rate=1 / 16, seed=None):
        super().__init__(kernel, budget, seed)
        self.learning_rate = learning_rate
        self.radius = math.sqrt(budget) / 8  # Theorem 1, for every learning rate

    def mistake(self, x, sign, margin):
        # Drawn at every mistake, full or not.
        slot = int(self.budget * drawn(self.key, self.n_rounds))
        if slot < len(self.slots):  # occupied
            self.replace(slot, x, self.learning_rate * sign)
        else:
            self.append(x, self.learning_rate * sign)
        self.project_onto_ball(self.radius)


class FixedBudgetPerceptron(Budgeted):
    """CKS: over budget, the vector with the largest margin without itself is removed."""

    def mistake(self, x, sign, margin):
        self.add(x, sign)
        if len(self.vectors) > self.budget:
            margins = [
                math.copysign(1.0, alpha) * self.decision_function(v, without=j)
                for j, (v, alpha) in enumerate(zip(self.vectors, self.alphas, strict=True))
            ]
            self.remove(margins.index(max(margins)))


class Forgetron(Budgeted):
    """Self-tuned: shrink f just enough to limit the damage of removing the oldest vector."""

    def __init__(self, kernel, budget=100):
        super().__init__(kernel, budget)
        self.damage = 0.0  # the paper's Q

    def mistake(self, x, sign, margin):
        self.add(x, sign)  # f' = f + y k(x, .)
        if len(self.vectors) > self.budget:
            sigma = abs(self.alphas[0])
            mu = math.copysign(1.0, self.alphas[0]) * self.decision_function(
                self.vectors[0]
            )  # y_r f'(x_r)
            phi = self.largest_phi(sigma, mu, 15 / 32 * self.n_mistakes - self.damage)
            self.scale(phi)  # the incoming example, too
            self.damage += self.psi(sigma, phi, mu)
            self.remove(0)

    @staticmethod
    def psi(sigma, phi, mu):
        """Return the damage of a removal to the mistake bound."""
        return (sigma * phi) ** 2 + 2 * sigma * phi * (1 - phi * mu)

    @staticmethod
    def largest_phi(sigma, mu, slack):
        """Return the largest phi in (0, 1] with psi <= slack, for slack > 0.

        psi is a phi^2 + b phi with b > 0, and 0 at phi = 0. Either psi <= slack at phi = 1,
        whatever its values in between, or it crosses the slack exactly once between 0 and 1, for
        either sign of a.
        """
        if Forgetron.psi(sigma, 1.0, mu) <= slack:
            return 1.0
        a, b = sigma**2 - 2 * sigma * mu, 2 * sigma
        return 2 * slack / (b + math.sqrt(b * b + 4 * a * slack))


class SimplifiedForgetron(Budgeted):
    """If full, remove the smallest coefficient; decay, add the example, project onto the ball."""

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
        self.project_onto_ball(self.U / 2)


class Projectron(Plain):
    """Mistakes close to the span of the support vectors are projected, others are added."""

    def __init__(self, kernel, eta=None, norm_bound=None, budget=None):
        super().__init__(kernel)
        self.eta = 0.1 if eta is None and norm_bound is None else eta
        self.norm_bound = norm_bound  # the paper's U
        self.budget = math.inf if budget is None else budget

    def project(self, x):
        """Return d, ||delta|| and ||Pk||^2 of the projection of k(x, .) (Eqs. 8 and 9)."""
        row = [self.kernel(v, x) for v in self.vectors]
        gram = [[self.kernel(v, w) for w in self.vectors] for v in self.vectors]
        d = np.linalg.solve(gram, row).tolist() if row else []
        projected = math.fsum(di * ki for di, ki in zip(d, row, strict=True))
        square = self.kernel(x, x) - projected
        if square <= 1e-12 * self.kernel(x, x):  # numerically in the span
            square = 0.0
        return d, math.sqrt(square), projected

    def threshold(self, loss, projected):
        """Return eta, given or by Eq. 13: project if ||delta|| <= eta."""
        if self.norm_bound is None:
            return self.eta
        return (2 * loss - projected - 0.5) / (2 * self.norm_bound)

    def add_projected(self, d, weight):
        """Add weight * sum of d_i k(v_i, .) to f, times the weight of the example."""
        step = self.weight * weight
        self.alphas = [alpha + step * di for alpha, di in zip(self.alphas, d, strict=True)]

    def mistake(self, x, sign, margin):
        d, distance, projected = self.project(x)
        empty, full = not self.vectors, len(self.vectors) >= self.budget
        close = not empty and distance <= self.threshold(1 - margin, projected)
        if distance == 0 or full or close:
            self.add_projected(d, sign)
        else:
            self.add(x, sign)


class ProjectronPlusPlus(Projectron):
    """The Projectron that also updates on margin errors if this improves the bound."""

    def correct(self, x, sign, margin):
        if margin < 1:
            d, distance, projected = self.project(x)
            self.add_projected(d, sign * self.step(1 - margin, distance, projected))

    def step(self, loss, distance, projected):
        """Return tau of a margin error; 0 for no update."""
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
        """Return min(a / b, 1) for a >= 0, even if b is 0."""
        return 1.0 if a >= b else a / b


class KernelPAClassifier(Plain):
    """Passive-aggressive: the smallest step with no hinge loss; modes 0, 1, 2: PA, I, II."""

    def __init__(self, kernel, C=1.0, mode=1):
        super().__init__(kernel)
        self.C = C
        self.mode = mode

    def tau(self, loss, square):
        """Return the step for an example with k(x, x) = square; 0 if it is 0, as in River."""
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


class BudgetPassiveAggressive(Budgeted):
    """BPA: the PA-I step and the removal of one vector that minimize its objective together."""

    def __init__(self, kernel, budget=100, C=1.0, maintenance="nearest"):
        super().__init__(kernel, budget)
        self.C = C
        self.maintenance = maintenance

    def update(self, x, sign, margin):
        if margin >= 1 or self.kernel(x, x) == 0:
            return
        n, row = len(self.vectors), [self.kernel(v, x) for v in self.vectors]
        if self.maintenance == "projection" and in_span(self.kernel, x, self.vectors, row):
            changes = [self.change(n, x, sign, margin)]
        elif n < self.budget:
            self.add(x, sign * min(self.C, (1 - margin) / self.kernel(x, x)))
            return
        else:
            changes = [self.change(r, x, sign, margin) for r in range(n + 1)]
        objectives = [objective for objective, _, _ in changes]
        limit = min(objectives) + 1e-12 * self.C * (1 - margin)
        r = next(r for r, objective in enumerate(objectives) if objective <= limit)
        _, removal, step = changes[r]
        self.add(x, 0.0)
        pairs = zip(self.alphas, removal, step, strict=True)
        self.alphas = [alpha + a + self.weight * b for alpha, a, b in pairs]
        self.remove(r if len(changes) > 1 else n)

    mistake = update
    correct = update

    def change(self, r, x, sign, margin):
        """Return the objective without the vector r (n is x), and two changes of all coefficients.

        The first one replaces its term by a projection, the second one is the step.
        """
        vectors, n = [*self.vectors, x], len(self.vectors)
        gram = np.array([[self.kernel(v, w) for w in vectors] for v in vectors])
        taking = self.taking(r, gram)
        alpha = self.alphas[r] if r < n else 0.0
        removal, step = np.zeros(n + 1), np.zeros(n + 1)
        if r < n:
            removal[r] = -alpha
        if taking:
            inner = gram[np.ix_(taking, taking)]
            removal[taking] = alpha * np.linalg.solve(inner, gram[taking, r])
            step[taking] = np.linalg.solve(inner, gram[taking, n])
            left = 1 - margin - sign * float(removal @ gram[n])
            square = float(step @ gram[n])
            step *= sign * (min(self.C, max(0.0, left / square)) if square > 0 else 0.0)
        change = removal + step
        rest = max(0.0, 1 - margin - sign * float(change @ gram[n]))
        return 0.5 * float(change @ gram @ change) + self.C * rest, removal, step

    def taking(self, r, gram):
        """Return the vectors that take over the term of the vector r."""
        n = len(gram) - 1
        if self.maintenance == "projection":
            return [i for i in range(n + 1) if i != r]
        if r == n:
            return []
        others = [i for i in range(n) if i != r]
        if self.maintenance == "simple" or not others:
            return [n]
        distances = [gram[i, i] - 2 * gram[i, r] for i in others]
        near = others[distances.index(min(distances))]
        square = gram[near, near] * gram[n, n]
        return [near, n] if square - gram[near, n] ** 2 > 1e-10 * square else [n]


class Ahpatron(Budgeted):
    """The half with the smaller coefficients is projected onto the other one, then f is rescaled."""

    def __init__(self, kernel, budget=100, epsilon=0.5, learning_rate=0.25, norm_bound=None):
        super().__init__(kernel, budget)
        self.epsilon = epsilon
        self.learning_rate = learning_rate
        self.radius = math.sqrt(budget) / 2 if norm_bound is None else norm_bound

    def update(self, x, sign, margin):
        if margin >= 1 - self.epsilon:
            return
        if len(self.vectors) == self.budget:
            self.halve()
        self.add(x, sign * self.learning_rate)
        self.project_onto_ball(self.radius)

    mistake = update
    correct = update

    def halve(self):
        n, norm = len(self.vectors), self.norm()
        most = max(map(abs, self.alphas))
        ranks = [round(abs(alpha) / most, 9) for alpha in self.alphas]
        largest = sorted(range(n), key=lambda i: -ranks[i])[: n // 2]  # stable: the older one first
        gram = np.array([[self.kernel(v, w) for w in self.vectors] for v in self.vectors])
        kept = []
        for i in largest:
            others, row = [self.vectors[j] for j in kept], gram[i, kept].tolist()
            if not in_span(self.kernel, self.vectors[i], others, row, 1e-8):
                kept.append(i)
        # The coefficients of the projection of all of f.
        values = gram[kept] @ np.array(self.alphas)
        alphas = np.linalg.solve(gram[np.ix_(kept, kept)], values) if kept else []
        pairs = sorted(zip(kept, alphas, strict=True))
        self.vectors = [self.vectors[i] for i, _ in pairs]
        self.alphas = [float(alpha) for _, alpha in pairs]
        if self.norm() ** 2 > 1e-8 * norm**2:
            self.scale(norm / self.norm())


def in_span(kernel, x, vectors, row, fraction=1e-10):
    """Return whether an example is numerically in the span of vectors."""
    gram = [[kernel(v, w) for w in vectors] for v in vectors]
    square = float(np.dot(row, np.linalg.solve(gram, row))) if row else 0.0
    return kernel(x, x) - square <= fraction * kernel(x, x)


class ProjectedGradient(Projectron):
    """Adaptive gradient steps in a ball; examples close to the span are projected onto it."""

    def __init__(self, kernel, budget=100, eta=0.1, norm_bound=10.0):
        super().__init__(kernel, eta, None, budget)
        self.radius = norm_bound
        self.gradients = 0.0

    def update(self, x, sign, margin):
        if margin >= 1 or self.kernel(x, x) == 0:
            return
        d, distance, projected = self.project(x)
        step = sign * self.radius / math.sqrt(3 + self.gradients)
        near = distance <= max(self.eta, math.sqrt(1e-10 * self.kernel(x, x)))
        if self.vectors and (near or len(self.vectors) == self.budget):
            self.add_projected(d, step)
            self.gradients += projected
        else:
            self.add(x, step)
            self.gradients += self.kernel(x, x)
        self.project_onto_ball(self.radius)

    mistake = update
    correct = update


class BudgetedOGD(Budgeted):
    """BOGD: decayed gradient steps; a random removal, which leaves the expectation as it was."""

    def __init__(self, kernel, budget=100, loss="hinge", learning_rate=0.25, regularization=1e-4,
                 clip=4.0, sampling="weighted", seed=None):  # fmt: skip
        super().__init__(kernel, budget)
        self.loss = loss
        self.eta = learning_rate
        self.decay = 1 - learning_rate * regularization
        self.limit = clip * learning_rate
        self.sampling = sampling
        self.key = random.Random(seed).getrandbits(62)
        self.rounds = []  # the round in which each vector was added, oldest first
        self.slots = []  # the same for the vector in slot 0, 1, ...

    def update(self, x, sign, margin):
        self.scale(self.decay)
        slope = float(margin < 1) if self.loss == "hinge" else logistic_slope(margin)
        if slope == 0 or self.kernel(x, x) == 0:
            return
        if len(self.vectors) == self.budget:
            slot = self.draw()
            self.slots[slot] = self.n_rounds
        else:
            self.slots.append(self.n_rounds)
        self.add(x, sign * self.eta * slope)
        self.rounds.append(self.n_rounds)

    mistake = update
    correct = update

    def draw(self):
        """Remove a vector, and return its slot."""
        chances = self.chances()
        total = sum(chances) * drawn(self.key, self.n_rounds)
        slot = next(s for s in range(self.budget) if sum(chances[: s + 1]) > total)
        by_round = dict(zip(self.slots, chances, strict=True))
        for i, (alpha, added) in enumerate(zip(self.alphas, self.rounds, strict=True)):
            if added != self.slots[slot]:
                size = abs(alpha) / (1 - by_round[added])
                self.alphas[i] = math.copysign(min(size, self.limit), alpha)
        r = self.rounds.index(self.slots[slot])
        self.remove(r)
        del self.rounds[r]
        return slot

    def chances(self):
        """Return the chance of each vector to be removed, by slots."""
        sizes = {
            added: abs(alpha) * math.sqrt(self.kernel(v, v))
            for added, alpha, v in zip(self.rounds, self.alphas, self.vectors, strict=True)
        }
        if self.sampling == "uniform" or sum(sizes.values()) == 0:
            return [1 / self.budget] * self.budget
        s = (self.budget - 1) / sum(sizes.values())
        chances = [max(0.0, 1 - s * sizes[added]) for added in self.slots]
        return [chance / sum(chances) for chance in chances]


class BudgetedSGD(Budgeted):
    """BSGD: Pegasos; over budget, the smallest coefficient's vector is merged or removed."""

    def __init__(self, kernel, budget=100, loss="hinge", regularization=1e-3, maintenance=None):
        super().__init__(kernel, budget)
        self.loss = loss
        self.regularization = regularization
        self.longest = 0
        is_rbf = type(kernel).__name__ == "RBF"
        self.merges = is_rbf if maintenance is None else maintenance == "merging"

    def update(self, x, sign, margin):
        self.scale(1 - 1 / self.n_rounds)
        slope = float(margin < 1) if self.loss == "hinge" else logistic_slope(margin)
        if slope == 0 or self.kernel(x, x) == 0:
            return
        self.longest = max(self.longest, len(x))
        self.add(x, sign * slope / (self.regularization * self.n_rounds))
        if len(self.vectors) > self.budget:
            sizes = [a**2 * (1 if self.merges else self.kernel(v, v))
                     for v, a in zip(self.vectors, self.alphas, strict=True)]  # fmt: skip
            r = next(i for i, size in enumerate(sizes) if size <= min(sizes) * (1 + 1e-9))
            if self.merges:
                self.merge(r)
            else:
                self.remove(r)

    mistake = update
    correct = update

    def merge(self, r):
        """Merge a vector with the one that loses least; the result is older than this example."""
        n, a = len(self.vectors), self.alphas[r]
        options = []
        for i, (v, b) in enumerate(zip(self.vectors, self.alphas, strict=True)):
            k = self.kernel(v, self.vectors[r])
            h = golden_section(lambda h, k=k, b=b: merged(a, b, k, h) ** 2, 1e-12 * (a**2 + b**2))
            if merged(a, b, k, h) ** 2 < merged(a, b, k, 0.0) ** 2 - 1e-12 * (a**2 + b**2):
                h = 0.0
            loss = a**2 + b**2 + 2 * a * b * k - merged(a, b, k, h) ** 2
            options.append((math.inf if i == r else max(0.0, loss), h, merged(a, b, k, h)))
        limit = min(options)[0] + 1e-12 * max(alpha**2 for alpha in self.alphas)
        other = next(i for i, option in enumerate(options) if option[0] <= limit)
        _, h, alpha = options[other]
        vector = between(h, self.vectors[r], self.vectors[other], 2 * self.longest)
        stored = n - 1 not in (r, other)
        for i in sorted((r, other), reverse=True):
            self.remove(i)
        place = len(self.vectors) - 1 if stored else len(self.vectors)
        self.vectors.insert(place, vector)
        self.alphas.insert(place, alpha)


def logistic_slope(margin):
    """Return the size of the derivative of the logistic loss, 0 for large margins."""
    return 1 / (1 + math.exp(max(margin, -100.0))) if margin <= 100 else 0.0


def merged(a, b, k, h):
    """Return the coefficient of h x + (1 - h) z instead of a x + b z, for k(x, z) = k."""
    return a * k ** ((1 - h) ** 2) + b * k ** (h * h)


def golden_section(value, slack):
    """Return where a function on [0, 1] is largest, to the left among ties."""
    low, high, golden = 0.0, 1.0, (math.sqrt(5) - 1) / 2
    while high - low > 2e-4:
        left, right = high - golden * (high - low), low + golden * (high - low)
        if value(left) >= value(right) - slack:
            high = right
        else:
            low = left
    return (low + high) / 2


def between(h, x, z, most):
    """Return h x + (1 - h) z, without values below a hundredth that only one of the two has.

    The smallest of these go, equal ones together, until at most some names are left.
    """
    if h == 0:
        return dict(z)
    sums = {name: h * x.get(name, 0.0) + (1 - h) * z.get(name, 0.0) for name in {**x, **z}}
    limit = 0.01 * max((abs(value) for value in sums.values()), default=0.0)
    common = x.keys() & z.keys()
    while len(common) + sum(abs(sums[name]) > limit for name in x.keys() ^ z.keys()) > most:
        limit = min(abs(v) for v in sums.values() if abs(v) > limit)
    return {name: v for name, v in sums.items() if abs(v) > limit or name in common}


class Reservoir:
    """A uniform sample of the offered examples, by Vitter's algorithm R."""

    def __init__(self, size, seed=None):
        self.size = size
        self.key = random.Random(seed).getrandbits(62)
        self.n_offered = 0
        self.examples = []

    def offer(self, x, sign, n_rounds):
        """Store an example, or discard it."""
        self.n_offered += 1
        if len(self.examples) < self.size:
            self.examples.append((dict(x), sign))
        elif (index := int(self.n_offered * drawn(self.key, n_rounds))) < self.size:
            self.examples[index] = (dict(x), sign)


class TighterPerceptron(Budgeted):
    """Over budget, remove the vector without which f has the fewest validation errors."""

    def __init__(self, kernel, budget=100, validation="support", seed=None):
        super().__init__(kernel, budget)
        self.validation = validation  # "support", "all" or the size of a reservoir
        self.seen = []
        self.reservoir = Reservoir(0 if isinstance(validation, str) else validation, seed)

    def learn(self, x, sign, w=1.0):
        if w > 0:
            self.seen.append((dict(x), sign))
        super().learn(x, sign, w)

    def correct(self, x, sign, margin):
        self.reservoir.offer(x, sign, self.n_rounds)

    def mistake(self, x, sign, margin):
        self.add(x, sign)
        if len(self.vectors) > self.budget:
            examples = self.examples()
            errors = [
                sum(y * self.decision_function(z, without=j) <= 0 for z, y in examples)
                for j in range(len(self.vectors))
            ]
            r = errors.index(min(errors))
            self.reservoir.offer(self.vectors[r], self.alphas[r], self.n_rounds)
            self.remove(r)

    def examples(self):
        """Return the validation set as pairs of an example and its sign."""
        if self.validation == "support":
            return list(zip(self.vectors, self.alphas, strict=True))
        return self.seen if self.validation == "all" else self.reservoir.examples


class TightestPerceptron(Budgeted):
    """Over budget, remove the vector without which the expected hinge loss (Eq. 2) is smallest."""

    def __init__(self, kernel, budget=100, prior=1.0):
        super().__init__(kernel, budget)
        self.prior = prior
        self.counts = []  # [c+, c-] of each vector, oldest first

    def mistake(self, x, sign, margin):
        self.add(x, sign)
        self.counts.append(self.own_counts(sign))
        if len(self.vectors) > self.budget:
            losses = [self.loss(without=j) for j in range(len(self.vectors))]
            r = losses.index(min(losses))
            vector, (plus, minus) = self.vectors[r], self.counts[r]
            self.remove(r)
            del self.counts[r]
            self.update_summary(vector, plus, minus)

    def correct(self, x, sign, margin):
        self.update_summary(x, *self.own_counts(sign))

    def own_counts(self, sign):
        """Return the counts of the example of this round."""
        return [self.weight, 0.0] if sign > 0 else [0.0, self.weight]

    def loss(self, without):
        """Return Eq. 2 for f without one vector, over all vectors including that one."""
        terms = []
        for v, (plus, minus) in zip(self.vectors, self.counts, strict=True):
            f = self.decision_function(v, without)
            w = special.betaincc(plus + self.prior, minus + self.prior, 0.5)  # P(Beta > 1/2)
            terms.append(w * max(0.0, 1 - f) + (1 - w) * max(0.0, 1 + f))
        return math.fsum(terms) / len(terms)

    def update_summary(self, x, plus, minus):
        """Add counts to the nearest vector, times max(0, k(x, nearest))."""
        distances = [squared_distance(v, x) for v in self.vectors]
        k = distances.index(min(distances))
        kernel_value = max(0.0, self.kernel(self.vectors[k], x))
        self.counts[k][0] += plus * kernel_value
        self.counts[k][1] += minus * kernel_value


def squared_distance(x, z):
    """Return the squared Euclidean distance of two dicts; a missing name is 0."""
    return math.fsum((x.get(name, 0.0) - z.get(name, 0.0)) ** 2 for name in {**x, **z})
