"""The classes of River, wrappers and transformers that a checkpoint can hold. Their import takes seconds."""

from __future__ import annotations

from river import compose, feature_extraction, imblearn, linear_model, multiclass, optim, stats
from river import preprocessing as rivers

from river_budget.active import Query
from river_budget.bandit import ArmClassifiers
from river_budget.calibration import Calibrated
from river_budget.preprocessing import UnitNorm
from river_budget.rejection import Reject

CLASSES = [
    Calibrated, Reject, Query, ArmClassifiers, UnitNorm,
    compose.Discard, compose.Pipeline, compose.Select, compose.SelectType, compose.TransformerUnion,
    feature_extraction.Agg, feature_extraction.BagOfWords, feature_extraction.TFIDF,
    imblearn.RandomOverSampler, imblearn.RandomSampler, imblearn.RandomUnderSampler,
    linear_model.LogisticRegression, multiclass.OneVsRestClassifier,
    optim.SGD, optim.initializers.Zeros, optim.losses.Log, optim.schedulers.Constant,
    rivers.FeatureHasher, rivers.MinMaxScaler, rivers.Normalizer, rivers.OneHotEncoder,
    rivers.StandardScaler, rivers.StatImputer,
    stats.Count, stats.Max, stats.Mean, stats.Min, stats.Mode, stats.Sum, stats.Var,
]  # fmt: skip
