"""The classes of River that a checkpoint can hold, and the wrappers and transformers of this package.

They are listed in `CLASSES`. The same check runs before writing and after reading, so whatever is
written can be read.
"""

from __future__ import annotations

import functools
import math
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from numbers import Integral, Number, Real
from operator import attrgetter, not_
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
    finite,
    random_state,
    require,
    restore_random,
)
from river_budget.checkpoint.codec import Composite, Part, Parts, outline

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


class RiverPart(Part):
    """How to store a class that keeps what it learns in attributes.

    `kinds` are those of its parameters; any other parameter may be a plain value. `learned` has the
    kinds of learned attributes, also nested ones ("optimizer.n_iterations"), as far as an object has
    them; the file drops owners and leading underscores. `agree` raises ValueError if values that are
    valid by themselves contradict each other.
    """

    def __init__(
        self,
        model: type,
        kinds: Kinds = NOTHING,
        learned: Kinds = NOTHING,
        agree: Callable[[Any], None] = lambda model: None,
    ) -> None:
        super().__init__(model)
        self.kinds, self.learned, self.agree = kinds, learned, agree

    def state(self, model: Any) -> State:
        return _learned(model, self.learned)

    def restore(self, model: Any, state: State) -> None:
        _restore(model, self.learned, state)

    def check(self, model: Any) -> None:
        _check(model, self.kinds)
        _check(model, self.learned)
        self.agree(model)


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


class StatImputer(RiverPart):
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
                STATISTICS["Mean"].check(stat)
            elif kind == "mode":
                require(k == -1 or len(learned) <= count(k), "its k is out of range")
                require(all(map(count, learned.values())), "a count is 0")


class SelectType(RiverPart):
    """Its parameters are types. A checkpoint has their names."""

    def parameters(self, model: Any) -> State:
        for kind in model.types:
            known = TYPES.get(getattr(kind, "__name__", None)) is kind
            require(known, f"only the types {', '.join(TYPES)} can, and not {kind!r}")
        return {"types": [kind.__name__ for kind in model.types]}

    def make(self, parameters: State) -> Any:
        return self.model(*(TYPES[name] for name in parameters["types"]))


class Agg(RiverPart):
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
        for key, stat in model._groups.items():
            fits = isinstance(key, tuple) and len(key) == len(model.by) if model.by else key is None
            require(fits, f"{key!r} is not a group")
            _statistic(model.how).check(stat)


class OneHotEncoder(RiverPart):
    """It learns categories, unless they are given, and the order of the columns."""

    def state(self, model: Any) -> State:
        values = {} if model.categories is not None else dict(model.values)
        return {"values": values, "columns": list(model._zero_dict)}

    def restore(self, model: Any, state: State) -> None:
        require(model.categories is None or not state["values"], "it learned fixed categories")
        model.values.update(state["values"])
        model._zero_dict = dict.fromkeys(state["columns"], 0)


class LogisticRegression(RiverPart):
    """Its parameters are numbers, also those of its optimizer, loss and schedulers."""

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
        _are_numbers(self.parameters(model))
        require(not model.l1 or hasattr(model, "cum_l1"), "its l1 was 0 when it was made")
        super().check(model)


def refusal(model: Any) -> str:
    """Return what follows "cannot be stored" in the message about a class that is not listed."""
    if type(model) is compose.FuncTransformer:
        return (
            ": its function is code, and a checkpoint that named functions could call any: apply it to "
            "x before the pipeline"
        )
    return f"; these classes can: the classifiers of river_budget, {', '.join(CLASSES)}"


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


def _require_steps(steps: Parts, transformers: Parts) -> None:
    names = [name for name, _ in steps]
    require(all(isinstance(name, str) for name in names), "a part has no name")
    require(len(set(names)) == len(names), "two parts have the same name")
    for _, part in transformers:
        is_transformer = isinstance(part, base.Transformer | compose.Pipeline)
        require(is_transformer, f"{outline(part)} is not a transformer")


def _one_vs_rest(parts: Parts) -> Any:
    (_, classifier), *classifiers = parts
    is_classifier = hasattr(classifier, "predict_proba_one")
    require(is_classifier, f"{outline(classifier)} is not a classifier")
    _require_alike(classifier, classifiers)
    one_vs_rest = multiclass.OneVsRestClassifier(classifier)
    one_vs_rest.classifiers.update(classifiers)
    return one_vs_rest


def _require_alike(model: Any, others: Parts) -> None:
    expected = outline(model)
    for _, other in others:
        require(outline(other) == expected, f"{outline(other)} is beside {expected}")


def _calibrated(parts: Parts) -> Any:
    (_, model), (_, calibrator) = parts
    require(isinstance(calibrator, calibration.Calibrator), "a calibrator is missing")
    calibrated = calibration.Calibrated(model, calibrator.forgetting)
    calibrated.calibrator = calibrator
    return calibrated


def _reject(parts: Parts) -> Any:
    (((threshold, doubt), model),) = parts
    return rejection.Reject(model, threshold, doubt)


def _query_parts(query: Any) -> Parts:
    state = {
        "parameters": {"rate": query.rate, "seed": query.seed},
        **_held(query, QUERY),
        "random": random_state(query._rng),
    }
    return [(state, query.model)]


def _query(parts: Parts) -> Any:
    ((state, model),) = parts
    query = active.Query(model, **state["parameters"])
    for name in QUERY:
        setattr(query, name, state[name])
    _check(query, QUERY)
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
    _require_alike(policy.new_model(), arms)
    for (arm, n, mean), learned in arms:
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


def _sampler_parts(sampler: Any) -> Parts:
    _check(sampler, SAMPLING | SAMPLED)
    parameters, learned = _held(sampler, SAMPLING), _learned(sampler, SAMPLED)
    desired = parameters.pop("desired_dist")
    counts = [learned.pop("actual_dist"), learned.pop("trained_on_dist")]
    state = {
        "parameters": parameters,
        # A sampler without a desired distribution follows the one that it counts.
        "desired_dist": None if desired is sampler._actual_dist else dict(desired),
        "learned": learned,
        "counts": counts,
        "random": random_state(sampler._rng),
    }
    return [(state, sampler.classifier)]


def _sampler(kind: Any, parts: Parts) -> Any:
    ((state, classifier),) = parts
    parameters = {"desired_dist": state["desired_dist"], **state["parameters"]}
    sampler = kind(classifier, **parameters)
    is_whole = parameters.keys() == _held(sampler, SAMPLING).keys()
    require(is_whole, f"{kind.__name__} lacks parameters")
    actual, trained_on = state["counts"]
    learned = {**state["learned"], "actual_dist": actual, "trained_on_dist": trained_on}
    _restore(sampler, SAMPLED, learned)
    _check(sampler, SAMPLING | SAMPLED)
    restore_random(sampler._rng, state["random"])
    return sampler


def _key(path: str) -> str:
    return path.split(".")[-1].lstrip("_")


def _set(model: Any, path: str, value: Any) -> None:
    *owners, name = path.split(".")
    setattr(functools.reduce(getattr, owners, model), name, value)


def _held(model: Any, paths: Iterable[str]) -> State:
    """Return those of some attributes that an object has."""
    held = (path for path in paths if hasattr(model, path.partition(".")[0]))
    return {path: attrgetter(path)(model) for path in held}


def _learned(model: Any, paths: Iterable[str]) -> State:
    """Return those of some attributes that an object has, as a file has them."""
    return {_key(path): _plain(value) for path, value in _held(model, paths).items()}


def _restore(model: Any, paths: Iterable[str], state: State) -> None:
    """Set those of some attributes that an object has."""
    for path, held in _held(model, paths).items():
        learned = state[_key(path)]
        if hasattr(held, "items"):
            # A dict is filled, so that it keeps its type.
            for name, value in learned.items():
                if getattr(held, "default_factory", None) in (stats.Min, stats.Max):
                    held[name].update(value)
                else:
                    held[name] = value
        else:
            _set(model, path, learned)


def _check(model: Any, kinds: Kinds) -> None:
    """Raise ValueError unless those of some attributes that an object has are of their kinds."""
    for path, held in _held(model, kinds).items():
        value, kind = _plain(held), kinds[path]
        if isinstance(kind, range):
            holds = type(value) is int and value in kind
        elif isinstance(kind, type | UnionType):
            holds = isinstance(value, kind)
        else:
            holds = kind(value)
        require(holds, f"its {_key(path)} cannot be {value!r:.100}")


def _plain(value: Any) -> Any:
    """Return a dict of any type as a plain one, and a smallest or largest value as a number."""
    if hasattr(value, "items"):
        return {name: _plain(item) for name, item in value.items()}
    return value.get() if isinstance(value, stats.Min | stats.Max) else value


def _is_number(value: Any) -> bool:
    size: Any = abs(value) if isinstance(value, Real) else math.inf
    return size <= sys.float_info.max


def _is_weight(value: Any) -> bool:
    return _is_number(value) and 0 <= value < LARGEST_COUNT


def _are_numbers(values: Any) -> bool:
    """Raise ValueError unless all values of a dict are finite numbers."""
    require(isinstance(values, dict), f"{values!r} is not a dict")
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


def _statistic(stat: Any) -> RiverPart:
    """Return how the statistic of an `Agg` is stored."""
    part = STATISTICS.get(type(stat).__name__)
    if part is None or part.model is not type(stat):
        raise ValueError(f"only {', '.join(STATISTICS)} can, and not its {type(stat).__name__}")
    return part


def _by_name(*parts: Any) -> dict[str, Any]:
    return {part.model.__name__: part for part in parts}


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
SAMPLING = {"desired_dist": _are_numbers, "sampling_rate": _is_number, "seed": int | NoneType}
SAMPLED = {
    "_pivot": Hashable, "_n": COUNTS, "_actual_dist": _are_counts, "_trained_on_dist": _are_counts,
}  # fmt: skip
QUERY: Kinds = {"_labels": _is_weight, "_threshold": _is_number}
POLICY = ("prior_successes", "costs", "max_arms", "max_pending", "seed")
STATISTICS: dict[str, RiverPart] = _by_name(
    RiverPart(stats.Mean, learned={"n": _is_weight, "_mean": _is_number}),
    RiverPart(
        stats.Var,
        {"ddof": COUNTS},
        {"mean.n": _is_weight, "mean._mean": _is_number, "_S": _is_number},
    ),
    RiverPart(stats.Sum, learned={"sum": _is_number}),
    RiverPart(stats.Count, learned={"n": COUNTS}),
    RiverPart(stats.Min, learned={"min": Real}),
    RiverPart(stats.Max, learned={"max": Real}),
)
CLASSES: dict[str, Part | Composite] = _by_name(
    RiverPart(
        rivers.StandardScaler,
        {"with_std": bool, "window_size": NoneType},
        {"counts": dict, "means": _are_numbers, "vars": _are_numbers},
        _means_agree,
    ),
    RiverPart(
        rivers.MinMaxScaler, {"window_size": NoneType}, {"min": dict, "max": dict}, _extremes_agree
    ),
    RiverPart(rivers.Normalizer, {"order": _is_order}),
    StatImputer(rivers.StatImputer),
    OneHotEncoder(
        rivers.OneHotEncoder, {"drop_zeros": bool, "drop_first": bool}, agree=_columns_agree
    ),
    RiverPart(
        rivers.FeatureHasher,
        {"n_features": range(1, 2**31), "alternate_sign": bool},
        {"_seed": range(2**32)},
    ),
    RiverPart(feature_extraction.BagOfWords, SPLITTING),
    RiverPart(feature_extraction.TFIDF, SPLITTING, {"dfs": dict, "n": COUNTS}, _documents_agree),
    SelectType(compose.SelectType),
    Agg(feature_extraction.Agg),
    Named(compose.Select),
    Named(compose.Discard),
    LogisticRegression(
        linear_model.LogisticRegression,
        learned={
            "_weights": _are_numbers, "intercept": _is_number,
            "optimizer.n_iterations": COUNTS, "_y_name": object,
            "max_cum_l1": _is_number, "cum_l1": _are_numbers,
        },
    ),
    Named(preprocessing.UnitNorm),
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
    *(
        Composite(kind, _sampler_parts, functools.partial(_sampler, kind))
        for kind in (imblearn.RandomUnderSampler, imblearn.RandomOverSampler, imblearn.RandomSampler)
    ),
)  # fmt: skip
