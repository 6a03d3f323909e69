"""Factors and summands that change nothing, and squares."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.programs.passes.rewriting import Rewriting, Rule, alike
from tape_ad.programs.program.program import Call, Value
from tape_ad.rules.maps.matrix_products import one_in_each, scaled_rows, times_matrix

__all__ = ["NEUTRAL_OPERANDS", "SQUARES", "UNIT_ROWS", "has_squares"]

POWERS = frozenset("fd")
"""The dtypes whose power of 2 NumPy may compute as a product, by their codes."""


def product(call: Call, rewriting: Rewriting) -> Value | None:
    """Give x for ``x * 1`` and ``1 * x``."""
    return beside(call, rewriting, 0, "iuf", is_one) or beside(call, rewriting, 1, "iuf", is_one)


def quotient(call: Call, rewriting: Rewriting) -> Value | None:
    """Give x for ``x / 1``."""
    return beside(call, rewriting, 0, "f", is_one)


def difference(call: Call, rewriting: Rewriting) -> Value | None:
    """Give x for ``x - 0``."""
    return beside(call, rewriting, 0, "iufc", is_zero)


def beside(
    call: Call, rewriting: Rewriting, place: int, kinds: str, idle: Callable[[Any], bool]
) -> Value | None:
    """Give the operand in a place if the result is just like it, and the other one is idle."""
    if len(call.args) != 2 or call.kwargs:
        return None
    x, other = call.args[place], call.args[1 - place]
    if type(other) is Value and other not in rewriting.literals:
        return None  # as most are
    if type(x) is not Value or x.dtype is None or x.dtype.kind not in kinds:
        return None
    return x if alike(x, call.outputs[0]) and rewriting.is_known(other, idle) else None


def is_one(known: Any) -> bool:
    """Tell whether something known is all ones."""
    if type(known) is float or type(known) is int:
        return known == 1
    return isinstance(known, (np.ndarray, np.generic)) and bool(np.all(np.equal(known, 1)))


def is_zero(known: Any) -> bool:
    """Tell whether something known is all zeros, and none of them negative."""
    if type(known) is float or type(known) is int:
        return known == 0 and math.copysign(1, known) > 0
    if not isinstance(known, (np.ndarray, np.generic)) or known.dtype.kind not in "iuf":
        return False
    return not np.any(known) and not np.any(np.signbit(known))


def square(call: Call, rewriting: Rewriting) -> Call | None:
    """Give the square for a power of 2."""
    if len(call.args) != 2 or call.kwargs:
        return None
    x, exponent = call.args
    if type(x) is not Value or x.dtype is None or x.dtype.char not in POWERS:
        return None
    if call.outputs[0].dtype != x.dtype or type(exponent) not in {int, float} or exponent != 2:
        return None
    if not has_squares(x.dtype.char):
        return None
    return Call(np.square, (x,), {}, call.outputs, errors=call.errors)


@functools.cache
def has_squares(code: str) -> bool:
    """Tell whether NumPy computes powers of 2 as products; in older versions some bits differ."""
    x = np.random.default_rng(0).normal(size=4096).astype(code)
    return np.array_equal(np.power(x, 2), np.square(x))


NEUTRAL_OPERANDS: dict[Any, Rule] = {
    np.divide: quotient,
    np.multiply: product,
    np.subtract: difference,
}
"""What finds factors of 1 and subtractions of 0.

A complex product with 1 adds 0 times the other part, which is nan for inf; and adding 0 takes -0.0
to 0.0, so those stay, as does all that changes a dtype, a shape or a layout.
"""

SQUARES: dict[Any, Rule] = {np.power: square}
"""What writes ``x ** 2`` as a square for real x, as NumPy computes it.

For complex x it takes another way, with another rounding.
"""


def scale_by_unit_rows(call: Call, rewriting: Rewriting) -> Call | None:
    """Write a product of known unit vectors, as a Jacobian starts with, as what it picks."""
    if len(call.args) != 2 or call.kwargs:
        return None
    rows, right = call.args
    known = rewriting.literals.get(rows) if type(rows) is Value else None
    if type(known) is not np.ndarray or type(right) is not Value or right.kind is not np.ndarray:
        return None
    found = one_in_each(known) if known.ndim == len(right.shape) == 2 else None
    if found is None:
        return None
    factors, columns = found
    begin = int(columns[0])
    if (columns != np.arange(begin, begin + len(columns))).any():
        return None
    args = (rows, right, factors, begin)
    return Call(scaled_rows, args, {}, call.outputs, errors=call.errors)


UNIT_ROWS: dict[Any, Rule] = {times_matrix: scale_by_unit_rows}
"""What finds products that only scale the rows of a matrix, for arrays that nobody can change."""
