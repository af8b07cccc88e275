"""Pipelines of River's classes that can be stored, with examples that they learn."""

from __future__ import annotations

import random

from river import (
    compose,
    feature_extraction,
    imblearn,
    linear_model,
    multiclass,
    optim,
    preprocessing,
    stats,
)

import river_budget as rb

KERNEL = rb.RBF(gamma=0.5)
# The shares of labels that samplers want.
WANTED = {False: 0.6, True: 0.4, "a": 0.5, "b": 0.3, "c": 0.2}
WORDS = ["the", "river", "runs", "over", "stones", "and", "the", "stones", "do", "not", "run"]


def forgetron():
    return rb.Forgetron(KERNEL, budget=6)


def rows(n, seed=1):
    """Return examples with numbers, a category and a text, and their labels."""
    rng = random.Random(seed)
    return [
        (
            {
                "u": rng.gauss(0, 1),
                "v": rng.gauss(3, 2),
                "w": rng.random(),
                "colour": rng.choice(["red", "green", "blue"]),
                "text": " ".join(rng.choices(WORDS, k=5)),
            },
            rng.random() < 0.5,
        )
        for _ in range(n)
    ]


def numbers():
    return compose.Select("u", "v", "w")


def logistic(**parameters):
    return numbers() | linear_model.LogisticRegression(**parameters)


def text(vectorizer, **parameters):
    return vectorizer(on="text", **parameters) | forgetron()


PIPELINES = {
    "StandardScaler": lambda: numbers() | preprocessing.StandardScaler() | forgetron(),
    "without deviation": lambda: (
        numbers() | preprocessing.StandardScaler(with_std=False) | forgetron()
    ),
    "MinMaxScaler": lambda: numbers() | preprocessing.MinMaxScaler() | forgetron(),
    "Normalizer": lambda: numbers() | preprocessing.Normalizer(order=1) | forgetron(),
    "StatImputer": lambda: (
        numbers()
        | preprocessing.StatImputer(("u", stats.Mean()), ("v", stats.Mode(k=9)), ("w", 0.5))
        | forgetron()
    ),
    "OneHotEncoder": lambda: compose.Select("colour") | preprocessing.OneHotEncoder() | forgetron(),
    "OneHotEncoder with categories": lambda: (
        compose.Select("colour")
        | preprocessing.OneHotEncoder(categories={"colour": {"red", "blue"}}, drop_first=True)
        | forgetron()
    ),
    "SelectType": lambda: (
        (
            (compose.SelectType(float) | preprocessing.StandardScaler())
            + (compose.SelectType(str) | compose.Select("colour") | preprocessing.OneHotEncoder())
        )
        | forgetron()
    ),
    "Agg": lambda: (
        (
            feature_extraction.Agg(on="u", by="colour", how=stats.Mean())
            + feature_extraction.Agg(on="v", by=["colour"], how=stats.Var())
            + feature_extraction.Agg(on="w", by=None, how=stats.Sum())
        )
        | forgetron()
    ),
    "RandomUnderSampler": lambda: (
        numbers() | imblearn.RandomUnderSampler(forgetron(), WANTED, seed=1)
    ),
    "RandomOverSampler": lambda: (
        numbers() | imblearn.RandomOverSampler(forgetron(), WANTED, seed=1)
    ),
    "RandomSampler": lambda: numbers() | imblearn.RandomSampler(forgetron(), WANTED, 0.8, seed=1),
    "RandomSampler of the stream": lambda: (
        numbers() | imblearn.RandomSampler(forgetron(), None, 0.8, seed=1)
    ),
    "FeatureHasher": lambda: preprocessing.FeatureHasher(n_features=20, seed=3) | forgetron(),
    "BagOfWords": lambda: text(
        feature_extraction.BagOfWords, ngram_range=(1, 2), stop_words={"the", "and"}
    ),
    "TFIDF": lambda: text(feature_extraction.TFIDF),
    "Discard": lambda: compose.Discard("colour", "text") | rb.Projectron(KERNEL, budget=6),
    "TransformerUnion": lambda: (
        (
            (numbers() | preprocessing.StandardScaler())
            + (compose.Select("colour") | preprocessing.OneHotEncoder())
            + feature_extraction.TFIDF(on="text")
        )
        | rb.TightestPerceptron(KERNEL, budget=6)
    ),
    "OneVsRestClassifier": lambda: (
        numbers() | preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(forgetron())
    ),
    "Calibrated": lambda: numbers() | rb.Calibrated(forgetron()),
    "OneVsRest of a pipeline": lambda: multiclass.OneVsRestClassifier(
        numbers() | preprocessing.StandardScaler() | forgetron()
    ),
    "LogisticRegression": logistic,
    "LogisticRegression with l1": lambda: logistic(
        optimizer=optim.SGD(0.1), l1=0.01, intercept_lr=0.05, clip_gradient=3.0
    ),
    "LogisticRegression with l2": lambda: logistic(
        loss=optim.losses.Log(weight_pos=2.0), l2=0.1, intercept_init=0.3
    ),
}
