"""The classes of River that a checkpoint can hold, and the wrappers and transformers of this package.

They are listed in `CLASSES`. The same check runs before writing and after reading, so whatever is
written can be read.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Hashable, Iterable
from numbers import Integral, Number, Real
from random import Random
from types import NoneType, UnionType
from typing import Any

import numpy as np
from river import (
    base,
    compose,
    feature_extraction,
    imblearn,
    linear_model,
    multiclass,
    optim,
    stats,
)
from river import preprocessing as rivers
from river.preprocessing.impute import Constant

from river_budget import active, bandit, calibration, preprocessing, rejection
from river_budget._state import LARGEST_COUNT, State, count, random_state, require, restore_random
from river_budget.checkpoint.codec import MODELS, Each, Part, listed, outline, part_of

COUNTS = range(LARGEST_COUNT)
LARGEST = sys.float_info.max
NUMBERS = -LARGEST, LARGEST
WEIGHTS = 0, LARGEST_COUNT
LARGEST_NGRAM = 100
LARGEST_ORDER = 1000

# What a SelectType may select.
TYPES: dict[Any, type] = {
    kind.__name__: kind
    for kind in (bool, int, float, str, Number, Real, Integral, list, tuple, set, dict, NoneType, np.ndarray)
}  # fmt: skip


class RiverPart(Part):
    """How to store a class that keeps what it learns in attributes.

    `kinds` are those of attributes, as far as an object has them: a type, a range of whole numbers,
    the least and the largest number, listed classes, a condition, or `Each` of these. Attributes that
    the constructor does not take are learned. Any other parameter may be a plain value.
    """

    def state(self, model: Any) -> State:
        return {name: _plain(held) for name, held in self._learned(model).items()}

    def restore(self, model: Any, state: State) -> None:
        for name, held in self._learned(model).items():
            if isinstance(held, Random):
                restore_random(held, state[name])
            elif hasattr(held, "items"):
                # A dict is filled, so that it keeps its type. That of an encoder may have columns.
                held.clear()
                for key, value in state[name].items():
                    held[key] = value
            else:
                setattr(model, name, state[name])

    def check(self, model: Any) -> None:
        for name, kind in self.kinds.items():
            if hasattr(model, name):
                _check(name.removeprefix("_"), kind, getattr(model, name))
        super().check(model)

    def _learned(self, model: Any) -> State:
        """Return the learned attributes that an object has."""
        learned = [name for name in self.kinds if name not in self.names and hasattr(model, name)]
        return {name: getattr(model, name) for name in learned}


class SelectType(RiverPart):
    """A checkpoint has the names of its types."""

    def state(self, model: Any) -> State:
        for kind in model.types:
            known = TYPES.get(getattr(kind, "__name__", None)) is kind
            require(known, f"only the types {', '.join(TYPES)} can, and not {kind!r}")
        return {"types": [kind.__name__ for kind in model.types]}

    def restore(self, model: Any, state: State) -> None:
        model.types = tuple(TYPES[name] for name in state["types"])


class StatImputer(RiverPart):
    """It also has its statistics as it was given them, and what is in each `Constant`."""

    def restore(self, model: Any, state: State) -> None:
        super().restore(model, state)
        model.imputers = tuple((x, getattr(s, "value", s)) for x, s in model.stats.items())


class Sampler(RiverPart):
    """Without a desired distribution, it follows the one that it counts."""

    def parameters(self, model: Any) -> State:
        follows = model.desired_dist is model._actual_dist
        return super().parameters(model) | ({"desired_dist": None} if follows else {})


def _plain(held: Any) -> Any:
    """Return the state of a random number generator, and a set or a dict of any type as a plain dict."""
    match held:
        case Random():
            return random_state(held)
        case set():  # It has another order in another process, and so have sums over features.
            return dict.fromkeys(held)
    return dict(held.items()) if hasattr(held, "items") else held


def _check(name: str, kind: Any, value: Any) -> None:
    """Raise ValueError unless a value is of a kind."""
    if isinstance(kind, Each):
        require(hasattr(value, "items"), f"its {name} is not a dict")
        for key, item in value.items():
            if not _is_of(kind.each, item):
                raise ValueError(f"its {name}[{key!r}] cannot be {item!r:.100}")
    elif not _is_of(kind, value):
        raise ValueError(f"its {name} cannot be {value!r:.100}")


def _is_of(kind: Any, value: Any) -> bool:
    match kind:
        case range():
            return type(value) is int and value in kind
        case dict():
            return bool(part_of(value, kind))
        case (least, most):
            return isinstance(value, Real) and least <= value <= most
        case type() | UnionType():
            return isinstance(value, kind)
        case _:
            return kind(value)


def _is_pattern(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(re.compile(value))
    except re.error:
        return False


def _is_ngram_range(value: Any) -> bool:
    least, most = map(count, value)
    return type(value) is tuple and 1 <= least <= most <= LARGEST_NGRAM


def _parts_agree(model: Any) -> None:
    is_pipeline = isinstance(model, compose.Pipeline)
    parts = model.steps if is_pipeline else model.transformers
    require(all(isinstance(name, str) for name in parts), "a part has no name")
    require(parts or not is_pipeline, "a pipeline has no parts")
    for part in list(parts.values())[: -1 if is_pipeline else None]:
        is_transformer = isinstance(part, base.Transformer | compose.Pipeline)
        require(is_transformer, f"{outline(part)} is not a transformer")


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
    "on": Hashable, "preprocessor": NoneType, "tokenizer": NoneType, "tokenizer_pattern": _is_pattern,
    "stop_words": set | NoneType, "ngram_range": _is_ngram_range,
}  # fmt: skip
SAMPLER: Any = {
    "classifier": MODELS, "desired_dist": Each(NUMBERS), "sampling_rate": NUMBERS,
    "seed": int | NoneType, "_pivot": Hashable, "_n": COUNTS, "_actual_dist": Each(COUNTS),
    "_trained_on_dist": Each(COUNTS), "_rng": Random,
}  # fmt: skip

MEAN = RiverPart(stats.Mean, n=WEIGHTS, _mean=NUMBERS)
MINIMUM, MAXIMUM = RiverPart(stats.Min, min=Real), RiverPart(stats.Max, max=Real)
STATISTICS = listed(
    MEAN,
    RiverPart(stats.Var, ddof=COUNTS, mean=listed(MEAN), _S=NUMBERS),
    RiverPart(stats.Sum, sum=NUMBERS),
    RiverPart(stats.Count, n=COUNTS),
    MINIMUM,
    MAXIMUM,
)
IMPUTERS = listed(
    MEAN,
    RiverPart(
        stats.Mode,
        lambda mode: require(mode.k < 0 or len(mode.counts) <= mode.k, "its k is out of range"),
        k=range(-1, LARGEST_COUNT), counts=Each(range(1, LARGEST_COUNT)),
    ),
    RiverPart(Constant, value=NoneType | str | Real),
)  # fmt: skip

RATES = listed(RiverPart(optim.schedulers.Constant, learning_rate=NUMBERS))
OPTIMIZERS = listed(RiverPart(optim.SGD, lr=RATES, n_iterations=COUNTS))
LOSSES = listed(RiverPart(optim.losses.Log, weight_pos=NUMBERS, weight_neg=NUMBERS))
INITIALIZERS = listed(RiverPart(optim.initializers.Zeros))

CLASSES = listed(
    RiverPart(
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
    RiverPart(
        rivers.MinMaxScaler, _extremes_agree, window_size=NoneType, min=Each(listed(MINIMUM)),
        max=Each(listed(MAXIMUM)),
    ),
    RiverPart(
        rivers.Normalizer,
        order=lambda order: order == math.inf or _is_of((-LARGEST_ORDER, LARGEST_ORDER), order),
    ),
    StatImputer(rivers.StatImputer, stats=Each(IMPUTERS)),
    RiverPart(
        rivers.OneHotEncoder, _columns_agree, drop_zeros=bool, drop_first=bool, values=Each(set),
        _zero_dict=Each(range(1)),
    ),
    RiverPart(
        rivers.FeatureHasher, n_features=range(1, 2**31), alternate_sign=bool, _seed=range(2**32),
    ),
    RiverPart(feature_extraction.BagOfWords, **TEXTS),
    RiverPart(
        feature_extraction.TFIDF,
        lambda tfidf: require(
            max(tfidf.dfs.values(), default=0) <= tfidf.n, "a term is in too many documents"
        ),
        **TEXTS, dfs=Each(COUNTS), n=COUNTS,
    ),
    SelectType(compose.SelectType, types=tuple),
    RiverPart(feature_extraction.Agg, _groups_agree, how=STATISTICS, _groups=Each(STATISTICS)),
    RiverPart(compose.Select, keys=set | dict),
    RiverPart(compose.Discard, keys=set | dict),
    RiverPart(
        linear_model.LogisticRegression,
        lambda model: require(0 in (model.l1, model.l2), "it has both penalties"),
        lambda model: require(
            not model.l1 or hasattr(model, "cum_l1"), "its l1 was 0 when it was made"
        ),
        optimizer=OPTIMIZERS, loss=LOSSES, intercept_lr=RATES, initializer=INITIALIZERS, l2=NUMBERS,
        l1=NUMBERS, intercept_init=NUMBERS, clip_gradient=NUMBERS, _weights=Each(NUMBERS),
        intercept=NUMBERS, _y_name=object, max_cum_l1=NUMBERS, cum_l1=Each(NUMBERS),
    ),
    RiverPart(preprocessing.UnitNorm, names=tuple),
    RiverPart(compose.Pipeline, _parts_agree, steps=Each(MODELS)),
    RiverPart(compose.TransformerUnion, _parts_agree, transformers=Each(MODELS)),
    RiverPart(
        multiclass.OneVsRestClassifier,
        _require_classifier,
        lambda model: _require_alike(model.classifier, model.classifiers.values()),
        classifier=MODELS, classifiers=Each(MODELS), _y_name=object,
    ),
    *(
        Sampler(sampler, _require_classifier, **SAMPLER)
        for sampler in (
            imblearn.RandomUnderSampler, imblearn.RandomOverSampler, imblearn.RandomSampler,
        )
    ),
    Part(calibration.Calibrated, model=MODELS),
    Part(rejection.Reject, model=MODELS),
    Part(active.Query, model=MODELS),
    Part(
        bandit.ArmClassifiers,
        lambda policy: _require_alike(policy.new_model(), policy._models.values()),
        model=MODELS, models=MODELS, rewards=listed(MEAN),
    ),
)  # fmt: skip
