"""Rounds of single examples and of blocks are the same, and each is whole or did not happen."""

from __future__ import annotations

import collections
import copy
import itertools
import math
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from states import content

import river_budget as rb
from river_budget._core.discriminant import BUFFER
from river_budget.base import BudgetPerceptron, Perceptron
from river_budget.catalog import ALGORITHMS

PERCEPTRONS = {name: row for name, row in ALGORITHMS.items() if issubclass(row.model, Perceptron)}
each = pytest.mark.parametrize("name", PERCEPTRONS)


KERNELS = {
    "given": rb.RBF(gamma=0.5),
    "learned": None,
    "polynomial": rb.Polynomial(degree=2),
    "Manhattan": rb.Laplacian(gamma=0.5),
    "selective": rb.AdditiveRationalQuadratic(gamma=1.0, names=("a", "c")),
    "function": rb.FunctionKernel(lambda x, z: 1 / (1 + sum((x[i] - z[i]) ** 2 for i in x))),
}
KINDS = [
    ("given", 2), ("polynomial", 5), ("Manhattan", 2), ("selective", 5), ("function", 2),
]  # fmt: skip


def stream(n, n_labels, seed, noise=0.2):
    """Return rows and labels; a label is first seen after 40 more rows than the one before it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 5.0, 0.2] * (rng.random((n, 3)) < 0.8)
    y = (X[:, 0] > 0) + 2 * (X[:, 1] > 1) + 4 * (X[:, 2] > 0.1)
    y = np.where(rng.random(n) < noise, rng.integers(0, n_labels, n), y % n_labels)
    y = np.minimum(y, np.arange(n) // 40)
    return pd.DataFrame(X, columns=list("abc")), y.tolist()


def one_by_one(model, X, y, weights=None):
    for i, (x, label) in enumerate(zip(X.to_dict("records"), y, strict=True)):
        if weights is None:
            model.learn_one(x, label)
        else:
            model.learn_one(x, label, weights[i])
    return model


def in_blocks(model, X, y, cuts, weights=None):
    edges = [0, *sorted(cuts), len(y)]
    for start, stop in itertools.pairwise(edges):
        w = None if weights is None else weights[start:stop]
        model.learn_many(X[start:stop], pd.Series(y[start:stop]), w)
    return model


@pytest.mark.parametrize(
    ("name", "kernel", "n_labels"),
    [(name, "learned", 5) for name in PERCEPTRONS]
    + [(name, k, n) for name in ("Forgetron", "BudgetedSGD") for k, n in KINDS],
)
@given(seed=st.integers(0, 10**6), cuts=st.sets(st.integers(1, 249), max_size=6), data=st.data())
@settings(max_examples=2)
def test_blocks_cut_anywhere_give_the_model_of_learn_one(name, kernel, n_labels, seed, cuts, data):
    X, y = stream(250, n_labels, seed)
    weights = data.draw(st.sampled_from([None, np.random.default_rng(seed).random(250) + 0.5]))
    balanced = data.draw(st.sampled_from([None, "balanced"]))
    model = PERCEPTRONS[name].build(KERNELS[kernel], budget=12, seed=1)
    model = model.clone({"class_weight": balanced})
    one = one_by_one(copy.deepcopy(model), X, y, weights)
    many = in_blocks(copy.deepcopy(model), X, y, cuts, weights)
    assert one.n_mistakes > 30
    assert (many.n_mistakes, many.n_rounds) == (one.n_mistakes, one.n_rounds)
    assert many.support_vectors == one.support_vectors
    assert np.array_equal(many.coefficients, one.coefficients)
    if kernel != "function":
        assert content(many.state()) == content(one.state())


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_a_function_gets_the_numbers_of_a_dict_from_a_frame(dtype):
    """`sum` rounds NumPy's numbers in another way than Python's."""
    kinds = set()

    def kernel(x, z):
        kinds.update(type(value) for value in (*x.values(), *z.values()))
        return 1.0

    X = pd.DataFrame({"a": [0, 1, 1], "b": [1, 0, 1]}, dtype=dtype)
    model = rb.Forgetron(rb.FunctionKernel(kernel))
    model.learn_many(X, pd.Series([True, False, True]))
    model.predict_many(X)
    number = type(X.to_dict("records")[0]["a"])
    assert kinds == {number}
    columns = {name: X[name].to_numpy() for name in X} | {"c": np.array(["u", "v", "u"], object)}
    model = rb.Forgetron(rb.FunctionKernel(kernel))
    model.learn_many(columns, [True, False, True])
    assert kinds == {number, str}


@each
def test_examples_with_other_names_take_the_place_of_vectors(name):
    """Rows of frames with other columns and sparse dicts alternate, so no two layouts agree."""
    models = [PERCEPTRONS[name].build(rb.RBF(gamma=0.5), budget=8, seed=1) for _ in range(2)]
    rng = np.random.default_rng(2)
    for _ in range(40):
        names = rng.permutation(list("abcdef"))[: rng.integers(1, 6)].tolist()
        X = pd.DataFrame(rng.normal(size=(5, len(names))), columns=names)
        y = (rng.random(5) < 0.5).tolist()
        one_by_one(models[0], X, y)
        in_blocks(models[1], X, y, [])
    assert models[0].n_mistakes > 50
    assert content(models[1].state()) == content(models[0].state())


class Interrupts:
    """Raise KeyboardInterrupt at one of the lines of Python that the package runs.

    Of the runs of a line, as in a loop, only the first three count.

    """

    def __init__(self, at):
        self.left = at
        self.runs = collections.Counter()

    def __enter__(self):
        self.former = sys.gettrace()  # of a debugger or of coverage
        sys.settrace(self.trace)

    def __exit__(self, *error):
        sys.settrace(self.former)

    def trace(self, frame, event, argument):
        if "river_budget" not in frame.f_code.co_filename:
            return None
        if event == "line":
            line = frame.f_code, frame.f_lineno
            self.runs[line] += 1
            self.left -= self.runs[line] <= 3
            if self.left == 0:
                raise KeyboardInterrupt
        return self.trace


def interrupted(act, step):
    """Call a function with an interrupt at the first line, at one some steps later, and so on."""
    for at in itertools.count(1, step):
        try:
            with Interrupts(at):
                act()
        except KeyboardInterrupt:
            yield at
        else:
            return


LEARN = {
    "one": lambda model, X, y: model.learn_one(X.iloc[0].to_dict(), y[0]),
    "many": lambda model, X, y: model.learn_many(X, pd.Series(y)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kernel", "learn"),
    [
        (name, *how)
        for name in ("Forgetron", "ProjectronPlusPlus", "BudgetedSGD")
        for how in [("polynomial", "one"), ("learned", "many")]
    ],
)
def test_an_interrupt_leaves_whole_examples(name, kernel, learn):
    X, y = stream(131, 3, seed=4)
    # One row, or three that end with an update of scales; the last label is a new one.
    n, rows, step = {"one": (100, X[100:101], 1), "many": (125, X[125:128], 7)}[learn]
    labels = [*y[n : n + len(rows) - 1], "new"]
    start = PERCEPTRONS[name].build(KERNELS[kernel], budget=8, seed=1)
    start = start.clone({"class_weight": "balanced"})
    start = one_by_one(start, X[:n], y[:n])
    whole = [copy.deepcopy(start)]
    for i in range(len(rows)):
        whole.append(one_by_one(copy.deepcopy(whole[-1]), rows[i : i + 1], labels[i : i + 1]))
    model, n_interrupts = copy.deepcopy(start), 0
    for n_interrupts in interrupted(lambda: LEARN[learn](model, rows, labels), step):  # noqa: B007, B023
        expected = whole[model.n_rounds - n]
        # An interrupt may leave out an update of scales.
        if model.resolved_kernel == expected.resolved_kernel:
            assert model.support_vectors == expected.support_vectors
            known = expected.coefficients
            assert model.coefficients[:, : known.shape[1]] == pytest.approx(known, rel=1e-9)
        restored = start.clone()
        restored.restore(model.state())
        assert restored.scores_one(X.iloc[0].to_dict()) == model.scores_one(X.iloc[0].to_dict())
        model = copy.deepcopy(start)
    assert n_interrupts > 10


def test_an_interrupt_while_kernel_lda_fixes_its_scales_leaves_whole_examples():
    X, y = stream(BUFFER, 3, seed=4)
    start = one_by_one(rb.KernelLDA(n_features=20), X[:-1], y[:-1])
    expected = one_by_one(copy.deepcopy(start), X[-1:], y[-1:])
    model, n_interrupts = copy.deepcopy(start), 0
    for n_interrupts in interrupted(lambda: LEARN["one"](model, X[-1:], y[-1:]), 1):  # noqa: B007, B023
        whole = expected if model.n_rounds == BUFFER else start
        restored = start.clone()
        restored.restore(model.state())
        x = X.iloc[0].to_dict()
        assert restored.scores_one(x) == model.scores_one(x) == whole.scores_one(x)
        model = copy.deepcopy(start)
    assert n_interrupts > 10


@pytest.mark.parametrize("kind", [bool, int, np.float32])
def test_a_function_kernel_may_return_any_real_number(kind):
    kernels = [lambda x, z: float(x["a"] == z["a"]), lambda x, z: kind(x["a"] == z["a"])]
    models = [rb.Forgetron(rb.FunctionKernel(f), budget=3) for f in kernels]
    for model in models:
        for t in range(40):
            model.learn_one({"a": t % 7}, t % 2 == 0)
    assert models[1].n_mistakes == models[0].n_mistakes > 10
    assert models[1].coefficients.tolist() == models[0].coefficients.tolist()


@pytest.mark.parametrize(
    "answer", [math.nan, math.inf, 1e308, -1e308, "x", None, 1j, [1.0]], ids=str
)
@pytest.mark.parametrize("of_itself", [False, True])
def test_what_a_function_kernel_may_not_return_changes_nothing(answer, of_itself):
    wrong = []

    def kernel(x, z):
        if wrong and (x == z) == of_itself:
            return answer
        return math.exp(-((x["a"] - z["a"]) ** 2))

    model = rb.Forgetron(rb.FunctionKernel(kernel), budget=3)
    for t in range(20):
        model.learn_one({"a": float(t % 7)}, t % 2 == 0)
    before = copy.deepcopy(model)
    wrong.append(True)
    for ask in (model.predict_proba_one, lambda x: model.learn_one(x, True)):
        with pytest.raises(ValueError, match="did not return a number up to"):
            ask({"a": 0.5})
    wrong.clear()
    assert (model.n_rounds, model.n_mistakes) == (before.n_rounds, before.n_mistakes)
    for learner in (model, before):
        learner.learn_one({"a": 0.5}, True)
    assert model.support_vectors == before.support_vectors
    assert content(model.coefficients) == content(before.coefficients)


def test_a_function_kernel_of_an_example_and_itself_is_not_negative():
    model = rb.Forgetron(rb.FunctionKernel(lambda x, z: x["a"] * z["a"] - 1))
    model.learn_one({"a": 2.0}, True)
    with pytest.raises(ValueError, match="and itself is negative"):
        model.learn_one({"a": 0.5}, False)
    assert (model.n_rounds, model.classes) == (1, [True])


class FlakyKernel:
    """A Gaussian kernel that raises after a number of calls."""

    calls_left = math.inf

    def __call__(self, x, z):
        self.calls_left -= 1
        if self.calls_left < 0:
            raise OSError("no answer")
        return math.exp(-((x["a"] - z["a"]) ** 2))


@each
def test_an_update_that_fails_keeps_the_hypothesis(name):
    rng, flaky, n_failures, n_labels = np.random.default_rng(2), FlakyKernel(), 0, 3
    model = PERCEPTRONS[name].build(rb.FunctionKernel(flaky), budget=3, seed=1)
    for t in range(24):
        x, y = {"a": rng.normal()}, t if t < n_labels else int(rng.integers(n_labels))
        for n_calls in itertools.count():
            before = content([model.support_vectors, model.coefficients.T])
            model.predict_one({"a": 100.0})
            flaky.calls_left = n_calls
            try:
                model.learn_one(x, y)
                break
            except OSError:
                n_failures += 1
            finally:
                flaky.calls_left = math.inf
            if t >= n_labels:
                assert content([model.support_vectors, model.coefficients.T]) == before
    assert n_failures > 50


def test_a_third_label_before_the_first_support_vector():
    """A block with three labels that is interrupted at its first row leaves labels and no vector."""
    model = rb.Forgetron(gamma=1.0, budget=4)
    model._labels.columns(list("abc"))
    model._f.widen(3)
    model.learn_one({"a": 1.0}, "c")
    assert model.predict_one({"a": 1.0}) == "c"


class Curious(BudgetPerceptron):
    """It asks itself in the middle of an update."""

    asks = staticmethod(lambda model: None)

    def _update(self, f, y):
        try:
            self.asks(self)
        except RuntimeError as error:
            self.refusal = str(error)
        f.add(y)


@pytest.mark.parametrize(
    "asks",
    [
        lambda model: model.predict_one({"a": 100.0}),
        lambda model: model.learn_one({"a": 100.0}, 0),
        lambda model: model.learn_many({"a": np.array([100.0])}, [0]),
        copy.deepcopy,
        lambda model: model.state(),
    ],
    ids=["predict_one", "learn_one", "learn_many", "deepcopy", "state"],
)
def test_an_update_keeps_its_example(asks):
    model = Curious(rb.RBF(gamma=1.0))
    model.asks = asks
    model.learn_one({"a": 1.0}, 1)
    assert "has not ended" in model.refusal
    assert model.support_vectors == [{"a": 1.0}]
    assert model.n_rounds == 1


class Adding(BudgetPerceptron):
    """It only adds, and forgets to ask whether there is room."""

    def _update(self, f, y):
        f.add(y)


def test_a_class_that_only_adds_cannot_exceed_its_budget():
    model = Adding(rb.RBF(gamma=1.0), budget=2)
    for each in (model, copy.deepcopy(model)):
        each.learn_one({"a": 1.0}, "x")
        each.learn_one({"b": 1.0}, "y")
        before = content(each.state())
        with pytest.raises(
            ValueError, match=r"^the budget of 2 is full: replace or remove a vector first$"
        ):
            each.learn_one({"a": 1.0}, "y")
        assert content(each.state()) == before
