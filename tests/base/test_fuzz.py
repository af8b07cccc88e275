"""All public calls in any order, compared with plain reference implementations."""

from __future__ import annotations

import functools
import inspect
import math
import pickle
import random

import pandas as pd
import plain
import pytest
from algorithms import BUDGET, SEED, mnemotron, reference, row_name
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import river_budget as rb
from river_budget import base, checkpoint
from river_budget.catalog import ALGORITHMS as CATALOG

KERNEL = rb.RBF(gamma=0.3)


class ReferenceCopy:
    """A model that only calls `learn_one`, in place of a reference implementation."""

    def __init__(self, model):
        self.model = model

    def decision_function(self, x):
        return self.model.decision_function_one(x)

    def learn(self, x, sign, w):
        self.model.learn_one(x, sign > 0, w)

    @property
    def n_mistakes(self):
        return self.model.n_mistakes


def kernel_lda(kernel):
    return rb.KernelLDA(n_features=10, kernel=kernel, forgetting=0.99)


WEIGHTS = st.sampled_from([1.0, 1.0, 0.0, 0.5, 3.0])
LABELS = [(False, True), (0, 1), (-1, 1), ("no", "yes")]

BAD_ROWS = [
    {"a": math.nan}, {"a": math.inf}, {"a": None}, {"a": 1e300}, {"a": [1.0]}, None, 7,
]  # fmt: skip


class Machine(RuleBasedStateMachine):
    """A model and its reference implementation under the same calls."""

    make = None
    make_plain = None

    @initialize(labels=st.sampled_from(LABELS), seed=st.integers(0, 10**6))
    def begin(self, labels, seed):
        self.model = type(self).make(KERNEL)
        self.plain = type(self).make_plain(KERNEL)
        self.labels = labels
        self.random = random.Random(seed)
        self.known = {}
        self.n_rounds = 0

    def example(self):
        """Return a new random example, sometimes with a new name."""
        names = [name for name in "abcd" if self.random.random() < 0.7]
        if self.random.random() < 0.2:
            names.append(f"new-{self.random.random()}")
        return {name: self.random.gauss(0, 1.5) for name in names}

    def sign(self, label):
        """Return the sign that models assign: strings by the order of their first occurrence."""
        if isinstance(label, str):
            self.known.setdefault(label, 1.0 if self.known else -1.0)
            return self.known[label]
        return 1.0 if label == self.labels[1] else -1.0

    def learn_plain(self, x, label, w=1.0):
        if w:
            self.plain.learn(x, self.sign(label), w)
            self.n_rounds += 1

    @rule(positive=st.booleans(), w=WEIGHTS)
    def learn_one(self, positive, w):
        x, label = self.example(), self.labels[positive]
        self.model.learn_one(x, label, w)
        self.learn_plain(x, label, w)

    @rule(
        examples=st.lists(st.tuples(st.booleans(), WEIGHTS), min_size=1, max_size=8),
        names=st.sampled_from(["abc", "d"]),
    )
    def learn_many(self, examples, names):
        rows = [{name: self.random.gauss(0, 1.5) for name in names} for _ in examples]
        labels = [self.labels[positive] for positive, _ in examples]
        weights = [w for _, w in examples]
        self.model.learn_many(pd.DataFrame(rows), pd.Series(labels), weights)
        for x, label, w in zip(rows, labels, weights, strict=True):
            self.learn_plain(x, label, w)

    @rule()
    def predict(self):
        x = self.example()
        f = self.model.decision_function_one(x)
        assert f == pytest.approx(self.plain.decision_function(x), rel=1e-6, abs=1e-6)
        classes, probabilities = self.model.classes, self.model.predict_proba_one(x)
        assert set(probabilities) == set(classes) <= set(self.labels)
        assert self.model.predict_one(x) in (classes or [None])
        assert sum(probabilities.values()) == pytest.approx(1.0 if classes else 0.0)

    @rule()
    def predict_then_learn_the_same(self):
        x = self.example()
        self.model.predict_one(x)
        self.model.learn_one(dict(reversed(x.items())), self.labels[1])
        self.learn_plain(x, self.labels[1])

    @rule(x=st.sampled_from(BAD_ROWS), positive=st.booleans())
    def bad_features(self, x, positive):
        before = pickle.dumps(self.model)
        with pytest.raises(ValueError, match=r"feature|dict"):
            self.model.learn_one(x, self.labels[positive])
        with pytest.raises(ValueError, match=r"feature|dict"):
            self.model.predict_one(x)
        assert pickle.dumps(self.model) == before

    @rule(label=st.sampled_from([None, math.nan, [1]]))
    def bad_label(self, label):
        before = pickle.dumps(self.model)
        with pytest.raises(ValueError, match="label"):
            self.model.learn_one(self.example(), label)
        assert pickle.dumps(self.model) == before

    @rule()
    def pickle_it(self):
        self.model = pickle.loads(pickle.dumps(self.model))

    @rule()
    def checkpoint_it(self):
        self.model = checkpoint.loads(checkpoint.dumps(self.model))

    @rule()
    def clone_it(self):
        clone = self.model.clone()
        assert clone.n_rounds == getattr(clone, "n_support", 0) == 0
        assert repr(clone) == repr(self.model)

    @invariant()
    def counters_agree(self):
        if hasattr(self, "model"):
            assert self.model.n_rounds == self.n_rounds
            assert self.model.n_mistakes == self.plain.n_mistakes
            budget = getattr(self.model, "budget", None)
            assert budget is None or self.model.n_support <= budget


def machine(make, make_plain):
    members = {"make": staticmethod(make), "make_plain": staticmethod(make_plain)}
    return type("OneMachine", (Machine,), members)


MACHINES = {
    row_name(algorithm, variant): machine(
        functools.partial(algorithm.build, budget=BUDGET, seed=SEED, variant=variant),
        functools.partial(reference, row_name(algorithm, variant), plain),
    )
    for algorithm in CATALOG.values()
    for variant in algorithm.variants
    if issubclass(algorithm.model, base.Perceptron)
} | {
    name: machine(make, lambda kernel, make=make: ReferenceCopy(make(kernel)))
    for name, make in {"Mnemotron": mnemotron, "KernelLDA": kernel_lda}.items()
}


def test_every_exported_classifier_is_in_the_catalog_and_fuzzed():
    exported = [getattr(rb, name) for name in rb.__all__]
    classifiers = [
        e for e in exported if inspect.isclass(e) and issubclass(e, base.OnlineClassifier)
    ]
    assert {c.__name__ for c in classifiers} == set(CATALOG)
    assert {name.partition("-")[0] for name in MACHINES} == set(CATALOG)


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_any_order_of_calls(name):
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        MACHINES[name], settings=settings(max_examples=4, stateful_step_count=40, deadline=None)
    )
