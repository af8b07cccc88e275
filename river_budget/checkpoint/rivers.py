"""Further classes whose objects can be stored: River's, and our wrappers and transformers.

They are in a module of their own because importing them takes seconds.
"""

from __future__ import annotations

from typing import Any

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

from river_budget.active import Query
from river_budget.bandit import ArmClassifiers
from river_budget.calibration import Calibrated
from river_budget.checkpoint.registry import register
from river_budget.prediction_sets import PredictionSets
from river_budget.preprocessing import UnitNorm
from river_budget.rejection import Reject

OURS: list[Any] = [Calibrated, PredictionSets, Reject, Query, ArmClassifiers, UnitNorm]

RIVERS: list[Any] = [
    compose.Discard, compose.Pipeline, compose.Select, compose.SelectType, compose.TransformerUnion,
    feature_extraction.Agg, feature_extraction.BagOfWords, feature_extraction.TFIDF,
    imblearn.RandomOverSampler, imblearn.RandomSampler, imblearn.RandomUnderSampler,
    linear_model.LogisticRegression, multiclass.OneVsRestClassifier,
    optim.SGD, optim.initializers.Zeros, optim.losses.Log, optim.schedulers.Constant,
    preprocessing.FeatureHasher, preprocessing.MinMaxScaler, preprocessing.Normalizer,
    preprocessing.OneHotEncoder, preprocessing.StandardScaler, preprocessing.StatImputer,
    stats.Count, stats.Max, stats.Mean, stats.Min, stats.Mode, stats.Sum, stats.Var,
]  # fmt: skip

# Files have public names, as in `ours`. In River, packages are public, and the modules inside are not.
for kind in OURS:
    register(kind, name=f"river_budget.{kind.__name__}")
for kind in RIVERS:
    register(kind, name=f"river.{kind.__module__.split('.')[1]}.{kind.__name__}")
