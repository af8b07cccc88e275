"""Any number of labels on one support set, compared with plain reference implementations."""

from __future__ import annotations

import copy
import math
import pickle
import random

import numpy as np
import pandas as pd
import plain
import plain_multiclass
import pytest
from algorithms import (
    PERCEPTRONS,
    each_algorithm,
    each_path,
    each_perceptron_path,
    parameters_of,
    reference,
)
from refusals import refuses
from river.multiclass import OneVsOneClassifier, OneVsRestClassifier
from runs import learned
from scipy import stats
from states import content

import river_budget as rb
from river_budget import checkpoint
from river_budget.catalog import ALGORITHMS as CATALOG

RBF = rb.RBF(gamma=0.4)
POLYNOMIAL = rb.Polynomial(degree=2, gamma=0.3, coef0=1.0)
BUDGETS = {3: 5, 10: 12, 26: 20}  # by the number of labels

each_name = pytest.mark.parametrize("name", PERCEPTRONS)


def labels_of(n_labels):
    """Return labels of several types."""
    if n_labels == 3:
        return ["spam", ("a", 1), 2.5]
    return list(range(10)) if n_labels == 10 else [chr(ord("a") + c) for c in range(n_labels)]


def blobs(n_labels, n_rounds, seed=1, names="abcd", sparse=True):
    """Return examples of overlapping blobs with noisy labels.

    A new label arrives every few rounds of the first two thirds. If sparse, an example lacks some
    names, and may have one of its own. None is empty: equal examples tie but for rounding.
    """
    rng = random.Random(seed)
    labels = labels_of(n_labels)
    centers = [{name: rng.gauss(0, 1.5) for name in names} for _ in labels]
    examples, known = [], 0
    for t in range(n_rounds):
        if known <= min(n_labels - 1, t * n_labels * 3 // (2 * n_rounds)):
            c = label = known
            known += 1
        else:
            c = rng.randrange(known)
            label = c if rng.random() < 0.9 else rng.randrange(known)
        x = {
            name: center + rng.gauss(0, 1)
            for name, center in centers[c].items()
            if not sparse or name == names[0] or rng.random() < 0.75
        }
        if sparse and rng.random() < 0.1:
            x[f"new-{t}"] = rng.gauss(0, 1)
        examples.append((x, labels[label]))
    return examples


def grid(n_rounds, seed=1):
    """Return examples with features of -1, 0 and 1, many of them equal, and random labels."""
    rng = random.Random(seed)
    return [
        ({name: float(rng.choice([-1, 1])) for name in "abc" if rng.random() < 0.6}, rng.choice("uvwxy"))
        for _ in range(n_rounds)
    ]  # fmt: skip


def framed(examples):
    """Return examples as a frame and a series."""
    return pd.DataFrame([x for x, _ in examples]), pd.Series([y for _, y in examples], dtype=object)


def array_of(model):
    """Return the coefficients of a plain model (n_support, n_classes)."""
    rows = [[row[label] for label in model.classes] for row in model.coefficients]
    return np.array(rows).reshape(-1, len(model.classes))


def close(value, tolerance=1e-9):
    return pytest.approx(value, rel=tolerance, abs=tolerance)


def first_disagreement(model, reference, examples):
    """Return the first round in which a model and a reference implementation differ, or None."""
    for t, (x, y) in enumerate(examples):
        if len(reference.classes) > 1 and model.scores_one(x) != close(reference.scores(x)):
            return t
        model.learn_one(x, y)
        reference.learn(x, y)
        if model.support_vectors != reference.vectors or model.n_mistakes != reference.n_mistakes:
            return t
    return None


# --- against the plain implementations ---


@each_name
@pytest.mark.parametrize(("kernel", "n_labels"), [(POLYNOMIAL, 3), (RBF, 26)], ids=str)
@pytest.mark.slow
def test_against_plain_loops(name, kernel, n_labels):
    validated = name.startswith("Tight")  # the plain ones are slow
    budget, n_rounds = (6, 40) if validated else (BUDGETS[n_labels], 45)
    model, plain_model = (
        PERCEPTRONS[name](kernel, budget=budget),
        reference(name, plain_multiclass, kernel, budget),
    )
    for x, y in blobs(n_labels, n_rounds, seed=n_labels):
        if len(plain_model.classes) > 1:
            scores, expected = model.scores_one(x), plain_model.scores(x)
            assert list(scores) == list(expected)
            assert scores == close(expected)
            assert margin(scores, y) == close(plain_model.margin(x, y))
            assert model.predict_one(x) == max(scores, key=scores.get)
        model.learn_one(x, y)
        plain_model.learn(x, y)
        assert model.support_vectors == plain_model.vectors
        assert model.n_mistakes == plain_model.n_mistakes
    assert model.classes == plain_model.classes
    assert len(model.classes) == n_labels
    assert model.coefficients == close(array_of(plain_model))
    assert model.norm == close(plain_model.norm())
    assert model.n_mistakes > budget


def margin(scores, y):
    """Return the margin of a label; a new one has a score of zero."""
    rivals = [score for label, score in scores.items() if label != y]
    return (scores.get(y, 0.0) - max(rivals)) / 2


CONSERVATIVE = [
    name
    for name in PERCEPTRONS
    if name.startswith(("Kernel", "Stop", "RemoveOldest", "Randomized", "Fixed", "Tighter"))
    and name != "KernelPAClassifier"
]


@pytest.mark.parametrize("name", CONSERVATIVE)
@pytest.mark.parametrize("kernel", [rb.Linear(), rb.Polynomial(degree=2, gamma=1.0)], ids=str)
def test_ties_of_whole_numbers(name, kernel):
    """Every score is a whole number, so rivals, margins of zero and removals tie exactly."""
    model, plain_model = PERCEPTRONS[name](kernel), reference(name, plain_multiclass, kernel)
    n_ties = 0
    for t, (x, y) in enumerate(grid(60)):
        if t > 10:
            scores = model.scores_one(x)
            assert scores == plain_model.scores(x)
            assert model.predict_one(x) == max(scores, key=scores.get)
            n_ties += len(set(scores.values())) < len(scores)
        model.learn_one(x, y)
        plain_model.learn(x, y)
        assert model.support_vectors == plain_model.vectors
        assert model.n_mistakes == plain_model.n_mistakes
    assert model.coefficients.tolist() == array_of(plain_model).tolist()
    assert n_ties > 10


OTHER_PARAMETERS = [
    ("KernelPAClassifier", {"mode": 0}),
    ("KernelPAClassifier", {"mode": 2, "C": 0.5}),
    ("SimplifiedForgetron", {"budget": 20, "learning_rate": 0.2}),
    ("ModifiedRandomizedBudgetPerceptron", {"budget": 5, "learning_rate": 0.5, "seed": 3}),
    ("Projectron", {"eta": 0.6}),
    ("Projectron", {"norm_bound": 2.0}),
    ("ProjectronPlusPlus", {"eta": 0.6}),
    ("TighterPerceptron", {"budget": 5, "validation": 20, "seed": 3}),
    ("TightestPerceptron", {"budget": 5, "prior": 0.4}),
    ("BudgetPassiveAggressive", {"budget": 5, "C": 0.3}),
    ("Ahpatron", {"budget": 7, "epsilon": 0.8, "learning_rate": 0.5, "norm_bound": 1.5}),
    ("ProjectedGradient", {"budget": 7, "eta": 0.6, "norm_bound": 1.5}),
    (
        "BudgetedOGD",
        {"budget": 5, "learning_rate": 0.6, "regularization": 0.1, "clip": 1.5, "seed": 3},
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), OTHER_PARAMETERS, ids=str)
def test_other_parameters_against_plain_loops(name, parameters):
    model = getattr(rb, name)(RBF, **parameters)
    plain_model = getattr(plain_multiclass, name)(RBF, **parameters)
    assert first_disagreement(model, plain_model, blobs(10, 50, seed=2)) is None
    assert model.norm == close(plain_model.norm())


# --- the plain implementations themselves ---

PAIRS = [
    "KernelPerceptron", "Stoptron", "RemoveOldestPerceptron", "RandomizedBudgetPerceptron", "Forgetron",
    "SimplifiedForgetron", "ModifiedRandomizedBudgetPerceptron", "KernelPAClassifier",
]  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_the_reduction(name):
    """The binary algorithm on z = k(x, .) (x) (e_y - e_s) / sqrt(2), labelled +1, is the same."""

    def on_pairs(a, b):
        signs = (a["y"] == b["y"]) - (a["y"] == b["s"]) - (a["s"] == b["y"]) + (a["s"] == b["s"])
        return RBF(dict(a["x"]), dict(b["x"])) * signs / 2

    model, lifted = reference(name, plain_multiclass, RBF, 12), reference(name, plain, on_pairs, 12)
    for x, label in blobs(10, 60):
        y = model.column(label)
        model.columns.setdefault(label, y)
        z = {"x": tuple(x.items()), "y": y, "s": plain_multiclass.rival(model.values(x), y)}
        assert model.margin(x, label) == close(lifted.decision_function(z), 1e-12)
        model.learn(x, label)
        lifted.learn(z, 1.0)
        assert model.vectors == [dict(vector["x"]) for vector in lifted.vectors]
    assert model.norm() == close(lifted.norm(), 1e-12)
    assert model.n_mistakes == lifted.n_mistakes > 12


def test_probabilities_of_the_largest():
    probabilities = plain_multiclass.probabilities_of_the_largest
    for plus, minus in [(1.0, 1.0), (3.7, 1.2), (0.3, 5.0), (400.0, 390.0)]:
        assert probabilities([plus, minus])[0] == close(stats.beta.sf(0.5, plus, minus), 1e-12)
    # P(E_1 + E_2 > max of n - 1 others) for exponential variables, n = 3: 1 - 2 / 4 + 1 / 9.
    assert probabilities([2.0, 1.0, 1.0])[0] == close(11 / 18, 1e-12)
    for parameters in [[1.0] * 26, [0.1, 2.3, 7.9, 7.9], [50.0, 60.0, 1.0, 1.0, 1.0]]:
        assert sum(probabilities(parameters)) == close(1.0, 1e-10)
    drawn = np.random.default_rng(1).dirichlet([4.0, 3.0, 1.5], size=100_000).argmax(axis=1)
    shares = np.bincount(drawn) / len(drawn)
    assert probabilities([4.0, 3.0, 1.5]) == pytest.approx(shares.tolist(), abs=0.01)


# --- two labels ---

TWO_LABELS = [
    ((False, True), 0), ((True, False), 1), ((0, 1), 0), ((1, 0), 1), ((-1, 1), 0), ((1.0, -1.0), 1),
    (("no", "yes"), 0), ((2, 1), 0), ((("a", 1), True), 0), ((1, "x"), 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "labels", "first"),
    [
        (name, *case)
        for name in PERCEPTRONS
        for case in (TWO_LABELS if name == "Forgetron" else TWO_LABELS[1:2])
    ],
    ids=str,
)
def test_two_labels_are_the_binary_algorithm(name, labels, first):
    """The binary reference with the signs, the plain one and the model; `first` is a column."""
    signs = dict(zip(labels, (-1.0, 1.0) if first == 0 else (1.0, -1.0), strict=True))
    classes = sorted(labels, key=signs.get)
    model, many = PERCEPTRONS[name](RBF), reference(name, plain_multiclass, RBF)
    binary = reference(name, plain, RBF)
    examples = [
        (x, labels[t == 1 or (t > 1 and y == 2.5)]) for t, (x, y) in enumerate(blobs(3, 40))
    ]
    for t, (x, y) in enumerate(examples):
        f = binary.decision_function(x)
        assert many.margin(x, y) == close(signs[y] * f, 1e-12)
        assert model.decision_function_one(x) == close(f, 1e-12)
        if t > 1:
            assert model.scores_one(x) == close({classes[0]: -f, classes[1]: f}, 1e-12)
            assert list(model.scores_one(x)) == classes
            assert model.predict_one(x) == classes[model.decision_function_one(x) > 0]
        model.learn_one(x, y)
        many.learn(x, y)
        binary.learn(x, signs[y])
        assert model.support_vectors == many.vectors == binary.vectors
    assert model.classes == many.classes == classes
    assert model.coefficients == close(np.array(binary.alphas), 1e-12)
    assert array_of(many) == close(np.outer(binary.alphas, [-1.0, 1.0]), 1e-12)
    assert model.n_mistakes == many.n_mistakes == binary.n_mistakes
    assert model.norm == close(binary.norm(), 1e-12)


@pytest.mark.parametrize(
    ("seen", "classes"),
    [
        ([True, "b", "c"], ["b", True, "c"]),
        ([1, 0, -1, 7], [0, 1, -1, 7]),
        ([0, 1, 2], [0, 1, 2]),
        ([2, 0, 1], [2, 0, 1]),
        ([2, 1, 0], [2, 1, 0]),
        (["z", "z", "a", "m", "a"], ["z", "a", "m"]),
        ([-1, "x", "y"], [-1, "x", "y"]),
    ],
    ids=str,
)
def test_the_order_of_the_labels(seen, classes):
    model, plain_model = rb.KernelPerceptron(RBF), plain_multiclass.KernelPerceptron(RBF)
    for t, y in enumerate(seen):
        model.learn_one({"u": float(t)}, y)
        plain_model.learn({"u": float(t)}, y)
    assert model.classes == plain_model.classes == classes
    assert list(model.scores_one({"u": 0.0})) == list(plain_model.scores({"u": 0.0})) == classes


# --- a label that comes later ---


def test_a_third_label_adds_a_column_of_zeros():
    model = learned(rb.KernelPerceptron(RBF), [(x, y != "spam") for x, y in blobs(3, 40)])
    a = model.coefficients
    model.learn_one({}, "third")
    before, last = model.coefficients[:-1], model.coefficients[-1]
    assert model.classes == [False, True, "third"]
    assert before.tolist() == np.stack([-a, a, 0 * a], axis=1).tolist()
    assert sorted(last) == [-1.0, 0.0, 1.0]
    assert last[2] == 1.0


@each_algorithm
def test_blocks_give_the_state_of_single_examples(make):
    """New labels arrive in the middle of blocks; they are no rivals of the rows before."""
    examples = blobs(10, 60, sparse=False)
    one = learned(make(RBF), examples)
    for size in [60, 17, 1]:
        many = make(RBF)
        for start in range(0, 60, size):
            many.learn_many(*framed(examples[start : start + size]))
        assert content(many.state()) == content(one.state())
    assert len(one.classes) == 10


def test_a_label_that_comes_later_in_a_block_is_no_rival_yet():
    """It would be the rival of the second row: all other scores are negative but for that of a."""
    before = [({"u": 1.0}, "a"), ({"u": -1.0}, "b")]
    # g = (u, -u) from the first row on, so the second one is correct. At the first row of the block
    # the margin of a is 2, at the second one -1: it is added with the rival b, not d.
    block = [({"u": 2.0}, "a"), ({"u": -1.0}, "a"), ({"u": 1.0}, "d")]
    model = learned(rb.KernelPerceptron(rb.Linear()), before)
    model.learn_many(*framed(block))
    assert model.coefficients.tolist() == [[1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [-1.0, 0.0, 1.0]]
    one = learned(rb.KernelPerceptron(rb.Linear()), [*before, *block])
    assert content(model.state()) == content(one.state())


# --- copies ---


def copies(model):
    return {
        "deepcopy": copy.deepcopy(model),
        "pickle": pickle.loads(pickle.dumps(model)),
        "checkpoint": checkpoint.loads(checkpoint.dumps(model)),
    }


@each_algorithm
def test_a_copy_goes_on_exactly(make):
    """The first label, two labels, and several of them are known when it is copied."""
    examples = blobs(10, 60)
    x = examples[0][0]
    for n_before in [1, 4, 40]:
        model = learned(make(RBF), examples[:n_before])
        others, before = copies(model), content(model.state())
        for kind, other in others.items():
            assert content(other.state()) == before, kind
            learned(other, examples[n_before:])
            assert content(model.state()) == before, kind
        learned(model, examples[n_before:])
        for kind, other in others.items():
            assert content(other.state()) == content(model.state()), kind
            assert other.classes == labels_of(10)
            assert other.scores_one(x) == model.scores_one(x)


@each_path
def test_a_clone_has_learned_nothing(make):
    model = learned(make(RBF), blobs(10, 50))
    assert content(model.clone().state()) == content(make(RBF).state())
    assert model.clone().classes == []


# --- traces by hand ---


def test_remove_oldest_by_hand():
    """Three labels, the linear kernel, a budget of two."""
    model = rb.RemoveOldestPerceptron(rb.Linear(), budget=2)
    # All scores are 0: a mistake. The rival is the other label, which is not seen yet.
    model.learn_one({"u": 1.0}, "a")
    # The second label is that other one. g = (u, -u) is 0: a mistake with the rival a.
    model.learn_one({"v": 1.0}, "b")
    assert model.scores_one({"u": 5.0, "v": 3.0}) == {"a": 2.0, "b": -2.0}
    assert model.coefficients.tolist() == [-1.0, 1.0]
    # g = (u - v, v - u, 0) = (-1, 1, 0): the margin is -1/2 and the rival is b.
    model.learn_one({"u": 1.0, "v": 2.0}, "c")
    assert model.support_vectors == [{"v": 1.0}, {"u": 1.0, "v": 2.0}]
    assert model.coefficients.tolist() == [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]
    # g = (-v, -u - v, u + 2v) = (1, -1, 0): the margin of a is 1/2, and nothing changes.
    x = {"u": 2.0, "v": -1.0}
    assert model.scores_one(x) == {"a": 1.0, "b": -1.0, "c": 0.0}
    model.learn_one(x, "a")
    assert model.n_mistakes == 3
    # g = (0, 1, -1): the margin of a is -1/2 and its rival is b.
    model.learn_one({"u": -1.0}, "a")
    assert model.support_vectors == [{"u": 1.0, "v": 2.0}, {"u": -1.0}]
    assert model.coefficients.tolist() == [[0.0, -1.0, 1.0], [1.0, -1.0, 0.0]]
    # g = (-u, -2v, u + 2v), so 1/2 sum_c ||g_c||^2 = (1 + 4 + 5) / 2.
    assert model.norm == close(math.sqrt(5))
    assert (model.n_mistakes, model.n_rounds) == (4, 5)
    # Ties go to the first label: all three, and b and c.
    assert model.predict_one({}) == "a"
    assert model.scores_one({"u": 4.0, "v": -1.0}) == {"a": -4.0, "b": 2.0, "c": 2.0}
    assert model.predict_one({"u": 4.0, "v": -1.0}) == "b"


def test_forgetron_by_hand():
    """Three labels, the linear kernel, a budget of two."""
    model = rb.Forgetron(rb.Linear(), budget=2)
    learned(model, [({"u": 1.0}, "a"), ({"v": 1.0}, "b")])
    # g = (u - v, v - u, 0) = (2, -2, 0): the rival of c is a. Then g' = (0, v - u, u - v).
    # The oldest, u, has the label a and the rival b: mu = (0 + 1) / 2. From a alone it would be 0,
    # and with its largest rival of this round, c, -1/2. sigma = 1, so psi = phi^2 + 2 phi (1 - phi /
    # 2) = 2 phi <= 15/32 3.
    model.learn_one({"u": 1.0, "v": -1.0}, "c")
    s = 45 / 64
    assert model.last_shrink_factor == close(s)
    assert model.removal_damage == close(45 / 32)
    assert model.support_vectors == [{"v": 1.0}, {"u": 1.0, "v": -1.0}]
    assert model.coefficients == close(np.array([[-s, s, 0.0], [-s, 0.0, s]]))
    # g = s (-u, v, u - v) = s (1, 1, -2): a and b tie, and the rival of c is a. Then
    # g' = ((1 - s) u - v, s v, (1 - s) (v - u)). The oldest, v, has the label b and the rival a: mu =
    # (s + 1) / 2, sigma = s, and psi = s (2 phi - phi^2) <= 15/32 4 - 45/32 = 15/32 = 2/3 s.
    x = {"u": -1.0, "v": 1.0}
    assert model.scores_one(x) == close({"a": s, "b": s, "c": -2 * s})
    model.learn_one(x, "c")
    phi = 1 - math.sqrt(1 / 3)
    assert model.last_shrink_factor == close(phi)
    assert model.removal_damage == close(15 / 8)
    assert model.support_vectors == [{"u": 1.0, "v": -1.0}, {"u": -1.0, "v": 1.0}]
    assert model.coefficients == close(phi * np.array([[-s, 0.0, s], [-1.0, 0.0, 1.0]]))
    # g_c = -g_a = phi (1 - s) (v - u), and g_b = 0.
    assert model.norm == close(phi * (1 - s) * math.sqrt(2))
    assert model.n_mistakes == 4


# --- refused labels ---

NO_LABELS = [None, math.nan, np.float64("nan"), pd.NA, pd.NaT, [1], {"a"}]


@each_path
def test_refused_labels_leave_the_state(make):
    x = {"a": 0.5}
    for n_learned in [0, 1, 4, 50]:
        model = learned(make(RBF), blobs(10, 60)[:n_learned])
        for label in NO_LABELS:
            refuses("label", model.learn_one, x, label)
            block = framed([(x, "new"), (x, "other"), (x, "third"), (x, label)])
            refuses(r"row 3: .*label", model.learn_many, *block)


@each_path
def test_one_label_too_many(make):
    x = {"a": 0.5, "b": -0.5}
    for max_classes in [2, 3, 5]:
        model = make(RBF).clone({"max_classes": max_classes})
        learned(model, [(x, c) for c in range(max_classes - 1)] + [({"a": -2.0}, 0)])
        block = framed([(x, 0), (x, "last"), (x, "too many"), (x, "last")])
        refuses(r"row 2: .*max_classes", model.learn_many, *block)
        model.learn_one(x, "last")
        refuses("max_classes", model.check_label, "too many")
        refuses("max_classes", model.learn_one, x, "too many")
        refuses(r"row 1: .*max_classes", model.learn_many, *framed([(x, 0), (x, "too many")]))
        assert len(model.classes) == max_classes
        model.learn_one(x, "last")


def test_there_are_1000_labels_by_default():
    model = rb.RemoveOldestPerceptron(rb.Linear(), budget=3)
    learned(model, [({"u": 1.0}, c) for c in range(1000)])
    with pytest.raises(ValueError, match="max_classes"):
        model.learn_one({"u": 1.0}, 1000)
    assert model.classes == list(range(1000))


# --- predictions ---


@each_perceptron_path
@pytest.mark.parametrize("n_labels", [2, 10])
def test_predictions_come_from_the_scores(make, n_labels):
    examples = blobs(10, 80, sparse=False)
    learned_labels = [(x, y if n_labels == 10 else y > 4) for x, y in examples]
    model = learned(make(RBF, budget=20), learned_labels)
    X = framed(examples)[0]
    scores, chances = model.scores_many(X), model.predict_proba_many(X)
    assert list(scores.columns) == list(chances.columns) == model.classes
    assert len(model.classes) == n_labels
    assert chances.sum(axis=1).tolist() == close([1.0] * 80)
    for t, (x, _) in enumerate(examples):
        one = model.scores_one(x)
        assert scores.iloc[t].to_dict() == close(one)
        powers = {label: math.exp(score / 2) for label, score in one.items()}
        softmax = {label: power / sum(powers.values()) for label, power in powers.items()}
        assert model.predict_proba_one(x) == close(softmax)
        assert chances.iloc[t].to_dict() == close(softmax)
    predicted = [max(one, key=one.get) for one in scores.to_dict("records")]
    assert model.predict_many(X).tolist() == predicted
    assert len(set(predicted)) > 1


def test_probabilities_of_large_scores():
    """The softmax of scores far beyond the range of exp."""
    model = rb.RemoveOldestPerceptron(rb.Linear(), budget=9)
    learned(model, [({"u": 1.0}, "a"), ({"v": 1.0}, "b"), ({"w": 1.0}, "c")])
    x = {"u": 1e6, "v": -1e6, "w": 0.0}
    assert model.predict_proba_one(x) == close({"a": 1.0, "b": 0.0, "c": 0.0})
    assert model.predict_proba_many(pd.DataFrame([x])).iloc[0].tolist() == close([1.0, 0.0, 0.0])


@each_path
def test_the_decision_function_of_many_labels(make):
    examples = blobs(3, 40, sparse=False)
    x, (X, _) = examples[0][0], framed(examples)
    model = learned(make(RBF), [(x, y == 2.5) for x, y in examples])
    values = model.decision_function_many(X).tolist()
    assert values == close([model.decision_function_one(x) for x, _ in examples])
    assert values == close(model.scores_many(X)[True].tolist())
    before = content(learned(model, examples[-1:]).state())
    with pytest.raises(ValueError, match="scores_one"):
        model.decision_function_one(x)
    with pytest.raises(ValueError, match=r"scores_(one|many)"):
        model.decision_function_many(X)
    assert content(model.state()) == before


GROWING = [name for name in PERCEPTRONS if CATALOG[name.partition("-")[0]].name in {
    "KernelPerceptron", "Stoptron", "Projectron", "ProjectronPlusPlus", "KernelPAClassifier"
}]  # fmt: skip


@pytest.mark.parametrize("name", GROWING)
def test_the_average_of_the_scores(name):
    """Column by column; a label has scores of zero before it comes."""
    model, plain_model, x = (
        PERCEPTRONS[name](RBF),
        reference(name, plain_multiclass, RBF),
        {"a": 0.3, "b": -0.2},
    )
    total = np.zeros(10)
    for t, (z, y) in enumerate(blobs(10, 80)):
        model.learn_one(z, y)
        plain_model.learn(z, y)
        values = plain_model.values(x)
        total[: len(values)] += values
        if len(model.classes) > 1:
            averages = dict(zip(model.classes, (total / (t + 1)).tolist(), strict=False))
            assert model.averaged_scores_one(x) == close(averages)
            assert list(model.averaged_scores_one(x)) == model.classes


# --- River's reductions to two labels ---


@each_path
def test_one_versus_rest(make):
    examples = blobs(3, 60)
    wrapped = learned(OneVsRestClassifier(make(RBF)), examples)
    for label, model in wrapped.classifiers.items():
        first = next(t for t, (_, y) in enumerate(examples) if y == label)
        alone = learned(make(RBF), [(x, y == label) for x, y in examples[first:]])
        assert content(model.state()) == content(alone.state())
        assert model.classes == [False, True]
    chances = wrapped.predict_proba_one(examples[0][0])
    assert chances.keys() == set(labels_of(3))
    assert sum(chances.values()) == close(1.0)
    assert wrapped.predict_one(examples[0][0]) == max(chances, key=chances.get)


@each_path
def test_one_versus_one(make):
    examples = blobs(10, 80)
    wrapped = learned(OneVsOneClassifier(make(RBF)), examples)
    assert len(wrapped.classifiers) == 45
    for model in wrapped.classifiers.values():
        assert set(model.classes) <= {False, True}
    assert wrapped.predict_one(examples[0][0]) in range(10)


# --- planted faults ---


class MuOfOneClass(plain_multiclass.Forgetron):
    """mu from the score of the removed vector's label alone."""

    def mu(self):
        return self.values(self.vectors[0])[plain_multiclass.label_of(self.rows[0])]


class MuOfTheRivalNow(plain_multiclass.Forgetron):
    """mu with the largest rival of this round instead of the stored one."""

    def mu(self):
        label = plain_multiclass.label_of(self.rows[0])
        return plain_multiclass.margin(self.values(self.vectors[0]), label)


class MuBeforeTheExample(plain_multiclass.Forgetron):
    """mu without the incoming example."""

    def mu(self):
        values = self.values(self.vectors[0], without=len(self.vectors) - 1)
        label, rival = (f(self.rows[0]) for f in FROM_ROW)
        return (values[label] - values[rival]) / 2


FROM_ROW = plain_multiclass.label_of, plain_multiclass.rival_of


class MarginOfTheStoredRival(plain_multiclass.FixedBudgetPerceptron):
    """CKS with the stored rivals instead of the largest of this round."""

    def mistake(self, x, y, s, m):
        self.add(x, y, s)
        if len(self.vectors) > self.budget:
            margins = []
            for j, (vector, row) in enumerate(zip(self.vectors, self.rows, strict=True)):
                values = self.values(vector, without=j)
                label, rival = (f(row) for f in FROM_ROW)
                margins.append(values[label] - values[rival])
            self.remove(margins.index(max(margins)))


class NormWithoutTheHalf(plain_multiclass.SimplifiedForgetron):
    """The norm sqrt(sum_c ||g_c||^2), with sqrt(2) forgotten."""

    def norm(self):
        return math.sqrt(2) * super().norm()


class TiesToTheLast(plain_multiclass.KernelPerceptron):
    """The rival is the last one among ties."""

    def learn(self, x, label):
        self.n_rounds += 1
        y = self.columns.setdefault(label, self.column(label))
        values = self.values(x)
        s = max((c for c in range(len(values)) if c != y), key=lambda c: (values[c], c))
        if values[y] <= values[s]:
            self.n_mistakes += 1
            self.add(x, y, s)


FAULTS = {
    MuOfOneClass: ("Forgetron", RBF),
    MuOfTheRivalNow: ("Forgetron", RBF),
    MuBeforeTheExample: ("Forgetron", RBF),
    MarginOfTheStoredRival: ("FixedBudgetPerceptron", RBF),
    NormWithoutTheHalf: ("SimplifiedForgetron", rb.Linear()),
    TiesToTheLast: ("KernelPerceptron", rb.Linear()),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_planted_faults_are_found(fault):
    name, kernel = FAULTS[fault]
    examples = grid(150) if fault is TiesToTheLast else blobs(10, 150, seed=5)
    model, right = (
        PERCEPTRONS[name](kernel, budget=12),
        reference(name, plain_multiclass, kernel, 12),
    )
    assert first_disagreement(model, right, examples) is None
    wrong = fault(kernel, **parameters_of(name, 12)[1])
    assert first_disagreement(model.clone(), wrong, examples) is not None


@pytest.mark.parametrize("fault", [MuOfTheRivalNow, MarginOfTheStoredRival, TiesToTheLast])
def test_faults_that_two_labels_cannot_show(fault):
    name, kernel = FAULTS[fault]
    model, wrong = PERCEPTRONS[name](kernel, budget=12), fault(kernel, **parameters_of(name, 12)[1])
    examples = [(x, y > 4) for x, y in blobs(10, 150, seed=5)]
    assert first_disagreement(model, wrong, examples) is None
