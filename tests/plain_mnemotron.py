"""Mnemotron as specified, with explicit matrices that are inverted in every round.

Nothing is shared with the package but the kernels, which are called on two dicts, and the classifier
that is given as the archive. With two labels there is one column of means, for the positive one; with
more, a column for each of them.
"""

from __future__ import annotations

import collections
import copy
import math

import numpy as np
from scipy.special import ndtr

JITTER, LINK = 1e-3, 0.3
SMALLEST_NOVELTY = 1e-7
# The logit of a label that the archive has not learned, beside the least of the others.
UNSEEN = -50.0


def softmax(values):
    """Return the exponentials of a vector, divided by their sum. SciPy's takes half of the time of a test."""
    powers = np.exp(values - values.max())
    return powers / powers.sum()


class Repeats:
    """An expert that predicts from the last label and the length of its run: from a place, if it is known."""

    def __init__(self):
        self.last, self.length = None, 0
        self.runs, self.followers = collections.Counter(), collections.Counter()

    @property
    def place(self):
        """Where the labels stand now."""
        return None if self.last is None else (self.last, min(10, int(math.log2(self.length))))

    def probabilities(self, place, n_labels):
        if place is None:
            return np.ones(n_labels) / n_labels
        last, _ = place
        ended, went_on = (self.runs[place, goes_on] + 0.5 for goes_on in (False, True))
        p = np.array([self.followers[last, c] + 0.5 for c in range(n_labels)])
        p[last] = 0.0
        p *= ended / (ended + went_on) / p.sum()
        p[last] = went_on / (ended + went_on)
        return p

    def count(self, place, label, share):
        if place is not None:
            last, _ = place
            self.runs[place, label == last] += share
            if label != last:
                self.followers[last, label] += share
        self.length = self.length + 1 if label == self.last else 1
        self.last = label


class Weights:
    """The weights of one mixture: a hedge, two mixers, and a hedge of these three."""

    def __init__(self, n, decay, rates):
        self.hedge = np.zeros(n)  # logarithms of weights
        self.mixers = [np.ones(n) / n, np.ones(n) / n]
        self.top = np.zeros(3)  # logarithms of weights
        self.decay, self.rates = decay, rates

    def outputs(self, p):
        """Return the three mixtures of probabilities (experts, labels), and the forecast."""
        logs = np.log(np.clip(p, 0.02 / p.shape[1], 0.99))
        three = np.array([softmax(self.hedge) @ p, *(softmax(w @ logs) for w in self.mixers)])
        forecast = softmax(self.top) @ three
        return three, forecast / forecast.sum()

    def steps(self, p, y, balance, charge=0.0):
        """Return what a label adds to all weights: hedge, mixers, top, given probabilities.

        The charge is subtracted from the log probabilities of the mixers.
        """
        logs = np.log(np.clip(p, 0.02 / p.shape[1], 0.99))
        three, _ = self.outputs(p)
        mixers = [
            rate * (logs[:, y] - logs @ o) for o, rate in zip(three[1:], self.rates, strict=True)
        ]
        return [
            balance * gain(p[:, y]),
            *mixers,
            balance * (gain(three[:, y]) - [0.0, charge, charge]),
        ]

    def update(self, steps):
        self.hedge = self.decay * self.hedge + steps[0]
        self.mixers = [w + step for w, step in zip(self.mixers, steps[1:3], strict=True)]
        self.top = 0.995 * self.top + steps[3]


def gain(p):
    return np.log(0.02 + 0.96 * p)


def worth(p):
    return np.log(0.2 + 0.6 * p)


def total(*steps):
    """Return the sums of what several labels add to all weights."""
    return [sum(parts) for parts in zip(*steps, strict=True)]


def scaled(steps, factor):
    return [factor * step for step in steps]


Ticket = collections.namedtuple("Ticket", "x n_rounds p three prompt late place")


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
        # Weights that learn from what experts say when a label comes; others that learn half from what they said
        # when it was predicted, from the first late label on; and log weights of both.
        self.prompt, self.late = Weights(n, 0.995, (0.002, 0.02)), None
        self.switch = np.zeros(2)
        self.counts = [1, 1]
        self.comings = [[], []]  # the numbers of the rounds in which each label came
        self.exemplars = [[], []]  # of each label, newest last
        self.turn = self.n_rehearsed = 0
        self.repeats, self.place, self.tickets = Repeats(), None, []
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
        """Return the probability of each label, and remember what was said, and when."""
        forecast = self.forecast(x)
        if not any(ticket.n_rounds == self.n_rounds and ticket.x is x for ticket in self.tickets):
            self.tickets.append(self.ticket(x))
        return forecast

    def ticket(self, x):
        """Return what was said in the last forecast. The model keeps it in single precision."""
        late = self.late or self.prompt
        said = [
            self.p,
            late.outputs(self.p)[0],
            self.prompt.outputs(self.p)[1],
            late.outputs(self.p)[1],
        ]
        said = [rows.astype(np.float32).astype(float) for rows in said]
        return Ticket(x, self.n_rounds, *said, self.repeats.place)

    def forecast(self, x):
        """Return the probability of each label, by repeats in the place where labels stand now."""
        self.place = self.repeats.place
        return self.forecast_from(self.place, x)

    def forecast_from(self, place, x):
        """Return the probability of each label, by repeats in a place."""
        zs = range(len(self.kernels))
        self.rows = [np.array([self.kernel(z, s, x) for s in self.vectors]) for z in zs]
        self.m = [
            self.prior + k @ a for a, k in zip(self.means, self.rows_by_expert(), strict=True)
        ]
        others = [self.repeats.probabilities(place, self.n_labels)]
        if self.archive is not None:
            others.append(self.of_archive(x))
        self.p = np.array([*map(self.probabilities, self.m), *others])
        return softmax(self.switch + np.array([3.0, 0.0])) @ self.both(self.p)

    def both(self, p):
        """Return the forecasts of both mixtures."""
        return np.array(
            [weights.outputs(p)[1] for weights in (self.prompt, self.late or self.prompt)]
        )

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

    def balance(self, y):
        return math.sqrt(sum(self.counts) / (self.n_labels * self.counts[y]))

    def is_absent(self, label):
        """Return whether a label with exemplars has been away for long."""
        came = self.comings[label]
        return bool(self.exemplars[label]) and self.n_rounds - came[-1] > max(
            50, 5 * (came[-1] - came[0]) / (len(came) - 1)
        )

    def rehearse(self):
        """Return the share of the rehearsal in a round, and what it adds to all weights, and to the switch."""
        n_absent = sum(map(self.is_absent, range(self.n_labels)))
        if n_absent < 2 or 2 * n_absent < self.n_labels:
            return 0, [0, 0, 0, 0], [0, 0, 0, 0], 0
        # In turn: the older example of each label that is absent, and then the newer one.
        n, age = 2 * self.n_labels, {0: 2, 1: 1}
        for turn in [(self.turn + i) % n for i in range(1, n + 1)]:
            label, back = turn % self.n_labels, age[turn // self.n_labels]
            if self.is_absent(label) and len(self.exemplars[label]) >= back:
                break
        self.turn = turn
        self.n_rehearsed += 1
        self.forecast_from(self.place if self.is_prompt else None, self.exemplars[label][-back])
        # Akaike: half the number of the weights that are fitted to one exemplar for each absent label.
        charge = 0.0 if self.archive is None else len(self.p) / (2 * n_absent)
        both, balance = (self.prompt, self.late or self.prompt), self.balance(label)
        prompt, late = (weights.steps(self.p, label, balance, charge) for weights in both)
        return n_absent / self.n_labels, prompt, late, balance * worth(self.both(self.p)[:, label])

    def learn_weights(self, y, ticket, age, share, prompt, late, switch):
        """Learn a label, given what the rehearsal adds to the weights of both mixtures and to the switch."""
        balance = self.balance(y)
        if age and self.late is None:
            self.late = copy.deepcopy(self.prompt)
            self.late.decay, self.late.rates = 0.999, (0.001, 0.01)
        own = self.prompt.steps(self.p, y, balance)
        learned = None if self.late is None else self.steps_of_late(y, ticket, balance)
        self.prompt.update(total(scaled(own, 1 - share), scaled(prompt, share)))
        if learned is not None:
            steps, worths = learned
            self.late.update(total(scaled(steps, 1 - share), scaled(late, share)))
            self.switch = 0.999 * self.switch + (1 - share) * worths + share * switch

    def steps_of_late(self, y, ticket, balance):
        """Return what the label of the last forecast adds to the late weights, and to the switch."""
        steps = self.late.steps(self.p, y, balance)
        if ticket is None:
            return steps, 0.0
        n_known = ticket.p.shape[1]
        if y >= n_known:
            return [*steps[:3], 0 * steps[3]], 0.0
        then = np.pad(ticket.p, ((0, 0), (0, self.n_labels - n_known)))
        halves = scaled(total(steps, self.late.steps(then, y, balance)), 0.5)
        top = balance * gain(ticket.three[:, y])
        return [*halves[:3], top], balance * worth(np.array([ticket.prompt[y], ticket.late[y]]))

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
        ticket = next((ticket for ticket in self.tickets if ticket.x is x), None)
        self.tickets = [other for other in self.tickets if other is not ticket]
        age = 0 if ticket is None else self.n_rounds - ticket.n_rounds
        self.is_prompt = age == 0
        self.place = self.repeats.place if self.is_prompt else ticket.place
        share, *rehearsed = self.rehearse()
        if y >= self.n_labels:
            self.see(y)
        kept = self.kept_labels() if share else ()
        p = self.forecast_from(self.place if self.is_prompt else None, x)
        self.n_rounds += 1
        self.n_mistakes += p[y] <= np.delete(p, y).max()
        shares = self.shares
        self.learn_weights(y, ticket, age, share, *rehearsed)
        self.counts[y] += 1
        self.repeats.count(self.place, y, 1 / (1 + age))
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
        return softmax(self.prompt.hedge[: len(self.experts)])

    @property
    def coefficients(self):
        """The mean coefficients of the hedge (n, columns)."""
        return sum(w * a for w, a in zip(self.shares, self.means, strict=True))
