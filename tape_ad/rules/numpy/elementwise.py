"""Functions that act element by element.

Conventions at points where the derivative is not unique: `absolute` and `hypot` have derivative 0
at 0; where the two operands of maximum, minimum, fmax and fmin tie, they share the gradient
equally.
"""

import math
import operator
from typing import Any

import numpy as np
from numpy._core import umath

from tape_ad.base.arrays.overridable import certainly, is_traced, whole
from tape_ad.rules import facts
from tape_ad.rules.base import (
    NO_VALUE,
    Call,
    Derivation,
    Entry,
    as_array,
    constants,
    quiet,
    refuse,
    rule,
)
from tape_ad.rules.maps import (
    SAME,
    Array,
    Chain,
    Conjugate,
    Divide,
    ImaginaryPart,
    LinearMap,
    Mask,
    Negate,
    Partial,
    RealPart,
    Scale,
)
from tape_ad.rules.numpy.continued import (
    CONTINUED,
    all_finite,
    bounded,
    difference,
    greatest,
    least,
    logistic,
    over_square,
    power_derivative,
    unit,
)

CLIP: Any = vars(umath)["clip"]
"""The ufunc behind ``array.clip``, which has no public name."""

LN2 = math.log(2.0)
LN10 = math.log(10.0)


def is_complex(x: Array) -> bool:
    """Tell whether an array, a handle or a Python number is complex."""
    return isinstance(x, complex) if not hasattr(x, "dtype") else bool(x.dtype.kind == "c")


def real_scale(factor: Array, x: Array) -> LinearMap:
    """Make the partial of a real function: Re(factor * t), which for a real `x` is a scale."""
    return Chain((Scale(factor), RealPart())) if is_complex(x) else factor


def nonzero(x: Array) -> Array:
    """Replace zeros by ones, to divide by where the numerator is zero too."""
    return np.where(x == 0, 1, x)


def absolute(out: Array, x: Array) -> Partial:
    """|z|' = Re(conj(z) / |z| * t), which is sign(x) on the reals; 0 at 0."""
    if is_complex(x):
        return real_scale(unit(x, out).conjugate(), x)
    return np.sign(x)


def sign(x: Array, /, out: None = None, *, dtype: Any = None, casting: Any = "same_kind") -> Array:
    """Compute z / |z|, which on the reals is piecewise constant and so plain data."""
    refuse("sign", out=out)
    if dtype is not None:
        x = x.astype(dtype, casting=casting)
    if is_complex(x):
        return unit(x, np.absolute(x))
    signs = np.subtract(np.greater(x, 0), np.less(x, 0), dtype=x.dtype.type)
    return np.where(np.isnan(x), x.dtype.type(np.nan), signs)[()]


def power_base(out: Array, x: Array, y: Array) -> Array:
    """y * x**(y - 1), and 0 wherever y is 0, also at x = 0."""
    number = type(y) in (int, float)
    if number and y == 2:
        return 2 * x
    if is_traced(y) and type(y.data) is int:  # a formula of its own for each, as for plain ones
        return power_base(out, x, operator.index(y))
    if is_traced(out) and not (number and (y in QUICK or is_number(out))):
        return slope_in_base_as_one(out, x, y)
    return slope_in_base(out, x, y)


def slope_in_base(out: Array, x: Array, y: Array) -> Array:
    """The derivative of a power by its base, for plain arrays and handles."""
    number = type(y) in (int, float)
    if number and y == 2:
        return 2 * x
    with np.errstate(all="ignore"):
        if (number and y in QUICK) or (type(out) is not np.ndarray and is_float(y)):
            return y * x ** (y - 1) if y else 0.0
        divided = power_by_base(out, x, y)
        if divided is not None:
            return divided
        if number:
            return y * x ** (y - 1)
    return power_derivative(in_dtype(x, out.dtype), in_dtype(y, out.dtype), 1, 0)


def is_float(y: Array) -> bool:
    """Tell whether an exponent is one of Python's numbers, or notes calls in place of a float."""
    return type(y) in (int, float) or (is_traced(y) and type(y.data) is float)


slope_in_base_as_one = whole(slope_in_base)


QUICK = frozenset({0, 0.5, 1, 1.5, 3})
"""Exponents of which the next lower one is 0 or one that NumPy has a quick way for."""


def power_by_base(out: Array, x: Array, y: Array) -> Array | None:
    """Compute y * out / x, if no power has lost digits: another power takes up to 40 times that."""
    if type(out) is not np.ndarray or out.dtype.char not in "df":
        return None
    size = np.abs(out)
    limits = np.finfo(out.dtype)
    if not (least(size) > limits.tiny and greatest(size) <= limits.max):
        return None
    slope = y * (out / x)
    return slope if all_finite(slope) else None


def power_exponent(out: Array, x: Array, y: Array) -> Array:
    """x**y * log(x), and 0 at x = 0, the limit from the right for y > 0."""
    return (slope_in_exponent_as_one if is_traced(out) else slope_in_exponent)(out, x, y)


def slope_in_exponent(out: Array, x: Array, y: Array) -> Array:
    """The derivative of a power by its exponent, for plain arrays and handles."""
    x, y = in_dtype(x, out.dtype), in_dtype(y, out.dtype)
    if type(out) is np.ndarray:
        with np.errstate(all="ignore"):
            plain = out * np.log(x)
            if all_finite(plain):
                return plain
    return power_derivative(x, y, 0, 1)


slope_in_exponent_as_one = whole(slope_in_exponent)


def is_number(tracer: Any) -> bool:
    """Tell whether what notes calls stands for a number, and not for an array."""
    return not isinstance(tracer.data, np.ndarray)


def in_dtype(x: Array, dtype: Any) -> Array:
    """Cast to the dtype of a result, since integers may be small ones, and a float a short one."""
    x = as_array(x)
    return x if x.dtype == dtype else x.astype(dtype)


def cosine_of_arcsin(x: Array) -> Array:
    """sqrt(1 - x**2), on the branch cuts from the side that the zero imaginary part's sign says."""
    if is_complex(x):
        return np.sqrt(-(x - 1)) * np.sqrt(x - -1)  # x + 1 would lose the sign of a zero
    return np.sqrt((1 - x) * (1 + x))


def arcsinh(out: Array, x: Array) -> Array:
    """1 / sqrt(x**2 + 1), for real x without a square that could overflow."""
    return 1 / (np.sqrt(x * x - -1) if is_complex(x) else np.hypot(bounded(x), 1))


def arccosh(out: Array, x: Array) -> Array:
    """1 / sqrt(x**2 - 1), without an x + 1, which would lose the sign of a zero."""
    x = bounded(x)
    return 1 / (np.sqrt(x - 1) * np.sqrt(x - -1))


def arctan(out: Array, x: Array) -> Array:
    """1 / (1 + x**2)."""
    x = bounded(x)
    return 1 / (1 + x * x)


def cbrt(out: Array, x: Array) -> Array:
    """The derivative of the cube root: 1 / (3 cbrt(x)**2)."""
    root = bounded(out)
    return 1 / (root * root) / 3


def share(out: Array, x: Array, y: Array) -> LinearMap:
    """Give the gradient to `x` where the extremum is `x`, half of it where `y` ties."""
    return Mask(np.equal(x, out), np.equal(x, y))


def clip_a(out: Array, a: Array, low: Array, high: Array) -> LinearMap:
    """Give the gradient to what is between the bounds, half of it where that is one of them."""
    if not is_complex(out) and in_order(low, high):
        return Mask(np.equal(a, out), np.equal(a, low) | np.equal(a, high))
    raised = np.maximum(a, low)
    return Chain((share(raised, a, low), share(out, raised, high)))


def in_order(low: Array, high: Array) -> bool:
    """Tell whether one bound is everywhere below the other."""
    below = low < high
    return below if type(below) is bool else certainly(np.all(below))


def clip_low(out: Array, a: Array, low: Array, high: Array) -> LinearMap:
    """Differentiate min(max(a, low), high) by the lower bound."""
    raised = np.maximum(a, low)
    return Chain((share(raised, low, a), share(out, raised, high)))


def clip_high(out: Array, a: Array, low: Array, high: Array) -> LinearMap:
    """Differentiate min(max(a, low), high) by the upper bound."""
    return share(out, high, np.maximum(a, low))


def clip(
    a: Array,
    a_min: Array = NO_VALUE,
    a_max: Array = NO_VALUE,
    out: None = None,
    *,
    min: Array = NO_VALUE,  # noqa: A002 - NumPy's name
    max: Array = NO_VALUE,  # noqa: A002 - NumPy's name
    **options: Any,
) -> Array:
    """Clip as NumPy does: by a ufunc of two bounds, or by maximum or minimum where one is None."""
    refuse("clip", out=out, **options)
    low, high = bounds((a_min, a_max), (min, max))
    if low is None and high is None:
        np.clip(np.zeros(0), None, None)  # NumPy 2.0 wants a bound
        return np.positive(a)
    if high is None:
        return np.maximum(a, low)
    return np.minimum(a, high) if low is None else CLIP(a, low, high)


def bounds(old: tuple[Any, Any], new: tuple[Any, Any]) -> tuple[Any, Any]:
    """Read the bounds from their old names or their new ones; None stands for no bound."""
    given = [each is not NO_VALUE for each in old]
    if not any(given):
        low, high = (None if each is NO_VALUE else each for each in new)
        return low, high
    if not all(given):
        raise TypeError("np.clip takes both a_min and a_max; None stands for no bound")
    if any(each is not NO_VALUE for each in new):
        raise ValueError("np.clip takes a_min and a_max, or min and max, and not both pairs")
    return old


def where_signature(condition: Array, *choices: Array) -> Call:
    """Sort the arguments of `numpy.where`."""
    return (condition, *choices), {}


def astype_signature(x: Array, dtype: Any, /, *, device: Any = None, **options: Any) -> Call:
    """Sort the arguments of `numpy.astype`, and of the method, which takes no device."""
    if device not in (None, "cpu"):
        raise ValueError(f'np.astype: NumPy has the device "cpu" only, got {device!r}')
    return (x,), {"dtype": np.dtype(dtype), **options}


ELEMENTWISE: dict[Any, Entry] = {
    **CONTINUED,
    # Arithmetic
    np.add: rule(lambda out, x, y: SAME, lambda out, x, y: SAME),
    np.subtract: rule(lambda out, x, y: SAME, lambda out, x, y: Negate()),
    np.multiply: rule(lambda out, x, y: y, lambda out, x, y: x),
    np.divide: rule(lambda out, x, y: Divide(y), lambda out, x, y: -out / y),
    np.remainder: rule(lambda out, x, y: SAME, quiet(lambda out, x, y: -np.floor_divide(x, y))),
    np.negative: rule(lambda out, x: Negate()),
    np.positive: rule(lambda out, x: SAME),
    np.reciprocal: rule(lambda out, x: -out * out),
    np.square: rule(lambda out, x: 2 * x),
    np.power: rule(power_base, power_exponent),
    np.sqrt: rule(quiet(lambda out, x: 0.5 / out)),
    np.cbrt: rule(quiet(cbrt)),
    # Exponentials and logarithms
    np.exp: rule(lambda out, x: out),
    np.expm1: rule(quiet(lambda out, x: np.exp(x))),
    np.exp2: rule(lambda out, x: out * LN2),
    np.log: rule(lambda out, x: Divide(x)),
    np.log1p: rule(lambda out, x: Divide(1 + x)),
    np.log2: rule(quiet(lambda out, x: 1 / LN2 / x)),
    np.log10: rule(quiet(lambda out, x: 1 / LN10 / x)),
    np.logaddexp: rule(
        lambda out, x, y: logistic(difference(x, y), math.e),
        lambda out, x, y: logistic(difference(y, x), math.e),
    ),
    np.logaddexp2: rule(
        lambda out, x, y: logistic(difference(x, y), 2),
        lambda out, x, y: logistic(difference(y, x), 2),
    ),
    # Trigonometric and hyperbolic functions
    np.sin: rule(lambda out, x: np.cos(x)),
    np.cos: rule(lambda out, x: -np.sin(x)),
    np.tan: rule(lambda out, x: 1 + out * out),
    np.arcsin: rule(quiet(lambda out, x: 1 / cosine_of_arcsin(x))),
    np.arccos: rule(quiet(lambda out, x: -1 / cosine_of_arcsin(x))),
    np.arctan: rule(quiet(arctan)),
    np.arctan2: rule(
        lambda out, y, x: over_square(in_dtype(x, out.dtype), in_dtype(y, out.dtype)),
        lambda out, y, x: -over_square(in_dtype(y, out.dtype), in_dtype(x, out.dtype)),
    ),
    np.hypot: rule(
        quiet(lambda out, x, y: unit(x, out)),
        quiet(lambda out, x, y: unit(y, out)),
    ),
    np.sinh: rule(lambda out, x: np.cosh(x)),
    np.cosh: rule(lambda out, x: np.sinh(x)),
    np.tanh: rule(lambda out, x: 1 - out * out),
    np.arcsinh: rule(quiet(arcsinh)),
    np.arccosh: rule(quiet(arccosh)),
    np.arctanh: rule(quiet(lambda out, x: 1 / ((1 - x) * (1 + x)))),
    # Magnitude, order and choice
    np.absolute: rule(absolute),
    np.sign: Derivation(sign),
    np.fabs: rule(lambda out, x: np.sign(x)),
    **dict.fromkeys(
        (np.maximum, np.minimum, np.fmax, np.fmin),
        rule(share, lambda out, x, y: share(out, y, x)),
    ),
    np.clip: Derivation(clip, facts=facts.ELEMENTWISE),
    CLIP: rule(clip_a, clip_low, clip_high),
    np.where: rule(
        None,
        lambda out, condition, x, y: Mask(np.logical_and(condition, condition)),
        lambda out, condition, x, y: Mask(np.logical_not(condition)),
        signature=where_signature,
        facts=facts.elementwise("condition", "x", "y"),
    ),
    # Complex numbers and dtypes
    np.conjugate: rule(lambda out, x: Conjugate() if is_complex(x) else SAME),
    np.real: rule(
        lambda out, val: RealPart() if is_complex(val) else SAME,
        signature=lambda val: ((val,), {}),
        facts=facts.ELEMENTWISE.also(view=True),
    ),
    np.imag: rule(
        lambda out, val: ImaginaryPart() if is_complex(val) else 0.0,
        signature=lambda val: ((val,), {}),
        facts=facts.ELEMENTWISE.also(view=True),
    ),
    np.astype: rule(
        lambda out, x, **options: SAME,
        signature=astype_signature,
        compute=lambda x, dtype, **options: x.astype(dtype, **options),
    ),
    # Piecewise constant
    **constants(
        *(np.equal, np.not_equal, np.less, np.less_equal, np.greater),
        *(np.greater_equal, np.logical_and, np.logical_or, np.logical_not, np.logical_xor),
        *(np.isnan, np.isinf, np.isfinite, np.signbit),
        *(np.floor, np.ceil, np.trunc, np.rint, np.floor_divide),
    ),
    **constants(
        *(np.isreal, np.iscomplex, np.round, np.around, np.isclose, np.isposinf, np.isneginf),
        facts=facts.ELEMENTWISE,
    ),
}
