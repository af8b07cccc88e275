"""The classes of River that a checkpoint can hold, and the wrappers and transformers of this package.

They are listed in `CLASSES`. The same check runs before writing and after reading, so whatever is
written can be read.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Hashable, Iterator, Mapping
from numbers import Integral, Number, Real
from operator import not_
from random import Random
from types import MappingProxyType, NoneType, UnionType
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
from river_budget._state import (
    LARGEST_COUNT,
    State,
    count,
    random_state,
    require,
    restore_random,
)
from river_budget.checkpoint.codec import MODELS, Listed, Part, outline

# By name: a type, a range of whole numbers, or a condition.
Kinds = Mapping[str, Any]

NOTHING: Kinds = MappingProxyType({})
COUNTS = range(LARGEST_COUNT)
LARGEST_NGRAM = 100
LARGEST_ORDER = 1000

# What a SelectType may select.
TYPES: dict[Any, type] = {
    kind.__name__: kind
    for kind in (bool, int, float, str, Number, Real, Integral, list, tuple, set, dict, NoneType, np.ndarray)
}  # fmt: skip


class RiverPart(Part):
    """How to store a class that keeps what it learns in attributes.

    `kinds` are those of its parameters; any other parameter may be a plain value. `learned` has the
    kinds of learned attributes, as far as an object has them; the file drops leading underscores.
    `further` are the objects and the check of a `Part`.
    """

    def __init__(
        self, model: type, kinds: Kinds = NOTHING, learned: Kinds = NOTHING, **further: Any
    ) -> None:
        super().__init__(model, **further)
        self.kinds, self.learned = kinds, learned

    def state(self, model: Any) -> State:
        return {key: _plain(held) for key, _, held in self._held(model)}

    def restore(self, model: Any, state: State) -> None:
        for key, name, held in self._held(model):
            if isinstance(held, Random):
                restore_random(held, state[key])
            elif hasattr(held, "items"):
                # A dict is filled, so that it keeps its type.
                for inner, value in state[key].items():
                    held[inner] = value
            else:
                setattr(model, name, state[key])

    def check(self, model: Any) -> None:
        for name, kind in [*self.kinds.items(), *self.learned.items()]:
            if hasattr(model, name):
                value = getattr(model, name)
                if not _is_of(kind, value):
                    raise ValueError(f"its {name.lstrip('_')} cannot be {_plain(value)!r:.100}")
        self.agree(model)

    def _held(self, model: Any) -> Iterator[tuple[str, str, Any]]:
        """Yield the key, the name and the value of each learned attribute that an object has."""
        for name in self.learned:
            if hasattr(model, name):
                yield name.lstrip("_"), name, getattr(model, name)


class Named(RiverPart):
    """A class whose parameters are the names of features."""

    def parameters(self, model: Any) -> State:
        container = set if self.model is compose.Discard else list
        return {key: container(names) for key, names in super().parameters(model).items()}

    def make(self, parameters: State) -> Any:
        (names,) = parameters.values()
        model: Any = self.model(*names)
        if self.model is compose.Select:
            # A set has another order in another process, and sums over features have other roundings.
            model.keys = dict.fromkeys(names)
        return model


class SelectType(RiverPart):
    """Its parameters are types. A checkpoint has their names."""

    def parameters(self, model: Any) -> State:
        for kind in model.types:
            known = TYPES.get(getattr(kind, "__name__", None)) is kind
            require(known, f"only the types {', '.join(TYPES)} can, and not {kind!r}")
        return {"types": [kind.__name__ for kind in model.types]}

    def make(self, parameters: State) -> Any:
        return self.model(*(TYPES[name] for name in parameters["types"]))


class Steps(RiverPart):
    """A class whose parameters are models with names."""

    def make(self, parameters: State) -> Any:
        model = self.model()
        # Constructors clone the models, or change their names.
        for name, steps in self.parameters(model).items():
            steps.update(parameters[name])
        return model


class StatImputer(RiverPart):
    """Its parameters are statistics and constants with names."""

    def parameters(self, model: Any) -> State:
        statistics = model.stats.items()
        return {
            "imputers": {
                name: stat.value if type(stat) is Constant else stat for name, stat in statistics
            }
        }

    def make(self, parameters: State) -> Any:
        return self.model(*parameters["imputers"].items())


class OneHotEncoder(RiverPart):
    """It learns categories, unless they are given, and the order of the columns."""

    def state(self, model: Any) -> State:
        values = {} if model.categories is not None else model.values
        return {"values": values, "columns": list(model._zero_dict)}

    def restore(self, model: Any, state: State) -> None:
        require(model.categories is None or not state["values"], "it learned fixed categories")
        model.values.update(state["values"])
        model._zero_dict = dict.fromkeys(state["columns"], 0)


class Sampler(RiverPart):
    """Without a desired distribution, it follows the one that it counts."""

    def parameters(self, model: Any) -> State:
        is_counted = model.desired_dist is model._actual_dist
        return super().parameters(model) | ({"desired_dist": None} if is_counted else {})


def refusal(model: Any) -> str:
    """Return what follows "cannot be stored" in the message about a class that is not listed."""
    if type(model) is compose.FuncTransformer:
        return (
            ": its function is code, and a checkpoint that named functions could call any: apply it to "
            "x before the pipeline"
        )
    return f"; these classes can: the classifiers of river_budget, {CLASSES}"


def _plain(held: Any) -> Any:
    """Return a dict of any type as a plain one, and the state of a random number generator."""
    if isinstance(held, Random):
        return random_state(held)
    return dict(held.items()) if hasattr(held, "items") else held


def _is_of(kind: Any, value: Any) -> bool:
    if isinstance(kind, range):
        return type(value) is int and value in kind
    return isinstance(value, kind) if isinstance(kind, type | UnionType) else kind(value)


def _is_number(value: Any) -> bool:
    size: Any = abs(value) if isinstance(value, Real) else math.inf
    return size <= sys.float_info.max


def _is_weight(value: Any) -> bool:
    return _is_number(value) and 0 <= value < LARGEST_COUNT


def _are_numbers(values: Any) -> bool:
    """Raise ValueError unless all values of a dict are finite numbers."""
    require(hasattr(values, "items"), f"{values!r} is not a dict")
    for name, value in values.items():
        require(_is_number(value), f"{name!r} has the value {value!r}, which is not finite")
    return True


def _are_counts(values: Any) -> bool:
    return all(count(n) >= 0 for n in values.values())


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


def _is_classifier(value: Any) -> bool:
    return hasattr(value, "predict_proba_one")


def _steps_agree(pipeline: Any) -> None:
    require(pipeline.steps, "a pipeline has no parts")
    *transformers, (name, last) = pipeline.steps.items()
    require(isinstance(last, base.Estimator), f"{name!r} is no part of a pipeline")
    _require_transformers(dict(transformers))


def _transformers_agree(union: Any) -> None:
    _require_transformers(union.transformers)


def _require_transformers(parts: Mapping[Any, Any]) -> None:
    for name, part in parts.items():
        require(isinstance(name, str), "a part has no name")
        is_transformer = isinstance(part, base.Transformer | compose.Pipeline)
        require(is_transformer, f"{outline(part)} is not a transformer")


def _classifiers_agree(model: Any) -> None:
    _require_alike(model.classifier, model.classifiers)


def _arms_agree(policy: Any) -> None:
    _require_alike(policy.new_model(), policy._models)


def _require_alike(model: Any, others: Mapping[Any, Any]) -> None:
    expected = outline(model)
    for other in others.values():
        require(outline(other) == expected, f"{outline(other)} is beside {expected}")


def _groups_agree(agg: Any) -> None:
    for key, stat in agg._groups.items():
        fits = isinstance(key, tuple) and len(key) == len(agg.by) if agg.by else key is None
        require(fits, f"{key!r} is not a group")
        require(type(stat) is type(agg.how), f"a group has no {type(agg.how).__name__}")


def _counts_agree(mode: Any) -> None:
    require(mode.k == -1 or len(mode.counts) <= count(mode.k), "its k is out of range")
    require(all(map(count, mode.counts.values())), "a count is 0")


def _penalties_agree(model: Any) -> None:
    require(0 in (model.l1, model.l2), "it has both penalties")
    require(not model.l1 or hasattr(model, "cum_l1"), "its l1 was 0 when it was made")


def _means_agree(model: Any) -> None:
    require(all(map(_is_weight, model.counts.values())), "a count is out of range")
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
            _are_numbers({"min": least, "max": most})
            require(least <= most, "a minimum is above its maximum")


def _columns_agree(model: Any) -> None:
    require(all(isinstance(v, set) for v in model.values.values()), "its categories are not sets")
    columns = {f"{name}_{value}" for name, known in model.values.items() for value in known}
    expected = set() if model.drop_zeros else columns
    require(model._zero_dict.keys() == expected, "its columns are not those of its categories")


def _documents_agree(model: Any) -> None:
    rare = all(count(df) <= model.n for df in model.dfs.values())
    require(rare, "a term is in too many documents")


SPLITTING: Kinds = {
    "on": Hashable, "preprocessor": not_, "tokenizer": not_, "tokenizer_pattern": _is_pattern,
    "stop_words": set | NoneType, "ngram_range": _is_ngram_range,
}  # fmt: skip
SAMPLING: Kinds = {
    "classifier": _is_classifier, "desired_dist": _are_numbers, "sampling_rate": _is_number,
    "seed": int | NoneType,
}  # fmt: skip
SAMPLED: Kinds = {
    "_pivot": Hashable, "_n": COUNTS, "_actual_dist": _are_counts, "_trained_on_dist": _are_counts,
    "_rng": Random,
}  # fmt: skip

MEAN = RiverPart(stats.Mean, learned={"n": _is_weight, "_mean": _is_number})
MODE = RiverPart(stats.Mode, learned={"counts": dict}, agree=_counts_agree)
MIN = RiverPart(stats.Min, learned={"min": Real})
MAX = RiverPart(stats.Max, learned={"max": Real})
STATISTICS = Listed(
    MEAN,
    RiverPart(
        stats.Var,
        {"ddof": COUNTS},
        {"mean": stats.Mean, "_S": _is_number},
        objects={"mean": Listed(MEAN)},
    ),
    RiverPart(stats.Sum, learned={"sum": _is_number}),
    RiverPart(stats.Count, learned={"n": COUNTS}),
    MIN,
    MAX,
)

SCHEDULES = Listed(RiverPart(optim.schedulers.Constant, {"learning_rate": _is_number}))
OPTIMIZERS = Listed(
    RiverPart(
        optim.SGD,
        {"lr": optim.schedulers.Constant},
        {"n_iterations": COUNTS},
        objects={"lr": SCHEDULES},
    )
)
LOSSES = Listed(RiverPart(optim.losses.Log, {"weight_pos": _is_number, "weight_neg": _is_number}))

CLASSES = Listed(
    RiverPart(
        rivers.StandardScaler,
        {"with_std": bool, "window_size": NoneType},
        {"counts": dict, "means": _are_numbers, "vars": _are_numbers},
        agree=_means_agree,
    ),
    RiverPart(
        rivers.MinMaxScaler,
        {"window_size": NoneType},
        {"min": dict, "max": dict},
        objects={"min": Listed(MIN), "max": Listed(MAX)},
        agree=_extremes_agree,
    ),
    RiverPart(rivers.Normalizer, {"order": _is_order}),
    StatImputer(rivers.StatImputer, objects={"imputers": Listed(MEAN, MODE)}),
    OneHotEncoder(
        rivers.OneHotEncoder, {"drop_zeros": bool, "drop_first": bool}, agree=_columns_agree
    ),
    RiverPart(
        rivers.FeatureHasher,
        {"n_features": range(1, 2**31), "alternate_sign": bool},
        {"_seed": range(2**32)},
    ),
    RiverPart(feature_extraction.BagOfWords, SPLITTING),
    RiverPart(
        feature_extraction.TFIDF, SPLITTING, {"dfs": dict, "n": COUNTS}, agree=_documents_agree
    ),
    SelectType(compose.SelectType),
    RiverPart(
        feature_extraction.Agg,
        learned={"_groups": dict},
        objects={"how": STATISTICS, "groups": STATISTICS},
        agree=_groups_agree,
    ),
    Named(compose.Select),
    Named(compose.Discard),
    RiverPart(
        linear_model.LogisticRegression,
        {
            "optimizer": optim.SGD, "loss": optim.losses.Log, "l2": _is_number, "l1": _is_number,
            "intercept_init": _is_number, "intercept_lr": optim.schedulers.Constant,
            "clip_gradient": _is_number, "initializer": optim.initializers.Zeros,
        },
        {
            "_weights": _are_numbers, "intercept": _is_number, "_y_name": object,
            "max_cum_l1": _is_number, "cum_l1": _are_numbers,
        },
        objects={
            "optimizer": OPTIMIZERS, "loss": LOSSES, "intercept_lr": SCHEDULES,
            "initializer": Listed(RiverPart(optim.initializers.Zeros)),
        },
        agree=_penalties_agree,
    ),
    Named(preprocessing.UnitNorm),
    Steps(compose.Pipeline, objects={"steps": MODELS}, agree=_steps_agree),
    Steps(compose.TransformerUnion, objects={"transformers": MODELS}, agree=_transformers_agree),
    RiverPart(
        multiclass.OneVsRestClassifier,
        {"classifier": _is_classifier},
        {"classifiers": dict, "_y_name": object},
        objects={"classifier": MODELS, "classifiers": MODELS},
        agree=_classifiers_agree,
    ),
    *(
        Sampler(kind, SAMPLING, SAMPLED, objects={"classifier": MODELS})
        for kind in (imblearn.RandomUnderSampler, imblearn.RandomOverSampler, imblearn.RandomSampler)
    ),
    *(
        Part(wrapper, objects={"model": MODELS})
        for wrapper in (calibration.Calibrated, rejection.Reject, active.Query)
    ),
    Part(
        bandit.ArmClassifiers,
        objects={"model": MODELS, "models": MODELS, "rewards": Listed(MEAN)},
        agree=_arms_agree,
    ),
)  # fmt: skip
