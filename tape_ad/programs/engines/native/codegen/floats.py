"""Formulas of float32 and float64, one line per function."""

import functools
import math
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy._core import umath

from tape_ad.base.naming import COMPARISONS, PYTHON_OPERATORS
from tape_ad.programs.engines.native.codegen.ir_builder import (
    BOOL,
    FLOAT32,
    FLOAT64,
    WIDTHS,
    VectorValue,
    select,
)
from tape_ad.programs.engines.native.runtime.compiling import host

Formula = Callable[..., VectorValue]

CLIP: Any = vars(umath)["clip"]
"""The ufunc behind ``array.clip``, which has no public name."""
KEEPS_ZEROS = bool(np.signbit(CLIP(np.full(9, -0.0), 0.0, 1.0)).all())
"""Whether its loop for two numbers leaves -0.0 as it is beside 0.0."""

LN2 = math.log(2.0)
LOG2_E = 1 / LN2


def of_library(name: str) -> Formula:
    """Give the formula that is a call of a function in the library, by C's name for it."""

    def formula(*args: VectorValue) -> VectorValue:
        return args[0].builder.function(name, *args)

    return formula


def of_llvm(name: str) -> Formula:
    """Give the formula that is a function of LLVM's own, mostly one instruction."""

    def formula(*args: VectorValue) -> VectorValue:
        return args[0].builder.intrinsic(name, *args)

    return formula


absolute = of_llvm("fabs")
copysign = of_llvm("copysign")
floor = of_llvm("floor")
rint = of_llvm("rint")
square_root = of_llvm("sqrt")
truncated = of_llvm("trunc")
exp = of_library("exp")
log1p = of_library("log1p")
exp2 = of_library("exp2")


def itself(x: VectorValue) -> VectorValue:
    """Give the operand itself."""
    return x


def never(x: VectorValue, *others: VectorValue) -> VectorValue:
    """Give False for every element."""
    return x.builder.constant(False, BOOL)


def always(x: VectorValue) -> VectorValue:
    """Give True for every element."""
    return x.builder.constant(True, BOOL)


def is_nan(x: VectorValue) -> VectorValue:
    """Tell which elements are nan."""
    return x != x  # noqa: PLR0124 - as only nan does


def is_finite(x: VectorValue) -> VectorValue:
    """Tell which elements are neither infinite nor nan."""
    return absolute(x) < np.inf


def has_sign(x: VectorValue) -> VectorValue:
    """Tell which elements have their sign's bit set, zeros and nans too."""
    return x.builder.convert("bitcast", x, np.dtype(f"i{x.dtype.itemsize}")) < 0


def larger(x: VectorValue, y: VectorValue) -> VectorValue:
    """Give the larger one, or nan if one is; of two zeros the second, as the processor does."""
    if is_number(y):
        return select(x <= y, y, x)
    plain = select(x > y, x, y)
    return plain if is_number(x) else select(is_nan(x), x, plain)


def smaller(x: VectorValue, y: VectorValue) -> VectorValue:
    """Give the smaller one, or nan if one is; of two zeros the second, as the processor does."""
    if is_number(y):
        return select(x >= y, y, x)
    plain = select(x < y, x, y)
    return plain if is_number(x) else select(is_nan(x), x, plain)


def is_number(x: VectorValue) -> bool:
    """Tell whether a constant is one that is not nan, which takes fewer instructions."""
    number = x.builder.number(x)
    return number is not None and number == number  # noqa: PLR0124 - as nan is not


def clipped(x: VectorValue, low: VectorValue, high: VectorValue) -> VectorValue:
    """Give what is between two bounds; nan if one of the three is."""
    if is_number(low) and is_number(high):
        return clipped_by_two(x, low, high)
    return smaller(larger(x, low), high)


def clipped_by_two(x: VectorValue, low: VectorValue, high: VectorValue) -> VectorValue:
    """Give what is between two bounds that are the same for all elements.

    A zero keeps its sign beside a bound of zero, as NumPy's loop for those has it, since 2.1.
    """
    if not KEEPS_ZEROS:
        return smaller(larger(x, low), high)
    risen = select(x < low, low, x)
    found = select(risen > high, high, risen)
    for bound in (high, low):
        found = found if is_number(bound) else select(is_nan(bound), bound, found)
    return found


def sign(x: VectorValue) -> VectorValue:
    """Give -1, 0, 1 or nan; 0 without a sign."""
    one = select(x > 0.0, x.like(1.0), select(x < 0.0, x.like(-1.0), x.like(0.0)))
    return select(is_nan(x), x, one)


def heaviside(x: VectorValue, at: VectorValue) -> VectorValue:
    """Give 0 below zero, 1 above, and there the second operand."""
    beside = select(x < 0.0, x.like(0.0), x.like(1.0))
    return select(is_nan(x), x, select(x == 0.0, at, beside))


def fmod(x: VectorValue, y: VectorValue) -> VectorValue:
    """Give C's remainder, with the sign of `x`."""
    return x.builder.function("fmod", x, y)


def remainder(x: VectorValue, y: VectorValue) -> VectorValue:
    """Give what Python's ``%`` does: the sign is that of `y`, of a zero too."""
    rest = fmod(x, y)
    across = (rest != 0.0) & ((y < 0.0) ^ (rest < 0.0))
    moved = select(across, rest + y, rest)
    return select((rest == 0.0) & (y != 0.0), copysign(rest.like(0.0), y), moved)


def floor_divide(x: VectorValue, y: VectorValue) -> VectorValue:
    """Give what Python's ``//`` does: it fits the remainder, also where x / y rounds up."""
    rest = fmod(x, y)
    exact = (x - rest) / y
    across = (rest != 0.0) & ((y < 0.0) ^ (rest < 0.0))
    quotient = select(across, exact - 1.0, exact)
    down = floor(quotient)
    down = select(quotient - down > 0.5, down + 1.0, down)
    whole = select(quotient != 0.0, down, copysign(x.like(0.0), x / y))
    return select(y == 0.0, x / y, whole)


def quotient(x: float, y: float, dtype: np.dtype[Any]) -> float:
    """Divide two constants as NumPy does, in the precision of the operand."""
    return float(dtype.type(x) / dtype.type(y))


@functools.cache
def fuses() -> bool:
    """Tell whether the processor adds a product without rounding it before, as NumPy has it do."""
    features = host().features
    return bool(features.get("fma") or features.get("neon"))


def product_and(x: VectorValue, y: VectorValue, rest: VectorValue) -> VectorValue:
    """Give x * y + rest, rounded once where it can be."""
    return x.builder.intrinsic("fma", x, y, rest) if fuses() else x * y + rest


MOST = 64
"""Up to which whole exponent a power is one of products."""


def shorter_power(exponent: Any) -> Formula | None:
    """Find the formula of powers by one number, where there is a shorter one than the library's."""
    known = POWERS.get(exponent)
    if known is None and exponent is not None and abs(exponent) <= MOST and is_whole(exponent):
        return functools.partial(by_products, exponent=int(exponent))
    return known


def is_whole(exponent: float) -> bool:
    """Tell whether a power is one of products, which processors can do without rounding them."""
    return exponent == int(exponent) and fuses()


def by_products(x: VectorValue, exponent: int) -> VectorValue:
    """Raise to a whole power within a unit: each product is kept with what has been rounded off."""
    base: tuple[VectorValue, VectorValue | None] = x, None
    if exponent < 0:
        quotient = 1.0 / x
        base = quotient, quotient * product_and(-quotient, x, x.like(1.0))
    found, rest = base
    for bit in f"{abs(exponent):b}"[1:]:
        found, rest = product_with_rest((found, rest), (found, rest))
        if bit == "1":
            found, rest = product_with_rest((found, rest), base)
    assert rest is not None  # noqa: S101 - for mypy: there has been a product
    both = found + rest
    size = absolute(both)
    return select((size > 0.0) & (size < np.inf), both, found)


def product_with_rest(
    x: tuple[VectorValue, VectorValue | None], y: tuple[VectorValue, VectorValue | None]
) -> tuple[VectorValue, VectorValue]:
    """Multiply numbers that have rests, which may be None for 0, and give the rest as well."""
    product = x[0] * y[0]
    rest = product_and(x[0], y[0], -product)
    for one, other in ((x[1], y[0]), (y[1], x[0])):
        if one is not None:
            rest = product_and(one, other, rest)
    return product, rest


def power(x: VectorValue, y: VectorValue) -> VectorValue:
    """Raise to a power; to some that are known by shorter ways, NumPy's or by products."""
    shorter = shorter_power(x.builder.number(y))
    return shorter(x) if shorter else x.builder.function("pow", x, y)


def power_by_one(x: VectorValue, y: VectorValue) -> VectorValue:
    """Raise all to one power, as NumPy does: by square roots, which keep -0.0, if that is 0.5."""
    return select(y == 0.5, square_root(x), power(x, y))


def plain_power(x: VectorValue, y: VectorValue) -> VectorValue:
    """Raise to a power as `numpy.float_power` does, which takes no square root for 0.5."""
    return x.builder.function("pow", x, y) if x.builder.number(y) == 0.5 else power(x, y)


def squared(x: VectorValue) -> VectorValue:
    """Multiply by itself."""
    return x * x


POWERS: Mapping[Any, Formula] = MappingProxyType(
    {
        -1: lambda x: 1.0 / x,
        0: lambda x: x.like(1.0),
        0.5: square_root,
        1: itself,
        2: squared,
        3: lambda x: x * x * x,
        4: lambda x: squared(x * x),
    }
)
"""A product of n factors is off by at most n - 1 units, and a part of it is as large or as small as
the whole: it neither overflows nor loses digits alone."""


LN2_IN_PARTS: Mapping[Any, tuple[float, float]] = MappingProxyType(
    {
        FLOAT64: (6.93147180369123816490e-01, 1.90821492927058770002e-10),
        FLOAT32: (0.693359375, LN2 - 0.693359375),
    }
)
"""The logarithm of 2 as a sum of a number of few bits, whose products with small integers are
exact, and the rest."""


def tanh(x: VectorValue) -> VectorValue:
    """Compute tanh(k log(2) / 2 + rest) by the addition theorem, within three units.

    Of the first term it is (2**k - 1) / (2**k + 1), of the rest, which is at most log(2) / 4,
    Lambert's continued fraction. What is missing to 1 is computed where it is the smaller part: a
    slope, 1 - tanh(x)**2, is made of that. libmvec's function takes more than twice the time.
    """
    vectors = (x.builder.library.vector_symbol("tanh", x.dtype, width) for width in WIDTHS)
    if x.builder.lanes == 1 or not any(vectors):
        return x.builder.function("tanh", x)
    info, integers = np.finfo(x.dtype), np.dtype(f"i{x.dtype.itemsize}")
    first, second = LN2_IN_PARTS[x.dtype]
    size = absolute(x)
    size = select(size > 20.0, 20.0, size)  # from where on it is 1
    far = 1.5 * 2.0**info.nmant  # so large a number that the last bits of a sum are its units
    shifted = product_and(size, x.like(2 * LOG2_E), x.like(far))
    k = shifted - far
    rest = product_and(-k, x.like(second / 2), product_and(-k, x.like(first / 2), size))
    z = rest * rest
    upper = product_and(product_and(z, x.like(21.0), x.like(1260.0)), z, x.like(10395.0)) * rest
    lower = product_and(product_and(z + 210.0, z, x.like(4725.0)), z, x.like(10395.0))
    bits = x.builder.convert("bitcast", shifted, integers) << info.nmant
    power = x.builder.convert("bitcast", bits + (info.maxexp - 1 << info.nmant), x.dtype)
    less, more = power - 1.0, power + 1.0
    near_one = size > 0.6
    above = select(near_one, (upper - lower) * 2.0, product_and(less, lower, more * upper))
    quotient = above / product_and(more, lower, less * upper)
    return copysign(select(near_one, quotient + 1.0, quotient), x)


def add_in_logarithms(
    x: VectorValue, y: VectorValue, one: float, log_beside: Formula, power: Formula
) -> VectorValue:
    """Compute log(b**x + b**y) without overflow; for equal operands too, infinite ones among them.

    Parameters
    ----------
    x, y : VectorValue
    one : float
        The logarithm of 2.
    log_beside : callable
        The logarithm of 1 + z.
    power : callable
    """
    gap = x - y
    beside = log_beside(power(-absolute(gap)))
    apart = select(gap > 0.0, x, y) + beside
    return select(x == y, x + one, select(is_nan(gap), gap, apart))


ORDER: Mapping[Any, Any] = MappingProxyType({each: PYTHON_OPERATORS[each] for each in COMPARISONS})
"""Comparisons, which the operators of values write."""

TRUTH: Mapping[Any, Formula] = MappingProxyType(
    {
        np.logical_and: lambda x, y: (x != 0) & (y != 0),
        np.logical_or: lambda x, y: (x != 0) | (y != 0),
        np.logical_xor: lambda x, y: (x != 0) ^ (y != 0),
        np.logical_not: lambda x: x == 0,
    }
)
"""Of all numbers."""

SUMS: Mapping[Any, Formula] = MappingProxyType(
    {
        np.add: operator.add,
        np.subtract: operator.sub,
        np.negative: operator.neg,
        np.positive: itself,
    }
)
"""The same."""

OF_C = (
    *("expm1", "log", "log2", "log10", "cbrt", "hypot", "nextafter"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
    *("sinh", "cosh", "asinh", "acosh", "atanh"),
)
"""Functions that the library has too, by the name that both have."""

FLOATING: Mapping[Any, Formula] = MappingProxyType(
    {
        **SUMS,
        np.multiply: operator.mul,
        np.divide: operator.truediv,
        np.floor_divide: floor_divide,
        np.remainder: remainder,
        np.fmod: fmod,
        **dict.fromkeys((np.absolute, np.fabs), absolute),
        np.square: squared,
        np.reciprocal: lambda x: 1.0 / x,
        np.sqrt: square_root,
        np.power: power,
        np.float_power: plain_power,
        np.sign: sign,
        np.signbit: has_sign,
        np.copysign: copysign,
        np.heaviside: heaviside,
        np.conjugate: itself,
        **dict.fromkeys((np.deg2rad, np.radians), lambda x: x * quotient(np.pi, 180, x.dtype)),
        **dict.fromkeys((np.rad2deg, np.degrees), lambda x: x * quotient(180, np.pi, x.dtype)),
        # Order
        np.maximum: larger,
        np.minimum: smaller,
        np.fmax: lambda x, y: select((x > y) | is_nan(y), x, y),
        np.fmin: lambda x, y: select((x < y) | is_nan(y), x, y),
        CLIP: clipped,
        **ORDER,
        **TRUTH,
        np.isnan: is_nan,
        np.isinf: lambda x: absolute(x) == np.inf,
        np.isfinite: is_finite,
        # Rounding
        np.floor: floor,
        np.ceil: of_llvm("ceil"),
        np.trunc: truncated,
        np.rint: rint,
        # Exponentials and logarithms
        np.exp: exp,
        np.exp2: exp2,
        np.log1p: log1p,
        np.tanh: tanh,
        np.logaddexp: lambda x, y: add_in_logarithms(x, y, LN2, log1p, exp),
        np.logaddexp2: lambda x, y: add_in_logarithms(x, y, 1.0, lambda z: log1p(z) * LOG2_E, exp2),
        # C's, under C's names
        **{vars(np)[name]: of_library(name) for name in OF_C},
    }
)
"""Of float32 and float64."""
