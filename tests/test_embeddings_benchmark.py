"""What `benchmarks.embeddings` measures, on rows that are small enough to see the answers."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import embeddings


@pytest.mark.parametrize(
    ("known", "unknown", "expected"),
    [([1, 2], [3, 4], 1.0), ([3, 4], [1, 2], 0.0), ([1, 1], [1], 0.5), ([1, 3], [2], 0.5)],
)
def test_the_area_is_the_share_of_pairs_in_order(known, unknown, expected):
    assert embeddings.area(np.array(known), np.array(unknown)) == expected


def rows(n, rng):
    """Return rows of norm 1 near the first three axes, with their numbers."""
    labels = rng.integers(3, size=n)
    X = np.eye(3, 384)[labels] + 0.02 * rng.normal(size=(n, 384))
    return X / np.linalg.norm(X, axis=1, keepdims=True), labels


@pytest.mark.parametrize("make", [embeddings.NearestMean, embeddings.StreamingLDA])
def test_the_models_in_numpy_learn_and_never_predict_what_they_have_not_seen(make):
    rng = np.random.default_rng(1)
    model = make()
    X, labels = rows(300, rng)
    model.learn_many({"embedding": X}, labels.tolist())
    tested, expected = rows(50, rng)
    np.testing.assert_array_equal(embeddings.answers(model, tested)["label"], expected)
    assert embeddings.answers(model, -tested)["label"].max() <= 2


def test_the_covariance_is_that_of_the_rows_around_their_means():
    rng = np.random.default_rng(1)
    X, labels = rows(200, rng)
    model = embeddings.StreamingLDA()
    model.learn_many({"embedding": X}, labels.tolist())
    centred = X - np.array([X[labels == label].mean(axis=0) for label in range(3)])[labels]
    np.testing.assert_allclose(model.covariance, centred.T @ centred, atol=1e-9)


def test_doubts_about_rows_unlike_all_others_are_larger():
    rng = np.random.default_rng(1)
    X, labels = rows(600, rng)
    model = embeddings.MODELS["KernelLDA(300)"]()
    model.learn_many({"embedding": X}, labels.tolist())
    known, unknown = (embeddings.answers(model, some) for some in (rows(50, rng)[0], -X[:50]))
    assert embeddings.area(known["novelty"], unknown["novelty"]) > 0.99
