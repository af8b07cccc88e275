"""What a model has learned, as JSON and arrays, and back.

The writer goes through a model beside a new one with the same parameters, and the reader fills in a new
one: whatever it reads has to be of the kind and size that the new one calls for.

"""

from __future__ import annotations

import dataclasses
import inspect
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import compose, preprocessing

import river_budget
from river_budget import kernels
from river_budget.base import KernelClassifier, Labels
from river_budget.factor import GramFactor
from river_budget.support import SupportSet, support_set
from river_budget.validation import Reservoir, SupportVectors, ValidationSet

__all__ = ["CheckpointError", "Reader", "Tensors", "Writer"]

Tensors = dict[str, NDArray[Any]]

MODELS: dict[str, type[KernelClassifier]] = {
    name: member
    for name in river_budget.__all__
    if inspect.isclass(member := getattr(river_budget, name))
    and issubclass(member, KernelClassifier)
}
KERNELS: dict[str, Any] = {
    kernel.__name__: kernel
    for kernel in (
        kernels.RBF, kernels.Laplacian, kernels.RationalQuadratic, kernels.AdditiveRationalQuadratic,
        kernels.Linear, kernels.Polynomial, kernels.Normalized,
    )
}  # fmt: skip

# What follows from the parameters, or belongs to no state.
DERIVED = {
    "kernel", "_owners", "_lambdas", "_noises", "_radius", "_decay", "_mixed_last",
}  # fmt: skip


# What a validation set may have beside its table.
STORED = ("_store", "_rng", "_n_offered")


class CheckpointError(ValueError):
    """What is wrong with a checkpoint, or why a model cannot be stored."""


class Writer:
    """Turns models into JSON, and their arrays into tensors.

    Attributes
    ----------
    tensors
        The arrays, by the names that the JSON has for them.

    """

    def __init__(self) -> None:
        self.tensors: Tensors = {}

    def model(self, model: Any) -> Any:
        """Return a classifier, a scaler or a pipeline of them."""
        if isinstance(model, compose.Pipeline):
            return {"pipeline": [[name, self.model(step)] for name, step in model.steps.items()]}
        if type(model) is preprocessing.StandardScaler:
            return self._scaler(model)
        name = type(model).__name__
        if MODELS.get(name) is not type(model):
            raise CheckpointError(
                f"{name} cannot be stored: the classifiers of river_budget, StandardScaler and "
                "pipelines of them can"
            )
        parameters, fresh = _parameters(model), model.clone()
        return {
            "class": name,
            "parameters": {key: self.value(value) for key, value in parameters.items()},
            "state": {
                key: self._state(getattr(model, key), getattr(fresh, key), model.n_support)
                for key in _learned(fresh)
            },
        }

    def _scaler(self, scaler: Any) -> Any:
        if scaler.window_size is not None:
            raise CheckpointError("a StandardScaler with a window_size cannot be stored")
        learned = {"counts": scaler.counts, "means": scaler.means, "vars": scaler.vars}
        if not all(math.isfinite(v) for values in learned.values() for v in values.values()):
            raise CheckpointError(
                "a StandardScaler that has seen what is not finite cannot be stored"
            )
        return {
            "class": "StandardScaler",
            "with_std": scaler.with_std,
            "state": {key: self.value(dict(values)) for key, values in learned.items()},
        }

    def value(self, value: Any) -> Any:
        """Return a number, a text, None, a kernel, or a container of these."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, tuple | frozenset):
            return {type(value).__name__: [self.value(item) for item in value]}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {"dict": [[self.value(key), self.value(item)] for key, item in value.items()]}
        if isinstance(value, kernels.Kernel):
            return self._kernel(value)
        raise CheckpointError(
            f"{value!r} cannot be stored: a {type(value).__name__} is no number, text, None or "
            "tuple of these"
        )

    def _kernel(self, kernel: Any) -> Any:
        name = type(kernel).__name__
        if KERNELS.get(name) is not type(kernel):
            raise CheckpointError(f"{kernel} cannot be stored: its function is code")
        fields = {f.name: self.value(getattr(kernel, f.name)) for f in dataclasses.fields(kernel)}
        return {"kernel": name, "fields": fields}

    def _state(self, value: Any, fresh: Any, n: int) -> Any:
        """Return what was learned in the place of what a new model has; n is its support size."""
        if isinstance(value, np.ndarray):
            return self._tensor(value if len(fresh) else value[:n])
        if isinstance(value, SupportSet):
            return self._support(value)
        if isinstance(value, Labels):
            return self.value(value._signs)
        if isinstance(value, GramFactor):
            return self._tensor(value._columns)
        if isinstance(value, ValidationSet):
            return self._validation(value, n)
        if isinstance(value, random.Random):
            _, internal, gauss = value.getstate()
            return {"internal": self._tensor(np.array(internal, np.uint32)), "gauss": gauss}
        if isinstance(value, list):
            return [self._state(v, f, n) for v, f in zip(value, fresh, strict=True)]
        return self.value(value)

    def _support(self, support: SupportSet) -> Any:
        vectors = [support.vector(slot) for slot in range(support.n)]
        names = list(dict.fromkeys(name for vector in vectors for name in vector))
        places = {name: i for i, name in enumerate(names)}
        return {
            "kernel": self.value(support.kernel),
            "names": self.value(names),
            "sizes": self._tensor(np.array([len(vector) for vector in vectors], np.int64)),
            "places": self._tensor(
                np.array([places[name] for vector in vectors for name in vector], np.int64)
            ),
            "values": self._tensor(
                np.array([value for vector in vectors for value in vector.values()], np.float64)
            ),
            "alphas": self._tensor(support._alphas.reshape(-1)[: support.n]),
            "born": self._tensor(support.born),
            "clock": support._clock,
            "scale": self.value(support._scale),
        }

    def _validation(self, validation: ValidationSet, n: int) -> Any:
        kept: dict[str, Any] = {
            "table": self._tensor(validation.table[:, :n]),
            "values": self._tensor(validation.values),
            "signs": self._tensor(validation._signs[: validation.n]),
        }
        for name in STORED:
            if hasattr(validation, name):
                kept[name] = self._state(getattr(validation, name), None, n)
        return kept

    def _tensor(self, array: NDArray[Any]) -> str:
        name = f"{len(self.tensors)}"
        self.tensors[name] = np.array(array, order="C")
        return name


class Reader:
    """Makes models of what a `Writer` wrote.

    Parameters
    ----------
    tensors
        The arrays.

    """

    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors

    def model(self, node: Any) -> Any:
        """Return what `Writer.model` wrote.

        Raises
        ------
        CheckpointError
            If it does not fit a model with its parameters. Nonsense may raise other errors, too.

        """
        if "pipeline" in node:
            return compose.Pipeline(*((name, self.model(step)) for name, step in node["pipeline"]))
        if node["class"] == "StandardScaler":
            return self._scaler(node)
        if node["class"] not in MODELS:
            raise CheckpointError(f"there is no model called {node['class']!r}")
        parameters = {key: self.value(value) for key, value in node["parameters"].items()}
        model = MODELS[node["class"]](**parameters)
        state = node["state"]
        _require(set(state) == set(_learned(model)), "it has not what the model has learned")
        n = self._size(state["_supports"][0] if "_supports" in state else state["_support"])
        _require(n <= (getattr(model, "budget", None) or math.inf), "it is over its budget")
        for key in _learned(model):
            setattr(model, key, self._state(state[key], getattr(model, key), n))
        _require(0 <= model._n_mistakes <= model._n_rounds, "the counters contradict each other")
        if hasattr(model, "_supports"):
            model._support = model._supports[0]
        return model

    def _scaler(self, node: Any) -> Any:
        scaler = preprocessing.StandardScaler(with_std=node["with_std"] is True)
        for key in ("counts", "means", "vars"):
            values = self.value(node["state"][key])
            _require(
                all(isinstance(v, int | float) and math.isfinite(v) for v in values.values()),
                "a scaler has what is no number",
            )
            getattr(scaler, key).update(values)
        return scaler

    def value(self, node: Any) -> Any:
        """Return what `Writer.value` wrote."""
        if isinstance(node, list):
            return [self.value(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "float" in node:
            return float(node["float"])
        if "tuple" in node:
            return tuple(self.value(item) for item in node["tuple"])
        if "frozenset" in node:
            return frozenset(self.value(item) for item in node["frozenset"])
        if "dict" in node:
            return {self.value(key): self.value(item) for key, item in node["dict"]}
        fields = {key: self.value(value) for key, value in node["fields"].items()}
        return KERNELS[node["kernel"]](**fields)

    def _state(self, node: Any, fresh: Any, n: int) -> Any:
        if isinstance(fresh, np.ndarray):
            return self._array(node, fresh.dtype, (len(fresh) or n, *fresh.shape[1:]))
        if isinstance(fresh, SupportSet):
            return self._support(node, n)
        if isinstance(fresh, Labels):
            return self._labels(node)
        if isinstance(fresh, GramFactor):
            return self._factor(node, n)
        if isinstance(fresh, ValidationSet):
            return self._validation(node, fresh, n)
        if isinstance(fresh, random.Random):
            return self._random(node)
        if isinstance(fresh, list):
            _require(len(node) == len(fresh), "a list has another length")
            return [self._state(item, f, n) for item, f in zip(node, fresh, strict=True)]
        value = self.value(node)
        _require(type(value) is type(fresh), f"{value!r} stands in the place of {fresh!r}")
        return value

    def _size(self, node: Any) -> int:
        return len(self._tensors[node["alphas"]])

    def _array(self, name: Any, dtype: Any, shape: Sequence[int | None]) -> NDArray[Any]:
        """Return a copy of an array of this shape, None for any length."""
        array = self._tensors[name]
        fits = array.ndim == len(shape) and all(
            size in (None, length) for size, length in zip(shape, array.shape, strict=True)
        )
        _require(array.dtype == dtype and fits, f"an array is {array.dtype} {array.shape}")
        return array.copy()

    def _support(self, node: Any, n: int) -> SupportSet:
        """Return a support set in which each vector is put as if it was learned."""
        support = support_set(self.value(node["kernel"]))
        names = self.value(node["names"])
        sizes, places = (self._array(node[key], np.int64, (None,)) for key in ("sizes", "places"))
        values = self._array(node["values"], np.float64, (len(places),))
        alphas = self._array(node["alphas"], np.float64, (n,))
        born, clock, scale = self._array(node["born"], np.int64, (n,)), node["clock"], node["scale"]
        _require(len(sizes) == n and (sizes >= 0).all(), "a vector has no size")
        _require(sizes.sum() == len(places), "vectors have more names than there are")
        _require(((places >= 0) & (places < len(names))).all(), "a vector has an unknown name")
        _require(np.isfinite(alphas).all(), "a coefficient is not finite")
        _require(isinstance(scale, float) and 0 < scale <= 1, "a scale is out of its range")
        _require(isinstance(clock, int) and n <= clock < 2**62, "a clock is out of its range")
        _require(
            len(set(born.tolist())) == n and ((born >= 0) & (born < clock)).all(), "an age is wrong"
        )
        ends = np.cumsum(sizes)
        for end, size in zip(ends.tolist(), sizes.tolist(), strict=True):
            part = slice(end - size, end)
            x = {names[i]: v for i, v in zip(places[part], values[part].tolist(), strict=True)}
            support.decide(x)
            support.add(0.0)
        support._alphas.reshape(-1)[:n] = alphas
        support._born[:n] = born
        support._clock, support._scale = clock, scale
        return support

    def _labels(self, node: Any) -> Labels:
        labels = Labels()
        signs = self.value(node)
        for label, sign in signs.items():
            _require(labels.sign(label) == sign, f"the label {label!r} has another sign")
        return labels

    def _factor(self, name: Any, n: int) -> GramFactor:
        factor = GramFactor()
        factor._packed = self._array(name, np.float64, (n * (n + 1) // 2,))
        _require(np.isfinite(factor._packed).all(), "a factor is not finite")
        factor.n = n
        return factor

    def _validation(self, node: Any, fresh: Any, n: int) -> Any:
        fresh._table = self._array(node["table"], np.float64, (None, n))
        fresh.n = len(fresh._table)
        fresh._values = self._array(node["values"], np.float64, (fresh.n,))
        fresh._signs = self._array(node["signs"], np.float64, (fresh.n,))
        _require(
            fresh.n == n or not isinstance(fresh, SupportVectors), "a Gram matrix has another size"
        )
        if "_store" in node:
            fresh._store = self._support(node["_store"], fresh.n)
        if isinstance(fresh, Reservoir):
            fresh._rng = self._random(node["_rng"])
            fresh._n_offered = self._state(node["_n_offered"], 0, n)
            _require(fresh.n == min(fresh._size, fresh._n_offered), "a reservoir is not full")
        return fresh

    def _random(self, node: Any) -> random.Random:
        rng = random.Random()
        internal = self._array(node["internal"], np.uint32, (625,))
        rng.setstate((3, tuple(internal.tolist()), node["gauss"]))
        return rng


def _parameters(model: Any) -> dict[str, Any]:
    return {name: getattr(model, name) for name in inspect.signature(type(model)).parameters}


def _learned(model: Any) -> list[str]:
    """Return the names of what a model learns."""
    first = {"_support"} if hasattr(model, "_supports") else set()
    return [name for name in vars(model) if name not in {*_parameters(model), *DERIVED, *first}]


def _require(holds: Any, otherwise: str) -> None:
    if not holds:
        raise CheckpointError(f"this checkpoint makes no model: {otherwise}")
