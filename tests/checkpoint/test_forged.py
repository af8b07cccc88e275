"""Files that were written to deceive: each makes a whole model or a `CheckpointError`."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import math
import resource
import subprocess
import sys
import warnings

import numpy as np
import pytest
from algorithms import ALGORITHMS, KERNELS
from forging import UNIT_NORM, change, forged, forged_text, parts, paths
from hypothesis import given, settings
from hypothesis import strategies as st
from pipelines import PIPELINES, rows

import river_budget as rb
from river_budget import checkpoint, synth
from river_budget.base import Chain
from river_budget.checkpoint import CheckpointError, outline
from river_budget.preprocessing import UnitNorm

ROWS = list(synth.NoisyCheckerboard(160, seed=3))
HUGE = 10**400


def trained(model, examples=ROWS[:100]):
    for x, y in examples:
        model.learn_one(x, y)
    return model


MANY_LABELS = [(x, "abcd"[t % 4]) for t, (x, _) in enumerate(ROWS)]
each_model = pytest.mark.parametrize("name", ALGORITHMS)


def refused(content, tensors, message=None):
    with pytest.raises(CheckpointError, match=message):
        checkpoint.loads(forged(content, tensors))


def test_a_forgery_with_nothing_changed_is_the_checkpoint():
    model = trained(rb.Forgetron(budget=5))
    assert forged(*parts(model)) == checkpoint.dumps(model)


@pytest.mark.parametrize("degree", [1001, 10**12, 2**63])
def test_a_degree_has_a_limit(degree):
    with pytest.raises(ValueError, match=r"degree must be a whole number from 1 to 1,000, got"):
        rb.Polynomial(degree=degree)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_forged_degree_does_not_hang(wrapped):
    kernel = rb.Polynomial(degree=777)
    content, tensors = parts(rb.Forgetron(rb.Normalized(kernel) if wrapped else kernel))
    changed = json.dumps(content).replace('"degree": 777', '"degree": 1000000000000')
    refused(json.loads(changed), tensors, "degree")


LIMITED = """
import sys
from river_budget import checkpoint
try:
    checkpoint.load(sys.argv[1])
except checkpoint.CheckpointError as error:
    print("refused", error)
else:
    print("loaded")
"""


def load_within(path, seconds):
    """Return what a process says that loads a file and may take some seconds of processor time."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)],
        capture_output=True, text=True, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
    ).stdout  # fmt: skip


@pytest.mark.slow
def test_the_work_of_loading_is_linear_in_the_size_of_the_file(tmp_path):
    n = 300_000
    content, tensors = parts(rb.KernelPerceptron(rb.RBF(gamma=1.0)))
    hypothesis = content["model"]["state"]["hypothesis"]["state"]
    store = hypothesis["store"]["state"]
    hypothesis["n_mistakes"] = store["n_inserted"] = n
    store["array_sizes"] = {"state": {}}
    tensors[hypothesis["rounds"]["integers"]] = np.array([n, 0])
    tensors[store["sizes"]["integers"]] = np.zeros(n, np.int64)
    tensors[store["inserted"]["integers"]] = np.arange(n)
    tensors[hypothesis["coefficients"]["tensor"]] = np.stack((-np.ones(n), np.ones(n)))
    tensors[content["model"]["state"]["moments"]["tensor"]] = np.ones((n, 2))
    (tmp_path / "model").write_bytes(forged(content, tensors))
    assert load_within(tmp_path / "model", 60) == "loaded\n"


def many_labels(n):
    """Return the parts of a checkpoint with a number of labels, and no vectors."""
    content, tensors = parts(rb.Forgetron(rb.RBF(gamma=1.0), max_classes=n))
    state = content["model"]["state"]
    state["labels"]["state"]["columns"] = {"dict": [[label + 2, label] for label in range(n)]}
    hypothesis = state["hypothesis"]["state"]
    tensors[hypothesis["coefficients"]["tensor"]] = np.zeros((n, 0))
    tensors[hypothesis["rounds"]["integers"]] = np.zeros(n, np.int64)
    return content, tensors


@pytest.mark.slow
def test_the_work_of_loading_is_linear_in_the_number_of_labels(tmp_path):
    (tmp_path / "model").write_bytes(forged(*many_labels(300_000)))
    assert load_within(tmp_path / "model", 60) == "loaded\n"


@pytest.mark.slow
def test_the_work_of_loading_is_linear_in_the_number_of_kernels(tmp_path):
    """10,000 kernels, where the square would take half a minute."""
    kernels = [rb.AdditiveRationalQuadratic(gamma=1.0 + i) for i in range(10_000)]
    model = rb.Mnemotron(budget=1, kernels=kernels, forgetting=((1.0, 0.1),))
    checkpoint.save(trained(model, ROWS[:1]), tmp_path / "model")
    assert load_within(tmp_path / "model", 10) == "loaded\n"


@pytest.mark.slow
def test_no_matrix_is_allocated_that_is_not_in_the_file():
    """It would take 0.7 terabytes."""
    n = 300_000
    content, tensors = many_labels(n)
    content["model"]["parameters"]["budget"] = n
    store = store_of(content)
    store["n_inserted"], store["array_sizes"] = n, {"state": {}}
    tensors[store["sizes"]["integers"]] = np.zeros(n, np.int64)
    tensors[store["inserted"]["integers"]] = np.arange(n)
    refused(content, tensors, r"shape \(300000, 300000\)")


def test_claims_of_size_are_not_believed():
    content, tensors = parts(trained(rb.Forgetron(budget=5)))
    store = content["model"]["state"]["hypothesis"]["state"]["store"]["state"]
    sizes = store["sizes"]["integers"]
    for claimed in ([2**62, 2**62, 2**62, 2**62, 10], [2**63 - 1] * 5, [10**9] * 5):
        refused(content, {**tensors, sizes: np.array(claimed, np.int64)}, "sizes of the vectors")


@each_model
def test_no_array_may_hold_what_is_not_finite(name):
    content, tensors = whole(name, 4)
    for name, array in tensors.items():
        if array.dtype == np.float64 and array.size:
            for value in (np.nan, np.inf):
                changed = array.copy()
                changed.flat[0] = value
                refused(content, {**tensors, name: changed}, "not finite")


@pytest.mark.slow
@each_model
def test_no_number_may_be_beyond_all_counts_or_not_finite(name):
    content, tensors = whole(name, 4)
    state = content["model"]["state"]
    places = [path for path in paths(state) if path and isinstance(at(state, path), int | float)]
    assert ("hypothesis", "state", "n_mistakes") in places
    for path in places:
        if "dict" in path or "tuple" in path:
            continue  # labels and names: any number can be one
        others = () if isinstance(at(state, path), bool) else (True,)
        for value in (HUGE, -HUGE, math.nan, math.inf, *others):
            forgery = copy.deepcopy(content)
            change(forgery["model"]["state"], path, value)
            refused(forgery, tensors)


def at(node, path):
    for key in path:
        node = node[key]
    return node


def store_of(content):
    return content["model"]["state"]["hypothesis"]["state"]["store"]["state"]


def test_a_kernel_in_use_is_resolved():
    content, tensors = parts(trained(rb.Forgetron(budget=5)))
    store_of(content)["kernels"]["tuple"][0]["parameters"]["gamma"] = None
    refused(content, tensors, "lacks parameters")


def test_a_kernel_resolves_the_one_that_the_model_was_given():
    content, tensors = parts(trained(rb.Forgetron(rb.Normalized(rb.RBF()), budget=5)))
    inner = store_of(content)["kernels"]["tuple"][0]["parameters"]["kernel"]
    inner["class"] = "river_budget.Laplacian"
    refused(content, tensors, "expected the kernels")
    content, tensors = parts(trained(rb.Mnemotron(budget=5)))
    additive = store_of(content)["kernels"]["tuple"][1]["parameters"]
    for names in (["0", "1"], 5, {"float": 1.0}):
        additive["names"] = names
        refused(content, tensors)


def test_forged_categories():
    words = ["red", "green", "blue"]
    model = trained(rb.Forgetron(budget=5), [({"c": words[t % 3]}, t % 2 == 0) for t in range(30)])
    for items in (["c", 5], ["c"], ["c", "red", "x"], [{"dict": []}, "red"], 5, ["c", None]):
        content, tensors = parts(model)
        store_of(content)["names"]["tuple"][0]["Category"] = items
        refused(content, tensors)


def with_means():
    """Return the parts of a checkpoint with means."""
    model = trained(rb.Forgetron(budget=5))
    model._feature_scales.sums.clear()
    content, tensors = parts(model)
    return content, {name: array.copy() for name, array in tensors.items()}


def sums_in(content):
    return content["model"]["state"]["feature_scales"]["state"]["sums"]["state"]


@pytest.mark.parametrize("mean", [None, "x", math.nan, 1e200])
def test_forged_means_are_refused(mean):
    content, tensors = with_means()
    sums_in(content)["means"] = {"state": {"u": mean}}
    refused(content, tensors)


TIGHTER = rb.TighterPerceptron(budget=4, validation=5, seed=1)


def test_a_reservoir_needs_its_store():
    content, tensors = parts(trained(TIGHTER.clone()))
    content["model"]["state"]["examples"] = None
    refused(content, tensors)


def test_a_reservoir_has_as_many_examples_as_its_store():
    content, tensors = parts(trained(TIGHTER.clone()))
    validation = validation_of(content)
    for name in ("scores", "columns", "kernel_values"):
        (tensor,) = validation[name].values()
        tensors[tensor] = tensors[tensor][:3].copy()
    refused(content, tensors, "shape")


@pytest.mark.parametrize("model", [rb.TightestPerceptron(budget=4), TIGHTER], ids=["tightest", "A"])
def test_kernel_values_of_a_validation_set_follow_from_its_examples(model):
    content, tensors = parts(trained(model.clone()))
    values = validation_of(content)["kernel_values"]["tensor"]
    refused(content, {**tensors, values: tensors[values] + 1e-3}, "kernel values")
    refused(content, {**tensors, values: tensors[values][1:].copy()}, "shape")


def test_kernel_values_of_nearest_vectors_follow_from_the_vectors():
    content, tensors = parts(trained(rb.BudgetPassiveAggressive(budget=4)))
    values = content["model"]["state"]["maintenance"]["state"]["gram"]["tensor"]
    assert len(tensors[values]) == 10
    refused(content, {**tensors, values: tensors[values] + 1e-3}, "nearest vectors")
    refused(content, {**tensors, values: tensors[values][1:].copy()}, "size")


def validation_of(content):
    """Return what a checkpoint says of the examples of a validation set."""
    return content["model"]["state"]["validation"]["state"]


@pytest.mark.parametrize("model", [rb.TightestPerceptron(budget=4), TIGHTER], ids=["tightest", "A"])
def test_a_validation_set_has_labels_and_scores_of_its_size(model):
    content, tensors = parts(trained(model.clone()))
    validation = validation_of(content)
    columns, scores = validation["columns"]["integers"], validation["scores"]["tensor"]
    refused(content, {**tensors, columns: tensors[columns] + 2}, "labels")
    refused(content, {**tensors, columns: tensors[columns][1:].copy()}, "shape")
    wide = np.zeros((len(tensors[scores]), 1000))
    refused(content, {**tensors, scores: wide}, "shape")


def test_scores_of_no_example_claim_no_labels():
    content, tensors = parts(TIGHTER.clone())
    scores = validation_of(content)["scores"]["tensor"]
    refused(content, {**tensors, scores: np.zeros((0, 10**12))}, "shape")


FOUR = trained(rb.TightestPerceptron(budget=5, max_classes=4), MANY_LABELS)


@pytest.mark.parametrize(
    "columns",
    [
        {"a": 0, "b": 1, "c": 2, "d": 4},
        {"a": 0, "b": 1, "c": 2, "d": -1},
        {"a": 0, "b": 1, "c": 3, "d": 2},
        {"a": 0, "b": 1, "c": 1, "d": 2},
        {"a": 0, "b": 2, "c": 1, "d": 3},
        {"a": 1, "b": 0, "c": 2, "d": 3},
    ],
    ids=str,
)
def test_labels_have_the_columns_of_their_order(columns):
    content, tensors = parts(FOUR)
    labels = content["model"]["state"]["labels"]["state"]
    assert labels["columns"] == {"state": {"a": 0, "b": 1, "c": 2, "d": 3}}
    labels["columns"] = {"state": columns}
    refused(content, tensors, r"the labels have the wrong columns|-1 is not a count")


@pytest.mark.parametrize("label", [None, math.nan, [1]], ids=str)
@pytest.mark.parametrize("position", [0, 1, 3])
def test_missing_and_unhashable_labels_are_refused(label, position):
    content, tensors = parts(FOUR)
    names = ["a", "b", "c", "d"]
    names[position] = label
    pairs = [[name, column] for column, name in enumerate(names)]
    content["model"]["state"]["labels"]["state"]["columns"] = {"dict": pairs}
    refused(content, tensors, "label|unhashable")


def test_there_are_no_more_labels_than_max_classes():
    content, tensors = parts(FOUR)
    content["model"]["parameters"]["max_classes"] = 3
    refused(content, tensors, "there are 4 labels, at most 3 are allowed")


WIDE = {
    "counts": FOUR,
    "scores": FOUR,
    "moments": trained(rb.Projectron(budget=5), MANY_LABELS),
}


@pytest.mark.parametrize("name", WIDE)
def test_matrices_have_a_column_for_each_label(name):
    content, tensors = parts(WIDE[name])
    state = content["model"]["state"]
    (place,) = (path for path in paths(state) if path[-2:] == (name, "tensor"))
    tensor = at(state, place)
    matrix = tensors[tensor]
    n = len(matrix)
    assert matrix.shape == (n, 4)
    for wrong in (
        matrix[:, :3], np.zeros((n, 5)), matrix[:-1], matrix[:, 0], matrix.T, np.zeros((0, 4)),
    ):  # fmt: skip
        refused(content, {**tensors, tensor: wrong.copy()}, "expected an array of float64")


@pytest.mark.parametrize("model", [FOUR, WIDE["moments"]], ids=["removing", "projecting"])
def test_the_coefficients_of_a_vector_sum_to_0(model):
    content, tensors = parts(model)
    tensor = content["model"]["state"]["hypothesis"]["state"]["coefficients"]["tensor"]
    for label in range(4):
        matrix = tensors[tensor].copy()
        matrix[label, 1] += 1e-3
        refused(content, {**tensors, tensor: matrix}, "sum to 0")


@pytest.mark.parametrize("model", [FOUR, trained(rb.Forgetron(budget=5))], ids=["four", "two"])
def test_coefficients_have_a_row_for_each_label(model):
    content, tensors = parts(model)
    tensor = content["model"]["state"]["hypothesis"]["state"]["coefficients"]["tensor"]
    matrix = tensors[tensor]
    for wrong in (matrix[1:], matrix[:, 1:], matrix[0], np.zeros((len(matrix), 0))):
        refused(content, {**tensors, tensor: wrong.copy()}, "expected an array of float64")


@pytest.mark.parametrize("name", ["inverses", "covariances"])
@pytest.mark.parametrize(
    "forge", [lambda m: -m, lambda m: m * 0 + 1e6], ids=["negated", "constant"]
)
def test_matrices_of_a_mnemotron_are_possible(name, forge):
    content, tensors = parts(trained(rb.Mnemotron(budget=5)))
    posteriors = content["model"]["state"]["hypothesis"]["state"]["posteriors"]["state"]
    tensor = posteriors[name]["state"]["blocks"]["tensor"]
    refused(content, {**tensors, tensor: forge(tensors[tensor])}, "definite|variance")


@pytest.mark.parametrize("name", ["degree", "gamma", "coef0"])
def test_forged_parameters_of_kernels_are_refused(name):
    kernel = rb.Polynomial(degree=2)
    content, tensors = parts(trained(rb.Forgetron(kernel)))
    for value in (HUGE, -1, None, "x", math.nan, [1]):
        forgery = copy.deepcopy(content)
        forgery["model"]["parameters"]["kernel"]["parameters"][name] = value
        refused(forgery, tensors)


def test_parameters_are_those_of_the_constructor():
    content, tensors = parts(rb.Forgetron(budget=5))
    content["model"]["parameters"]["size"] = 5
    refused(content, tensors, "size")


def steps(content):
    return content["model"]["state"]["steps"]["state"]


MEAN = {
    "class": "river.stats.Mean", "schema": 1, "parameters": {}, "state": {"n": 0.0, "_mean": 0.0},
}  # fmt: skip
PIPELINE = {
    "class": "river.compose.Pipeline", "schema": 1,
    "parameters": {}, "state": {"steps": {"state": {"a": UNIT_NORM}}},
}  # fmt: skip
OPTIMIZER = ("LogisticRegression", "parameters", "optimizer")
FORGED_PARTS = [
    ("StandardScaler", ("StandardScaler", "state", "means"), 0.5, "not a dict"),
    ("StandardScaler", ("StandardScaler", "state", "learn_one"), 0.5, "another state"),
    ("StandardScaler", ("StandardScaler", "state"), {}, "another state"),
    ("StandardScaler", ("StandardScaler", "class"), "RobustScaler", "'RobustScaler' is not known"),
    ("StandardScaler", ("StandardScaler", "class"), "PAClassifier", "'PAClassifier' is not known"),
    ("StandardScaler", ("StandardScaler", "parameters", "with"), True, "'with'"),
    ("SelectType", ("TransformerUnion", "state", "transformers"), "fee", "not a dict"),
    ("TFIDF", ("TFIDF", "state", "processing_steps"), [], "another state"),
    ("TFIDF", ("TFIDF", "state", "dfs", "state"), {"river": {"type": "eval"}}, "eval"),
    ("Agg", ("TransformerUnion", "state", "transformers", "state", "Agg", "parameters", "how"), "mean", "name"),
    ("RandomSampler", ("RandomSampler", "state", "_rng"), 5, "array"),
    ("LogisticRegression", ("LogisticRegression", "state", "_weights", "state", "u"), "x", "real numbers"),
    ("LogisticRegression", (*OPTIMIZER, "class"), "river.optim.Zeros", "lr"),
]  # fmt: skip


@pytest.mark.parametrize(("pipeline", "path", "value", "message"), FORGED_PARTS, ids=str)
def test_forged_parts_of_a_pipeline_are_refused(pipeline, path, value, message):
    content, tensors = copy.deepcopy(whole(pipeline, 2))
    change(steps(content), path, value)
    refused(content, tensors, message)


@pytest.mark.parametrize("node", [MEAN, PIPELINE], ids=["Mean", "Pipeline"])
@pytest.mark.parametrize(
    "path",
    [
        ("parameters", "budget"),
        ("parameters", "kernel"),
        ("state", "hypothesis", "state", "n_mistakes"),
        ("state", "hypothesis", "state", "store"),
        ("state", "labels"),
    ],
    ids=str,
)
def test_an_object_is_no_parameter_and_nothing_that_was_learned(path, node):
    content, tensors = parts(trained(rb.Forgetron(budget=5)))
    change(content["model"], path, node)
    refused(content, tensors)


@pytest.mark.parametrize(
    "node", [None, 5, "Forgetron", {"state": {}}, {"class": "eval"}, [UNIT_NORM]]
)
def test_what_is_no_object_is_no_model(node):
    content, tensors = parts(rb.Forgetron())
    refused(content | {"model": node}, tensors)


@pytest.mark.parametrize("n", [10, 1000, 100_000])
def test_deep_nesting_is_an_error_of_the_checkpoint(n):
    content, tensors = parts(UnitNorm())
    before, after = json.dumps(content | {"model": PIPELINE}).split(json.dumps(UNIT_NORM))
    opening, closing = json.dumps(PIPELINE).split(json.dumps(UNIT_NORM))
    text = before + n * opening + json.dumps(UNIT_NORM) + n * closing + after
    if n == 10:
        assert checkpoint.outline(checkpoint.loads(forged_text(text, tensors))) == "UnitNorm"
    else:
        with pytest.raises(CheckpointError):
            checkpoint.loads(forged_text(text, tensors))


def test_a_model_that_is_nested_too_deeply_is_refused():
    model = rb.Forgetron()
    for _ in range(500):
        model = rb.Calibrated(model)
    with pytest.raises(CheckpointError, match="recursion depth"):
        checkpoint.dumps(model)


FORGED_MODELS = {
    **ALGORITHMS,
    "Normalized": lambda _: rb.RandomizedBudgetPerceptron(
        rb.Normalized(KERNELS[5]), budget=4, seed=1
    ),
    **PIPELINES,
}


@functools.cache
def whole(name, n_labels):
    """Return the parts of a checkpoint; a copy of them can be changed."""
    if name in PIPELINES:
        return parts(trained(PIPELINES[name](), rows(40)))
    return parts(trained(FORGED_MODELS[name](None), (ROWS if n_labels == 2 else MANY_LABELS)[:100]))


VALUES = [
    None, -1, 0, 1, 10**30, HUGE, 1e308, "x", "0", [], {}, True, math.nan, -math.inf,
    {"tuple": [1]}, {"tuple": []}, {"set": ["x"]}, {"dict": []}, {"dict": [["u", 1.0]]},
    {"state": {}}, {"tensor": "0"},
]  # fmt: skip


def forged_array(array, data):
    changed = [
        array[:-1], np.append(array, array[:1]), array.astype(np.float32), array * 0 + 7,
        array - 9, array.reshape(-1), array[None], array * 1e200, array[..., :1],
    ]  # fmt: skip
    return data.draw(st.sampled_from(changed))


@pytest.mark.parametrize("name", FORGED_MODELS)
@given(st.sampled_from([2, 4]), st.data())
@settings(max_examples=12)
def test_forged_files_make_a_whole_model_or_an_error(name, n_labels, data):
    content, tensors = copy.deepcopy(whole(name, n_labels))
    if not tensors or data.draw(st.booleans()):
        # For n-grams of any length, a BagOfWords would go on for ever.
        places = [p for p in paths(content["model"]) if p and "ngram_range" not in p]
        path = data.draw(st.sampled_from(places))
        change(content["model"], path, data.draw(st.sampled_from(VALUES)))
    else:
        changed = data.draw(st.sampled_from(sorted(tensors)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            tensors[changed] = forged_array(tensors[changed], data)
    try:
        loaded = checkpoint.loads(forged(content, tensors))
    except CheckpointError:
        return
    examples = rows(30, seed=2) if name in PIPELINES else ROWS[:30] + MANY_LABELS[:30]
    # Parts of River raise any errors then.
    refusals = Exception if name in PIPELINES else (ValueError, TypeError)
    with contextlib.suppress(refusals), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for x, y in examples:
            loaded.predict_one(x)
            loaded.learn_one(x, y)
    classifier = Chain(loaded).last if outline(loaded) else None
    if hasattr(classifier, "n_support"):
        assert classifier.n_support == len(classifier.support_vectors) <= 200
    with contextlib.suppress(CheckpointError):
        checkpoint.dumps(loaded)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("scales",), 0.0, "a scale is not positive"),
        (("covariances", "state", "signs"), 0.5, "a sign is neither 1 nor -1"),
        (("inverses", "state", "signs"), 0.5, "a sign is neither 1 nor -1"),
    ],
    ids=str,
)
def test_a_mixture_with_impossible_factors_is_refused(path, value, message):
    content, tensors = parts(trained(rb.Mnemotron(budget=5)))
    node = content["model"]["state"]["hypothesis"]["state"]["posteriors"]["state"]
    for name in path:
        node = node[name]
    tensors[node["tensor"]] = np.full_like(tensors[node["tensor"]], value)
    refused(content, tensors, message)
