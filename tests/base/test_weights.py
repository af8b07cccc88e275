"""Weights of examples and of classes, compared with plain reference implementations."""

from __future__ import annotations

import copy
import inspect
import itertools
import math
import pickle
import random
from collections import deque
from decimal import Decimal

import estimator_checks
import numpy as np
import pandas as pd
import plain
import plain_multiclass
import polars as pl
import pytest
from algorithms import BUDGET, PERCEPTRONS, each_class, each_path, reference
from refusals import refuses
from river import preprocessing
from states import content

import river_budget as rb
from river_budget import checkpoint, synth
from river_budget.catalog import ALGORITHMS as CATALOG
from river_budget.theory.comparators import Comparator

RBF = rb.RBF(gamma=0.4)
each_name = pytest.mark.parametrize("name", PERCEPTRONS)
POLYNOMIAL = rb.Polynomial(degree=2, gamma=0.3, coef0=1.0)


def examples_of(n, n_labels=2, seed=1):
    """Return noisy examples of `n_labels` overlapping Gaussians; labels come one after another."""
    rng = random.Random(seed)
    means = [(rng.gauss(0, 1.2), rng.gauss(0, 1.2)) for _ in range(n_labels)]
    examples = []
    for t in range(n):
        known = min(n_labels, 2 + t * n_labels // n)
        label = rng.randrange(known)
        a, b = (rng.gauss(mean, 1.0) for mean in means[label])
        if rng.random() < 0.1:
            label = rng.randrange(known)
        examples.append(({"a": a, "b": b}, label == 1 if n_labels == 2 else "uvwxyz"[label]))
    return examples


def random_weights(n, seed=2):
    """Return weights of several types and sizes; some are 0 and some are 1."""
    rng = random.Random(seed)
    return [
        rng.choice([0, 0.0, 1, 1.0, 2, 0.1, rng.uniform(0.2, 5.0), np.float32(0.5), np.int64(3)])
        for _ in range(n)
    ]


def learned(model, examples, weights=None):
    for (x, y), w in zip(examples, itertools.repeat(1.0) if weights is None else weights):  # noqa: B905
        model.learn_one(x, y, w=w)
    return model


def framed(examples, library=pd):
    X, y = [x for x, _ in examples], [y for _, y in examples]
    return library.DataFrame(X), library.Series(y)


def hypothesis_of(model):
    """Return the state without what is counted about weights."""
    return content(model.state(), without=("n_weighted",))


def close(value, tolerance=1e-9):
    return pytest.approx(value, rel=tolerance, abs=tolerance)


# --- against the plain implementations ---


@each_name
def test_two_labels_against_plain_loops(name):
    model, expected = PERCEPTRONS[name](POLYNOMIAL), reference(name, plain, POLYNOMIAL)
    examples = examples_of(90)
    for (x, y), w in zip(examples, random_weights(90), strict=True):
        assert model.decision_function_one(x) == close(expected.decision_function(x))
        model.learn_one(x, y, w=w)
        expected.learn(x, 1.0 if y else -1.0, float(w))
        assert model.support_vectors == expected.vectors
        assert (model.n_rounds, model.n_mistakes) == (expected.n_rounds, expected.n_mistakes)
    assert model.coefficients == close(np.array(expected.alphas))
    assert model.norm == close(expected.norm())
    assert model.n_mistakes > BUDGET


@pytest.mark.slow
@each_name
def test_many_labels_against_plain_loops(name):
    model = PERCEPTRONS[name](RBF, budget=6)
    expected = reference(name, plain_multiclass, RBF, 6)
    examples = examples_of(60, n_labels=6)
    for (x, y), w in zip(examples, random_weights(60), strict=True):
        if len(expected.classes) > 1:
            assert model.scores_one(x) == close(expected.scores(x))
        model.learn_one(x, y, w=w)
        expected.learn(x, y, float(w))
        assert model.support_vectors == expected.vectors
        assert (model.n_rounds, model.n_mistakes) == (expected.n_rounds, expected.n_mistakes)
    assert model.classes == expected.classes
    rows = [[row[label] for label in model.classes] for row in expected.coefficients]
    assert model.coefficients == close(np.array(rows))
    assert model.norm == close(expected.norm())


# --- by hand ---


def test_a_mistake_adds_the_weight_times_the_kernel():
    model = rb.KernelPerceptron(rb.Linear())
    model.learn_one({"u": 1.0}, True, w=2.5)
    assert model.decision_function_one({"u": 3.0}) == 7.5
    model.learn_one({"u": 1.0}, False, w=4)
    assert model.coefficients.tolist() == [2.5, -4.0]
    # f = -1.5 u at (2): a mistake of the positive label with weight 1.
    model.learn_one({"u": 2.0}, True)
    assert model.coefficients.tolist() == [2.5, -4.0, 1.0]
    # f = 2.5 u, 2.5 u - 4 u and 2.5 u - 4 u + 2 u after the three rounds.
    assert model.averaged_scores_one({"u": 1.0})[True] == close((2.5 - 1.5 + 0.5) / 3)


def test_forgetron_by_hand():
    """The linear kernel in one dimension, a budget of one."""
    model = rb.Forgetron(rb.Linear(), budget=1)
    model.learn_one({"u": 1.0}, True, w=2.0)
    assert (model.last_shrink_factor, model.removal_damage) == (1.0, 0.0)
    # f = 2 u: a mistake. Then f' = 2 u - 3 u, and mu = -1. sigma = 2, and psi = 4 phi^2 + 4 phi (1 +
    # phi) = 8 phi^2 + 4 phi <= 2 15/32.
    model.learn_one({"u": 1.0}, False, w=3.0)
    phi = (math.sqrt(4**2 + 4 * 8 * 15 / 16) - 4) / 16
    assert model.last_shrink_factor == close(phi)
    assert model.removal_damage == close(15 / 16)
    assert model.coefficients == close(np.array([-3 * phi]))


def test_projectron_by_hand():
    model = rb.Projectron(rb.Linear(), eta=0.1)
    model.learn_one({"u": 1.0}, True, w=2.0)
    # 3 u is in the span of u, with d = 3, and a mistake of weight 1/2: f = 2 u - 1.5 u.
    model.learn_one({"u": 3.0}, False, w=0.5)
    assert model.coefficients == close(np.array([0.5]))
    assert model.n_support == 1


def test_projectron_plus_plus_by_hand():
    model = rb.ProjectronPlusPlus(rb.Linear(), norm_bound=2.0)
    model.learn_one({"u": 1.0}, True, w=0.5)
    # f(x) = 1/2, so tau = loss / ||P k||^2 = 1/2, and the step is 3/2. beta = s (2 loss - s ||P k||^2).
    model.learn_one({"u": 1.0}, True, w=3.0)
    assert model.coefficients == close(np.array([2.0]))
    assert model.bound_improvement == close(1.5 * (1.0 - 1.5))
    assert checkpoint.loads(checkpoint.dumps(model)).bound_improvement < 0
    assert model.guarantees(1.0, 0.0)[0].failed == ["all weights 1"]


def test_pa_by_hand():
    model = rb.KernelPAClassifier(rb.Linear(), C=0.1)
    model.learn_one({"u": 2.0}, True, w=2.0)  # tau = min(0.1, 1 / 4)
    assert model.coefficients == close(np.array([0.2]))
    model.learn_one({"u": 2.0}, True, w=3.0)  # f = 0.8, so tau = 0.2 / 4
    assert model.coefficients == close(np.array([0.2, 0.15]))


def test_simplified_forgetron_by_hand():
    model = rb.SimplifiedForgetron(rb.Linear(), budget=500, learning_rate=0.1)
    u_squared = 500 / (32 * math.log2(8 * 500))
    model.learn_one({"u": 1.0}, True, w=2.0)
    assert model.coefficients == close(np.array([0.2]))
    model.learn_one({"u": 1.0}, False, w=3.0)
    # The weight multiplies the example's term, not the decay.
    assert model.coefficients == close(np.array([0.2 * (1 - 0.1 / u_squared), -0.3]))
    assert model.norm == close(abs(model.coefficients.sum()))


def test_tightest_counts_by_hand():
    model = rb.TightestPerceptron(rb.RBF(gamma=1.0), budget=3)
    model.learn_one({"u": 0.0}, True, w=2.0)
    assert model.posterior_one({"u": 0.0}) == close(1 - 0.5**3)  # Beta(3, 1)
    model.learn_one({"u": 0.0}, True, w=3.0)
    assert model.posterior_one({"u": 0.0}) == close(1 - 0.5**6)  # Beta(6, 1)


def test_the_weight_divides_the_noise_variance():
    """With one expert and no second example, m = y k / (noise / w + 1 + jitter)."""
    for w in [0.5, 1.0, 4.0]:
        model = rb.Mnemotron(kernels=(rb.RBF(gamma=1.0),), forgetting=((1.0, 0.2),))
        model.learn_one({"u": 0.0}, True, w=w)
        assert model.coefficients == close(np.array([1 / (0.2 / w + 1.001)]))


# --- properties ---

SCALED = ["KernelPerceptron", "Stoptron", "RemoveOldestPerceptron", "RandomizedBudgetPerceptron",
          "FixedBudgetPerceptron", "Projectron", "TighterPerceptron-0", "TighterPerceptron-A",
          "TighterPerceptron-Full"]  # fmt: skip


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("n_labels", [2, 6])
def test_a_common_weight_is_a_common_factor(name, n_labels):
    """Where no rule compares a margin with a constant other than 0; 2 is exact in floats."""
    examples = examples_of(80, n_labels)
    one, two = PERCEPTRONS[name](RBF), PERCEPTRONS[name](RBF)
    learned(one, examples)
    learned(two, examples, [2.0] * 80)
    assert two.coefficients.tolist() == (2 * one.coefficients).tolist()
    assert two.support_vectors == one.support_vectors
    assert two.n_mistakes == one.n_mistakes > BUDGET


@each_path
def test_a_weight_of_one_is_no_weight(make):
    examples = examples_of(60)
    default = make(None)
    for x, y in examples:
        default.learn_one(x, y)
    for w in [1.0, 1, np.float64(1), np.int64(1)]:
        assert content(learned(make(None), examples, [w] * 60).state()) == content(default.state())
    for w in [None, 1, [1.0] * 60]:
        many = make(None)
        many.learn_many(*framed(examples), w=w)
        assert content(many.state()) == content(default.state())


@each_class
def test_a_weight_of_zero_changes_nothing(make):
    X, y = pd.DataFrame({"a": [1.0, 2.0, 3.0]}), pd.Series([True, False, True])
    for n_learned, class_weight in [(0, None), (3, "balanced"), (40, None), (40, "balanced")]:
        model = make(None).clone({"class_weight": class_weight})
        learned(model, examples_of(n_learned))
        before, state = pickle.dumps(model), content(model.state())
        for w in [0, 0.0, np.float64(0), 1e-300]:
            model.learn_one({"a": -5.0, "new": 2.0}, False, w=w)
            model.learn_one({"a": 5.0}, True, w)
        model.learn_many(X, y, w=[0, 0, 0])
        model.learn_many(X, y, w=0)
        assert content(model.state()) == state
        assert pickle.dumps(model) == before


@each_path
def test_a_label_without_weight_is_not_registered(make):
    model = learned(make(None), examples_of(20))
    before = content(model.state())
    model.learn_one({"a": 1.0}, "new", w=0)
    model.learn_many(pd.DataFrame({"a": [1.0]}), pd.Series(["new"]), w=[0])
    assert content(model.state()) == before


@each_path
def test_examples_and_labels_without_weight_are_checked(make):
    model = learned(make(None), examples_of(20))
    before = pickle.dumps(model)
    for x, y, message in [
        ({"a": math.inf}, True, "'a'"),
        ({"a": 1.0}, None, "label"),
        ({"a": 1.0}, [1], "label"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.learn_one(x, y, w=0)
    with pytest.raises(ValueError, match="'a'"):
        model.learn_many(pd.DataFrame({"a": [1.0, math.inf]}), pd.Series([True, True]), w=[1, 0])
    y = pd.Series([True, None], dtype=object)
    with pytest.raises(ValueError, match="row 1: the label is None"):
        model.learn_many(pd.DataFrame({"a": [1.0, 2.0]}), y, w=[1, 0])
    assert pickle.dumps(model) == before


BAD_WEIGHTS = [
    -1, -0.5, math.nan, math.inf, -math.inf, "2", None, True, 1j, [1.0], Decimal(1), 1e13, 10**400,
    np.array([1.0, 2.0]), pd.NA,
]  # fmt: skip


@each_class
def test_refused_weights_change_nothing(make):
    model = learned(make(None), examples_of(20))
    message, X = r"w must be a number from 0 to 1e\+12", pd.DataFrame({"a": [1.0, 2.0]})
    for w in BAD_WEIGHTS:
        refuses(message, model.learn_one, {"a": 1.0, "new": 2.0}, False, w=w)
        refuses(f"row 1: {message}", model.learn_many, X, pd.Series([True, False]), w=[2.0, w])


@each_path
def test_as_many_weights_as_rows(make):
    model, (X, y) = make(None), framed(examples_of(3))
    before = pickle.dumps(model)
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    for w in [[1.0, 2.0], object(), np.array(2.0), np.ones((3, 1)), masked]:
        with pytest.raises(ValueError, match="w must be a weight, or one for each of the 3 rows"):
            model.learn_many(X, y, w=w)
    assert pickle.dumps(model) == before


@each_class
@pytest.mark.filterwarnings("error")
def test_large_and_small_weights(make):
    examples = examples_of(60)
    for weights in [[1e12] * 60, [1e-99] * 60, [1e12, 1.0, 1e-99] * 20]:
        large = weights[1] == 1e12
        model = make(RBF).clone({"class_weight": {True: 1e12} if large else None})
        learned(model, examples, weights)
        values = [model.decision_function_one(x) for x, _ in examples]
        assert all(map(math.isfinite, values)), weights[:3]
        assert math.isfinite(model.norm), weights[:3]
        loaded = checkpoint.loads(checkpoint.dumps(model))
        assert content(loaded.state()) == content(model.state()), weights[:3]


# --- blocks ---


def as_pandas(weights):
    return pd.Series([float(w) for w in weights])


def as_polars(weights):
    return pl.Series([float(w) for w in weights])


@each_path
def test_learn_many_is_learn_one(make):
    examples, weights = examples_of(70), random_weights(70)
    one = learned(make(None), examples, weights)
    for size, library, kind in [(70, pd, as_pandas), (13, pl, as_polars), (1, pd, list)]:
        many = make(None)
        for start in range(0, 70, size):
            part = slice(start, start + size)
            many.learn_many(*framed(examples[part], library), w=kind(weights[part]))
        assert content(many.state()) == content(one.state()), size


@pytest.mark.parametrize("kind", [list, tuple, np.array, as_pandas, as_polars, pd.Index, deque])
def test_weights_of_a_block_of_any_kind(kind):
    examples, weights = examples_of(70), random_weights(70)
    one, many = learned(rb.Forgetron(budget=5), examples, weights), rb.Forgetron(budget=5)
    many.learn_many(*framed(examples), w=kind(weights))
    assert content(many.state()) == content(one.state())


def test_weights_of_arrow():
    arrow = pytest.importorskip("pyarrow")
    examples, weights = examples_of(9), [float(w) for w in random_weights(9)]
    one, many = learned(rb.Forgetron(budget=5), examples, weights), rb.Forgetron(budget=5)
    X, y = framed(examples)
    table = arrow.table({name: list(X[name]) for name in X})
    many.learn_many(table, arrow.chunked_array([list(y)]), w=arrow.chunked_array([weights]))
    assert content(many.state()) == content(one.state())


@each_path
def test_one_weight_for_all_rows(make):
    examples = examples_of(30)
    one, many = learned(make(None), examples, [2.5] * 30), make(None)
    many.learn_many(*framed(examples), w=2.5)
    assert content(many.state()) == content(one.state())


def test_rows_without_features_and_without_weight():
    model = rb.KernelPerceptron(RBF)
    model.learn_many(pd.DataFrame(index=range(3)), pd.Series([True, False, True]), w=[1, 0, 2])
    assert model.n_rounds == 2


# --- classes ---


@each_path
def test_given_class_weights_multiply_the_weights(make):
    examples, weights = examples_of(60), random_weights(60)
    model = learned(make(RBF).clone({"class_weight": {True: 3}}), examples, weights)
    products = [float(w) * (3.0 if y else 1.0) for (_, y), w in zip(examples, weights, strict=True)]
    expected = learned(make(RBF), examples, products)
    assert hypothesis_of(model) == hypothesis_of(expected)
    assert model.class_weight == {True: 3}


@each_path
def test_balanced_weights_come_from_the_counts_so_far(make):
    examples, weights = examples_of(60), random_weights(60)
    examples = [(x, y) for x, y in examples if y or x["a"] > 0.3]
    model = learned(make(RBF).clone({"class_weight": "balanced"}), examples, weights)
    counts, products = {}, []
    for (_, y), w in zip(examples, weights, strict=False):
        if w:
            counts[y] = counts.get(y, 0) + 1
        balanced = sum(counts.values()) / (len(counts) * counts[y]) if w else 1.0
        products.append(float(w) * balanced)
    assert len(counts) == 2
    assert hypothesis_of(model) == hypothesis_of(learned(make(RBF), examples, products))


def test_balanced_weights_of_three_labels_by_hand():
    model = rb.KernelPerceptron(rb.Linear(), class_weight="balanced")
    for label, n in [("a", 0), ("a", 1), ("b", 2), ("c", 3), ("b", 4)]:
        # All kernel values are 0, so all rounds are mistakes.
        model.learn_one({n: 1.0}, label)
    steps = model.coefficients.max(axis=1)
    assert steps == close(np.array([1, 1, 3 / 2, 4 / 3, 5 / 6]))


@each_path
def test_copies_with_class_weights_go_on_exactly(make):
    examples, weights = examples_of(80), random_weights(80)
    for n_before, class_weight in [(0, "balanced"), (1, {True: 2.5}), (40, "balanced")]:
        model = make(RBF).clone({"class_weight": class_weight})
        first = learned(model.clone(), examples[:n_before], weights)
        copies = [
            copy.deepcopy(first), pickle.loads(pickle.dumps(first)),
            checkpoint.loads(checkpoint.dumps(first)),
        ]  # fmt: skip
        learned(first, examples[n_before:], weights[n_before:])
        for other in copies:
            assert other.class_weight == class_weight
            learned(other, examples[n_before:], weights[n_before:])
            assert content(other.state()) == content(first.state())
        assert content(first.clone().state()) == content(model.state())


class Failing(rb.KernelPerceptron):
    def _update(self, f, y):
        raise ArithmeticError


def test_what_is_not_learned_does_not_count_for_balanced_weights():
    model = Failing(rb.RBF(1.0), class_weight="balanced")
    with pytest.raises(ArithmeticError):
        model.learn_one({"x": 1.0}, "a")
    X, y = framed([({"x": float(i)}, "abc"[i % 3]) for i in range(30)])
    for _ in range(2):
        with pytest.raises(ArithmeticError):
            model.learn_many(X, y)
    assert model.state()["hypothesis"]["rounds"].tolist() == [0, 0, 0]


BAD_CLASS_WEIGHTS = [
    "Balanced", 2.0, [1.0, 2.0], {True: 0.0}, {True: -1}, {True: math.nan}, {True: "2"}, {1: True},
    {"a": 1e13}, {"a": 1e-13}, {"a": None},
]  # fmt: skip


@each_path
def test_class_weights_that_are_refused(make):
    for class_weight in BAD_CLASS_WEIGHTS:
        refuses("class_weight", make(RBF).clone, {"class_weight": class_weight})
    with pytest.raises(ValueError, match="class_weight must be a dict"):
        rb.Forgetron(class_weight=np.ones(2))


def test_the_counts_of_a_checkpoint_are_those_of_its_labels():
    model = learned(rb.Forgetron(class_weight="balanced"), examples_of(20))
    state = model.state()
    for counts in [np.array([5, 5, 10]), np.array([-1, 21]), np.array([]), None]:
        hypothesis = {**state["hypothesis"], "rounds": counts}
        with pytest.raises(ValueError, match=r"not a count|expected an array"):
            model.clone().restore({**state, "hypothesis": hypothesis})
    model.clone().restore(state)


# --- theorems ---

PROVED = [name for name, make in PERCEPTRONS.items() if hasattr(make(RBF), "guarantees")]


@pytest.mark.parametrize("name", PROVED)
def test_theorems_assume_weights_of_one(name):
    make, examples = PERCEPTRONS[name], examples_of(40)

    def holds(model):
        found = {g.assumptions["all weights 1"] for g in model.guarantees(1.0, 1.0)}
        assert len(found) == 1
        return found.pop()

    model = learned(make(RBF), examples, [1, 0] * 20)
    assert holds(model)
    assert holds(learned(make(RBF).clone({"class_weight": {True: 1.0}}), examples))
    assert not holds(learned(make(RBF).clone({"class_weight": "balanced"}), examples))
    learned(model, examples, [2.0] * 40)
    assert not holds(model)
    assert not holds(checkpoint.loads(checkpoint.dumps(model)))
    assert math.isinf(model.guarantees(1.0, 1.0)[0].mistakes)


def test_the_removal_damage_follows_its_definition():
    """Q is the sum of psi over all removals, by the definition of mu."""
    model, damage = rb.Forgetron(RBF, budget=4), 0.0
    for (x, y), w in zip(examples_of(80), random_weights(80), strict=True):
        mistakes, vectors, alphas = model.n_mistakes, model.support_vectors, model.coefficients
        model.learn_one(x, y, w=w)
        if model.n_mistakes == mistakes or len(vectors) < 4:
            continue
        grown = Comparator(RBF, [*vectors, x], [*alphas, float(w) if y else -float(w)])
        mu = np.sign(alphas[0]) * grown.scores(vectors[:1])[0, 1]
        phi = model.last_shrink_factor
        damage += (abs(alphas[0]) * phi) ** 2 + 2 * abs(alphas[0]) * phi * (1 - phi * mu)
    assert model.removal_damage == close(damage)
    assert damage > 1


# --- the width ---

WITH_KERNEL = {name: row.model for name, row in CATALOG.items() if row.takes("gamma")}
each_class = pytest.mark.parametrize("model", WITH_KERNEL.values(), ids=WITH_KERNEL)


@each_class
def test_gamma_is_short_for_a_kernel(model):
    examples = examples_of(40)
    seed = {"seed": 1} if CATALOG[model.__name__].takes("seed") else {}
    short, long = model(gamma=0.7, **seed), model(rb.RBF(gamma=0.7), **seed)
    assert short.resolved_kernel == rb.RBF(gamma=0.7)
    assert content(learned(short, examples).state()) == content(learned(long, examples).state())
    for other in [short.clone(), checkpoint.loads(checkpoint.dumps(short))]:
        assert (other.kernel, other.gamma) == (None, 0.7)
        assert other.resolved_kernel == rb.RBF(gamma=0.7)


@each_class
def test_widths_that_are_refused(model):
    for gamma in [0, -1.0, math.nan, "1"]:
        refuses("gamma must be a positive", model, gamma=gamma)
    with pytest.raises(ValueError, match="give kernel or gamma, not both"):
        model(rb.Linear(), gamma=1.0)


@each_class
def test_the_common_parameters_are_given_by_name(model):
    parameters = inspect.signature(model).parameters
    assert next(iter(parameters)) == "kernel"
    keywords = {name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert keywords - {"seed"} == {"gamma", "class_weight", "max_classes", "dtype"}


# --- River ---


@each_path
def test_pipelines_pass_weights_on(make):
    examples, weights = examples_of(40), random_weights(40)
    one = preprocessing.StandardScaler() | make(RBF)
    many, scaler, alone = one.clone(), preprocessing.StandardScaler(), make(RBF)
    for (x, y), w in zip(examples, weights, strict=True):
        one.learn_one(x, y, w=w)
        scaler.learn_one(x)
        alone.learn_one(scaler.transform_one(x), y, w=w)
    name = type(alone).__name__
    assert content(one[name].state()) == content(alone.state())
    many.learn_many(*framed(examples), w=weights)
    assert many[name].n_rounds == alone.n_rounds


def test_the_checks_of_river_with_balanced_classes():
    estimator_checks.run(rb.Forgetron(budget=5, class_weight="balanced"))


def test_weights_help_a_rare_class():
    stream = list(synth.RarePositives(4000, seed=1))

    def recall(model):
        hits = []
        for x, y in stream:
            if y:
                hits.append(model.predict_one(x))
            model.learn_one(x, y)
        return sum(hits) / len(hits)

    balanced = rb.SimplifiedForgetron(gamma=0.1, class_weight="balanced")
    assert recall(balanced) > recall(rb.SimplifiedForgetron(gamma=0.1))
