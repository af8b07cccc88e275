"""The classes of River that a checkpoint can hold, and the wrappers and transformers of this package.

Each has an entry, which tells with which parameters its class is made, what an object of it has learned, and what is
valid. The same check runs before an object is written and after it is read, so that whatever is
written can be read.

"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Hashable, Iterable
from numbers import Real
from types import NoneType
from typing import Any

from river import (
    base,
    compose,
    feature_extraction,
    linear_model,
    multiclass,
    optim,
    preprocessing,
    stats,
    utils,
)
from river.preprocessing.impute import Constant

from river_budget import calibration, rejection
from river_budget import preprocessing as own
from river_budget._state import LARGEST_COUNT, State, count, require, require_numbers

__all__ = ["COMPOSITES", "PARTS", "Composite", "Part", "outline"]

LARGEST_NGRAM = 100
LARGEST_ORDER = 1000
LARGEST_HASH = 2**31 - 1


class Part:
    """How a class is written that consists of parameters and of what it has learned.

    Attributes
    ----------
    model
        The class.
    learned
        Names of the dicts that it fills.

    """

    model: type
    learned: tuple[str, ...] = ()

    def parameters(self, model: Any) -> State:
        """Return the parameters as plain values."""
        return {name: getattr(model, name) for name in inspect.signature(self.model).parameters}

    def make(self, parameters: State) -> Any:
        """Return a new object with these parameters."""
        return self.model(**parameters)

    def state(self, model: Any) -> State:
        """Return what was learned, as plain values."""
        return {name: dict(getattr(model, name)) for name in self.learned}

    def restore(self, model: Any, state: State) -> None:
        """Take what `state` returned on a new object."""
        for name in self.learned:
            getattr(model, name).update(state[name])

    def check(self, model: Any) -> None:
        """Raise ValueError if the object cannot be stored."""


class StandardScaler(Part):
    """The counts, means and variances of features."""

    model = preprocessing.StandardScaler
    learned = ("counts", "means", "vars")

    def check(self, model: Any) -> None:
        _require_no_window(model)
        require(type(model.with_std) is bool, "its with_std is no truth value")
        for values in (model.counts, model.means, model.vars):
            require_numbers(values)
        for values in (model.counts, model.vars):
            require(all(v >= 0 for v in values.values()), "it has a negative count or variance")
        require(all(v < LARGEST_COUNT for v in model.counts.values()), "it has too large a count")
        # Predicting a feature that was not seen leaves a mean without a count.
        seen = {name for name, mean in model.means.items() if mean}
        require(seen <= model.counts.keys() <= model.means.keys(), "a feature lacks its count")


class MinMaxScaler(Part):
    """The smallest and largest value of each feature."""

    model = preprocessing.MinMaxScaler

    def state(self, model: Any) -> State:
        return {
            "min": {name: least.get() for name, least in model.min.items()},
            "max": {name: most.get() for name, most in model.max.items()},
        }

    def restore(self, model: Any, state: State) -> None:
        for name, least in state["min"].items():
            model.min[name].update(least)
        for name, most in state["max"].items():
            model.max[name].update(most)

    def check(self, model: Any) -> None:
        _require_no_window(model)
        require(model.min.keys() == model.max.keys(), "a feature lacks its minimum or maximum")
        for name, least in model.min.items():
            extremes = {"min": least.get(), "max": model.max[name].get()}
            # Predicting a feature that was not seen leaves an empty range.
            if extremes != {"min": math.inf, "max": -math.inf}:
                require_numbers(extremes)
                require(extremes["min"] <= extremes["max"], "a minimum is above its maximum")


class Normalizer(Part):
    """The order of a norm."""

    model = preprocessing.Normalizer

    def check(self, model: Any) -> None:
        order = model.order
        is_order = type(order) in (int, float) and abs(order) <= LARGEST_ORDER
        require(is_order or order == math.inf, f"its order is {order!r}")


class StatImputer(Part):
    """For each feature, the kind of its statistic, and what that has learned."""

    model = preprocessing.StatImputer

    def parameters(self, model: Any) -> State:
        return {"imputers": [(feature, _kind_of(stat)) for feature, stat in model.stats.items()]}

    def make(self, parameters: State) -> Any:
        return self.model(
            *((feature, _statistic(kind)) for feature, kind in parameters["imputers"])
        )

    def state(self, model: Any) -> State:
        return {"learned": [_learned(stat) for stat in model.stats.values()]}

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
            if type(stat) is stats.Mean:
                require_numbers({"n": stat.n, "mean": stat._mean})
                require(0 <= stat.n < LARGEST_COUNT, "its count is out of range")
            elif type(stat) is stats.Mode:
                require(stat.k == -1 or len(stat.counts) <= count(stat.k), "its k is out of range")
                require(all(count(n) for n in stat.counts.values()), "a count is 0")
            else:
                _kind_of(stat)


class OneHotEncoder(Part):
    """The categories of each feature, and the order of the columns."""

    model = preprocessing.OneHotEncoder

    def state(self, model: Any) -> State:
        values = {} if model.categories is not None else dict(model.values)
        return {"values": values, "columns": list(model._zero_dict)}

    def restore(self, model: Any, state: State) -> None:
        require(model.categories is None or not state["values"], "it learned fixed categories")
        model.values.update(state["values"])
        model._zero_dict = dict.fromkeys(state["columns"], 0)

    def check(self, model: Any) -> None:
        for parameter in (model.drop_zeros, model.drop_first):
            require(type(parameter) is bool, f"{parameter!r} is no truth value")
        values = model.values
        require(isinstance(values, dict), "its categories are no dict")
        require(all(isinstance(v, set) for v in values.values()), "its categories are no sets")
        columns = {f"{name}_{value}" for name, known in values.items() for value in known}
        expected = set() if model.drop_zeros else columns
        require(model._zero_dict.keys() == expected, "its columns are not those of its categories")


class FeatureHasher(Part):
    """The number of columns and the seed, which is drawn if none is given."""

    model = preprocessing.FeatureHasher

    def state(self, model: Any) -> State:
        return {"seed": model._seed}

    def restore(self, model: Any, state: State) -> None:
        model._seed = state["seed"]

    def check(self, model: Any) -> None:
        require(0 < count(model.n_features) <= LARGEST_HASH, "its n_features is out of range")
        require(type(model.alternate_sign) is bool, "its alternate_sign is no truth value")
        require(count(model._seed) < 2**32, "its seed is out of range")


class BagOfWords(Part):
    """How a text is split."""

    model: type = feature_extraction.BagOfWords

    def check(self, model: Any) -> None:
        for name in ("preprocessor", "tokenizer"):
            require(not getattr(model, name), f"its {name} is code")
        pattern, words, ngrams = model.tokenizer_pattern, model.stop_words, model.ngram_range
        require(isinstance(pattern, str), "its tokenizer_pattern is no text")
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"its tokenizer_pattern {pattern!r}: {error}") from None
        require(isinstance(model.on, Hashable), "its field has no name")
        require(words is None or isinstance(words, set), "its stop_words are no set")
        require(type(ngrams) is tuple and len(ngrams) == 2, "its ngram_range is no pair")
        least, most = map(count, ngrams)
        require(
            1 <= least <= most <= LARGEST_NGRAM, f"its ngram_range is not from 1 to {LARGEST_NGRAM}"
        )


class TFIDF(BagOfWords):
    """How a text is split, and the number of documents with each term."""

    model = feature_extraction.TFIDF
    learned = ("dfs",)

    def state(self, model: Any) -> State:
        return {**super().state(model), "n": model.n}

    def restore(self, model: Any, state: State) -> None:
        super().restore(model, state)
        model.n = state["n"]

    def check(self, model: Any) -> None:
        super().check(model)
        n = count(model.n)
        require(all(count(df) <= n for df in model.dfs.values()), "a term is in too many documents")


class Discard(Part):
    """The names of features."""

    model: type = compose.Discard

    def parameters(self, model: Any) -> State:
        return {"keys": set(model.keys)}

    def make(self, parameters: State) -> Any:
        return self.model(*parameters["keys"])


class Select(Discard):
    """The names of features, in the order in which they are selected."""

    model = compose.Select

    def parameters(self, model: Any) -> State:
        return {"keys": list(model.keys)}

    def make(self, parameters: State) -> Any:
        selected = super().make(parameters)
        # A set has another order in another process, and sums over features have other roundings.
        selected.keys = dict.fromkeys(parameters["keys"])
        return selected


class UnitNorm(Part):
    """The names of arrays."""

    model = own.UnitNorm

    def parameters(self, model: Any) -> State:
        return {"names": list(model.names)}

    def make(self, parameters: State) -> Any:
        return self.model(*parameters["names"])


class LogisticRegression(Part):
    """The weights, the intercept, and the steps of stochastic gradient descent."""

    model = linear_model.LogisticRegression
    plain = ("l2", "l1", "intercept_init", "clip_gradient")

    def parameters(self, model: Any) -> State:
        return {
            **{name: getattr(model, name) for name in self.plain},
            "lr": model.optimizer.learning_rate,
            "intercept_lr": model.intercept_lr.learning_rate,
            "weight_pos": model.loss.weight_pos,
            "weight_neg": model.loss.weight_neg,
        }

    def make(self, parameters: State) -> Any:
        require(0 in (parameters["l1"], parameters["l2"]), "it has both penalties")
        return self.model(
            optimizer=optim.SGD(optim.schedulers.Constant(parameters["lr"])),
            loss=optim.losses.Log(parameters["weight_pos"], parameters["weight_neg"]),
            intercept_lr=optim.schedulers.Constant(parameters["intercept_lr"]),
            **{name: parameters[name] for name in self.plain},
        )

    def state(self, model: Any) -> State:
        state = {
            "weights": model.weights,
            "intercept": model.intercept,
            "n_iterations": model.optimizer.n_iterations,
            "y_name": model._y_name,
        }
        if model.l1:
            state |= {"max_cum_l1": model.max_cum_l1, "cum_l1": model.cum_l1.to_dict()}
        return state

    def restore(self, model: Any, state: State) -> None:
        model._weights = utils.VectorDict(state["weights"])
        model.intercept = state["intercept"]
        model.optimizer.n_iterations = state["n_iterations"]
        model._y_name = state["y_name"]
        if model.l1:
            model.max_cum_l1 = state["max_cum_l1"]
            model.cum_l1 = utils.VectorDict(state["cum_l1"], optim.initializers.Zeros())

    def check(self, model: Any) -> None:
        optimizer, constant = model.optimizer, optim.schedulers.Constant
        for held, allowed in [
            (optimizer, optim.SGD),
            (getattr(optimizer, "lr", None), constant),
            (model.intercept_lr, constant),
            (model.loss, optim.losses.Log),
            (model.initializer, optim.initializers.Zeros),
        ]:
            found = type(held).__name__
            require(type(held) is allowed, f"only {allowed.__name__} can, and not its {found}")
        require_numbers(self.parameters(model))
        count(optimizer.n_iterations)
        require_numbers({"intercept": model.intercept})
        require_numbers(model.weights)
        if model.l1:
            require_numbers({"max_cum_l1": model.max_cum_l1})
            require_numbers(model.cum_l1.to_dict())


class Composite:
    """How a class is written that consists of other models.

    Attributes
    ----------
    model
        The class.

    """

    model: type

    def parts(self, model: Any) -> Iterable[tuple[Any, Any]]:
        """Return the models that it consists of, each with its name."""
        raise NotImplementedError

    def make(self, parts: list[tuple[Any, Any]]) -> Any:
        """Return an object that consists of these models."""
        raise NotImplementedError

    def outline(self, model: Any) -> str:
        """Return which classes it consists of."""
        raise NotImplementedError


class Pipeline(Composite):
    """Transformers, and what follows them."""

    model = compose.Pipeline

    def parts(self, model: Any) -> Iterable[tuple[Any, Any]]:
        return model.steps.items()

    def make(self, parts: list[tuple[Any, Any]]) -> Any:
        require(parts, "a pipeline has no parts")
        _require_transformers(parts[:-1])
        _require_names(parts)
        return self.model(*parts)

    def outline(self, model: Any) -> str:
        return " | ".join(map(outline, model.steps.values()))


class TransformerUnion(Composite):
    """Transformers side by side."""

    model = compose.TransformerUnion

    def parts(self, model: Any) -> Iterable[tuple[Any, Any]]:
        return model.transformers.items()

    def make(self, parts: list[tuple[Any, Any]]) -> Any:
        _require_transformers(parts)
        _require_names(parts)
        union = self.model()
        # Its constructor would clone them.
        union.transformers.update(parts)
        return union

    def outline(self, model: Any) -> str:
        return f"({' + '.join(map(outline, model.transformers.values()))})"


class OneVsRestClassifier(Composite):
    """A binary classifier for each class, after the one that they are clones of."""

    model = multiclass.OneVsRestClassifier

    def parts(self, model: Any) -> Iterable[tuple[Any, Any]]:
        return [(None, model.classifier), *model.classifiers.items()]

    def make(self, parts: list[tuple[Any, Any]]) -> Any:
        (_, classifier), *classifiers = parts
        expected = outline(classifier)
        require(hasattr(classifier, "predict_proba_one"), f"{expected} is no classifier")
        for _, other in classifiers:
            require(outline(other) == expected, f"{outline(other)} is beside {expected}")
        one_vs_rest = self.model(classifier)
        one_vs_rest.classifiers.update(classifiers)
        return one_vs_rest

    def outline(self, model: Any) -> str:
        return f"OneVsRestClassifier({outline(model.classifier)})"


class Calibrated(Composite):
    """A classifier, and the calibrator of its probabilities."""

    model = calibration.Calibrated

    def parts(self, model: Any) -> Iterable[tuple[Any, Any]]:
        return [(None, model.model), (None, model.calibrator)]

    def make(self, parts: list[tuple[Any, Any]]) -> Any:
        (_, model), (_, calibrator) = parts
        require(isinstance(calibrator, calibration.Calibrator), "a calibrator is missing")
        calibrated = self.model(model, calibrator.forgetting)
        calibrated.calibrator = calibrator
        return calibrated

    def outline(self, model: Any) -> str:
        return f"Calibrated({outline(model.model)})"


class Reject(Composite):
    """A classifier, the largest doubt about an example that it answers, and what doubt is."""

    model = rejection.Reject

    def parts(self, model: Any) -> Iterable[tuple[Any, Any]]:
        return [((float(model.threshold), model.doubt), model.model)]

    def make(self, parts: list[tuple[Any, Any]]) -> Any:
        (((threshold, doubt), model),) = parts
        return self.model(model, threshold, doubt)

    def outline(self, model: Any) -> str:
        return f"Reject({outline(model.model)})"


PARTS: dict[str, Part] = {
    part.model.__name__: part
    for part in (
        StandardScaler(), MinMaxScaler(), Normalizer(), StatImputer(), OneHotEncoder(), FeatureHasher(),
        BagOfWords(), TFIDF(), Select(), Discard(), LogisticRegression(),
        UnitNorm(),
    )
}  # fmt: skip
COMPOSITES: dict[str, Composite] = {
    composite.model.__name__: composite
    for composite in (Pipeline(), TransformerUnion(), OneVsRestClassifier(), Calibrated(), Reject())
}


def outline(model: Any) -> str:
    """Return which classes a model consists of, for instance `StandardScaler | Forgetron`."""
    name = type(model).__name__
    composite = COMPOSITES.get(name)
    return name if composite is None else composite.outline(model)


def _kind_of(stat: Any) -> tuple[str, Any]:
    """Return the name of a statistic and its parameter."""
    if type(stat) is stats.Mean:
        return "mean", None
    if type(stat) is stats.Mode:
        return "mode", stat.k
    is_constant = type(stat) is Constant and isinstance(stat.value, NoneType | str | Real)
    found = type(stat).__name__
    require(is_constant, f"only Mean, Mode, numbers and texts can, and not its {found}")
    return "constant", stat.value


def _statistic(kind: tuple[str, Any]) -> Any:
    """Return the statistic, or the constant, that `_kind_of` described."""
    name, parameter = kind
    require(name in ("mean", "mode", "constant"), f"there is no statistic {name!r}")
    if name == "mean":
        return stats.Mean()
    return stats.Mode(parameter) if name == "mode" else parameter


def _learned(stat: Any) -> Any:
    if type(stat) is stats.Mean:
        return stat.n, stat._mean
    return dict(stat.counts) if type(stat) is stats.Mode else None


def _require_no_window(model: Any) -> None:
    require(model.window_size is None, "its window_size has to be None")


def _require_transformers(parts: list[tuple[Any, Any]]) -> None:
    for _, part in parts:
        is_transformer = isinstance(part, base.Transformer | compose.Pipeline)
        require(is_transformer, f"{outline(part)} is no transformer")


def _require_names(parts: list[tuple[Any, Any]]) -> None:
    names = [name for name, _ in parts]
    require(all(isinstance(name, str) for name in names), "a part has no name")
    require(len(set(names)) == len(names), "two parts have the same name")
