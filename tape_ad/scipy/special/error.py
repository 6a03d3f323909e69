"""SciPy's error functions, and the normal distribution and the integrals that belong to them."""

import math
from typing import Any

import numpy as np

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, bounded, possibly, unit
from tape_ad.extend.rules import Entry, Rule, overridable, quiet, rule
from tape_ad.rules.numpy.elementwise import power_base, power_exponent
from tape_ad.scipy.special.shared import in_double, sp

__all__ = ["ERROR", "PENALTIES"]

TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
ROOT_HALF = math.sqrt(0.5)
NORMAL = 1 / math.sqrt(2 * math.pi)

FAR = 7.0
"""Where the asymptotic series of erfcx and dawsn take over."""


@overridable
def erfcx_derivative(x: Array, order: int) -> Array:
    """Differentiate `scipy.special.erfcx` a number of times, for real x."""

    def derivative(x: Array) -> Array:
        return quadratic_growth(x, sp.erfcx(x), order, 1, -TWO_OVER_ROOT_PI, x > FAR)

    return in_double(derivative, x)


@overridable
def dawsn_derivative(x: Array, order: int) -> Array:
    """Differentiate `scipy.special.dawsn` a number of times, for real x."""

    def derivative(x: Array) -> Array:
        return quadratic_growth(x, sp.dawsn(x), order, -1, 1.0, np.abs(x) > FAR)

    return in_double(derivative, x)


def quadratic_growth(
    x: Array, y: Array, order: int, sign: int, constant: float, far: Array
) -> Array:
    """Differentiate a solution of y' = 2 sign x y + constant, by differentiating the equation.

    Where `far` says so, the terms of the equation nearly cancel, and y is a multiple of the
    asymptotic series sum of (2k - 1)!! (-sign / (2 x**2))**k / x, DLMF 7.12.1.
    """
    before, slope = y, 2 * sign * x * y + constant
    for n in range(1, order):
        before, slope = slope, 2 * sign * (x * slope + n * before)
    large = np.where(far, x, FAR)
    ratio = -sign / (2 * large * large)
    total: Array = 0.0
    for k in range(25, -1, -1):
        total = math.prod(range(2 * k + 1, 2 * k + 1 + order)) + (2 * k + 1) * ratio * total
    series = -constant / (2 * sign) * (-1 / large) ** order / large * total
    return np.where(far, series, slope)


def erfcx(out: Array, x: Array) -> Array:
    """2 x erfcx(x) - 2 / sqrt(pi)."""
    if x.dtype.kind == "c":
        return 2 * x * out - TWO_OVER_ROOT_PI
    return erfcx_derivative(x, 1)


def dawsn(out: Array, x: Array) -> Array:
    """1 - 2 x dawsn(x)."""
    return 1 - 2 * x * out if x.dtype.kind == "c" else dawsn_derivative(x, 1)


def bell(x: Array, rate: float, scale: float) -> Array:
    """scale exp(-rate x**2), all of whose derivatives are 0 at infinity."""
    if type(x) is not np.ndarray or not x.ndim or x.dtype.kind != "f":
        x = bounded(x)
        return np.exp(-rate * x * x) * scale
    power = np.square(x)
    power *= -rate
    np.exp(power, out=power)
    power *= scale
    return power


def inverse_mills_ratio(x: Array) -> Array:
    """Give the density over the distribution function of the normal distribution.

    From 30 on the latter is 1, and erfcx is too large for its square.
    """
    far = np.greater(x.real, 30)
    if not possibly(far):
        return 2 * NORMAL / sp.erfcx(x * -ROOT_HALF)
    ratio = 2 * NORMAL / sp.erfcx(np.where(far, 0, x) * -ROOT_HALF)
    return np.where(far, bell(np.where(far, x, 30), 0.5, NORMAL), ratio)


def owens_t_first(out: Array, h: Array, a: Array) -> Array:
    """-exp(-h**2 / 2) erf(a h / sqrt(2)) / (2 sqrt(2 pi)), Owen 1956."""
    return np.exp(-0.5 * h * h) * sp.erf(a * h * ROOT_HALF) * (-0.5 * NORMAL)


def owens_t_second(out: Array, h: Array, a: Array) -> Array:
    """exp(-h**2 (1 + a**2) / 2) / (2 pi (1 + a**2))."""
    square = 1 + a * a
    return np.exp(-0.5 * h * h * square) / (2 * math.pi * square)


def fresnel(k: int, outs: tuple[Array, Array], z: Array) -> Array:
    """sin(pi z**2 / 2) for S and cos(pi z**2 / 2) for C, DLMF 7.2.7 and 7.2.8."""
    angle = z * z * (math.pi / 2)
    return np.cos(angle) if k else np.sin(angle)


ERROR: dict[Any, Entry] = {
    sp.erf: rule(quiet(lambda out, x: bell(x, 1.0, TWO_OVER_ROOT_PI))),
    sp.erfc: rule(quiet(lambda out, x: bell(x, 1.0, -TWO_OVER_ROOT_PI))),
    sp.erfcx: rule(quiet(erfcx)),
    erfcx_derivative: rule(
        lambda out, x, order: erfcx_derivative(x, order + 1), None, facts=facts.elementwise("x")
    ),
    sp.dawsn: rule(dawsn),
    dawsn_derivative: rule(
        lambda out, x, order: dawsn_derivative(x, order + 1), None, facts=facts.elementwise("x")
    ),
    sp.wofz: rule(quiet(lambda out, z: -2 * z * out + 1j * TWO_OVER_ROOT_PI)),
    sp.erfinv: rule(quiet(lambda out, y: np.exp(out * out) / TWO_OVER_ROOT_PI)),
    sp.erfcinv: rule(quiet(lambda out, y: np.exp(out * out) / -TWO_OVER_ROOT_PI)),
    sp.ndtr: rule(quiet(lambda out, x: bell(x, 0.5, NORMAL))),
    sp.ndtri: rule(quiet(lambda out, y: np.exp(0.5 * out * out) / NORMAL)),
    sp.log_ndtr: rule(quiet(lambda out, x: inverse_mills_ratio(x))),
    sp.owens_t: rule(owens_t_first, owens_t_second),
    sp.fresnel: Rule(makers=(fresnel,), multiple=True),
}


DEGREE = math.pi / 180


def huber_first(out: Array, delta: Array, r: Array) -> Array:
    """Differentiate by delta: nothing within, abs(r) - delta beyond; nan where delta < 0."""
    slope = np.where(np.less_equal(np.abs(r), delta), 0.0, np.abs(r) - delta)
    return np.where(np.less(delta, 0), np.nan, slope)


def huber_second(out: Array, delta: Array, r: Array) -> Array:
    """Differentiate by r: r within, and delta with its sign beyond."""
    slope = np.where(np.less_equal(np.abs(r), delta), r, delta * np.sign(r))
    return np.where(np.less(delta, 0), np.nan, slope)


def pseudo_huber_first(out: Array, delta: Array, r: Array) -> Array:
    """Differentiate delta (s - delta) by delta, with s = hypot(delta, r): (s - delta)**2 / s.

    0 where both are 0.
    """
    s = np.hypot(delta, r)
    excess = r * unit(r, s + delta)
    return np.where(np.less(delta, 0), np.nan, excess * unit(excess, s))


def pseudo_huber_second(out: Array, delta: Array, r: Array) -> Array:
    """Differentiate by r: delta r / s, and 0 where both are 0."""
    return np.where(np.less(delta, 0), np.nan, delta * unit(r, np.hypot(delta, r)))


PENALTIES: dict[Any, Entry] = {
    sp.huber: rule(quiet(huber_first), quiet(huber_second)),
    sp.pseudo_huber: rule(quiet(pseudo_huber_first), quiet(pseudo_huber_second)),
    sp.powm1: rule(
        lambda out, x, y: power_base(out + 1, x, y),
        lambda out, x, y: power_exponent(out + 1, x, y),
    ),
    sp.radian: rule(  # d degrees, m minutes and s seconds
        lambda out, d, m, s: np.full_like(out, DEGREE),
        lambda out, d, m, s: np.full_like(out, DEGREE / 60),
        lambda out, d, m, s: np.full_like(out, DEGREE / 3600),
    ),
}
