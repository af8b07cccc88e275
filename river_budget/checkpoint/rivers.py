"""The classes of River that a checkpoint can hold, and the wrappers and transformers of this package.

They are listed in `CLASSES`. The same check runs before writing and after reading, so whatever is
written can be read.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Hashable, Mapping
from numbers import Integral, Number, Real
from random import Random
from types import NoneType, UnionType
from typing import Any, NamedTuple

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
from river_budget.checkpoint.codec import MODELS, Listed, Part, outline

COUNTS = range(LARGEST_COUNT)
LARGEST_NGRAM = 100
LARGEST_ORDER = 1000

# What a SelectType may select.
TYPES: dict[Any, type] = {
    kind.__name__: kind
    for kind in (bool, int, float, str, Number, Real, Integral, list, tuple, set, dict, NoneType, np.ndarray)
}  # fmt: skip


class Each(NamedTuple):
    """A dict of values, each of which is of a kind."""

    each: Any


class RiverPart(Part):
    """How to store a class that keeps what it learns in attributes.

    `kinds` are those of attributes, as far as an object has them: a type, a range of whole numbers,
    listed classes, a condition, or `Each` of these. Attributes that the constructor does not take
    are learned. Any other parameter may be a plain value.
    """

    def __init__(
        self, model: type, /, agree: Callable[[Any], None] | None = None, **kinds: Any
    ) -> None:
        inner = {name: getattr(kind, "each", kind) for name, kind in kinds.items()}
        listed = {name: kind for name, kind in inner.items() if isinstance(kind, Listed)}
        super().__init__(model, agree, **listed)
        self.kinds = kinds

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


class Select(RiverPart):
    """It keeps the order of its names, on which the roundings of sums over features depend."""

    def parameters(self, model: Any) -> State:
        return {"keys": list(model.keys)}

    def make(self, parameters: State) -> Any:
        model = super().make(parameters)
        # A set has another order in another process.
        model.keys = dict.fromkeys(parameters["keys"])
        return model


class SelectType(RiverPart):
    """Its parameters are types. A checkpoint has their names."""

    def parameters(self, model: Any) -> State:
        for kind in model.types:
            known = TYPES.get(getattr(kind, "__name__", None)) is kind
            require(known, f"only the types {', '.join(TYPES)} can, and not {kind!r}")
        return {"types": [kind.__name__ for kind in model.types]}

    def make(self, parameters: State) -> Any:
        return super().make({"types": [TYPES[name] for name in parameters["types"]]})


class Steps(RiverPart):
    """It has models with names: transformers, and anything at the end of a pipeline."""

    def make(self, parameters: State) -> Any:
        model = self.model()
        # Constructors clone the models, or change their names.
        for name, steps in self.parameters(model).items():
            steps.update(parameters[name])
        return model


class MinMaxScaler(RiverPart):
    """It has two statistics for each feature. A checkpoint has their numbers, which take less room."""

    def state(self, model: Any) -> State:
        held = {"min": model.min, "max": model.max}
        return {name: {x: stat.get() for x, stat in stats.items()} for name, stats in held.items()}

    def restore(self, model: Any, state: State) -> None:
        for name in ("min", "max"):
            for feature, value in state[name].items():
                getattr(model, name)[feature].update(value)


class StatImputer(RiverPart):
    """Its parameters are pairs of a name and a statistic, or a value, which makes a `Constant`."""

    def parameters(self, model: Any) -> State:
        return {"imputers": model.stats}

    def make(self, parameters: State) -> Any:
        imputers = [
            (name, stat.value if isinstance(stat, Constant) else stat)
            for name, stat in parameters["imputers"].items()
        ]
        return super().make({"imputers": imputers})

    def check(self, model: Any) -> None:
        _check("imputers", self.kinds["imputers"], model.stats)


class Sampler(RiverPart):
    """Without a desired distribution, it follows the one that it counts."""

    def parameters(self, model: Any) -> State:
        parameters = super().parameters(model)
        if model.desired_dist is model._actual_dist:
            parameters["desired_dist"] = None
        return parameters


def refusal(model: Any) -> str:
    """Return the message about a model whose class is not listed."""
    name = type(model).__name__
    if type(model) is compose.FuncTransformer:
        return (
            f"{name} cannot be stored: its function is code, and a checkpoint that named functions "
            "could call any: apply it to x before the pipeline"
        )
    return f"{name} cannot be stored; these classes can: the classifiers of river_budget, {CLASSES}"


def _plain(held: Any) -> Any:
    """Return a dict of any type as a plain one, and the state of a random number generator."""
    if isinstance(held, Random):
        return random_state(held)
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
    if isinstance(kind, range):
        return type(value) is int and value in kind
    if isinstance(kind, Listed):
        return bool(kind.part_of(value))
    return isinstance(value, kind) if isinstance(kind, type | UnionType) else kind(value)


def _is_number(value: Any) -> bool:
    size: Any = abs(value) if isinstance(value, Real) else math.inf
    return size <= sys.float_info.max


def _is_weight(value: Any) -> bool:
    return _is_number(value) and 0 <= value < LARGEST_COUNT


def _is_order(value: Any) -> bool:
    return value == math.inf or (type(value) in (int, float) and abs(value) <= LARGEST_ORDER)


def _is_pattern(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(re.compile(value))
    except re.error:
        return False


def _is_ngram_range(value: Any) -> bool:
    least, most = map(count, value)
    return type(value) is tuple and 1 <= least <= most <= LARGEST_NGRAM


def _parts_agree(model: compose.Pipeline | compose.TransformerUnion) -> None:
    parts = model.steps if isinstance(model, compose.Pipeline) else model.transformers
    require(all(isinstance(name, str) for name in parts), "a part has no name")
    transformers = list(parts.values())
    if isinstance(model, compose.Pipeline):
        require(parts, "a pipeline has no parts")
        transformers.pop()
    for part in transformers:
        is_transformer = isinstance(part, base.Transformer | compose.Pipeline)
        require(is_transformer, f"{outline(part)} is not a transformer")


def _arms_agree(policy: bandit.ArmClassifiers) -> None:
    _require_alike(policy.new_model(), policy._models)


def _classifiers_agree(model: Any) -> None:
    is_classifier = hasattr(model.classifier, "predict_proba_one")
    require(is_classifier, f"{outline(model.classifier)} is not a classifier")
    _require_alike(model.classifier, getattr(model, "classifiers", {}))


def _require_alike(model: Any, others: Mapping[Any, Any]) -> None:
    expected = outline(model)
    for other in others.values():
        require(outline(other) == expected, f"{outline(other)} is beside {expected}")


def _groups_agree(agg: Any) -> None:
    for key, stat in agg._groups.items():
        fits = isinstance(key, tuple) and len(key) == len(agg.by) if agg.by else key is None
        require(fits and type(stat) is type(agg.how), f"{key!r} is not a group")


def _counts_agree(mode: Any) -> None:
    require(mode.k == -1 or len(mode.counts) <= count(mode.k), "its k is out of range")


def _penalties_agree(model: Any) -> None:
    require(0 in (model.l1, model.l2), "it has both penalties")
    require(not model.l1 or hasattr(model, "cum_l1"), "its l1 was 0 when it was made")


def _means_agree(model: Any) -> None:
    require(all(variance >= 0 for variance in model.vars.values()), "a variance is negative")
    # Predicting a feature that was not seen leaves a mean without a count.
    seen = {name for name, mean in model.means.items() if mean}
    require(seen <= model.counts.keys() <= model.means.keys(), "a feature lacks its count")


def _extremes_agree(model: Any) -> None:
    require(model.min.keys() == model.max.keys(), "a feature lacks its minimum or maximum")
    for name, stat in model.min.items():
        least, most = stat.get(), model.max[name].get()
        # Predicting a feature that was not seen leaves an empty range.
        if (least, most) != (math.inf, -math.inf):
            is_range = _is_number(least) and _is_number(most) and least <= most
            require(is_range, f"{name!r} has no range from {least!r:.100} to {most!r:.100}")


def _columns_agree(model: Any) -> None:
    columns = {f"{name}_{value}" for name, known in model.values.items() for value in known}
    expected = set() if model.drop_zeros else columns
    require(model._zero_dict.keys() == expected, "its columns are not those of its categories")


def _terms_agree(model: Any) -> None:
    require(max(model.dfs.values(), default=0) <= model.n, "a term is in too many documents")


TEXTS: Any = {
    "on": Hashable, "preprocessor": NoneType, "tokenizer": NoneType, "tokenizer_pattern": _is_pattern,
    "stop_words": set | NoneType, "ngram_range": _is_ngram_range,
}  # fmt: skip
SAMPLER: Any = {
    "classifier": MODELS, "desired_dist": Each(_is_number), "sampling_rate": _is_number,
    "seed": int | NoneType, "_pivot": Hashable, "_n": COUNTS, "_actual_dist": Each(COUNTS),
    "_trained_on_dist": Each(COUNTS), "_rng": Random,
}  # fmt: skip

MEAN = RiverPart(stats.Mean, n=_is_weight, _mean=_is_number)
MODE = RiverPart(stats.Mode, _counts_agree, counts=Each(range(1, LARGEST_COUNT)))
CONSTANT = RiverPart(Constant, value=NoneType | str | Real)
STATISTICS = Listed(
    MEAN,
    RiverPart(stats.Var, ddof=COUNTS, mean=Listed(MEAN), _S=_is_number),
    RiverPart(stats.Sum, sum=_is_number),
    RiverPart(stats.Count, n=COUNTS),
    RiverPart(stats.Min, min=Real),
    RiverPart(stats.Max, max=Real),
)

RATES = Listed(RiverPart(optim.schedulers.Constant, learning_rate=_is_number))
OPTIMIZERS = Listed(RiverPart(optim.SGD, lr=RATES, n_iterations=COUNTS))
LOSSES = Listed(RiverPart(optim.losses.Log, weight_pos=_is_number, weight_neg=_is_number))
INITIALIZERS = Listed(RiverPart(optim.initializers.Zeros))

CLASSES = Listed(
    RiverPart(
        rivers.StandardScaler, _means_agree, with_std=bool, window_size=NoneType,
        counts=Each(_is_weight), means=Each(_is_number), vars=Each(_is_number),
    ),
    MinMaxScaler(rivers.MinMaxScaler, _extremes_agree, window_size=NoneType),
    RiverPart(rivers.Normalizer, order=_is_order),
    StatImputer(rivers.StatImputer, imputers=Each(Listed(MEAN, MODE, CONSTANT))),
    RiverPart(
        rivers.OneHotEncoder, _columns_agree, drop_zeros=bool, drop_first=bool, values=Each(set),
        _zero_dict=Each(range(1)),
    ),
    RiverPart(
        rivers.FeatureHasher, n_features=range(1, 2**31), alternate_sign=bool, _seed=range(2**32),
    ),
    RiverPart(feature_extraction.BagOfWords, **TEXTS),
    RiverPart(feature_extraction.TFIDF, _terms_agree, **TEXTS, dfs=Each(COUNTS), n=COUNTS),
    SelectType(compose.SelectType),
    RiverPart(feature_extraction.Agg, _groups_agree, how=STATISTICS, _groups=Each(STATISTICS)),
    Select(compose.Select),
    RiverPart(compose.Discard),
    RiverPart(
        linear_model.LogisticRegression, _penalties_agree, optimizer=OPTIMIZERS, loss=LOSSES,
        intercept_lr=RATES, initializer=INITIALIZERS, l2=_is_number, l1=_is_number,
        intercept_init=_is_number, clip_gradient=_is_number, _weights=Each(_is_number),
        intercept=_is_number, _y_name=object, max_cum_l1=_is_number, cum_l1=Each(_is_number),
    ),
    RiverPart(preprocessing.UnitNorm),
    Steps(compose.Pipeline, _parts_agree, steps=Each(MODELS)),
    Steps(compose.TransformerUnion, _parts_agree, transformers=Each(MODELS)),
    RiverPart(
        multiclass.OneVsRestClassifier, _classifiers_agree, classifier=MODELS,
        classifiers=Each(MODELS), _y_name=object,
    ),
    Sampler(imblearn.RandomUnderSampler, _classifiers_agree, **SAMPLER),
    Sampler(imblearn.RandomOverSampler, _classifiers_agree, **SAMPLER),
    Sampler(imblearn.RandomSampler, _classifiers_agree, **SAMPLER),
    Part(calibration.Calibrated, model=MODELS),
    Part(rejection.Reject, model=MODELS),
    Part(active.Query, model=MODELS),
    Part(
        bandit.ArmClassifiers, _arms_agree, model=MODELS, models=MODELS, rewards=Listed(MEAN),
    ),
)  # fmt: skip
