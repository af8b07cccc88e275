"""The relevances of features, against a plain implementation and by what they are for."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from plain_relevances import Additive, Cosine, Plain, Radial
from states import content

import river_budget as rb
from river_budget import checkpoint
from river_budget.base.relevances import Relevances, next_relevances

NAMES = ("a", "b", "c", "d")
MEMORIES = ((1.0, 0.1), (0.998, 0.1))
KERNELS = (
    rb.RationalQuadratic(),
    rb.AdditiveRationalQuadratic(),
    rb.Normalized(rb.Polynomial(degree=1)),
    rb.RationalQuadratic(has_relevances=True),
)
FACTORS = (1.0, 5.0, 1.0, 0.3)


def switching(n, n_labels=2, seed=5):
    """Return examples of four features, where two of them tell the label, and from the half on two others."""
    rng = np.random.default_rng(seed)
    examples, columns = [], {}
    for t in range(n):
        v = rng.normal(size=4)
        p, q = (v[0], v[1]) if t < n // 2 else (v[2], v[3])
        y = int(p * q > 0) + int(n_labels > 2 and p > 1)
        examples.append((FACTORS * v, columns.setdefault(y, len(columns))))
    return examples


def as_dict(v):
    return dict(zip(NAMES, v.tolist(), strict=True))


PLAIN_KERNELS = Radial(), Additive(), Cosine(), Radial(has_relevances=True)


def differences(plain_class, examples, which=slice(4), plain_kernels=PLAIN_KERNELS):
    """Return the largest difference of probabilities and relevances to those of a plain implementation."""
    model = rb.Mnemotron(5, KERNELS[which], MEMORIES)
    plain = plain_class(plain_kernels[which], MEMORIES, 5)
    plain.start(4)
    largest, n_updates = 0.0, 0
    for x, y in examples:
        expected, p = plain.predict(x), model.predict_proba_one(as_dict(x))
        if len(p) > 1:
            largest = max(largest, abs(np.array(list(p.values())) - expected).max())
        plain.learn(x, y)
        model.learn_one(as_dict(x), "abc"[y])
        scales = model._feature_scales
        factors = np.array([scales.factors.get(name, scales.pooled) for name in NAMES])
        if (scales.gamma, *factors) != (plain.gamma, *plain.factors):
            plain.rescale(factors, scales.gamma)
        if plain.is_due():
            plain.learn_relevances()
            found = [model.relevances_[name] for name in NAMES]
            largest = max(largest, abs(found - plain.relevances).max())
            n_updates += 1
        if largest > 1e-3:
            break
    return largest, n_updates


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_labels", "which"), [(3000, 2, slice(1, 4, 2)), (1100, 3, slice(4))]
)
def test_against_a_plain_implementation(n, n_labels, which):
    largest, n_updates = differences(Plain, switching(n, n_labels), which)
    assert largest < 1e-8
    assert n_updates >= 5


class AnotherFloor(Plain):
    floor = 0.5


class WidthWithoutRelevances(Plain):
    def width(self, variances, relevances):
        return 1 / variances.sum()


class Late(Plain):
    n_first = 128


@pytest.mark.slow
@pytest.mark.parametrize("fault", [AnotherFloor, WidthWithoutRelevances, Late])
def test_the_comparison_finds_faults(fault):
    assert differences(fault, switching(300), slice(3, 4))[0] > 1e-6


class SlopesOfMultipliedFeatures(Radial):
    def slope(self, x, z):
        return super().slope(x, z) / self.r


@pytest.mark.slow
def test_the_comparison_finds_slopes_in_other_units():
    kernels = [SlopesOfMultipliedFeatures(has_relevances=True)]
    assert differences(Plain, switching(300), slice(3, 4), [None] * 3 + kernels)[0] > 1e-6


def learned(model, examples, as_x=as_dict):
    for x, y in examples:
        model.predict_one(as_x(x))
        model.learn_one(as_x(x), y)
    return model


def accuracy(model, examples):
    hits = 0
    for x, y in examples:
        hits += model.predict_one(x) == y
        model.learn_one(x, y)
    return hits / len(examples)


def xor(n, n_features, seed=0):
    """Return examples whose label depends on the first two of many features."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, n_features))
    return [
        ({f"x{j}": v for j, v in enumerate(row)}, row[0] * row[1] > 0) for row in values.tolist()
    ]


@pytest.mark.slow
def test_irrelevant_features_do_not_drown_the_relevant_ones():
    with_relevances, without = rb.Mnemotron(), rb.Mnemotron(relevances=False)
    examples = xor(5000, 12)
    assert accuracy(with_relevances, examples) > accuracy(without, examples) + 0.15
    weights = with_relevances.relevances_
    assert min(weights["x0"], weights["x1"]) > 1.0
    assert max(weights[f"x{j}"] for j in range(2, 12)) < 0.1


def test_they_follow_a_concept_that_switches():
    model = rb.Mnemotron(30)
    examples = switching(4000)
    learned(model, examples[:2000])
    before = model.relevances_
    learned(model, examples[2000:])
    after = model.relevances_
    assert min(before["a"], before["b"]) > max(before["c"], before["d"])
    assert min(after["c"], after["d"]) > max(after["a"], after["b"])


@pytest.mark.slow
def test_scales_stay_when_they_are_fixed():
    """After 8,192 examples, relevances are still learned, and scales no more."""
    model = rb.Mnemotron(5, kernels=(rb.RationalQuadratic(has_relevances=True),))
    learned(model, switching(8192))
    scales, n = model._feature_scales.state(), model._relevances.learned_at
    assert len(scales["factors"]) == 4
    learned(model, switching(2048, seed=7))
    assert content(model._feature_scales.state()) == content(scales)
    assert model._relevances.learned_at == n + 2048


def test_the_schedule():
    moments = [n for n in range(1, 5000) if next_relevances(n - 1) == n]
    assert moments == [64, 128, 256, 512, 1024, 2048, 3072, 4096]


def test_the_floor_by_hand():
    # Means: 25, so weights 4 and 0, floored 4, .02 three times; of mean 1.015, again floored.
    own = Relevances().learned({"a": 100.0, "b": 0.0, "c": 0.0, "d": 0.0}, 64)
    assert own.weights == pytest.approx({"a": 4 / 1.015, "b": 0.02, "c": 0.02, "d": 0.02})
    assert own.learned_at == 64


@pytest.mark.parametrize("squares", [{"a": 1.0}, {"a": 0.0, "b": 0.0}, {}])
def test_without_a_difference_they_stay(squares):
    assert Relevances().learned(squares, 64).weights == {}


def test_they_are_off_without_a_kernel_that_has_some():
    model = learned(rb.Mnemotron(10, kernels=(rb.RationalQuadratic(),)), switching(200))
    assert model.relevances_ == {}
    model = learned(rb.Mnemotron(10, relevances=False), switching(200))
    assert model.relevances_ == {}


def test_kernels_that_cannot_have_relevances():
    kernel = rb.RationalQuadratic(has_relevances=True)
    with pytest.raises(ValueError, match="only Mnemotron learns the relevances"):
        rb.Forgetron(kernel)
    with pytest.raises(ValueError, match="relevances=False, but"):
        rb.Mnemotron(kernels=(kernel,), relevances=False)


def test_resolved_kernels_tell_them():
    """The kernel values of the model are those of its resolved kernels, called on dicts."""
    model = learned(rb.Mnemotron(10), switching(300))
    store = model._f.store
    for z, kernel in enumerate(model.resolved_kernels):
        values = [kernel(store.vector(2), store.vector(slot)) for slot in range(store.n)]
        assert store.row_of(2, z) == pytest.approx(values)


def test_copies_and_checkpoints_go_on_with_the_same_bits():
    examples = switching(700)
    model = learned(rb.Mnemotron(10), examples[:300])
    others = [
        copy.deepcopy(model), pickle.loads(pickle.dumps(model)),
        checkpoint.loads(checkpoint.dumps(model)),
    ]  # fmt: skip
    learned(model, examples[300:])
    assert len(model.relevances_) == 4
    for other in others:
        learned(other, examples[300:])
        assert content(other.state()) == content(model.state())


def test_a_category_has_a_relevance_of_its_own():
    rng = np.random.default_rng(0)
    colors, sizes = rng.integers(3, size=(2, 400)).tolist()
    examples = [
        ({"color": "rgb"[c], "size": "sml"[s]}, c == 0) for c, s in zip(colors, sizes, strict=True)
    ]
    model = learned(rb.Mnemotron(20), examples, as_x=lambda x: x)
    weights = model.relevances_
    assert set(weights) == {("color", c) for c in "rgb"} | {("size", s) for s in "sml"}
    assert weights["color", "r"] > 10 * max(weights["size", s] for s in "sml")


def test_names_that_come_late_and_go():
    model = rb.Mnemotron(10)
    examples = [(as_dict(x), y) for x, y in switching(600)]
    for t, (x, y) in enumerate(examples):
        late = {f"late{t // 50}": 1.0} if t > 100 else {}
        model.learn_one(x | late, y)
    held = {name for vector in model.support_vectors for name in vector}
    # Those of the last update, which are names of vectors at that time.
    assert set(NAMES) <= set(model.relevances_)
    assert len(model.relevances_) <= len(held) + 10
    assert model.numerical_errors()["inverses"] < 1e-9


@pytest.mark.parametrize(
    ("weight", "message"),
    [(0.0, "not between"), (float("nan"), "not a finite"), ("1", "not a fin")],
)
def test_forged_weights_are_refused(weight, message):
    model = learned(rb.Mnemotron(10), switching(100))
    state = model.state()
    state["relevances"]["weights"]["a"] = weight
    with pytest.raises(ValueError, match=message):
        rb.Mnemotron(10).restore(state)
