"""Mnemotron as specified, with explicit matrices that are inverted in every round.

Nothing is shared with the package but the kernels, which are called on two dicts, and the classifier
that is given as the archive. With two labels there is one column of means, for the positive one; with
more, a column for each of them.
"""

from __future__ import annotations

import collections
import math

import numpy as np
from scipy.special import logsumexp, ndtr

JITTER, LINK = 1e-3, 0.3
SMALLEST_NOVELTY = 1e-7
# The logit of a label that the archive has not learned, beside the least of the others.
UNSEEN = -50.0


def softmax(values):
    return np.exp(values - logsumexp(values))


class Repeats:
    """An expert that predicts from the last label and the length of its run, if that is known."""

    def __init__(self):
        self.last, self.length = None, 0
        self.runs, self.followers = collections.Counter(), collections.Counter()

    @property
    def place(self):
        return self.last, min(10, int(math.log2(self.length)))

    def probabilities(self, n_labels):
        if self.last is None:
            return np.ones(n_labels) / n_labels
        ended, went_on = (self.runs[self.place, goes_on] + 0.5 for goes_on in (False, True))
        p = np.array([self.followers[self.last, c] + 0.5 for c in range(n_labels)])
        p[self.last] = 0.0
        p *= ended / (ended + went_on) / p.sum()
        p[self.last] = went_on / (ended + went_on)
        return p

    def count(self, label):
        if self.last is not None:
            self.runs[self.place, label == self.last] += 1
            self.followers[self.last, label] += 1
        self.length = self.length + 1 if label == self.last else 1
        self.last = label


class Plain:
    """The algorithm with labels 0, 1, ..., of which the first two are known from the start.

    The archive is a new classifier, or None.
    """

    def __init__(self, kernels, memories, budget, novelty=0.01, archive=None):
        self.kernels, self.budget, self.novelty, self.archive = kernels, budget, novelty, archive
        self.experts = [(z, *pair) for z in range(len(kernels)) for pair in memories]
        # After these, there are that of repeated labels, and the archive.
        n = len(self.experts) + 1 + (archive is not None)
        self.n_labels = 2
        self.vectors, self.owners, self.values = [], [], {}
        self.means = [np.zeros((0, 1)) for _ in self.experts]
        self.covariances = [np.zeros((0, 0)) for _ in self.experts]
        self.hedge = np.zeros(n)  # logarithms of weights
        self.mixers = [np.ones(n) / n, np.ones(n) / n]
        self.top = np.zeros(3)  # logarithms of weights
        self.counts = [1, 1]
        self.comings = [[], []]  # the numbers of the rounds in which each label came
        self.exemplars = [[], []]  # of each label, newest last
        self.turn = self.n_rehearsed = 0
        self.repeats, self.asked = Repeats(), []
        self.n_replaced = self.n_rounds = self.n_mistakes = 0

    def see(self, label):
        """Make room for a label, which may be the next new one."""
        if label < self.n_labels:
            return
        if self.n_labels == 2:
            self.means = [np.hstack((-a, a)) for a in self.means]
        self.n_labels += 1
        self.means = [np.pad(a, ((0, 0), (0, 1))) for a in self.means]
        self.counts.append(1)
        self.comings.append([])
        self.exemplars.append([])

    @property
    def prior(self):
        """The prior mean of every column; 0 with two labels."""
        return -1 + 2 / self.n_labels

    def kernel(self, z, s, t):
        """Return k(s, t) = k(t, s), computed once; examples are never changed or freed."""
        key = z, *sorted((id(s), id(t)))
        if key not in self.values:
            self.values[key] = self.kernels[z](s, t)
        return self.values[key]

    def inverse(self, z, vectors):
        gram = np.array([[self.kernel(z, s, t) for t in vectors] for s in vectors])
        n = len(vectors)
        return np.linalg.inv(gram.reshape(n, n) + JITTER * np.eye(n))

    def predict(self, x):
        """Return the probability of each label, and remember for whom and after how many rounds."""
        if not any(n == self.n_rounds and other is x for other, n in self.asked):
            self.asked.append((x, self.n_rounds))
        return self.forecast(x)

    def forecast(self, x):
        """Return the probability of each label."""
        zs = range(len(self.kernels))
        self.rows = [np.array([self.kernel(z, s, x) for s in self.vectors]) for z in zs]
        self.m = [
            self.prior + k @ a for a, k in zip(self.means, self.rows_by_expert(), strict=True)
        ]
        others = [self.repeats.probabilities(self.n_labels)]
        if self.archive is not None:
            others.append(self.of_archive(x))
        self.p = np.array([*map(self.probabilities, self.m), *others])
        self.logs = np.log(np.clip(self.p, 0.02 / self.n_labels, 0.99))
        mixed = [softmax(w @ self.logs) for w in self.mixers]
        self.mixtures = np.array([softmax(self.hedge) @ self.p, *mixed])
        p = softmax(self.top) @ self.mixtures
        return p / p.sum()

    def rows_by_expert(self):
        return [self.rows[z] for z, _, _ in self.experts]

    def probabilities(self, m):
        p = ndtr((np.array([-m[0], m[0]]) if self.n_labels == 2 else m) / math.sqrt(LINK))
        p = np.maximum(p, 1e-12) if self.n_labels > 2 else p
        return p / p.sum()

    def of_archive(self, x):
        """Return the probability of each label by the archive, whose scores are twice its logits."""
        logits = {y: score / 2 for y, score in self.archive.scores_one(x).items()}
        unseen = min(logits.values(), default=0.0) + UNSEEN
        return softmax(np.array([logits.get(y, unseen) for y in range(self.n_labels)]))

    def steps(self, y, charge=0.0):
        """Return what the label of the last forecast adds to all weights: hedge, mixers, top.

        The charge is subtracted from the log probabilities of the mixers.
        """
        balance = math.sqrt(sum(self.counts) / (self.n_labels * self.counts[y]))
        mixers = [
            rate * (self.logs[:, y] - self.logs @ o)
            for o, rate in zip(self.mixtures[1:], (0.002, 0.02), strict=True)
        ]
        hedge, top = (np.log(0.02 + 0.96 * p[:, y]) for p in (self.p, self.mixtures))
        return [balance * hedge, *mixers, balance * (top - [0.0, charge, charge])]

    def update_mixture(self, steps):
        self.hedge = 0.995 * self.hedge + steps[0]
        self.mixers = [w + step for w, step in zip(self.mixers, steps[1:3], strict=True)]
        self.top = 0.995 * self.top + steps[3]

    def is_absent(self, label):
        """Return whether a label with exemplars has been away for long."""
        came = self.comings[label]
        return bool(self.exemplars[label]) and self.n_rounds - came[-1] > max(
            50, 5 * (came[-1] - came[0]) / (len(came) - 1)
        )

    def rehearse(self):
        """Return the share of the rehearsal in a round, and what it adds to all weights."""
        n_absent = sum(map(self.is_absent, range(self.n_labels)))
        if n_absent < 2 or 2 * n_absent < self.n_labels:
            return 0, [0, 0, 0, 0]
        # In turn: the older example of each label that is absent, and then the newer one.
        n, age = 2 * self.n_labels, {0: 2, 1: 1}
        for turn in [(self.turn + i) % n for i in range(1, n + 1)]:
            label, back = turn % self.n_labels, age[turn // self.n_labels]
            if self.is_absent(label) and len(self.exemplars[label]) >= back:
                break
        self.turn = turn
        self.n_rehearsed += 1
        self.forecast(self.exemplars[label][-back])
        # Akaike: half the number of the weights that are fitted to one exemplar for each absent label.
        charge = 0.0 if self.archive is None else len(self.hedge) / (2 * n_absent)
        return n_absent / self.n_labels, self.steps(label, charge)

    def kept_labels(self):
        """Return the absent labels that have at most their share of the vectors."""
        n_vectors = collections.Counter(self.owners)
        few = [c for c, n in n_vectors.items() if n * self.n_labels <= len(self.vectors)]
        return set(filter(self.is_absent, few))

    def errors(self, m, y):
        """Return t - m for each column that is to be updated; None if the margin is large."""
        if self.n_labels == 2:
            t = np.array([1.0 if y else -1.0])
            return t - m if t[0] * m[0] < 1 else None
        t = np.where(np.arange(self.n_labels) == y, 1.0, -1.0)
        if m[y] - max(np.delete(m, y)) >= 1:
            return None
        return np.where(t * m < 1, t - m, 0.0)

    def learn(self, x, y, w=1.0):
        """Learn an example."""
        rounds = [n for other, n in self.asked if other is x]
        is_prompt = not rounds or rounds[0] == self.n_rounds
        if rounds:
            self.asked = [(other, n) for other, n in self.asked if other is not x or n != rounds[0]]
        if not is_prompt:
            self.repeats.last = None
        share, rehearsed = self.rehearse()
        if y >= self.n_labels:
            self.see(y)
        kept = self.kept_labels() if share else ()
        p = self.forecast(x)
        self.n_rounds += 1
        self.n_mistakes += p[y] <= np.delete(p, y).max()
        shares = self.shares
        both = zip(self.steps(y), rehearsed, strict=True)
        self.update_mixture([(1 - share) * step + share * other for step, other in both])
        self.counts[y] += 1
        if is_prompt:
            self.repeats.count(y)
        self.comings[y].append(self.n_rounds)
        if len(self.comings[y]) in [4**i for i in range(2, 20)]:
            self.exemplars[y].append(x)
        if self.archive is not None:
            self.archive.learn_one(x, y)
        changes = []  # of each expert: c, q, r
        for e, (z, factor, noise) in enumerate(self.experts):
            self.means[e] = math.sqrt(factor) * self.means[e]
            self.covariances[e] = factor * self.covariances[e]
            self.m[e] = self.prior + math.sqrt(factor) * (self.m[e] - self.prior)
            errors = self.errors(self.m[e], y)
            c = self.covariances[e] @ self.rows[z]
            v = noise / w + 1 + JITTER + self.rows[z] @ c
            changes.append((c, 0 * self.m[e], 0.0) if errors is None else (c, errors / v, -1 / v))
        if not any(r for _, _, r in changes):
            return
        inverses = [self.inverse(z, self.vectors) for z in range(len(self.kernels))]
        u = [inverse @ row for inverse, row in zip(inverses, self.rows, strict=True)]
        g = [1 + JITTER - row @ v for row, v in zip(self.rows, u, strict=True)]
        share = sum(w * g[z] for w, (z, _, _) in zip(shares, self.experts, strict=True))
        share *= math.log2(len(self.counts)) / (1 + JITTER)
        new = share > self.novelty and min(g) > SMALLEST_NOVELTY
        add = not self.vectors or new
        # With the incoming example added, every score is a squared mean over a variance.
        vectors = [*self.vectors, x]
        grown = [self.inverse(z, vectors) for z in range(len(self.kernels))]
        means, covariances, scores = [], [], 0.0
        for e, (c, q, r) in enumerate(changes):
            s = np.append(c, 1.0)
            mean = np.vstack((self.means[e], 0 * q)) + np.outer(s, q)
            covariance = np.pad(self.covariances[e], (0, 1)) + r * np.outer(s, s)
            variance = np.diag(grown[self.experts[e][0]]) + np.diag(covariance)
            scores = scores + shares[e] * (mean**2).sum(axis=1) / variance
            means.append(mean)
            covariances.append(covariance)
        full = len(self.vectors) == self.budget
        may_go = [i for i, c in enumerate(self.owners) if c not in kept]
        if add and full and scores[-1] <= scores[may_go].min():
            add = False
        if not add:
            for e, (c, q, r) in enumerate(changes):
                z = self.experts[e][0]
                s, h = c + u[z], 1 / (1 + r * g[z])
                self.means[e] = self.means[e] + h * np.outer(s, q)
                self.covariances[e] = self.covariances[e] + h * r * np.outer(s, s)
            return
        self.vectors, self.means, self.covariances = vectors, means, covariances
        self.owners.append(y)
        if full:
            self.remove(may_go[np.argmin(scores[may_go])], grown)

    def remove(self, j, inverses):
        self.n_replaced += 1
        keep = [i for i in range(len(self.vectors)) if i != j]
        for e, (z, _, _) in enumerate(self.experts):
            mean, covariance = self.means[e], self.covariances[e]
            a, p = inverses[z][:, j], (inverses[z] + covariance)[:, j]
            mean = mean - np.outer(p / p[j], mean[j])
            covariance = covariance + np.outer(a, a) / a[j] - np.outer(p, p) / p[j]
            self.means[e], self.covariances[e] = mean[keep], covariance[np.ix_(keep, keep)]
        self.vectors = [self.vectors[i] for i in keep]
        self.owners.pop(j)

    @property
    def shares(self):
        """The weights in the hedge without those of repeated labels and of the archive."""
        return softmax(self.hedge[: len(self.experts)])

    @property
    def coefficients(self):
        """The mean coefficients of the hedge (n, columns)."""
        return sum(w * a for w, a in zip(self.shares, self.means, strict=True))
