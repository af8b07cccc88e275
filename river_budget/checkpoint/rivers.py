"""The classes of River that a checkpoint can hold, and the wrappers and transformers of this package.

They are listed in `PARTS` and `COMPOSITES`. The same check runs before writing and after reading,
so whatever is written can be read.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from numbers import Integral, Number, Real
from operator import attrgetter, not_
from types import MappingProxyType, NoneType, UnionType
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
from river_budget._state import (
    LARGEST_COUNT,
    State,
    count,
    finite,
    random_state,
    require,
    require_numbers,
    restore_random,
)

Parts = list[tuple[Any, Any]]
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

# The parameters of a LogisticRegression, where it holds them, and the classes of its components.
NUMBERS = {
    "l2": "l2", "l1": "l1", "intercept_init": "intercept_init", "clip_gradient": "clip_gradient",
    "lr": "optimizer.lr.learning_rate", "intercept_lr": "intercept_lr.learning_rate",
    "weight_pos": "loss.weight_pos", "weight_neg": "loss.weight_neg",
}  # fmt: skip
COMPONENTS = {
    "optimizer": optim.SGD, "optimizer.lr": optim.schedulers.Constant,
    "intercept_lr": optim.schedulers.Constant, "loss": optim.losses.Log,
    "initializer": optim.initializers.Zeros,
}  # fmt: skip


class Part:
    """How to store a class that consists of parameters and of what it has learned.

    `kinds` are those of its parameters; any other parameter may be a plain value. `learned` has the
    kinds of learned attributes, also nested ones ("optimizer.n_iterations"); the file drops owners
    and leading underscores. `agree` raises ValueError if values that are valid by themselves
    contradict each other.
    """

    def __init__(
        self,
        model: type,
        kinds: Kinds = NOTHING,
        learned: Kinds = NOTHING,
        agree: Callable[[Any], None] = lambda model: None,
    ) -> None:
        self.model, self.kinds, self.learned, self.agree = model, kinds, learned, agree

    def learned_by(self, model: Any) -> Kinds:
        """Return which attributes an object learns."""
        return self.learned

    def parameters(self, model: Any) -> State:
        """Return the parameters as plain values."""
        return {name: getattr(model, name) for name in inspect.signature(self.model).parameters}

    def make(self, parameters: State) -> Any:
        """Return a new object with these parameters."""
        return self.model(**parameters)

    def state(self, model: Any) -> State:
        """Return what was learned, as plain values."""
        return {_key(path): _plain(attrgetter(path)(model)) for path in self.learned_by(model)}

    def restore(self, model: Any, state: State) -> None:
        """Take what `state` returned on a new object."""
        for path in self.learned_by(model):
            held, learned = attrgetter(path)(model), state[_key(path)]
            if hasattr(held, "items"):
                # A dict is filled, so that it keeps its type.
                for name, value in learned.items():
                    if getattr(held, "default_factory", None) in (stats.Min, stats.Max):
                        held[name].update(value)
                    else:
                        held[name] = value
            else:
                _set(model, path, learned)

    def check(self, model: Any) -> None:
        """Raise ValueError if the object cannot be stored."""
        _check(self.parameters(model), self.kinds)
        _check(self.state(model), self.learned_by(model))
        self.agree(model)


class Named(Part):
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


class StatImputer(Part):
    """It has statistics with a parameter each, and learns theirs."""

    def parameters(self, model: Any) -> State:
        return {"imputers": [(name, _described(stat)[0]) for name, stat in model.stats.items()]}

    def make(self, parameters: State) -> Any:
        make: dict[str, Callable[[Any], Any]] = {
            "mean": lambda _: stats.Mean(), "mode": stats.Mode, "constant": lambda value: value,
        }  # fmt: skip
        imputers = parameters["imputers"]
        return self.model(*((name, make[kind](value)) for name, (kind, value) in imputers))

    def state(self, model: Any) -> State:
        return {"learned": [_described(stat)[1] for stat in model.stats.values()]}

    def restore(self, model: Any, state: State) -> None:
        for stat, learned in zip(model.stats.values(), state["learned"], strict=True):
            if type(stat) is stats.Mean:
                stat.n, stat._mean = learned
            elif type(stat) is stats.Mode:
                stat.counts.update(learned)
            else:
                require(learned is None, "a constant has learned something")

    def check(self, model: Any) -> None:
        for stat in model.stats.values():
            (kind, k), learned = _described(stat)
            if kind == "mean":
                _check({"n": stat.n, "mean": stat._mean}, {"n": _is_weight, "mean": _is_number})
            elif kind == "mode":
                require(k == -1 or len(learned) <= count(k), "its k is out of range")
                require(all(map(count, learned.values())), "a count is 0")


class SelectType(Part):
    """Its parameters are types. A checkpoint has their names."""

    def parameters(self, model: Any) -> State:
        for kind in model.types:
            known = TYPES.get(getattr(kind, "__name__", None)) is kind
            require(known, f"only the types {', '.join(TYPES)} can, and not {kind!r}")
        return {"types": [kind.__name__ for kind in model.types]}

    def make(self, parameters: State) -> Any:
        return self.model(*(TYPES[name] for name in parameters["types"]))


class Agg(Part):
    """It has a statistic for each group."""

    def parameters(self, model: Any) -> State:
        part, how = _statistic(model.how), model.how
        options = part.parameters(how)
        is_new = part.state(how) == part.state(part.make(options))
        require(is_new, "its statistic has learned before it was given")
        return {"on": model.on, "by": model.by, "how": type(how).__name__, "options": options}

    def make(self, parameters: State) -> Any:
        how = STATISTICS[parameters["how"]].make(parameters["options"])
        return self.model(parameters["on"], parameters["by"], how)

    def state(self, model: Any) -> State:
        part = _statistic(model.how)
        return {"groups": [(key, part.state(stat)) for key, stat in model._groups.items()]}

    def restore(self, model: Any, state: State) -> None:
        for key, learned in state["groups"]:
            _statistic(model.how).restore(model._groups[key], learned)

    def check(self, model: Any) -> None:
        by = model.by or ()
        for key, stat in model._groups.items():
            fits = isinstance(key, tuple) and len(key) == len(by) if by else key is None
            require(fits, f"{key!r} is not a group")
            _statistic(model.how).check(stat)


class OneHotEncoder(Part):
    """It learns categories, unless they are given, and the order of the columns."""

    def state(self, model: Any) -> State:
        values = {} if model.categories is not None else dict(model.values)
        return {"values": values, "columns": list(model._zero_dict)}

    def restore(self, model: Any, state: State) -> None:
        require(model.categories is None or not state["values"], "it learned fixed categories")
        model.values.update(state["values"])
        model._zero_dict = dict.fromkeys(state["columns"], 0)


class LogisticRegression(Part):
    """Its parameters are numbers, also those of its optimizer, loss and schedulers."""

    def learned_by(self, model: Any) -> Kinds:
        penalty = {"max_cum_l1": _is_number, "cum_l1": _are_numbers} if model.l1 else {}
        return {**self.learned, **penalty}

    def parameters(self, model: Any) -> State:
        return {name: attrgetter(path)(model) for name, path in NUMBERS.items()}

    def make(self, parameters: State) -> Any:
        require(0 in (parameters["l1"], parameters["l2"]), "it has both penalties")
        model = self.model(l1=parameters["l1"], l2=parameters["l2"])
        for name, path in NUMBERS.items():
            _set(model, path, parameters[name])
        return model

    def check(self, model: Any) -> None:
        for path, allowed in COMPONENTS.items():
            found = attrgetter(path)(model)
            message = f"only {allowed.__name__} can, and not its {type(found).__name__}"
            require(type(found) is allowed, message)
        super().check(model)


class Composite(NamedTuple):
    """How to store a class that consists of other models: two functions list and join them."""

    model: type
    parts: Callable[[Any], Iterable[tuple[Any, Any]]]
    make: Callable[[Parts], Any]


def outline(model: Any) -> str:
    """Return which classes a model consists of; see `codec.outline`."""
    name = type(model).__name__
    composite = COMPOSITES.get(name)
    if composite is None:
        return name
    parts = (outline(part) for _, part in composite.parts(model))
    if composite.model is compose.Pipeline:
        return " | ".join(parts)
    if composite.model is compose.TransformerUnion:
        return f"({' + '.join(parts)})"
    return f"{name}({next(parts)})"


def _pipeline(parts: Parts) -> Any:
    require(parts, "a pipeline has no parts")
    _require_steps(parts, parts[:-1])
    return compose.Pipeline(*parts)


def _union(parts: Parts) -> Any:
    _require_steps(parts, parts)
    union = compose.TransformerUnion()
    # Its constructor would clone them.
    union.transformers.update(parts)
    return union


def _one_vs_rest(parts: Parts) -> Any:
    (_, classifier), *classifiers = parts
    expected = outline(classifier)
    require(hasattr(classifier, "predict_proba_one"), f"{expected} is not a classifier")
    for _, other in classifiers:
        require(outline(other) == expected, f"{outline(other)} is beside {expected}")
    one_vs_rest = multiclass.OneVsRestClassifier(classifier)
    one_vs_rest.classifiers.update(classifiers)
    return one_vs_rest


def _calibrated(parts: Parts) -> Any:
    (_, model), (_, calibrator) = parts
    require(isinstance(calibrator, calibration.Calibrator), "a calibrator is missing")
    calibrated = calibration.Calibrated(model, calibrator.forgetting)
    calibrated.calibrator = calibrator
    return calibrated


def _reject(parts: Parts) -> Any:
    (((threshold, doubt), model),) = parts
    return rejection.Reject(model, threshold, doubt)


def _query_parts(model: Any) -> Parts:
    learned = {name: getattr(model, name) for name in QUERY}
    parameters = {"rate": model.rate, "seed": model.seed}
    return [
        ({"parameters": parameters, **learned, "random": random_state(model._rng)}, model.model)
    ]


def _query(parts: Parts) -> Any:
    ((state, model),) = parts
    query = active.Query(model, **state["parameters"])
    _check({_key(name): state[name] for name in QUERY}, QUERY)
    for name in QUERY:
        setattr(query, name, state[name])
    restore_random(query._rng, state["random"])
    return query


def _policy_parts(policy: Any) -> Parts:
    state = {
        "parameters": {name: getattr(policy, name) for name in POLICY},
        "is_default": policy.model is None,
        "pending": [(i, arm, dict(x)) for i, (arm, x) in policy._pending.items()],
        "next_id": policy._next_id,
        "random": random_state(policy._rng),
    }
    arms = [
        ((arm, policy._counts[arm], policy._rewards[arm].get()), model)
        for arm, model in policy._models.items()
    ]
    return [(state, policy.new_model()), *arms]


def _policy(parts: Parts) -> Any:
    (state, model), *arms = parts
    given = None if state["is_default"] else model
    policy = bandit.ArmClassifiers(given, **state["parameters"])
    expected = outline(policy.new_model())
    for (arm, n, mean), learned in arms:
        require(outline(learned) == expected, f"{outline(learned)} is beside {expected}")
        policy._models[arm] = learned
        policy._counts[arm] = count(n)
        policy._n += n
        reward: Any = policy._rewards[arm]
        reward.n, reward._mean = n, finite(mean, 0.0, 1.0)
    policy._next_id = count(state["next_id"])
    tickets = [count(i) for i, _, _ in state["pending"]]
    policy._pending = {i: (arm, x) for i, arm, x in state["pending"]}
    hash(tuple(arm for arm, _ in policy._pending.values()))  # TypeError if one is no name of an arm
    is_valid = (
        len(policy._models) == len(arms) <= policy.max_arms
        and tickets == sorted(policy._pending)
        and len(tickets) <= policy.max_pending
        and all(i < policy._next_id for i in tickets)
        and all(isinstance(x, dict) for _, x in policy._pending.values())
    )
    require(is_valid, "the arms or the tickets of a policy are wrong")
    restore_random(policy._rng, state["random"])
    return policy


def _sampler(kind: type) -> Composite:
    """Return how a sampler of examples is stored, with its state beside its classifier."""
    given = inspect.signature(kind).parameters
    parameters = {name: allowed for name, allowed in SAMPLING.items() if name in given}

    def parts(model: Any) -> Parts:
        # A sampler without a desired distribution follows the one that it counts.
        desired = None if model.desired_dist is model._actual_dist else dict(model.desired_dist)
        state = {
            "parameters": {name: getattr(model, name) for name in parameters},
            "desired_dist": desired,
            "learned": {_key(name): getattr(model, name) for name in _sampled(model)},
            "counts": [dict(model._actual_dist), dict(model._trained_on_dist)],
            "random": random_state(model._rng),
        }
        check(state, model)
        return [(state, model.classifier)]

    def make(parts: Parts) -> Any:
        ((state, classifier),) = parts
        model: Any = kind(classifier, desired_dist=state["desired_dist"], **state["parameters"])
        check(state, model)
        for name in _sampled(model):
            setattr(model, name, state["learned"][_key(name)])
        model._actual_dist.update(state["counts"][0])
        model._trained_on_dist.update(state["counts"][1])
        restore_random(model._rng, state["random"])
        return model

    def check(state: State, model: Any) -> None:
        require_numbers(state["desired_dist"] or {})
        _check(state["parameters"], parameters)
        _check(state["learned"], _sampled(model))
        for counts in state["counts"]:
            for n in counts.values():
                count(n)

    return Composite(kind, parts, make)


def _sampled(model: Any) -> Kinds:
    """Return what a sampler learns beside counts."""
    return {name: kind for name, kind in SAMPLED.items() if hasattr(model, name)}


def _require_steps(steps: Parts, transformers: Parts) -> None:
    names = [name for name, _ in steps]
    require(all(isinstance(name, str) for name in names), "a part has no name")
    require(len(set(names)) == len(names), "two parts have the same name")
    for _, part in transformers:
        is_transformer = isinstance(part, base.Transformer | compose.Pipeline)
        require(is_transformer, f"{outline(part)} is not a transformer")


def _key(path: str) -> str:
    return path.split(".")[-1].lstrip("_")


def _set(model: Any, path: str, value: Any) -> None:
    *owners, name = path.split(".")
    for owner in owners:
        model = getattr(model, owner)
    setattr(model, name, value)


def _plain(value: Any) -> Any:
    """Return a dict of any type as a plain one, and a smallest or largest value as a number."""
    if hasattr(value, "items"):
        return {name: _plain(item) for name, item in value.items()}
    return value.get() if isinstance(value, stats.Min | stats.Max) else value


def _check(values: State, kinds: Kinds) -> None:
    for path, kind in kinds.items():
        value = values[_key(path)]
        if isinstance(kind, range):
            holds = type(value) is int and value in kind
        elif isinstance(kind, type | UnionType):
            holds = isinstance(value, kind)
        else:
            holds = kind(value)
        require(holds, f"its {_key(path)} cannot be {value!r:.100}")


def _is_number(value: Any) -> bool:
    size: Any = abs(value) if isinstance(value, Real) else math.inf
    return size <= sys.float_info.max


def _is_weight(value: Any) -> bool:
    return _is_number(value) and 0 <= value < LARGEST_COUNT


def _are_numbers(values: Any) -> bool:
    require_numbers(values)
    return True


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


def _statistic(stat: Any) -> Part:
    """Return how the statistic of an `Agg` is stored."""
    part = STATISTICS.get(type(stat).__name__)
    if part is None or part.model is not type(stat):
        raise ValueError(f"only {', '.join(STATISTICS)} can, and not its {type(stat).__name__}")
    return part


def _described(stat: Any) -> tuple[tuple[str, Any], Any]:
    """Return the name of a statistic and its parameter, and what it has learned."""
    if type(stat) is stats.Mean:
        return ("mean", None), (stat.n, stat._mean)
    if type(stat) is stats.Mode:
        return ("mode", stat.k), dict(stat.counts)
    is_constant = type(stat) is Constant and isinstance(stat.value, NoneType | str | Real)
    found = type(stat).__name__
    require(is_constant, f"only Mean, Mode, numbers and texts can, and not its {found}")
    return ("constant", stat.value), None


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
            require_numbers({"min": least, "max": most})
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
SAMPLING: Kinds = {"sampling_rate": _is_number, "seed": int | NoneType}
QUERY: Kinds = {"_labels": _is_weight, "_threshold": _is_number}
POLICY = ("prior_successes", "costs", "max_arms", "max_pending", "seed")
SAMPLED: Kinds = {"_pivot": Hashable, "_n": COUNTS}
STATISTICS: dict[str, Part] = {
    part.model.__name__: part
    for part in (
        Part(stats.Mean, learned={"n": _is_weight, "_mean": _is_number}),
        Part(
            stats.Var,
            {"ddof": COUNTS},
            {"mean.n": _is_weight, "mean._mean": _is_number, "_S": _is_number},
        ),
        Part(stats.Sum, learned={"sum": _is_number}),
        Part(stats.Count, learned={"n": COUNTS}),
        Part(stats.Min, learned={"min": Real}),
        Part(stats.Max, learned={"max": Real}),
    )
}
PARTS: dict[str, Part] = {
    part.model.__name__: part
    for part in (
        Part(
            rivers.StandardScaler,
            {"with_std": bool, "window_size": NoneType},
            {"counts": dict, "means": _are_numbers, "vars": _are_numbers},
            _means_agree,
        ),
        Part(
            rivers.MinMaxScaler, {"window_size": NoneType}, {"min": dict, "max": dict}, _extremes_agree
        ),
        Part(rivers.Normalizer, {"order": _is_order}),
        StatImputer(rivers.StatImputer),
        OneHotEncoder(
            rivers.OneHotEncoder, {"drop_zeros": bool, "drop_first": bool}, agree=_columns_agree
        ),
        Part(
            rivers.FeatureHasher,
            {"n_features": range(1, 2**31), "alternate_sign": bool},
            {"_seed": range(2**32)},
        ),
        Part(feature_extraction.BagOfWords, SPLITTING),
        Part(feature_extraction.TFIDF, SPLITTING, {"dfs": dict, "n": COUNTS}, _documents_agree),
        SelectType(compose.SelectType),
        Agg(feature_extraction.Agg),
        Named(compose.Select),
        Named(compose.Discard),
        LogisticRegression(
            linear_model.LogisticRegression,
            dict.fromkeys(NUMBERS, _is_number),
            {
                "_weights": _are_numbers, "intercept": _is_number,
                "optimizer.n_iterations": COUNTS, "_y_name": object,
            },
        ),
        Named(preprocessing.UnitNorm),
    )
}  # fmt: skip
COMPOSITES: dict[str, Composite] = {
    composite.model.__name__: composite
    for composite in (
        Composite(compose.Pipeline, lambda model: model.steps.items(), _pipeline),
        Composite(compose.TransformerUnion, lambda model: model.transformers.items(), _union),
        Composite(
            multiclass.OneVsRestClassifier,
            lambda model: [(None, model.classifier), *model.classifiers.items()],
            _one_vs_rest,
        ),
        Composite(
            calibration.Calibrated,
            lambda model: [(None, model.model), (None, model.calibrator)],
            _calibrated,
        ),
        Composite(
            rejection.Reject,
            lambda model: [((float(model.threshold), model.doubt), model.model)],
            _reject,
        ),
        Composite(active.Query, _query_parts, _query),
        Composite(bandit.ArmClassifiers, _policy_parts, _policy),
        *map(
            _sampler,
            (imblearn.RandomUnderSampler, imblearn.RandomOverSampler, imblearn.RandomSampler),
        ),
    )
}
# What is never stored, and why.
CODE: dict[type, str] = {
    compose.FuncTransformer: "its function is code, and a checkpoint that named functions could call any: "
    "apply it to x before the pipeline",
}
