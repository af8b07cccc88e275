from __future__ import annotations

import copy
import dataclasses
import math
import pickle

import pytest
from algorithms import KERNELS, each_kernel
from river import utils

import river_budget as rb
from river_budget.kernels import Scaled


def test_values_by_hand():
    x, z = {"a": 1.0, "b": 2.0}, {"b": 1.0, "c": -2.0}
    assert rb.Linear()(x, z) == 2.0
    assert rb.Polynomial(degree=2, gamma=0.5, coef0=3.0)(x, z) == 16.0
    assert rb.RBF(gamma=0.5)(x, z) == pytest.approx(math.exp(-3.0))
    assert rb.Laplacian(gamma=0.5)(x, z) == pytest.approx(math.exp(-2.0))
    assert rb.Normalized(rb.Linear())(x, z) == pytest.approx(2.0 / 5.0)
    assert rb.FunctionKernel(lambda x, z: len(x) * len(z))(x, z) == 4


def test_the_zero_vector_is_orthogonal_to_all_examples():
    cosine = rb.Normalized(rb.Linear())
    assert cosine({}, {}) == 0.0
    assert cosine({"a": 0.0}, {"a": 1.0}) == 0.0


@each_kernel
def test_kernels_are_values(kernel):
    copied = copy.deepcopy(kernel)
    assert copied == kernel
    assert hash(copied) == hash(kernel)
    assert kernel.clone() == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert [other for other in KERNELS if other == kernel] == [kernel]
    with pytest.raises(dataclasses.FrozenInstanceError):
        kernel.gamma = 2.0


def test_the_repr_of_a_model_has_the_parameters_of_its_kernel():
    model = rb.Stoptron(rb.Normalized(rb.Polynomial(degree=2)))
    assert "Normalized(kernel=Polynomial(degree=2, gamma=1.0, coef0=1.0))" in repr(model)
    assert repr(rb.FunctionKernel(math.dist)) == "FunctionKernel(f=dist)"
    declared = rb.FunctionKernel(math.dist, has_unit_norm=True)
    assert repr(declared) == "FunctionKernel(f=dist, has_unit_norm=True)"


def test_kernels_in_a_parameter_grid():
    grid = {"kernel": [rb.RBF(gamma=0.1), rb.Linear()], "budget": [10, 20]}
    models = utils.expand_param_grid(rb.Stoptron(), grid)
    assert {(str(model.kernel), model.budget) for model in models} == {
        ("RBF(gamma=0.1)", 10), ("RBF(gamma=0.1)", 20), ("Linear()", 10), ("Linear()", 20),
    }  # fmt: skip


def test_gamma_and_names_are_set_from_the_first_example():
    assert rb.RBF().resolve("abcd") == rb.RBF(gamma=0.25)
    assert rb.RBF().resolve("") == rb.RBF(gamma=1.0)
    assert rb.RBF(gamma=3.0).resolve("abcd") == rb.RBF(gamma=3.0)
    assert rb.Normalized(rb.Laplacian()).resolve("ab") == rb.Normalized(rb.Laplacian(gamma=0.5))
    additive = rb.AdditiveRationalQuadratic(gamma=0.5, names=("a", "b"))
    assert rb.AdditiveRationalQuadratic().resolve("ab") == additive
    assert additive.resolve("xyz") == additive
    with pytest.raises(ValueError, match="names"):
        rb.AdditiveRationalQuadratic(gamma=1.0)({}, {})
    with pytest.raises(ValueError, match="set it to evaluate"):
        rb.RBF()({}, {})


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: rb.RBF(gamma=0), "gamma"),
        (lambda: rb.RBF(gamma=-1.0), "gamma"),
        (lambda: rb.RBF(gamma=math.nan), "gamma"),
        (lambda: rb.RBF(gamma=math.inf), "gamma"),
        (lambda: rb.RBF(gamma="wide"), "gamma"),
        (lambda: rb.Laplacian(gamma=-1.0), "gamma"),
        (lambda: rb.Polynomial(gamma=None), "gamma"),
        (lambda: rb.Polynomial(degree=0), "degree"),
        (lambda: rb.Polynomial(degree=2.5), "degree"),
        (lambda: rb.Polynomial(coef0=-1.0), "coef0"),
        (lambda: rb.Normalized(math.dist), "kernel"),
        (lambda: Scaled(math.dist), "kernel"),
        (lambda: Scaled(rb.RBF(1.0), {"a": 1.0}), "scales must be a tuple of pairs"),
        (lambda: Scaled(rb.RBF(1.0), (("a", 0.0),)), "scales: the scale of 'a' must be a number"),
        (lambda: Scaled(rb.RBF(1.0), (("a", 1.0), ("a", 2.0))), "scales must have each name once"),
        (lambda: Scaled(rb.RBF(1.0), other=math.nan), "other must be a number"),
        (lambda: rb.FunctionKernel(3), "f must"),
        (lambda: rb.FunctionKernel(max, has_unit_norm=1), "has_unit_norm must be one of"),
    ],
)
def test_parameters_out_of_range(make, name):
    with pytest.raises(ValueError, match=name):
        make()
