"""Regions: a tree of leaves beside the root."""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import math
import pickle

import estimator_checks
import numpy as np
import pandas as pd
import pytest
from plain_regions import LEAF, PlainRegions, softmax, widened
from refusals import refuses
from states import content

import river_budget as rb
from river_budget import checkpoint, testing
from river_budget._regions import bounds_of, rule_of
from river_budget.kernels import Category
from river_budget.testing.moments import is_interrupted

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


def in_tasks(n):
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


def many_labels(n):
    """Return cells of 12 labels, of which one comes every 15 examples."""
    rng = np.random.default_rng(2)
    names = np.arange(n) // 15
    labels = [int(rng.integers(0, min(12, 2 + k))) for k in names]
    points = [(label % 4 + rng.random(), label // 4 + rng.random()) for label in labels]
    return [({"u": u, "v": v}, f"label {y}") for (u, v), y in zip(points, labels, strict=True)]


def arrays(n):
    """Return examples with an array of 40 elements, several of which tell the label."""
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 1024, (n, 40)) / 1024  # which single precision has, too
    labels = 1 * ((rows[:, ::2] > 0.5).sum(axis=1) > 10) + (rows[:, 1] > 0.7)
    return [
        ({"e": row, "u": float(u)}, "uvw"[y])
        for row, u, y in zip(rows, rng.random(n), labels, strict=True)
    ]


# One goes on for long. The others end soon after their last split, or after the first task has come back.
STREAMS = {
    "2 labels": cells(3000),
    "3 labels": cells(1400, n_labels=3),
    "tasks": in_tasks(2000),
    "many labels": many_labels(1400),
    "arrays": arrays(1400),
    "many names": cells(1400, n_names=40),
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
    examples = STREAMS[name]
    model, plain = learned([]), PlainRegions(6, 10, **SMALL)
    assert gap(model, plain, examples) < 1e-8
    assert len(model.regions_) == len(plain.regions) == 6
    assert bool(plain.n_rehearsed) == (name == "tasks")
    own = [softmax(region.hedges).tolist() for region in plain.regions]
    hedges = model._f.own_state()["regions"]["hedges"][:, :5]  # those of the prompt mixture
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


def grown(n=700, **parameters):
    """Return examples with an array and unknown values, and a model of several regions that learned some."""
    rng = np.random.default_rng(5)
    examples = [
        ({**x, "e": rng.normal(size=3), **({"b": None} if t % 7 == 6 else {})}, y)
        for t, (x, y) in enumerate(cells(n + 300, n_labels=3))
    ]
    return learned(examples[:n], **parameters), examples[n:]


COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "checkpoint": lambda model: checkpoint.loads(checkpoint.dumps(model)),
}


@pytest.mark.slow
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("n", [0, 1, 30, 120, 700])
def test_copies_and_checkpoints_go_on(copied, n):
    model, examples = grown(n)
    other = copied(model)
    assert content(other.state()) == content(model.state())
    for x, y in examples:
        assert other.predict_proba_one(x) == pytest.approx(model.predict_proba_one(x), rel=1e-6)
        model.learn_one(x, y)
        other.learn_one(x, y)
    assert other.regions_ == model.regions_


def test_blocks_are_learned_and_predicted_like_their_rows():
    examples = cells(900, n_labels=3)
    one, many = learned([]), learned([])
    X, y = pd.DataFrame([x for x, _ in examples]), pd.Series([y for _, y in examples])
    for start in (0, 450):
        rows = slice(start, start + 450)
        for x, label in examples[rows]:
            one.learn_one(x, label)
        many.learn_many(X[rows], y[rows])
    assert len(one.regions_) > 2
    assert content(many.state()) == content(one.state())
    expected = [one.scores_one(x) for x, _ in examples]
    pd.testing.assert_frame_equal(many.scores_many(X), pd.DataFrame(expected))


def test_one_region_is_the_model_without_regions():
    examples = cells(500)
    one, model = rb.Mnemotron(**SMALL), rb.Mnemotron(**SMALL, regions=1, region_budget=7)
    learned(examples, one)
    learned(examples, model)
    assert content(model.state()) == content(one.state())
    assert model.regions_ == []


def test_the_root_is_the_model_without_regions():
    examples = cells(700, n_labels=3)
    root, model = learned(examples, rb.Mnemotron(**SMALL)), learned(examples)
    assert len(model.regions_) > 1
    assert model.support_vectors == root.support_vectors
    assert model.coefficients.tolist() == root.coefficients.tolist()
    assert model.expert_weights == root.expert_weights
    assert model.norm == root.norm
    assert model.novelty_one(examples[0][0]) == root.novelty_one(examples[0][0])


def test_it_is_better_where_the_concept_is_cut_along_axes():
    examples, rates = cells(2000), []
    for model in (rb.Mnemotron(**SMALL), learned([])):
        wrong = 0
        for x, y in examples:
            wrong += model.predict_one(x) != y
            model.learn_one(x, y)
        rates.append(wrong / len(examples))
    assert rates[1] < rates[0] - 0.02


@pytest.mark.parametrize(
    "parameters",
    [
        {"archive": 20},
        {"repeats": False},
        {"class_weight": "balanced"},
        {"class_weight": {"u": 3.0}},
    ],
    ids=str,
)
def test_it_goes_together_with(parameters):
    examples = cells(700, n_labels=3)
    model = learned(examples, **parameters)
    assert len(model.regions_) > 1
    assert np.mean([model.predict_one(x) == y for x, y in examples[400:]]) > 0.6
    loaded = checkpoint.loads(checkpoint.dumps(model))
    assert content(loaded.state()) == content(model.state())


def test_memory_is_flat_after_the_last_split():
    model, sizes = learned([], regions=3), {}
    for x, y in cells(2500):
        model.learn_one(x, y)
        sizes.setdefault(len(model.regions_), []).append(model.memory_bytes)
    root = rb.Mnemotron(**SMALL)
    assert len(sizes) == 3
    assert sizes[1][-1] > learned(cells(20), root).memory_bytes
    assert sizes[2][0] - sizes[1][-1] > 4 * 6 * 10 * 38
    assert max(sizes[3][-500:]) - min(sizes[3][-500:]) < 1000  # an exemplar now and then
    assert model._f.statistics is None


def test_errors_of_leaves_are_told():
    model = learned(cells(500))
    assert model.numerical_errors()["inverses"] < 1e-6
    leaf = model._f.leaves.models[-1]._f.posteriors
    leaf.inverses.set(0, 2.0 * leaf.inverses.matrices_of(leaf.inverses.n_matrices)[0])
    assert model.numerical_errors()["inverses"] > 1e-3


def test_late_labels_are_late_for_leaves_too():
    """The leaf that learns one, and the mixture of root and leaf, judge by what was said from then on."""
    model, _ = grown(400)
    asleep = [leaf.late_weight for leaf in model._f.leaves.models]
    assert asleep == [0.0] * len(asleep)
    x = {"a": 0.5, "b": 0.5, "c": 0.5, "word": "red", "e": np.zeros(3)}
    answer = model.ask(x)
    model.learn_one({**x, "a": 0.4}, "u")
    assert model._f.top.late_weight == 0.0
    model.learn(answer, "u")
    awake = [leaf.late_weight > 0.0 for leaf in model._f.leaves.models]
    assert awake.count(True) == 1
    assert awake[model._f.region]
    assert model._f.top.late_weight > 0.0
    assert model.late_weight > 0.0


def test_a_round_that_fails_changes_nothing():
    """The root takes a number in the place of an array, and the leaf cannot."""
    model, _ = grown(400)
    x = {"a": 0.5, "b": 0.5, "c": 0.5, "word": "red", "e": np.zeros(4)}
    refuses("'e' is an array of another length", model.learn_one, x, "u")
    refuses("'a' has the value", model.learn_one, {**x, "a": math.inf, "e": np.zeros(3)}, "u")


RULES = [
    ([("salary", -1, 75000.0, True), ("age", -1, 40.0, False)], "salary > 75000 and age <= 40"),
    ([("a", -1, 1.0, True), ("a", -1, 3.0, False), ("a", -1, 2.0, True)], "2 < a <= 3"),
    ([(Category.of("colour", "red"), -1, 0.5, True)], "colour is red"),
    ([(Category.of("colour", "red"), -1, 0.5, False)], "colour is not red"),
    ([("e", 2, -0.25, True)], "e[2] > -0.25"),
    ([], "everything"),
]


@pytest.mark.parametrize(("path", "rule"), RULES, ids=[rule for _, rule in RULES])
def test_the_rule_of_a_region(path, rule):
    assert rule_of(bounds_of(path)) == rule


def test_what_regions_tell():
    examples, rights = cells(900), collections.Counter()
    model = learned([])
    for x, y in examples:
        divided = model.regions_
        hit = model.predict_one(x) == y
        (place,) = [i for i, region in enumerate(divided) if is_in(x, region)]
        model.learn_one(x, y)
        rights[place] += hit
        if len(model.regions_) > len(divided):
            del rights[place]
    regions = model.regions_
    assert len(regions) > 2
    for place, region in enumerate(regions):
        assert region.n_examples == sum(region.labels.values())
        assert region.accuracy * region.n_examples == pytest.approx(rights[place])
        assert region.n_support == 10


def is_in(x, region):
    """Return whether an example is within the bounds of a region."""
    values = {**x, Category.of("word", x["word"]): 1.0}
    return all(
        low < values.get(feature, 0.0) <= high for feature, (low, high) in region.bounds.items()
    )


@pytest.mark.parametrize("value", [0, -1, 2.5, "many", 2**16 + 1])
def test_bad_values(value):
    with pytest.raises(ValueError, match="regions must be a whole number from 1 to 65,536"):
        rb.Mnemotron(regions=value)
    with pytest.raises(ValueError, match="region_budget"):
        rb.Mnemotron(regions=2, region_budget=0)


def test_a_budget_of_leaves_that_no_memory_holds():
    with pytest.raises(MemoryError, match="region_budget=100000000 takes about"):
        rb.Mnemotron(regions=2, region_budget=10**8)


def test_a_function_beside_another_kernel():
    function = rb.Normalized(rb.FunctionKernel(lambda x, z: 1.0 + x["a"] * z["a"]))
    examples = cells(500)
    model = learned(examples, kernels=(rb.RationalQuadratic(), function))
    assert len(model.regions_) > 1
    assert np.mean([model.predict_one(x) == y for x, y in examples]) > 0.7


def test_a_function_reads_no_features():
    kernels = (rb.Normalized(rb.FunctionKernel(rb.RBF(gamma=1.0))),)
    with pytest.raises(ValueError, match="regions need a kernel that is no FunctionKernel"):
        rb.Mnemotron(kernels=kernels, regions=2)


@pytest.mark.slow
@pytest.mark.parametrize("check", testing.checks(rb.Mnemotron(regions=4, region_budget=5), seed=1))
def test_promises(check):
    check()


@pytest.mark.slow
def test_checks_of_river():
    estimator_checks.run(rb.Mnemotron(budget=10, regions=4, region_budget=5))


def learned_by(model):
    """Return what was learned but tickets and matrices, whose terms may be added up or not."""
    return content(model.state(), without=["tickets", "posteriors"])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "step"), [(5, 1), (49, 1), (199, 101), (700, 1)])
def test_interrupts_leave_whole_examples(n, step):
    """At the first examples, where candidates are chosen, at a split, of which some moments are tried, and later."""
    model, ((x, y), *_) = grown(n, budget=5, region_budget=5)

    def learn(model):
        model.learn_one(x, y)

    whole = copy.deepcopy(model)
    learn(whole)
    assert len(whole.regions_) == len(model.regions_) + (n == 199)
    before, after, n_before, n_after = learned_by(model), learned_by(whole), 0, 0
    for moment in itertools.count(0, step):
        part = copy.deepcopy(model)
        if not is_interrupted(functools.partial(learn, part), moment):
            break
        found = learned_by(part)
        assert found in (before, after)
        expected = (whole if found == after else model).scores_one(x)
        assert part.scores_one(x) == pytest.approx(expected, rel=1e-9)
        n_before, n_after = n_before + (found == before), n_after + (found == after)
    assert n_before > 0
    assert n_after > 0


def forgeries():
    """Yield the name of a change, what it changes in the state of regions, and the error."""
    others = {
        "a threshold": ("thresholds", lambda a: a * math.inf, "not finite"),
        "a split of a later region": (
            "regions",
            lambda a: a + 5,
            "divides a region that is not there",
        ),
        "a split of no region": ("regions", lambda a: a - 9, "divides a region that is not there"),
        "fewer splits": ("regions", lambda a: a[:-1], "shape"),
        "an element": ("elements", lambda a: a - 5, "not names and elements"),
    }
    for name, (place, change, message) in others.items():
        yield name, ("tree", place), change, message
    yield "hedges", ("hedges",), lambda a: a * math.nan, "not finite"
    yield "fewer hedges", ("hedges",), lambda a: a[:-1], "shape"
    yield "mixers", ("top", "prompt"), lambda a: a[:-1], "shape"
    yield "switch", ("top", "switch"), lambda a: a * math.nan, "not finite"
    yield "tallies", ("tallies",), lambda a: a - 10**6, "more right predictions"
    yield "counts", ("statistics", 2, "counts"), lambda a: a[:, :-1], "shape"
    yield "negative counts", ("statistics", 2, "counts"), lambda a: a - 1000, "is negative"


@pytest.mark.parametrize("forgery", [*forgeries()], ids=lambda forgery: forgery[0])
def test_forged_regions_are_refused(forgery):
    _, path, change, message = forgery
    model, _ = grown(900)
    node = state = model.state()
    for key in ("hypothesis", "regions", *path[:-1]):
        node = node[key]
    node[path[-1]] = change(node[path[-1]])
    with pytest.raises(ValueError, match=message):
        learned([]).restore(state)


def test_forged_numbers_of_leaves_are_refused():
    model, _ = grown(900)
    for n, message in [(0, "from 1 to 6 leaves"), (1, "has 1 leaves"), (9, "from 1 to 6 leaves")]:
        state = model.state()
        leaves = state["hypothesis"]["leaves"]
        state["hypothesis"]["leaves"] = (leaves * 3)[:n]
        with pytest.raises(ValueError, match=message):
            learned([]).restore(state)
    state = model.state()
    state["hypothesis"]["regions"]["statistics"].pop()
    with pytest.raises(ValueError, match="has no statistics"):
        learned([]).restore(state)
    state = model.state()
    state["hypothesis"]["regions"]["tree"]["names"][0] = ["no name"]
    with pytest.raises(TypeError, match="unhashable"):
        learned([]).restore(state)


def test_a_state_with_more_leaves_than_regions_is_refused():
    state = grown(900)[0].state()
    with pytest.raises(ValueError, match="from 1 to 2 leaves"):
        learned([], regions=2).restore(state)
