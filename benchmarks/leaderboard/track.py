"""River's own benchmark: its models, its streams, and the accuracies that its page published.

    python benchmarks/leaderboard/track.py STREAM MODEL

prints the accuracy of one model with the River that is installed, as JSON. This file needs nothing but
River, so that it runs with the release of the published page too. Elec2 is read from the directory
given by RIVER_BUDGET_DATA.

"""

from __future__ import annotations

import json
import os
import pathlib
import sys

import numpy as np
import river
from river import (
    datasets,
    dummy,
    ensemble,
    evaluate,
    forest,
    linear_model,
    metrics,
    naive_bayes,
    neighbors,
    optim,
    preprocessing,
    tree,
)

# The columns of Elec2, as River names them.
ELEC2 = ["date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer"]


def scaled(model):
    return preprocessing.StandardScaler() | model


def elec2() -> list:
    path = pathlib.Path(os.environ["RIVER_BUDGET_DATA"], "elec2.npz")
    with np.load(path) as data:
        rows, labels = data["X"].astype(float).tolist(), data["y"].tolist()
    return [(dict(zip(ELEC2, x, strict=True)), y == 1) for x, y in zip(rows, labels, strict=True)]


STREAMS = {
    "Bananas": datasets.Bananas,
    "Phishing": datasets.Phishing,
    "Elec2": elec2,
    "ImageSegments": datasets.ImageSegments,
}

# What the track's models have as parameters: a learning rate, a seed for those that have one, and a
# scaler before those that measure distances or products. SRP's seed is ours; the track leaves it open.
LAST_LABEL = "last label"
BINARY_ONLY = {
    "ALMA": lambda: scaled(linear_model.ALMAClassifier()),
    "Logistic regression": lambda: scaled(
        linear_model.LogisticRegression(optimizer=optim.SGD(0.005))
    ),
}
ANY_LABELS = {
    LAST_LABEL: dummy.NoChangeClassifier,
    "Naive Bayes": naive_bayes.GaussianNB,
    "KNN": lambda: scaled(neighbors.KNNClassifier()),
    "Hoeffding tree": tree.HoeffdingTreeClassifier,
    "Hoeffding adaptive tree": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=42),
    "Bagging": lambda: ensemble.BaggingClassifier(
        tree.HoeffdingAdaptiveTreeClassifier(bootstrap_sampling=False), seed=42
    ),
    "ARF": lambda: forest.ARFClassifier(seed=42),
    "AMF": lambda: forest.AMFClassifier(seed=42),
    "SRP": lambda: ensemble.SRPClassifier(seed=42),
}
MODELS = {**BINARY_ONLY, **ANY_LABELS}

# Accuracies in percent of the page of River 0.19.0.
RELEASE = "0.19.0"
PUBLISHED = {
    "Bananas": {
        "ALMA": 50.6415, "Logistic regression": 54.3208, LAST_LABEL: 50.9530,
        "Naive Bayes": 61.5210, "KNN": 88.5073, "Hoeffding tree": 64.2197,
        "Hoeffding adaptive tree": 61.6531, "Bagging": 63.4082, "ARF": 88.6960, "AMF": 88.9413,
        "SRP": 87.1674,
    },
    "Phishing": {
        "ALMA": 82.5600, "Logistic regression": 88.7200, LAST_LABEL: 51.5612,
        "Naive Bayes": 88.4708, "KNN": 88.1505, "Hoeffding tree": 87.9904,
        "Hoeffding adaptive tree": 87.4299, "Bagging": 89.3515, "ARF": 90.7926, "AMF": 90.4724,
        "SRP": 91.3531,
    },
    "Elec2": {
        "ALMA": 90.6427, "Logistic regression": 82.2144, LAST_LABEL: 85.3303,
        "Naive Bayes": 72.8741, "KNN": 85.3148, "Hoeffding tree": 79.5635,
        "Hoeffding adaptive tree": 82.1258, "Bagging": 84.0436, "ARF": 87.6608, "AMF": 84.9904,
        "SRP": 86.8884,
    },
    "ImageSegments": {
        LAST_LABEL: 14.8116, "Naive Bayes": 73.1919, "KNN": 87.3538, "Hoeffding tree": 77.6094,
        "Hoeffding adaptive tree": 77.4361, "Bagging": 77.6960, "ARF": 81.8536, "AMF": 90.1689,
        "SRP": 76.6999,
    },
}  # fmt: skip


def accuracy(stream: str, model: str) -> float:
    """Return the accuracy in percent of progressive validation, as the track measures it."""
    metric = evaluate.progressive_val_score(STREAMS[stream](), MODELS[model](), metrics.Accuracy())
    return 100 * metric.get()


if __name__ == "__main__":
    print(json.dumps({"river": river.__version__, "accuracy": accuracy(*sys.argv[1:])}))
