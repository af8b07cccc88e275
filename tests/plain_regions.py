"""Mnemotron's regions as specified, with models of the package as root and leaves.

The tree, its statistics, the mixture of root and leaf and its rehearsal are written anew, from raw rows.
"""

from __future__ import annotations

import copy
import math

import numpy as np
from plain_mnemotron import softmax

import river_budget as rb
from river_budget._regions import Element
from river_budget.kernels import Category

LEAF = {
    "kernels": (rb.RationalQuadratic(), rb.AdditiveRationalQuadratic()),
    "forgetting": ((1.0, 0.1), (0.998, 0.1)),
    "repeats": False,
}
QUANTILES = [0.157, 0.319, 0.489, 0.674, 0.887, 1.150, 1.534]
QUANTILES = np.array([*(-z for z in QUANTILES[::-1]), 0.0, *QUANTILES])
BITS = 2**64


def mixed(h):
    """Return the end of splitmix64."""
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9 % BITS
    h = (h ^ (h >> 27)) * 0x94D049BB133111EB % BITS
    return h ^ (h >> 31)


def code(label, n_labels):
    """Return what stands for a label in the statistics."""
    if n_labels <= 8:
        return np.eye(n_labels)[label]
    return np.array([1.0 if mixed(label + 1) >> i & 1 else -1.0 for i in range(8)])


def values_of(x):
    """Return the features of an example by name, or by name and element; arrays come last."""
    values, of_arrays = {}, {}
    for name, value in x.items():
        if isinstance(value, str):
            values[Category.of(name, value)] = 1.0
        elif isinstance(value, np.ndarray):
            of_arrays |= {Element(name, i): float(element) for i, element in enumerate(value)}
        else:
            values[name] = value
    return values | of_arrays


def gain(above, codes):
    """Return how much a split of rows reduces their Gini impurity, times their number."""
    squares = [((codes[side].sum(axis=0) ** 2).sum(), side.sum()) for side in (~above, above)]
    return sum(square / n for square, n in squares) - (codes.sum(axis=0) ** 2).sum() / len(codes)


def widened(model, label):
    """Return a model that knows a label, of which it has learned no example."""
    model._labels.add(label)
    model._f.widen(len(model._labels.names))
    return model


class Node:
    """A region with its model, or a split."""

    def __init__(self, model, hedges):
        self.model, self.hedges, self.split = model, hedges, None
        self.rows, self.features = [], []


class PlainRegions:
    def __init__(self, n_regions, region_budget, **parameters):
        self.root = rb.Mnemotron(**parameters)
        self.n_regions, self.mixers, self.shared = n_regions, np.full((2, 2), 0.5), np.zeros(5)
        self.tree = Node(rb.Mnemotron(budget=region_budget, **LEAF), np.zeros(5))
        self.regions, self.n_draws = [self.tree], 0
        self.exemplars, self.came, self.turn, self.n_rehearsed = [[], []], [[], []], 0, 0

    def copied(self, model):
        """Return the model of a new region."""
        return copy.deepcopy(model)

    def threshold(self, edges, i):
        """Return the threshold of a split on an edge."""
        return edges[i]

    def hedges_of(self, node):
        return node.hedges

    def mixers_of(self, node):
        return self.mixers

    def find(self, x):
        node, values = self.tree, values_of(x)
        while node.split:
            feature, threshold, low, high = node.split
            node = high if values.get(feature, 0.0) > threshold else low
        return node

    def forecast(self, x):
        """Return the probability of each column, and keep what it was made of."""
        node = self.find(x)
        scores = np.array([model._f.scores(x) for model in (self.root, node.model)])
        p = (1 + scores) / 2
        logs, hedges = np.log(np.clip(p, 0.02 / p.shape[1], 0.99)), self.hedges_of(node)
        mixtures = [softmax(hedges[:2]) @ p, *(softmax(w @ logs) for w in self.mixers_of(node))]
        self.last = node, p, logs, np.array(mixtures)
        return softmax(hedges[2:]) @ mixtures

    def steps(self, y):
        """Return what a label adds to hedges and mixers in the last forecast."""
        _, p, logs, mixtures = self.last
        hedges = np.log(0.02 + 0.96 * np.append(p[:, y], mixtures[:, y]))
        changes = [logs[:, y] - logs @ mixture for mixture in mixtures[1:]]
        return hedges, np.array([[0.002], [0.02]]) * changes

    def is_absent(self, label):
        came = self.came[label]
        longest = max(50, 5 * (came[-1] - came[0]) / (len(came) - 1)) if len(came) > 1 else math.inf
        return bool(self.exemplars[label]) and self.root.n_rounds - came[-1] > longest

    def exemplar(self):
        """Return the share of absent labels, and an example of one with its label; or 0."""
        n, absent = len(self.came), [c for c in range(len(self.came)) if self.is_absent(c)]
        if len(absent) < 2 or 2 * len(absent) < n:
            return 0.0, None, None
        while True:
            self.turn = (self.turn + 1) % (2 * n)
            label, back = self.turn % n, 2 - self.turn // n
            if label in absent and len(self.exemplars[label]) >= back:
                return len(absent) / n, self.exemplars[label][-back], label

    def see(self, label):
        """Give all leaves the label, and return its column."""
        columns = {widened(region.model, label)._labels.column[label] for region in self.regions}
        (column,) = columns
        return column

    def learn(self, x, label):
        share, rehearsed, rehearsed_label = self.exemplar()
        if share:
            self.n_rehearsed += 1
            self.forecast(rehearsed)
            other, (other_hedges, other_mixers) = self.last[0], self.steps(rehearsed_label)
        y = self.see(label)
        while len(self.came) <= y:
            self.came.append([])
            self.exemplars.append([])
        root = self.root
        if label not in root.classes:  # It rehearses before it knows the label.
            self.root = widened(copy.deepcopy(root), label)
        self.forecast(x)
        self.root = root
        node, (hedges, mixers) = self.last[0], self.steps(y)
        own = self.hedges_of(node)
        own *= 0.995
        own += (1 - share) * hedges
        mixing = self.mixers_of(node)
        mixing += (1 - share) * mixers
        if share:
            others = self.hedges_of(other)
            others *= 1.0 if others is own else 0.995
            others += share * other_hedges
            mixing += share * other_mixers
        self.root.learn_one(x, label)
        node.model.learn_one(x, label)
        self.came[y].append(self.root.n_rounds)
        if len(self.came[y]) in (16, 64, 256, 1024):
            self.exemplars[y] = [*self.exemplars[y], x][-2:]
        if len(self.regions) < self.n_regions:
            self.observe(node, values_of(x), y)

    def observe(self, node, values, y):
        if len(node.rows) < 50:
            self.note(node, values)
        node.rows.append((values, y))
        if len(node.rows) == 50:
            self.choose(node)
        if len(node.rows) < 200:
            return
        codes = np.array([code(y, self.root._f.n_labels) for _, y in node.rows[50:]])
        best, found = 1e-9, None
        for feature, edges in node.candidates:
            column = np.array([values.get(feature, 0.0) for values, _ in node.rows[50:]])
            for i, edge in enumerate(edges):
                above = column > edge
                if 15 <= above.sum() <= 135 and gain(above, codes) > best:
                    best, found = gain(above, codes), (feature, self.threshold(edges, i))
        node.rows, node.features = [], []
        if found:
            low, high = (Node(node.model, node.hedges.copy()) for _ in range(2))
            high.model = self.copied(node.model)
            node.split = *found, low, high
            self.regions[self.regions.index(node)] = low
            self.regions.append(high)

    def note(self, node, values):
        """Note the features that are new: of an array, at most 32 elements."""
        arrays = {feature.name for feature in node.features if isinstance(feature, Element)}
        for feature in values:
            if not isinstance(feature, Element):
                node.features += [feature] * (feature not in node.features)
            elif feature.name not in arrays:
                arrays.add(feature.name)
                own = [other for other in values if getattr(other, "name", None) == feature.name]
                node.features += self.drawn(own)

    def drawn(self, items):
        """Return at most 32 items, at random if there are more."""
        items = list(items)
        for i in range(32 if len(items) > 32 else 0):
            self.n_draws += 1
            j = i + mixed(self.n_draws * 0x9E3779B97F4A7C15 % BITS) % (len(items) - i)
            items[i], items[j] = items[j], items[i]
        return items[:32]

    def choose(self, node):
        """Choose the candidates, and the edges of their bins."""
        rows = [values for values, _ in node.rows]
        table = np.array([[values.get(name, 0.0) for name in node.features] for values in rows])
        means, deviations = table.mean(axis=0), table.std(axis=0)
        varying = [j for j in range(len(node.features)) if deviations[j] > 1e-12]
        node.candidates = [
            (node.features[j], means[j] + deviations[j] * QUANTILES) for j in self.drawn(varying)
        ]
