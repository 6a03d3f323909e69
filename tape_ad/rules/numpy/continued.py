"""What rules are written with where a formula has a hole: its value there, and its own slopes.

``np.where(x == y, 0, x - y)`` has the right value also where both are infinite, but where they are
equal it has no slope, and second derivatives are wrong in silence. Each function here has a value
of its own at such points and, by its own rule, the derivative of the formula everywhere: inf or
nan where that has none.

Holes are rare, and to look for them element by element takes longer than the formula. So most of
these compute it first as it stands: a hole shows as nan in what it gives, or as an operand beyond
some bound, which one reduction finds.
"""

import math
from typing import Any

import numpy as np
from attrs import evolve

from tape_ad.base.arrays.overridable import SYMBOLS, overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, as_array, quiet, rule, stated
from tape_ad.rules.maps import SAME, Array, Negate, add_reduce

LN2 = math.log(2.0)

SQUARES = {"d": (2.0**-960, 2.0**1020), "f": (2.0**-100, 2.0**120)}
"""Between what bounds a sum of two squares has lost nothing, by the codes of the floats.

Below, a square may have fewer digits than its operand, or none; above, it may be inf."""


@overridable
def difference(x: Array, y: Array) -> Array:
    """x - y, and 0 where they are equal, also where both are infinite."""
    with np.errstate(all="ignore"):
        plain = np.subtract(x, y)
        return plain if no_nan(plain) else np.where(np.equal(x, y), 0, plain)


@overridable
def ratio(x: Array, y: Array) -> Array:
    """x / y, and 0 where both are 0."""
    with np.errstate(all="ignore"):
        plain = np.divide(x, y)
        if no_nan(plain):
            return plain
        return np.divide(x, np.where(np.equal(x, 0) & np.equal(y, 0), 1, y))


@overridable
def unit(x: Array, length: Array) -> Array:
    """x / length, for a length that is 0 only where x is; there it is 0."""
    if type(length) not in SYMBOLS and least(length) > 0:
        return x / length
    return x / np.where(np.equal(length, 0), 1, length)


@overridable
def over_square(x: Array, y: Array) -> Array:
    """x / (x**2 + y**2), for real numbers, without squares that could overflow."""
    with np.errstate(all="ignore"):
        square = x * x + y * y
        if type(square) is np.ndarray:  # of one number the square root takes no time
            low, high = SQUARES.get(square.dtype.char, (np.inf, 0))
            if least(square) > low and greatest(square) < high:
                return x / square
        radius = np.hypot(x, y)
        return x / radius / radius


@overridable
def logistic(x: Array, base: float) -> Array:
    """1 / (1 + base**-x), for the base e or 2, as power / (1 + power) down to the least numbers."""
    half = x.dtype.char == "e"
    with np.errstate(all="ignore"):
        if base == 2:
            power = np.exp2(np.minimum(x, 15.0 if half else 127.0))  # from there on it is 1
        else:
            power = np.exp(np.minimum(x, 11.0 if half else 80.0))
        return power / (1 + power)


@overridable
def signed_power(x: Array, exponent: float) -> Array:
    """sign(x) abs(x)**exponent, for real x; 0 at 0 with a negative exponent too."""
    size = np.abs(x)
    if exponent < 0:
        size = np.where(np.equal(x, 0), 1, size)
    return np.sign(x) * size**exponent


@overridable
def power_derivative(x: Array, y: Array, n: int, k: int) -> Array:
    """Differentiate x**y, n times by x and k times by y; both have the dtype of the result.

    By Leibniz's rule it is a sum of x**(y - n) log(x)**m times polynomials in y. At x = 0 each term
    has its limit from the right, which is 0 where the polynomial is; but a power of 0 has no slope
    in its exponent.
    """
    with np.errstate(all="ignore"):
        if n + k == 1:
            plain = y * x ** (y - 1) if n else x**y * np.log(x)
            if all_finite(plain):
                return plain
        power = x ** (y - n)
        log: Array = np.log(x) if k else 0.0
        total: Array = 0.0
        for j, polynomial in enumerate(falling_factorial(y, n, k)):
            factor = math.comb(k, j) * math.factorial(j) * polynomial
            term = power if j == k else np.where(np.equal(power, 0), 0, power * log ** (k - j))
            total = total + np.where(np.equal(factor, 0), 0, factor * term)
        if k and not n:
            total = np.where(np.equal(x, 0) & np.equal(y, 0), 0, total)
        return np.asarray(total, np.result_type(x, y))[()]


@overridable
def within(x: Array, low: float, high: float) -> Array:
    """Clip real numbers that only rounding can take beyond two bounds; the slope stays 1."""
    return np.clip(x, low, high)


def least(x: Array) -> Any:
    """Find the least element of plain numbers: nan if there is one, and inf if there are none."""
    return np.minimum.reduce(x, axis=None, initial=np.inf)


def greatest(x: Array) -> Any:
    """Find the greatest element of plain numbers: nan if there is one, -inf if there are none."""
    return np.maximum.reduce(x, axis=None, initial=-np.inf)


def no_nan(x: Array) -> bool:
    """Tell whether plain numbers are all different from nan; of a symbol nobody knows."""
    return type(x) not in SYMBOLS and not np.isnan(least(x))


def all_finite(x: Array) -> bool:
    """Tell whether plain numbers are all finite, by their sum; if that overflows, say no."""
    return bool(np.isfinite(add_reduce(x, axis=None)))


def bounded(x: Array) -> Array:
    """Put the largest numbers in the place of the infinities.

    A derivative that falls to 0 towards infinity then stays 0, where its formula's own derivative
    is infinity times 0.
    """
    if x.dtype.kind == "c" or (type(x) is np.ndarray and all_finite(x)):
        return x
    limit = np.finfo(x.dtype).max
    return np.clip(x, -limit, limit)


def falling_factorial(y: Array, n: int, k: int) -> list[Array]:
    """Give y (y - 1) ... (y - n + 1) as a series in the change of y, up to the order k."""
    series: list[Array] = [1.0, *[0.0] * min(n, k)]
    for i in range(n):
        series = [(y - i) * c + (series[j - 1] if j else 0.0) for j, c in enumerate(series)]
    return series


def ratio_second(out: Array, x: Array, y: Array) -> Array:
    """-x / y**2, and 0 where both are 0."""
    return -ratio(ratio(x, y), y)


def over_square_first(out: Array, x: Array, y: Array) -> Array:
    """(y**2 - x**2) / (x**2 + y**2)**2."""
    other = over_square(y, x)
    return (other - out) * (other + out)


def logistic_slope(out: Array, x: Array, base: float) -> Array:
    """The product of the logistic functions of x and -x, as 1 - out would lose its digits."""
    slope = out * logistic(-x, base)
    return slope * LN2 if base == 2 else slope


OPAQUE: dict[Any, Entry] = stated(
    facts.ELEMENTWISE,
    {
        power_derivative: rule(
            lambda out, x, y, n, k: power_derivative(x, y, n + 1, k),
            lambda out, x, y, n, k: power_derivative(x, y, n, k + 1),
            None,
            None,
        ),
        over_square: rule(
            quiet(over_square_first), quiet(lambda out, x, y: -2 * out * over_square(y, x))
        ),
    },
)
"""Functions that look at whole arrays to find the best formula."""

COMPOSED: dict[Any, Entry] = {
    difference: rule(lambda out, x, y: SAME, lambda out, x, y: Negate()),
    ratio: rule(quiet(lambda out, x, y: 1 / as_array(y)), ratio_second),
    unit: rule(
        quiet(lambda out, x, length: 1 / length),
        lambda out, x, length: -unit(unit(x, length), length),
    ),
    logistic: rule(quiet(logistic_slope), None),
    signed_power: rule(
        quiet(lambda out, x, exponent: exponent * np.abs(x) ** (exponent - 1)), None
    ),
    within: rule(lambda out, x, low, high: SAME, None, None),
}
"""Functions whose own lines are right for every element."""

CONTINUED: dict[Any, Entry] = OPAQUE | {
    function: evolve(entry, facts=facts.ELEMENTWISE.composed_of(function))
    for function, entry in COMPOSED.items()
}
