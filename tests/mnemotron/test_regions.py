"""Regions: a tree of leaves beside the root."""

from __future__ import annotations

import numpy as np
import pytest
from plain_regions import LEAF, PlainRegions, softmax, widened

import river_budget as rb

SMALL = {"budget": 15, "kernels": (rb.RationalQuadratic(), rb.AdditiveRationalQuadratic())}


def cells(n, n_labels=2, seed=1, n_names=3):
    """Return examples of a concept that is cut along axes, with a text, and few labels at first."""
    rng, examples = np.random.default_rng(seed), []
    for t in range(n):
        u = rng.random(n_names).tolist()
        word = "red" if rng.random() < 0.5 else "blue"
        cell = (u[0] > 0.5) + 2 * (u[1] > 0.4) + (word == "red") * (u[2] > 0.7)
        y = cell % min(n_labels, 2 + t // 400)
        if rng.random() < 0.05:
            y = int(rng.integers(min(n_labels, 2 + t // 400)))
        x = dict(zip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST", u, strict=False))
        examples.append(({**x, "word": word}, "uvwxyz"[int(y)]))
    return examples


def in_tasks(n=3000):
    """Return cells whose labels come in pairs, which are shifted."""
    return [
        ({**x, "d": float(t // 600)}, "uvwxyz"["uv".index(y) + t // 600 % 3 * 2])
        for t, (x, y) in enumerate(cells(n))
    ]


def learned(examples, model=None, **parameters):
    model = model or rb.Mnemotron(**{**SMALL, "regions": 6, "region_budget": 10, **parameters})
    for x, y in examples:
        model.learn_one(x, y)
    return model


STREAMS = {
    "2 labels": lambda n: cells(n),
    "3 labels": lambda n: cells(n, n_labels=3),
    "tasks": in_tasks,
    "many names": lambda n: cells(n, n_names=40),
}


def gap(model, plain, examples):
    """Return the largest difference of the probabilities of two models that learn."""
    largest = 0.0
    for x, y in examples:
        p = list(model.predict_proba_one(x).values())
        expected = plain.forecast(x)[: len(p)] if len(p) > 1 else p
        largest = max(largest, np.abs(np.subtract(p, expected)).max(initial=0.0))
        model.learn_one(x, y)
        plain.learn(x, y)
    return largest


@pytest.mark.slow
@pytest.mark.parametrize("name", STREAMS)
def test_against_a_plain_implementation(name):
    examples = STREAMS[name](3000)
    model, plain = learned([]), PlainRegions(6, 10, **SMALL)
    assert gap(model, plain, examples) < 1e-8
    assert len(model.regions_) == len(plain.regions) == 6
    assert bool(plain.n_rehearsed) == (name == "tasks")
    own = [softmax(region.hedges).tolist() for region in plain.regions]
    hedges = model._f.own_state()["regions"]["hedges"]
    assert [softmax(row) for row in hedges] == [pytest.approx(row, abs=1e-8) for row in own]


class NextEdge(PlainRegions):
    def threshold(self, edges, i):
        return edges[min(i + 1, 14)]


class NoCopy(PlainRegions):
    def copied(self, model):
        new = rb.Mnemotron(budget=10, **LEAF)
        for label in model._labels.column:
            widened(new, label)
        return new


class SharedHedges(PlainRegions):
    def hedges_of(self, node):
        return self.shared


class OwnMixers(PlainRegions):
    def mixers_of(self, node):
        return node.model.__dict__.setdefault("mixers", np.full((2, 2), 0.5))


@pytest.mark.parametrize("fault", [NextEdge, NoCopy, SharedHedges, OwnMixers])
def test_a_fault_is_found(fault):
    model, plain = learned([]), fault(6, 10, **SMALL)
    assert gap(model, plain, cells(400)) > 1e-3
