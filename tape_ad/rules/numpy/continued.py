"""What rules are written with where a formula has a hole: its value there, and its own slopes.

``np.where(x == y, 0, x - y)`` has the right value also where both are infinite, but where they are
equal it has no slope, and second derivatives are wrong in silence. Each function here has a value
of its own at such points and, by its own rule, the derivative of the formula everywhere: inf or
nan where that has none.
"""

import math
from typing import Any

import numpy as np

from tape_ad.linear_maps import SAME, Array, Negate
from tape_ad.overrides import overridable
from tape_ad.rules.base import Entry, as_array, quiet, rule

__all__ = [
    "CONTINUED",
    "bounded",
    "difference",
    "power_derivative",
    "ratio",
    "signed_power",
    "unit",
    "within",
]


@overridable
def difference(x: Array, y: Array) -> Array:
    """x - y, and 0 where they are equal, also where both are infinite."""
    with np.errstate(all="ignore"):
        return np.where(np.equal(x, y), 0, np.subtract(x, y))


@overridable
def ratio(x: Array, y: Array) -> Array:
    """x / y, and 0 where both are 0."""
    with np.errstate(all="ignore"):
        return np.divide(x, np.where(np.equal(x, 0) & np.equal(y, 0), 1, y))


@overridable
def unit(x: Array, length: Array) -> Array:
    """x / length, for a length that is 0 only where x is; there it is 0."""
    return x / np.where(np.equal(length, 0), 1, length)


@overridable
def signed_power(x: Array, exponent: float) -> Array:
    """sign(x) abs(x)**exponent, for real x; 0 at 0 with a negative exponent too."""
    return np.sign(x) * np.where(np.equal(x, 0), 1, np.abs(x)) ** exponent


@overridable
def power_derivative(x: Array, y: Array, n: int, k: int) -> Array:
    """Differentiate x**y, n times by x and k times by y; both have the dtype of the result.

    By Leibniz's rule it is a sum of x**(y - n) log(x)**m times polynomials in y. At x = 0 each term
    has its limit from the right, which is 0 where the polynomial is; but a power of 0 has no slope
    in its exponent.
    """
    with np.errstate(all="ignore"):
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


def bounded(x: Array) -> Array:
    """Put the largest numbers in the place of the infinities.

    A derivative that falls to 0 towards infinity then stays 0, where its formula's own derivative
    is infinity times 0.
    """
    limit = np.finfo(x.dtype).max
    return x if x.dtype.kind == "c" else np.clip(x, -limit, limit)


def falling_factorial(y: Array, n: int, k: int) -> list[Array]:
    """Give y (y - 1) ... (y - n + 1) as a series in the change of y, up to the order k."""
    series: list[Array] = [1.0, *[0.0] * min(n, k)]
    for i in range(n):
        series = [(y - i) * c + (series[j - 1] if j else 0.0) for j, c in enumerate(series)]
    return series


def ratio_second(out: Array, x: Array, y: Array) -> Array:
    """-x / y**2, and 0 where both are 0."""
    return -ratio(ratio(x, y), y)


CONTINUED: dict[Any, Entry] = {
    difference: rule(lambda out, x, y: SAME, lambda out, x, y: Negate()),
    ratio: rule(quiet(lambda out, x, y: 1 / as_array(y)), ratio_second),
    unit: rule(
        quiet(lambda out, x, length: 1 / length),
        lambda out, x, length: -unit(unit(x, length), length),
    ),
    signed_power: rule(
        quiet(lambda out, x, exponent: exponent * np.abs(x) ** (exponent - 1)), None
    ),
    within: rule(lambda out, x, low, high: SAME, None, None),
    power_derivative: rule(
        lambda out, x, y, n, k: power_derivative(x, y, n + 1, k),
        lambda out, x, y, n, k: power_derivative(x, y, n, k + 1),
        None,
        None,
    ),
}
