"""Vectors of `LANES` doubles for compiled code, which LLVM maps to the registers of the machine.

Offsets are those of the flat array. Where nothing else is said, a product and the sum that it is
added to may be rounded at once.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.extending import intrinsic

LANES = 8

_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_ALL_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)


class _Lanes(types.Type):
    """The type of a vector."""


@register_default(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, type_of_lanes: Any) -> None:
        super().__init__(manager, type_of_lanes, _VECTOR)


_lanes = _Lanes("lanes")

# Decorates a function that returns the types of an operation and the code that it generates.
operation: Any = intrinsic


def _place(context: Any, builder: Any, array_type: Any, array: Any, i: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [i]), _VECTOR.as_pointer())


@operation
def load(_: Any, array: Any, i: Any) -> Any:
    """Return the elements of an array from offset i on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, signature.args[0], *args), align=8)

    return _lanes(array, types.intp), generate


@operation
def store(_: Any, array: Any, i: Any, lanes: Any) -> Any:
    """Set the elements of an array from offset i on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _place(context, builder, signature.args[0], *args[:2]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes), generate


@operation
def broadcast(_: Any, x: Any) -> Any:
    """Return a vector with a number in all lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        none = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(none, args[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, none, _ALL_FIRST)

    return _lanes(types.float64), generate


@operation
def add_product(_: Any, total: Any, a: Any, b: Any) -> Any:
    """Return total + a b."""
    return _lanes(_lanes, _lanes, _lanes), _with_product("fadd")


@operation
def subtract_product(_: Any, total: Any, a: Any, b: Any) -> Any:
    """Return total - a b."""
    return _lanes(_lanes, _lanes, _lanes), _with_product("fsub")


def _with_product(name: str) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.fmul(args[1], args[2], flags=["contract"])
        return getattr(builder, name)(args[0], product, flags=["contract"])

    return generate


@operation
def add_difference(_: Any, total: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return total + (a b - c d), with both products rounded: equal ones cancel."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        difference = builder.fsub(builder.fmul(*args[1:3]), builder.fmul(*args[3:5]))
        return builder.fadd(args[0], difference)

    return _lanes(_lanes, _lanes, _lanes, _lanes, _lanes), generate


@operation
def total(_: Any, lanes: Any) -> Any:
    """Return the sum of the lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_DOUBLE, [_DOUBLE, _VECTOR])
        name = f"llvm.vector.reduce.fadd.v{LANES}f64"
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(function, [ir.Constant(_DOUBLE, -0.0), args[0]], fastmath=["reassoc"])

    return types.float64(_lanes), generate
