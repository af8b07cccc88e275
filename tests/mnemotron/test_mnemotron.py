from __future__ import annotations

import copy
import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from plain_mnemotron import Plain, softmax
from refusals import refuses
from river import datasets, evaluate, metrics, preprocessing
from river.datasets import synth as river_synth
from states import content

import river_budget as rb
from river_budget import checkpoint, synth

NAMES = ("a", "b", "c")
KERNELS = (
    rb.RationalQuadratic(gamma=1 / 3),
    rb.AdditiveRationalQuadratic(gamma=1 / 3, names=NAMES),
    rb.RationalQuadratic(gamma=10 / 3),
    rb.Normalized(rb.Polynomial(degree=1)),
)
MEMORIES = ((1.0, 0.1), (0.998, 0.1), (0.9, 0.5))


def drifting(n_labels, n_rounds=300, seed=3):
    """Return noisy examples, some of which lack a feature, with labels in order of appearance."""
    rng = np.random.default_rng(seed)
    examples, columns = [], {}
    for t in range(n_rounds):
        x = dict(zip(NAMES, rng.normal(size=3).tolist(), strict=True))
        if t % 5 == 4:
            del x["b"]
        angle = math.atan2(x["a"], x["c"]) / (2 * math.pi) + 0.5 + t / 2000
        y = int(angle * n_labels) % n_labels
        if rng.random() < 0.1:
            y = int(rng.integers(n_labels))
        examples.append((x, columns.setdefault(min(y, 1 + t // 30), len(columns))))
    return examples


def in_tasks(n_labels, n_rounds=300):
    """Return examples of two labels at a time, of which one or two come back."""
    stream, columns = iter(drifting(n_labels, 20 * n_rounds)), {}
    tasks = [(0, 1), (2, 3), (4, 1), (2, 3), (4, 0)]
    return [
        (x, columns.setdefault(y, len(columns)))
        for labels in tasks
        for x, y in itertools.islice((xy for xy in stream if xy[1] in labels), n_rounds // 5)
    ]


@pytest.mark.parametrize(
    ("budget", "kernels", "examples", "archive", "rehearses"),
    [
        (12, slice(4), drifting(2, 160), None, False),
        (12, slice(4), drifting(5, 160), None, False),
        (20, slice(1, 3), in_tasks(5, 300), None, True),
        (20, slice(1, 3), in_tasks(5, 300), 20, True),
    ],
    ids=["2 labels", "5 labels", "tasks", "archive"],
)
def test_against_a_plain_implementation(budget, kernels, examples, archive, rehearses):
    model = rb.Mnemotron(budget, KERNELS[kernels], MEMORIES, archive=archive)
    discriminant = None if archive is None else rb.KernelLDA(archive)
    plain = Plain(KERNELS[kernels], MEMORIES, budget, archive=discriminant)
    n_labels = len({y for _, y in examples})
    for t, (x, y) in enumerate(examples):
        # In one round of 9, none is predicted, or one whose label comes two rounds later.
        asked = examples[(t + 2) % len(examples)][0] if t % 18 == 8 else x
        if len(model.classes) > 1 and t % 18 != 17:
            expected = plain.predict(asked).tolist()
            p = model.predict_proba_one(asked)
            assert list(p.values()) == pytest.approx(expected, abs=1e-8)
        if t % 5 == 0:
            layers, shares = softmax(plain.prompt.top).tolist(), plain.shares.tolist()
            assert list(model.expert_weights.values()) == pytest.approx(shares, abs=1e-8)
            assert list(model.mixture_weights.values()) == pytest.approx(layers, abs=1e-8)
        model.learn_one(x, "abcde"[y])
        plain.learn(x, y)
        assert model.support_vectors == plain.vectors
    assert plain.n_replaced > 10
    assert bool(plain.n_rehearsed) == rehearses
    assert model.classes == list("abcde"[:n_labels])
    assert (model.n_rounds, model.n_mistakes) == (len(examples), plain.n_mistakes)
    expected = plain.coefficients[:, 0] if n_labels == 2 else plain.coefficients
    assert model.coefficients == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("n_labels", [2, 5])
def test_weights_against_a_plain_implementation(n_labels):
    model, plain = rb.Mnemotron(12, KERNELS, MEMORIES), Plain(KERNELS, MEMORIES, 12)
    examples = drifting(n_labels, 80)
    for t, (x, y) in enumerate(examples):
        model.learn_one(x, "abcde"[y], w=[1.0, 0.3, 5.0][t % 3])
        plain.learn(x, y, w=[1.0, 0.3, 5.0][t % 3])
        assert model.support_vectors == plain.vectors
    expected = plain.coefficients[:, 0] if n_labels == 2 else plain.coefficients
    assert model.coefficients == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_a_new_name_is_active_in_the_first_kernel_only():
    additive = rb.AdditiveRationalQuadratic(gamma=1.0, names=("a",))
    model = rb.Mnemotron(budget=10, kernels=(rb.RationalQuadratic(gamma=1.0), additive))
    for value in [-1.0, 1.0, -2.0, 2.0]:
        model.learn_one({"a": value}, value > 0)
    model.learn_one({"a": 0.5, "new": 9.0}, False)
    assert model.support_vectors[-1] == {"a": 0.5, "new": 9.0}
    radial, additive = (model._f.store.row_of(4, kernel) for kernel in range(2))
    assert radial[4] == additive[4] == 1.0
    assert radial[:4].max() < 0.02 < 0.4 < additive[:4].max()
    with pytest.raises(ValueError, match="'late'"):
        model.predict_one({"a": 1.0, "late": math.nan})


def test_the_leading_forgetting_factor_indicates_the_speed_of_drift():
    def leading_factor(stream):
        model = rb.Mnemotron(budget=50)
        for x, y in stream:
            model.learn_one(x, y)
        weights = {}
        for (_, factor, _), weight in model.expert_weights.items():
            weights[factor] = weights.get(factor, 0.0) + weight
        return max(weights, key=weights.get)

    stationary = synth.TwoGaussians(3000, seed=1)
    rotating = (
        ({0: math.cos(t / 40) * a - math.sin(t / 40) * b, 1: math.sin(t / 40) * a + math.cos(t / 40) * b}, y)
        for t, (x, y) in enumerate(synth.TwoGaussians(3000, seed=1))
        for a, b in [x.values()]
    )  # fmt: skip
    assert leading_factor(stationary) >= 0.9999
    assert leading_factor(rotating) <= 0.998


@pytest.mark.parametrize(
    ("dataset", "goal"), [(datasets.Bananas(), 0.893), (datasets.Phishing(), 0.912)], ids=str
)
def test_accuracy_on_rivers_data(dataset, goal):
    model = preprocessing.StandardScaler() | rb.Mnemotron()
    assert evaluate.progressive_val_score(dataset, model, metrics.Accuracy()).get() >= goal


@pytest.mark.slow
def test_accuracy_on_a_drifting_stream():
    stream = river_synth.RandomRBFDrift(
        seed_model=42, seed_sample=42, n_classes=2, n_features=10, n_centroids=50,
        change_speed=0.001, n_drift_centroids=50,
    )  # fmt: skip
    model = preprocessing.StandardScaler() | rb.Mnemotron()
    accuracy = evaluate.progressive_val_score(stream.take(20_000), model, metrics.Accuracy())
    assert accuracy.get() >= 0.901


def test_inaccurate_inverses_are_recomputed():
    model = rb.Mnemotron(budget=20, kernels=(rb.RationalQuadratic(gamma=2.0),))
    stream = list(synth.TwoGaussians(4000, flip=0.3, seed=1))
    for x, y in stream[:2000]:
        model.learn_one(x, y)
    assert model.n_rebuilds == 0
    inverses = model._f.posteriors.inverses
    inverses.set(0, 1.001 * inverses.matrices_of(20)[0])
    for x, y in stream[2000:]:
        model.learn_one(x, y)
    assert model.n_rebuilds == 1
    assert model.numerical_errors()["inverses"] < 1e-6


def test_memory_is_as_documented():
    model = rb.Mnemotron(budget=100)
    assert model.memory_bytes == pytest.approx(4 * (12 + 5) * 100 * 128, rel=0.05)


def test_a_budget_that_takes_more_memory_than_there_is():
    for kernels, n_matrices in [(None, 17), ((rb.RBF(gamma=1.0),), 5)]:
        n_bytes = 4 * n_matrices * 10**8 * (10**8 + 28)
        with pytest.raises(MemoryError, match=f"^budget=100000000 takes about {n_bytes:,} bytes"):
            rb.Mnemotron(budget=10**8, kernels=kernels)


def test_probabilities_are_those_of_the_mixture():
    model = rb.Mnemotron(budget=20)
    for x, y in synth.TwoGaussians(300, seed=1):
        model.learn_one(x, y)
    f, p = model.decision_function_one(x), model.predict_proba_one(x)
    assert p[True] == pytest.approx((1 + f) / 2)
    assert sum(model.expert_weights.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernels": (rb.Linear(),)}, "use Normalized"),
        ({"kernels": ()}, "kernels must be a tuple of kernels"),
        ({"kernels": rb.RBF()}, "kernels must be a tuple of kernels"),
        ({"kernels": "rbf"}, "kernels must be a tuple of kernels, got 'rbf'"),
        ({"kernels": (math.dist,)}, "kernel must be a kernel"),
        ({"forgetting": ()}, "forgetting must be pairs"),
        ({"forgetting": (1.0, 0.1)}, "forgetting must be pairs"),
        ({"forgetting": ((1.5, 0.1),)}, "forgetting must be pairs"),
        ({"forgetting": ((0.0, 0.1),)}, "forgetting must be pairs"),
        ({"forgetting": ((0.5, 0.0),)}, "forgetting must be pairs"),
        ({"forgetting": ((math.nan, 0.1),)}, "forgetting must be pairs"),
        ({"forgetting": (("0.5", 0.1),)}, "forgetting must be pairs"),
        ({"forgetting": (((0.5, 0.1),), 3)}, "forgetting must be pairs"),
        ({"forgetting": iter([(0.5, 0.1)])}, "forgetting must be pairs"),
        ({"forgetting": np.array([[0.5, 0.1]])}, "forgetting must be pairs"),
        ({"forgetting": {(0.5, 0.1): 1}}, "forgetting must be pairs"),
        ({"novelty": -1.0}, "novelty"),
        ({"repeats": 1}, "repeats must be True or False"),
        ({"max_classes": 0}, "max_classes"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(ValueError, match=message):
        rb.Mnemotron(**parameters)


@pytest.mark.parametrize("order", [1, -1])
def test_a_name_that_one_kernel_ignores_is_read_by_the_other(order):
    """Two examples that are equal to one kernel must not be equal to the model."""
    kernels = (rb.AdditiveRationalQuadratic(gamma=0.5, names=("a",)), rb.RBF(gamma=0.5))[::order]
    model, asked = rb.Mnemotron(10, kernels=kernels), rb.Mnemotron(10, kernels=kernels)
    for t in range(30):
        x, y = {"a": t % 7 / 7, "new": t % 3 - 1.0}, t % 3 == 0
        f = model.decision_function_one(x)
        assert asked.decision_function_one({"a": x["a"], "new": 1.5}) is not None
        assert asked.decision_function_one(x) == f
        model.learn_one(x, y)
        asked.learn_one(x, y)
    assert asked.coefficients.tolist() == model.coefficients.tolist()
    assert model.support_vectors[0] == {"a": 0.0, "new": -1.0}


@pytest.mark.slow
def test_a_block_is_learned_like_its_rows_with_names_that_come_and_go():
    """Kernels that share a store, one that reads other units, and a function."""
    rng = np.random.default_rng(5)
    rows = [
        {name: float(value) for name, value in zip("abcd", rng.normal(size=4), strict=True)}
        for _ in range(120)
    ]
    labels = ["uvwxyz"[int(rng.integers(2 + t // 24))] for t in range(120)]
    for kernels in (
        None,
        (rb.RationalQuadratic(), rb.RBF(gamma=0.5), rb.Normalized(rb.FunctionKernel(rb.RBF(1.0)))),
    ):
        one, many = (rb.Mnemotron(budget=15, kernels=kernels) for _ in range(2))
        for start in range(0, 120, 20):
            names = list("abcd")[: 2 + start // 40]
            frame = pd.DataFrame(rows[start : start + 20])[names]
            for x, y in zip(frame.to_dict("records"), labels[start : start + 20], strict=True):
                one.learn_one(x, y)
            many.learn_many(frame, pd.Series(labels[start : start + 20]))
            assert content(one._f.own_state()) == content(many._f.own_state())
            assert one.support_vectors == many.support_vectors
            scores = [one.scores_one(x) for x in frame.to_dict("records")]
            assert many.scores_many(frame).to_dict("records") == scores
        assert (one.n_rounds, one.n_mistakes) == (many.n_rounds, many.n_mistakes)


def labels_in_runs(n_runs, seed=1):
    """Yield labels in runs of 12, in an order that repeats, beside features of noise."""
    rng = np.random.default_rng(seed)
    for run in range(n_runs):
        for _ in range(12):
            yield {"u": float(rng.normal())}, "abc"[run % 3]


def test_repeated_labels_are_predicted():
    right = {False: 0, True: 0}
    for repeats in right:
        model = rb.Mnemotron(budget=10, repeats=repeats)
        for t, (x, y) in enumerate(labels_in_runs(60)):
            right[repeats] += t >= 360 and model.predict_one(x) == y
            model.learn_one(x, y)
    assert right[True] > 320
    assert right[False] < 300


def test_arrays_that_come_and_go_leave_covariances_and_inverses_exact():
    """The additive kernel had other values when the first array came, and the posteriors did not know."""
    model = rb.Mnemotron(budget=2)
    array = np.array([1.0, 2.0, 3.0])
    for x, label in [({"a": 2.0}, True), ({"array": array}, False), ({}, False), ({}, False)]:
        model.learn_one(x, label)
    model.learn_one({"b": -1.4}, True)
    assert np.isfinite(model._f.posteriors.moments(2)[0]).all()
    assert model.numerical_errors()["inverses"] < 1e-9
    checkpoint.loads(checkpoint.dumps(model))


def n_counted(model):
    """Return how much the labels that came after another one counted as repeated or not."""
    return model._f.repeats.state()["counts"][:, :22].sum()


def test_a_label_is_late_if_something_was_learned_since_its_prediction():
    """Other predictions do not matter, and without a prediction, a label is prompt."""
    model = rb.Mnemotron(budget=10)
    examples = [x for x, _ in itertools.islice(labels_in_runs(10), 6)]
    model.learn_one({"u": 9.0}, "a")
    model.predict_one(examples[0])
    model.predict_proba_one(examples[1])
    model.predict_one({"u": 7.0})
    model.learn_one(examples[0], "a", w=2.0)
    assert n_counted(model) == 1.0
    model.learn_one(examples[1], "a")
    assert n_counted(model) == 1.5
    model.predict_one(examples[2])
    model.learn_one(examples[2], "new")
    assert n_counted(model) == 2.5
    model.learn_one(examples[3], "a")
    assert n_counted(model) == 3.5


def test_the_label_of_an_answer_is_late_if_something_was_learned_since():
    model = rb.Mnemotron(budget=10)
    model.learn_one({"u": 0.0}, "a")
    first, second, third = (model.ask({"u": u}) for u in (1.0, 2.0, 3.0))
    model.learn(first, "a")
    assert n_counted(model) == 1.0
    model.learn(second, "a")
    model.learn(third, "a")
    assert n_counted(model) == pytest.approx(1 + 1 / 2 + 1 / 3)


def test_a_ticket_is_found_by_its_example_in_any_order_of_names_and_any_process():
    """Equal examples share one ticket in a round; unknown values have other means by now."""
    model = rb.Mnemotron(budget=10)
    model.learn_one({"u": 1.0, "v": 2.0}, "a")
    x = {"u": 0, "text": "red", "v": None, "array": np.ones(2), ("t", 1): True}
    model.predict_one(x)
    model.predict_one(dict(reversed(x.items())))
    fingerprint = model._f.own_state()["tickets"]["tickets"]
    assert fingerprint.tolist() == [[1399590513407158742, 1, 0, 0, 2]]
    model.learn_one({"u": 5.0, "v": 3.0}, "a")
    model.learn_one(x | {"u": -0.0}, "a")
    assert n_counted(model) == 1.5
    assert len(model._f.own_state()["tickets"]["tickets"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("archive", [None, 10])
@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda model: pickle.loads(pickle.dumps(model)),
        lambda model: checkpoint.loads(checkpoint.dumps(model)),
        lambda model: model.clone(include_attributes=True),
    ],
    ids=["deepcopy", "pickle", "checkpoint", "clone"],
)
def test_a_copy_between_a_prediction_and_its_label_goes_on_exactly(copied, archive):
    model = rb.Mnemotron(budget=10, archive=archive)
    for t, (x, y) in enumerate(labels_in_runs(5)):
        x |= {"v": np.array([0.1 * t, 1.0])} if t % 7 == 2 else {"w": "text", "u": None}
        model.predict_one(x)
        other = copied(model)
        for one in (model, other):
            one.learn_one(x, y)
        assert content(other.state()) == content(model.state())
        assert other.predict_proba_one({"u": 0.5}) == model.predict_proba_one({"u": 0.5})


def test_to_ask_for_the_memory_after_a_prediction_changes_nothing():
    alone, asked = (rb.Mnemotron(10, kernels=[rb.RBF(gamma=0.1)]) for _ in range(2))
    for i in range(100):
        x = {"a": i % 7, f"name {i}": 1.0}  # new names are forgotten by then
        assert alone.predict_one(x) == asked.predict_one(x)
        assert asked.memory_bytes
        for model in (alone, asked):
            model.learn_one(x, i % 9 < 5)
    assert content(asked.state()) == content(alone.state())


def test_the_memory_of_repeats_is_bounded():
    model = rb.Mnemotron(budget=5)
    sizes = []
    for x, y in labels_in_runs(30):
        model.predict_one(x)
        model.learn_one(x, y)
        sizes.append(model.memory_bytes)
    assert sizes[-1] == sizes[200]


@pytest.mark.slow
@pytest.mark.parametrize("n_features", [3, 1000])
@pytest.mark.parametrize("n_labels", [2, 150])
def test_many_features_and_labels(n_features, n_labels):
    """Constant and one-hot features and vectors of norm 1 beside them."""
    rng = np.random.default_rng(1)
    model, right = rb.Mnemotron(budget=40), 0
    centers = rng.normal(size=(n_labels, n_features))
    for t in range(600):
        label = int(rng.integers(2 if t < 300 else n_labels))
        values = centers[label] + 0.1 * rng.normal(size=n_features)
        x = dict(enumerate((values / np.linalg.norm(values)).tolist()))
        x |= {"constant": 7.0, f"one of {t % 5}": 1.0}
        p = model.predict_proba_one(x)
        assert all(0 <= value <= 1 for value in p.values())
        assert sum(p.values()) == pytest.approx(1.0 if t else 0.0)
        right += 100 <= t < 300 and model.predict_one(x) == f"label {label}"
        model.learn_one(x, f"label {label}")
    assert right > 190
    assert np.isfinite(model.coefficients).all()
    assert math.isfinite(model.norm)


def test_rare_labels_are_found():
    """One example in a hundred is positive, in a corner of its own."""
    rng = np.random.default_rng(1)
    model, metric = rb.Mnemotron(budget=50), metrics.F1()
    for t in range(4000):
        y = bool(rng.random() < 0.01)
        x = dict(zip("uv", (rng.normal(size=2) + (3.0 if y else 0.0)).tolist(), strict=True))
        if t >= 1000:
            metric.update(y, model.predict_one(x))
        model.learn_one(x, y)
    assert metric.get() > 0.7


def test_the_factor_of_a_learned_gamma():
    wide, narrow = rb.RationalQuadratic(), rb.RationalQuadratic(gamma_factor=10.0)
    model = rb.Mnemotron(budget=10, kernels=(wide, narrow))
    for x, y in synth.TwoGaussians(50, seed=1):
        model.learn_one(x, y)
    gammas = [kernel.kernel.gamma for kernel in model.resolved_kernels]
    assert gammas[1] == 10 * gammas[0]
    assert narrow.gamma is None
    with pytest.raises(ValueError, match="gamma_factor"):
        rb.RationalQuadratic(gamma_factor=0)


def test_a_linear_kernel_reads_scaled_features_beside_a_learned_width():
    linear = rb.Normalized(rb.Polynomial(degree=1))
    for kernels, is_scaled in [((linear,), False), ((rb.RationalQuadratic(), linear), True)]:
        model = rb.Mnemotron(budget=10, kernels=kernels)
        for x, y in synth.TwoGaussians(50, seed=1):
            model.learn_one({name: 1000 * value for name, value in x.items()}, y)
        assert isinstance(model.resolved_kernels[-1], rb.kernels.Scaled) == is_scaled


@pytest.mark.parametrize(("n_labels", "is_added"), [(2, 0), (4, 1)])
def test_novelty_counts_more_with_more_labels(n_labels, is_added):
    model = rb.Mnemotron(9, (rb.RBF(gamma=1.0),), ((1.0, 0.1),), novelty=0.1, repeats=False)
    far = [{"a": 10.0 * label} for label in range(4)]
    for label, x in enumerate(far):
        model.learn_one(x, label % n_labels)
    assert model.support_vectors == far
    near = {"a": 0.2}
    assert 0.1 / math.log2(4) < model.novelty_one(near) < 0.1
    model.learn_one(near, 1)
    assert model.support_vectors == far + [near] * is_added


def test_a_function_with_a_declared_norm_is_a_kernel():
    f = rb.RBF(gamma=0.5)
    models = [
        rb.Mnemotron(20, kernels=(kernel,))
        for kernel in (f, rb.FunctionKernel(f, has_unit_norm=True))
    ]
    for x, y in synth.TwoGaussians(100, seed=1):
        answers = [model.predict_proba_one(x) for model in models]
        assert answers[0] == pytest.approx(answers[1], abs=1e-9)
        for model in models:
            model.learn_one(x, y)


def test_a_function_whose_norm_is_not_declared_is_refused_with_the_reason():
    message = r"k\(x, x\) = 1, and whether .* is not known.*has_unit_norm=True.*Normalized"
    refuses(message, rb.Mnemotron, kernels=(rb.FunctionKernel(rb.RBF(gamma=1.0)),))


def test_a_function_whose_norm_is_not_the_declared_one_changes_nothing():
    kernel = rb.FunctionKernel(dot, has_unit_norm=True)
    model = rb.Mnemotron(20, kernels=(kernel,))
    model.learn_one({"a": 1.0}, True)
    for call in (model.predict_one, model.novelty_one):
        refuses("is 4.0, not 1: leave out has_unit_norm", call, {"a": 2.0})
    refuses("is 4.0, not 1: leave out has_unit_norm", model.learn_one, {"a": 2.0}, True)


def dot(x, z):
    return x["a"] * z["a"]


@pytest.mark.parametrize(
    ("make", "given", "advice"),
    [
        (rb.Mnemotron, {"gamma": 0.1}, r"Mnemotron takes no gamma.*kernels=\(RBF\(gamma\),\)"),
        (rb.Mnemotron, {"kernel": rb.RBF()}, r"Mnemotron takes no kernel.*kernels=\(kernel,\)"),
        (rb.KernelLDA, {"gamma": 0.1}, r"KernelLDA takes no gamma.*kernel=RBF\(gamma\)"),
        (rb.KernelLDA, {"budget": 9}, r"KernelLDA takes no budget.*n_features"),
        (rb.Mnemotron, {"bugdet": 9}, r"unexpected keyword argument 'bugdet'"),
    ],
)
def test_a_keyword_of_other_classifiers_says_what_to_give_instead(make, given, advice):
    with pytest.raises(TypeError, match=advice):
        make(**given)
