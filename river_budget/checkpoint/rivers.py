"""The classes of River, wrappers and transformers that a checkpoint can hold, listed in `CLASSES`.

The same checks run before writing and after reading, so whatever is written can be read.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Hashable, Iterable
from numbers import Integral, Number, Real
from random import Random
from types import NoneType
from typing import Any

import numpy as np
from river import compose, feature_extraction, imblearn, linear_model, multiclass, optim, stats
from river import preprocessing as rivers
from river.preprocessing.impute import Constant

from river_budget import active, bandit, calibration, preprocessing, rejection
from river_budget._state import LARGEST_COUNT, State, count, require
from river_budget.checkpoint.codec import MODELS, Each, Part, listed, outline

COUNTS = range(LARGEST_COUNT)
LARGEST = sys.float_info.max
NUMBERS = -LARGEST, LARGEST
WEIGHTS = 0, LARGEST_COUNT

# What a SelectType may select.
TYPES: dict[Any, type] = {
    kind.__name__: kind
    for kind in (bool, int, float, str, Number, Real, Integral, list, tuple, set, dict, NoneType, np.ndarray)
}  # fmt: skip


class SelectType(Part):
    """A checkpoint has the names of its types."""

    def state(self, model: Any) -> State:
        for kind in model.types:
            known = TYPES.get(getattr(kind, "__name__", None)) is kind
            require(known, f"only the types {', '.join(TYPES)} can, and not {kind!r}")
        return {"types": [kind.__name__ for kind in model.types]}

    def restore(self, model: Any, state: State) -> None:
        model.types = tuple(TYPES[name] for name in state["types"])


class Select(Part):
    """Its names keep their order, which sums over features follow: a set has another one elsewhere."""

    def state(self, model: Any) -> State:
        return {"keys": dict.fromkeys(model.keys)}


class StatImputer(Part):
    """It also has its statistics as it was given them, and what is in each `Constant`."""

    def restore(self, model: Any, state: State) -> None:
        super().restore(model, state)
        model.imputers = tuple((x, getattr(s, "value", s)) for x, s in model.stats.items())


class Sampler(Part):
    """Without a desired distribution, it follows the one that it counts."""

    def parameters(self, model: Any) -> State:
        follows = model.desired_dist is model._actual_dist
        return super().parameters(model) | ({"desired_dist": None} if follows else {})


def _parts_agree(model: Any) -> None:
    is_pipeline = isinstance(model, compose.Pipeline)
    parts = model.steps if is_pipeline else model.transformers
    require(all(isinstance(name, str) for name in parts), "a part has no name")
    require(parts or not is_pipeline, "a pipeline has no parts")
    for part in list(parts.values())[: -1 if is_pipeline else None]:
        require(hasattr(part, "transform_one"), f"{outline(part)} is not a transformer")


def _require_alike(model: Any, others: Iterable[Any]) -> None:
    expected = outline(model)
    for other in others:
        require(outline(other) == expected, f"{outline(other)} is beside {expected}")


def _require_classifier(model: Any) -> None:
    is_classifier = hasattr(model.classifier, "predict_proba_one")
    require(is_classifier, f"{outline(model.classifier)} is not a classifier")


def _extremes_agree(scaler: Any) -> None:
    require(scaler.min.keys() == scaler.max.keys(), "a feature lacks its minimum or maximum")
    for name, stat in scaler.min.items():
        least, most = stat.get(), scaler.max[name].get()
        # Predicting a feature that was not seen leaves an empty range.
        is_range = (least, most) == (math.inf, -math.inf) or -LARGEST <= least <= most <= LARGEST
        require(is_range, f"{name!r} has no range from {least!r} to {most!r}")


def _groups_agree(agg: Any) -> None:
    for key, stat in agg._groups.items():
        fits = isinstance(key, tuple) and len(key) == len(agg.by) if agg.by else key is None
        require(fits and type(stat) is type(agg.how), f"{key!r} is not a group")


def _columns_agree(encoder: Any) -> None:
    columns = {f"{name}_{value}" for name, known in encoder.values.items() for value in known}
    expected = set() if encoder.drop_zeros else columns
    require(encoder._zero_dict.keys() == expected, "its columns are not those of its categories")


TEXTS: Any = {
    "on": Hashable, "preprocessor": NoneType, "tokenizer": NoneType, "stop_words": set | NoneType,
    "tokenizer_pattern": lambda value: isinstance(value, str) and re.compile(value),
    "ngram_range": lambda n: type(n) is tuple and 1 <= count(n[0]) <= count(n[1]) <= 100,
}  # fmt: skip
SAMPLERS = imblearn.RandomUnderSampler, imblearn.RandomOverSampler, imblearn.RandomSampler
SAMPLER: Any = {
    "classifier": MODELS, "desired_dist": Each(NUMBERS), "sampling_rate": NUMBERS,
    "seed": int | NoneType, "_pivot": Hashable, "_n": COUNTS, "_actual_dist": Each(COUNTS),
    "_trained_on_dist": Each(COUNTS), "_rng": Random,
}  # fmt: skip

MEAN = Part(stats.Mean, n=WEIGHTS, _mean=NUMBERS)
MINIMUM, MAXIMUM = Part(stats.Min, min=Real), Part(stats.Max, max=Real)
STATISTICS = listed(
    MEAN,
    Part(stats.Var, ddof=COUNTS, mean=listed(MEAN), _S=NUMBERS),
    Part(stats.Sum, sum=NUMBERS),
    Part(stats.Count, n=COUNTS),
    MINIMUM,
    MAXIMUM,
)
IMPUTERS = listed(
    MEAN,
    Part(
        stats.Mode,
        lambda mode: require(mode.k < 0 or len(mode.counts) <= mode.k, "its k is out of range"),
        k=range(-1, LARGEST_COUNT), counts=Each(range(1, LARGEST_COUNT)),
    ),
    Part(Constant, value=NoneType | str | Real),
)  # fmt: skip

RATES = listed(Part(optim.schedulers.Constant, learning_rate=NUMBERS))
OPTIMIZERS = listed(Part(optim.SGD, lr=RATES, n_iterations=COUNTS))
LOSSES = listed(Part(optim.losses.Log, weight_pos=NUMBERS, weight_neg=NUMBERS))
INITIALIZERS = listed(Part(optim.initializers.Zeros))

CLASSES = listed(
    Part(
        rivers.StandardScaler,
        # Predicting a feature that was not seen leaves a mean without a count.
        lambda scaler: require(
            {name for name, mean in scaler.means.items() if mean}
            <= scaler.counts.keys() <= scaler.means.keys(),
            "a feature lacks its count",
        ),
        with_std=bool, window_size=NoneType, counts=Each(WEIGHTS), means=Each(NUMBERS),
        vars=Each((0, LARGEST)),
    ),
    Part(
        rivers.MinMaxScaler, _extremes_agree, window_size=NoneType, min=Each(listed(MINIMUM)),
        max=Each(listed(MAXIMUM)),
    ),
    Part(
        rivers.Normalizer,
        order=lambda p: p == math.inf or (isinstance(p, Real) and abs(float(p)) <= 1000),
    ),
    StatImputer(rivers.StatImputer, stats=Each(IMPUTERS)),
    Part(
        rivers.OneHotEncoder, _columns_agree, drop_zeros=bool, drop_first=bool, values=Each(set),
        _zero_dict=Each(range(1)),
    ),
    Part(rivers.FeatureHasher, n_features=range(1, 2**31), alternate_sign=bool, _seed=range(2**32)),
    Part(feature_extraction.BagOfWords, **TEXTS),
    Part(
        feature_extraction.TFIDF,
        lambda tfidf: require(
            max(tfidf.dfs.values(), default=0) <= tfidf.n, "a term is in too many documents"
        ),
        **TEXTS, dfs=Each(COUNTS), n=COUNTS,
    ),
    SelectType(compose.SelectType, types=tuple),
    Part(feature_extraction.Agg, _groups_agree, how=STATISTICS, _groups=Each(STATISTICS)),
    Select(compose.Select, keys=set | dict),
    Part(compose.Discard, keys=set),
    Part(
        linear_model.LogisticRegression,
        lambda model: require(0 in (model.l1, model.l2), "it has both penalties"),
        lambda model: require(
            not model.l1 or hasattr(model, "cum_l1"), "its l1 was 0 when it was made"
        ),
        optimizer=OPTIMIZERS, loss=LOSSES, intercept_lr=RATES, initializer=INITIALIZERS, l2=NUMBERS,
        l1=NUMBERS, intercept_init=NUMBERS, clip_gradient=NUMBERS, _weights=Each(NUMBERS),
        intercept=NUMBERS, _y_name=object, max_cum_l1=NUMBERS, cum_l1=Each(NUMBERS),
    ),
    Part(preprocessing.UnitNorm, names=tuple),
    Part(compose.Pipeline, _parts_agree, steps=Each(MODELS)),
    Part(compose.TransformerUnion, _parts_agree, transformers=Each(MODELS)),
    Part(
        multiclass.OneVsRestClassifier,
        _require_classifier,
        lambda model: _require_alike(model.classifier, model.classifiers.values()),
        classifier=MODELS, classifiers=Each(MODELS), _y_name=object,
    ),
    *(Sampler(sampler, _require_classifier, **SAMPLER) for sampler in SAMPLERS),
    Part(calibration.Calibrated, model=MODELS),
    Part(rejection.Reject, model=MODELS),
    Part(active.Query, model=MODELS),
    Part(
        bandit.ArmClassifiers,
        lambda policy: _require_alike(policy.new_model(), policy._models.values()),
        model=MODELS, models=MODELS, rewards=listed(MEAN),
    ),
)  # fmt: skip
