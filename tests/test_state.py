"""Declared state: what a class learns, from which state, restore, bytes and starts follow."""

from __future__ import annotations

import collections
import copy
import math
import pickle
import random
import sys

import numpy as np
import pytest

from river_budget._state import (
    Array,
    Count,
    Dict,
    Field,
    Learned,
    Number,
    Random,
    bytes_of,
    require,
)


class Names(Learned):
    counts = Dict()
    _others = Dict()

    def __init__(self):
        self.counts = collections.Counter()


class Sums(Learned):
    n = Count()
    _values = Array("n", 2)

    def __init__(self):
        self._values = np.zeros((4, 2))


class Model(Learned):
    loss = Number(least=0.0, doc="The loss.")
    factor = Number(least=0.0, most=1.0, start=0.5)
    _square = Number(key="squared_norm")
    _rng = Random()
    _sums = Field(Sums)
    _none = Field()

    def __init__(self):
        self._rng = random.Random(1)
        self._none = None

    def _check_restored(self):
        super()._check_restored()
        require(self.loss <= 100, "the loss is too large")


class Derived(Model):
    n_rounds = Count()
    factor = Number(least=2.0)


def learned():
    model = Derived()
    model.loss, model.n_rounds, model._square = 3.0, 7, np.float64(-1.5)
    model._sums.n, model._sums._values[:] = 1, 5.0
    model._rng.random()
    return model


def test_an_object_begins_with_the_starting_values():
    assert (Model().loss, Model().factor, Derived().factor) == (0.0, 0.5, 2.0)
    assert Model()._sums is not Model()._sums
    assert Model._fields["loss"].__doc__ == "The loss."


def test_the_state_has_the_fields_of_the_bases_first():
    state = learned().state()
    assert list(state) == ["loss", "factor", "squared_norm", "rng", "sums", "none", "n_rounds"]
    assert state["sums"]["values"].tolist() == [[5.0, 5.0]], "without what is beyond n"
    assert type(state["squared_norm"]) is float
    assert state["none"] is None


@pytest.mark.parametrize(
    "again",
    [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))],
    ids=["deepcopy", "pickle"],
)
def test_a_restored_model_and_a_copy_go_on_alike(again):
    model, restored = learned(), Derived()
    restored.restore(again(model).state())
    assert restored.n_rounds == 7
    assert restored._rng.random() == model._rng.random()
    model._sums._values[:] = 0.0
    assert restored._sums._values.tolist() == [[5.0, 5.0]]


def test_bytes_are_those_of_arrays_and_parts():
    assert bytes_of(Sums()) == 64
    assert bytes_of(Model()) == 64 + sys.getsizeof(random.Random())


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("loss", -1.0, "is not between"),
        ("loss", math.inf, "finite"),
        ("loss", 1, "finite float"),
        ("loss", 101.0, "too large"),
        ("factor", 1.0, "is not between"),
        ("squared_norm", math.nan, "finite"),
        ("n_rounds", True, "not a count"),
        ("sums", {"n": 2, "values": np.zeros((1, 2))}, "shape"),
        ("sums", {"n": -1, "values": np.zeros((0, 2))}, "count"),
        ("sums", {"n": 1, "values": np.full((1, 2), np.nan)}, "finite"),
        ("rng", np.zeros(3, np.uint32), "wrong size"),
        ("rng", np.zeros(625, np.int64), "uint32"),
        ("rng", np.full(625, 2**32 - 1, np.uint32), "invalid state"),
    ],
)
def test_an_invalid_value_is_refused(key, value, message):
    with pytest.raises(ValueError, match=message):
        Derived().restore({**learned().state(), key: value})


def test_a_key_that_is_left_out_is_missed():
    state = learned().state()
    del state["loss"]
    with pytest.raises(KeyError):
        Derived().restore(state)


def test_a_dict_is_filled_and_keeps_its_type():
    names, other = Names(), Names()
    names.counts["a"] += 2
    names._others[1] = "b"
    state = names.state()
    assert state == {"counts": {"a": 2}, "others": {1: "b"}}
    assert list(map(type, state.values())) == [dict, dict]
    other.restore(state)
    assert other.counts == collections.Counter(a=2)
    assert type(other.counts) is collections.Counter
    other.counts["a"] += 1
    assert names.counts["a"] == state["counts"]["a"] == 2
    for forged in (["a"], None, "a"):
        with pytest.raises(ValueError, match="is not a dict"):
            Names().restore(state | {"counts": forged})
