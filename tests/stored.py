"""Stored checkpoints, at least one for each class, which every later version has to read.

    python tests/stored.py

writes those of this version; `CONTRIBUTING.md` says when.
"""

from __future__ import annotations

import pathlib

import numpy as np
from pipelines import PIPELINES, forgetron, rows
from river import feature_extraction, stats

import river_budget as rb
from river_budget import checkpoint, synth
from river_budget.catalog import ALGORITHMS
from river_budget.checkpoint.ours import KERNELS
from river_budget.preprocessing import UnitNorm

# In it, each version has a directory.
PLACE = pathlib.Path(__file__).parent / "checkpoint" / "stored"

N_LEARNED, N_ASKED = 40, 5

NUMBERS = list(synth.NoisyCheckerboard(60, seed=3))
MANY_LABELS = [(x, "abc"[t % 3]) for t, (x, _) in enumerate(NUMBERS)]
ARRAYS = [({"e": np.array([x[0], x[1], 0.5]), "word": "ab"[y]}, y) for x, y in NUMBERS]


def small(row, **others):
    """Return a small model of a row of the catalog."""
    n_features = 16 if row.takes("n_features") else None
    return row.build(budget=4, n_features=n_features, seed=1, **others)


# Labels that depend on a text.
CELLS = [({**x, "word": "ab"[t % 2]}, t % 2) for t, (x, _) in enumerate(NUMBERS)]


def with_regions():
    """Return a model that has divided a region."""
    model = rb.Mnemotron(budget=4, regions=3, region_budget=4)
    for x, y in CELLS * 4:
        model.learn_one(x, y)
    return model


SCALED = rb.kernels.Scaled(rb.RBF(gamma=0.5), scales=((0, 2.0),), other=0.5)

# The model of each file, and the examples of which it learns the first ones.
MODELS = {
    **{name: (small(row), MANY_LABELS) for name, row in ALGORITHMS.items()},
    **{
        f"{name}-{variant}": (small(row, variant=variant), NUMBERS)
        for name, row in ALGORITHMS.items()
        for variant in row.variants
        if variant
    },
    **{kind.__name__: (rb.Forgetron(kind(), budget=4), NUMBERS) for kind in KERNELS},
    "Scaled": (rb.KernelLDA(16, kernel=SCALED), MANY_LABELS),
    **{name: (make(), rows(60)) for name, make in PIPELINES.items()},
    "arrays": (UnitNorm("e") | rb.Mnemotron(budget=4), ARRAYS),
    "regions": (with_regions(), CELLS),
    "Count": (feature_extraction.Agg("u", "colour", stats.Count()) | forgetron(), rows(60)),
    "Reject": (rb.Reject(rb.Calibrated(rb.Forgetron(budget=4))), NUMBERS),
    "PredictionSets": (rb.PredictionSets(rb.Forgetron(budget=4)), NUMBERS),
    "Query": (rb.active.Query(rb.Forgetron(budget=4), seed=1), NUMBERS),
    "ArmClassifiers": (rb.bandit.ArmClassifiers(rb.Forgetron(budget=4), seed=1), NUMBERS),
}


def learn(model, examples):
    """Let a model, or a policy with two arms, learn examples."""
    for t, (x, y) in enumerate(examples):
        if hasattr(model, "values_one"):
            model.update(t % 2, x, y)
        else:
            model.learn_one(x, y)


def answers(model, examples):
    """Return the probabilities of the labels of examples, or what arms are worth."""
    if hasattr(model, "values_one"):
        return [model.values_one([0, 1], x) for x, _ in examples]
    # A question for a label comes with those of a `Query`.
    found = [model.predict_proba_one(x) for x, _ in examples]
    return [answer[0] if isinstance(answer, tuple) else answer for answer in found]


def write():
    """Write the files of this version."""
    place = PLACE / rb.__version__
    place.mkdir(parents=True, exist_ok=True)
    for name, (model, examples) in MODELS.items():
        learn(model, examples[:N_LEARNED])
        asked = examples[N_LEARNED : N_LEARNED + N_ASKED]
        extra = {"examples": examples[N_LEARNED:], "answers": answers(model, asked)}
        checkpoint.save(model, place / f"{name.replace(' ', '-')}.safetensors", extra)


if __name__ == "__main__":
    write()
