"""Names of features may run Python code, which may raise: then a round is refused as a whole."""

from __future__ import annotations

import collections.abc
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from algorithms import CLASSES
from refusals import refuses

import river_budget as rb
from river_budget import checkpoint


class NameFailedError(Exception):
    """What a name raises."""


class Name:
    """A name whose hash and comparison raise once, after so many calls."""

    left = None

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return f"Name({self.text!r})"

    def __hash__(self):
        self.count()
        return hash(self.text)

    def __eq__(self, other):
        self.count()
        return isinstance(other, Name) and self.text == other.text

    @staticmethod
    def count():
        if Name.left is not None:
            Name.left -= 1
            if Name.left < 0:
                Name.left = None
                raise NameFailedError


def examples(n, seed):
    rng = random.Random(seed)
    for t in range(n):
        names = rng.sample("abcdefgh", rng.randint(1, 4))
        yield {Name(text): rng.gauss(0, 1) for text in names}, t % 3


def described(model):
    Name.left = None
    questions = [{Name("a"): 0.3, Name("b"): -0.2}, {Name(text): 1.0 for text in "abcdefgh"}, {}]
    scores = [list(model.scores_one(x).values()) for x in questions]
    vectors = [sorted((repr(n), v) for n, v in x.items()) for x in model.support_vectors]
    return model.n_rounds, vectors, scores


def assert_same(one, other):
    assert one[:2] == other[:2]
    np.testing.assert_allclose(one[2], other[2], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [rb.RBF(0.5), None], ids=["given", "learned"])
@pytest.mark.parametrize("name", CLASSES)
def test_names_that_raise_leave_whole_examples(name, kernel):
    """The call of a hash or comparison that raises is every one in turn."""
    model, reference = (CLASSES[name](kernel) for _ in range(2))
    for x, y in examples(3, seed=1):
        model.learn_one(x, y)
        reference.learn_one(x, y)
    for x, y in examples(6, seed=2):
        before = described(model)
        for n_calls in range(1000):
            Name.left = n_calls
            try:
                model.learn_one(x, y)
            except NameFailedError:
                if model.n_rounds == before[0]:
                    assert_same(described(model), before)
                    continue
            break
        Name.left = None
        reference.learn_one(x, y)
        assert model.n_rounds == reference.n_rounds
        assert all(error < 1e-6 for error in model.numerical_errors().values())
        if name != "Mnemotron":  # its scales may lack an example that was learned as a whole
            assert described(model)[1] == described(reference)[1]


def test_the_sums_of_names_that_raise_keep_their_table():
    model = rb.Forgetron(budget=2)
    for t in range(66):
        model.learn_one({Name(f"n{t}"): 1.0 + t}, t % 2)
    for n_calls in range(400):
        Name.left = n_calls
        try:
            model.learn_one({Name("new"): 3.0}, 1)
        except NameFailedError:
            sums = model._feature_scales.sums
            Name.left = None
            assert len(sums.measures()[2]) == len(sums.names)
            continue
        break
    Name.left = None
    assert model.n_rounds == 67


def nested(depth):
    name = ()
    for _ in range(depth):
        name = (name,)
    return name


HUGE = {
    "int": 10**5000,
    "in a tuple": ("a", 10**5000),
    "fraction": Fraction(1, 10**5000),
    "deep": nested(2000),
}
MODELS = {**CLASSES, "KernelLDA": lambda kernel: rb.KernelLDA(n_features=10, kernel=kernel)}


def after_one(name):
    model = MODELS[name](None)
    for t in range(3):
        model.learn_one({"a": 1.0 * t}, t % 2)
    return model


@pytest.mark.parametrize("huge", HUGE.values(), ids=HUGE)
@pytest.mark.parametrize("name", MODELS)
def test_a_name_without_a_text_is_refused_by_name(name, huge):
    model = after_one(name)
    for value in (1.0, "red", None, np.ones(3), math.inf, [1]):
        for x in ({huge: value}, {"a": 1.0, huge: value}):
            refuses(
                "^feature <(int|tuple|Fraction), too large to show>: a name may have",
                model.learn_one,
                x,
                1,
            )
            refuses("^feature ", model.predict_one, x)
    refuses("^row 0: feature ", model.learn_many, {"a": [1.0, 2.0], huge: [1.0, 2.0]}, [0, 1])


def test_a_name_without_a_text_is_refused_before_a_function_sees_it():
    model = rb.Forgetron(rb.FunctionKernel(rb.Linear()), budget=3)
    for huge in HUGE.values():
        refuses("^feature ", model.learn_one, {huge: 1.0}, 1)


def test_names_may_be_large_and_deep():
    x = {2**1000: 1.0, -(2**64): 2.0, nested(50): 3.0, ("a", (1, 2.5)): 4.0, frozenset("ab"): 5.0}
    for name in MODELS:
        model = after_one(name)
        model.learn_one(x, 1)
        loaded = checkpoint.loads(checkpoint.dumps(model))
        assert loaded.predict_proba_one(x) == model.predict_proba_one(x)


class Pairs(collections.abc.Mapping):
    """A mapping whose names may be of any kind."""

    def __init__(self, *pairs):
        self.pairs = pairs

    def __iter__(self):
        return (name for name, _ in self.pairs)

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, name):
        return next(value for own, value in self.pairs if own == name)


@pytest.mark.parametrize("name", MODELS)
def test_a_name_that_is_not_hashable_is_refused_by_name(name):
    model = after_one(name)
    for x in (Pairs(([1], 1.0)), Pairs(("a", 1.0), ((1, [2]), 1.0))):
        refuses(r"^feature .*\[.\].*: the name is not hashable", model.learn_one, x, 1)
        refuses("^feature ", model.predict_one, x)
    model.learn_one(Pairs(("a", 1.0)), 1)
    assert model.n_rounds == 4
