"""Formulas of integers and of bools, one line per function.

Integers wrap around, as NumPy's do. What would be undefined in C is what NumPy makes of it: a
division by zero gives 0, and a shift by more than there are bits leaves none.
"""

import operator
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tape_ad.base.naming import PYTHON_OPERATORS
from tape_ad.programs.engines.native.codegen.floats import (
    CLIP,
    ORDER,
    SUMS,
    TRUTH,
    Formula,
    always,
    itself,
    never,
)
from tape_ad.programs.engines.native.codegen.ir_builder import (
    FLOAT64,
    VectorValue,
    cast,
    select,
    width_of,
)

UINT8 = np.dtype(np.uint8)


def least(dtype: np.dtype[Any]) -> int:
    """Give the least integer."""
    return int(np.iinfo(dtype).min)


def divisor(x: VectorValue, y: VectorValue) -> VectorValue:
    """Put 1 in the place of what the processor cannot divide by."""
    unfit = y == 0
    if x.dtype.kind == "i":
        unfit |= (x == least(x.dtype)) & (y == -1)
    return select(unfit, y.like(1), y)


def across(x: VectorValue, y: VectorValue, rest: VectorValue) -> VectorValue | None:
    """Tell where cutting off a quotient has rounded it up; never for unsigned integers."""
    return None if x.dtype.kind == "u" else (rest != 0) & ((rest ^ y) < 0)


def floor_divide(x: VectorValue, y: VectorValue) -> VectorValue:
    """Give what Python's ``//`` does, and 0 for a division by 0."""
    by = divisor(x, y)
    quotient = x / by
    up = across(x, by, x - quotient * by)
    if up is not None:
        quotient = select(up, quotient - 1, quotient)
    return select(y == 0, quotient.like(0), quotient)


def remainder(x: VectorValue, y: VectorValue) -> VectorValue:
    """Give what Python's ``%`` does, and 0 for a division by 0."""
    by = divisor(x, y)
    rest = x % by
    up = across(x, by, rest)
    return rest if up is None else select(up, rest + by, rest)


def absolute(x: VectorValue) -> VectorValue:
    """Take the sign off; the least integer stays what it is."""
    return x if x.dtype.kind == "u" else select(x < 0, -x, x)


def sign(x: VectorValue) -> VectorValue:
    """Give -1, 0 or 1."""
    below = select(x < 0, x.like(-1), x.like(0)) if x.dtype.kind == "i" else x.like(0)
    return select(x > 0, x.like(1), below)


def reciprocal(x: VectorValue) -> VectorValue:
    """Cut off the fraction of 1 / x; for 0 it is what becomes of infinity."""
    return cast(1.0 / cast(x, FLOAT64), x.dtype)


def within(y: VectorValue) -> VectorValue:
    """Tell which counts are less than there are bits; negative ones are none of them."""
    width = width_of(y.dtype)
    below = y < width
    return below & (y >= 0) if y.dtype.kind == "i" else below


def left_shift(x: VectorValue, y: VectorValue) -> VectorValue:
    """Shift, and leave 0 where nothing remains."""
    fits = within(y)
    return select(fits, x << select(fits, y, y.like(0)), x.like(0))


def right_shift(x: VectorValue, y: VectorValue) -> VectorValue:
    """Shift, and leave the sign where nothing else remains."""
    fits = within(y)
    most = y.like(width_of(y.dtype) - 1)
    shifted = x >> select(fits, y, most)
    return shifted if x.dtype.kind == "i" else select(fits, shifted, x.like(0))


def larger(x: VectorValue, y: VectorValue) -> VectorValue:
    """Give the larger one."""
    return select(x >= y, x, y)


def smaller(x: VectorValue, y: VectorValue) -> VectorValue:
    """Give the smaller one."""
    return select(x <= y, x, y)


def clipped(x: VectorValue, low: VectorValue, high: VectorValue) -> VectorValue:
    """Give what is between two bounds."""
    return smaller(larger(x, low), high)


def count_of_bits(x: VectorValue) -> VectorValue:
    """Count the ones in the number without its sign."""
    return cast(x.builder.intrinsic("ctpop", absolute(x)), UINT8)


def power(x: VectorValue, y: VectorValue) -> VectorValue:
    """Multiply by squares, for exponents from 0 on: NumPy raises an error for others."""
    known = x.builder.number(y)
    if known is not None:
        return known_power(x, int(known))
    if y.dtype.kind == "i":
        raise NotImplementedError("an exponent that may be negative")
    found, bits = x.like(1), width_of(y.dtype)
    for bit in range(bits):
        found = select((y & (1 << bit)) != 0, found * x, found)
        x = x * x if bit + 1 < bits else x
    return found


def known_power(x: VectorValue, exponent: int) -> VectorValue:
    """Multiply only what is needed."""
    if exponent < 0:
        raise NotImplementedError("a negative exponent")
    found = None
    while exponent:
        if exponent & 1:
            found = x if found is None else found * x
        exponent >>= 1
        x = x * x if exponent else x
    return x.like(1) if found is None else found


BITWISE: Mapping[Any, Any] = MappingProxyType(
    {
        each: PYTHON_OPERATORS[each]
        for each in (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert)
    }
)

INTEGRAL: Mapping[Any, Formula] = MappingProxyType(
    {
        **SUMS,
        np.multiply: operator.mul,
        np.divide: lambda x, y: cast(x, FLOAT64) / cast(y, FLOAT64),
        np.floor_divide: floor_divide,
        np.remainder: remainder,
        np.fmod: lambda x, y: x % divisor(x, y),
        np.absolute: absolute,
        np.square: lambda x: x * x,
        np.reciprocal: reciprocal,
        np.power: power,
        np.sign: sign,
        np.conjugate: itself,
        # Order
        **dict.fromkeys((np.maximum, np.fmax), larger),
        **dict.fromkeys((np.minimum, np.fmin), smaller),
        CLIP: clipped,
        **ORDER,
        # Truth
        **TRUTH,
        **dict.fromkeys((np.isnan, np.isinf), never),
        np.isfinite: always,
        # Bits
        **BITWISE,
        np.left_shift: left_shift,
        np.right_shift: right_shift,
        np.bitwise_count: count_of_bits,
        # Rounding
        **dict.fromkeys((np.floor, np.ceil, np.trunc), itself),
    }
)
"""Of signed and unsigned integers."""

LOGICAL: Mapping[Any, Formula] = MappingProxyType(
    {
        **dict.fromkeys((np.add, np.maximum, np.fmax, np.logical_or), operator.or_),
        **dict.fromkeys((np.multiply, np.minimum, np.fmin, np.logical_and), operator.and_),
        CLIP: lambda x, low, high: (x | low) & high,
        **ORDER,
        **dict.fromkeys((np.not_equal, np.logical_xor), operator.xor),
        np.logical_not: operator.invert,
        **dict.fromkeys((np.isnan, np.isinf), never),
        np.isfinite: always,
        **BITWISE,
        **dict.fromkeys((np.absolute, np.floor, np.ceil, np.trunc), itself),
    }
)
"""Of bools."""
