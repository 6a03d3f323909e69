"""Where Python's own numbers raise an error, or leave what native code can hold.

Python's integers have no bounds, and its floats raise where NumPy's give inf or nan. Each formula
here tells when that is so; the call is then left to Python.
"""

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.codegen.floats import is_finite
from tape_ad.programs.engines.native.codegen.ir_builder import BOOL, VectorValue

__all__ = ["failing"]

LEAST = int(np.iinfo(np.int64).min)
EXACT = 2**53
"""Up to where floats hold every integer, so that their quotient is rounded once."""


def never(result: VectorValue, *args: VectorValue) -> VectorValue:
    """Say no."""
    return result.builder.constant(False, BOOL)


def by_zero(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether a float is divided by zero."""
    return y == 0.0


def no_power(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether a power is infinite or complex, or a root that NumPy computes otherwise."""
    lost = is_finite(x) & is_finite(y) & ~is_finite(result)
    return lost | ((x <= 0.0) & (y == 0.5))


def no_sum(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether the sum has another sign than both operands."""
    return ((x ^ result) & (y ^ result)) < 0


def no_difference(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether x - y has left its bounds: what is y + (x - y) then."""
    return ((x ^ y) & (x ^ result)) < 0


def no_product(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether the high half of the product is more than a sign."""
    builder = x.builder
    if builder.lanes > 1:
        raise NotImplementedError("Python's integers are single ones")
    name = "@llvm.smul.with.overflow.i64"
    builder.declarations[name] = f"declare {{i64, i1}} {name}(i64, i64)"
    both = builder.emit(f"call {{i64, i1}} {name}(i64 {x.name}, i64 {y.name})")
    return VectorValue(builder, builder.emit(f"extractvalue {{i64, i1}} {both}, 1"), BOOL)


def no_quotient(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether an integer is divided by zero, or the least one by -1."""
    return (y == 0) | ((x == LEAST) & (y == -1))


def no_float(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether a quotient of integers may be no quotient of floats."""
    inexact = [(z > EXACT) | (z < -EXACT) for z in (x, y)]
    return (y == 0) | inexact[0] | inexact[1]


FAILURES: Mapping[str, Mapping[Any, Callable[..., VectorValue]]] = MappingProxyType(
    {
        "f": {
            **dict.fromkeys((operator.add, operator.sub, operator.mul, operator.neg), never),
            **dict.fromkeys((operator.pos, operator.abs, operator.eq, operator.ne), never),
            **dict.fromkeys((operator.lt, operator.le, operator.gt, operator.ge), never),
            **dict.fromkeys((operator.truediv, operator.floordiv, operator.mod), by_zero),
            divmod: by_zero,
            operator.pow: no_power,
        },
        "i": {
            **dict.fromkeys((operator.pos, operator.eq, operator.ne), never),
            **dict.fromkeys((operator.lt, operator.le, operator.gt, operator.ge), never),
            **dict.fromkeys((operator.and_, operator.or_, operator.xor), never),
            operator.invert: never,
            operator.add: no_sum,
            operator.sub: no_difference,
            operator.mul: no_product,
            operator.neg: lambda result, x: x == LEAST,
            operator.abs: lambda result, x: x == LEAST,
            operator.truediv: no_float,
            operator.floordiv: no_quotient,
            operator.mod: no_quotient,
            divmod: no_quotient,
        },
    }
)
"""By the kind of the operands' dtype, float64 or int64, and the function."""


def failing(function: Any, *args: VectorValue) -> VectorValue:
    """Tell where what `elementwise.lowered` gives is not what Python gives of its own numbers.

    Parameters
    ----------
    function : callable
        One of `operator`, of Python's floats or integers.
    *args : Lane
        The operands, of one dtype, and what the instructions give.

    Returns
    -------
    VectorValue
        Bools.

    Raises
    ------
    LookupError
        The function has to be left to Python.
    """
    *operands, result = args
    found: VectorValue = FAILURES[operands[0].dtype.kind][function](result, *operands)
    return found
