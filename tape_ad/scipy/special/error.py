"""SciPy's error functions, and the normal distribution and the integrals that belong to them."""

import math
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, bounded, possibly
from tape_ad.scipy.special.shared import of_doubles, sp

TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
ROOT_HALF = math.sqrt(0.5)
NORMAL = 1 / math.sqrt(2 * math.pi)

FAR = 7.0
"""Where the asymptotic series of erfcx and dawsn take over."""


@of_doubles
def erfcx_derivative(x: Array, order: int) -> Array:
    """Differentiate `scipy.special.erfcx` a number of times, for real x."""
    return quadratic_growth(x, sp.erfcx(x), order, 1, -TWO_OVER_ROOT_PI, x > FAR)


@of_doubles
def dawsn_derivative(x: Array, order: int) -> Array:
    """Differentiate `scipy.special.dawsn` a number of times, for real x."""
    return quadratic_growth(x, sp.dawsn(x), order, -1, 1.0, np.abs(x) > FAR)


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


def owens_t_second(out: Array, h: Array, a: Array) -> Array:
    """exp(-h**2 (1 + a**2) / 2) / (2 pi (1 + a**2))."""
    square = 1 + a * a
    return np.exp(-0.5 * h * h * square) / (2 * math.pi * square)


def fresnel(k: int, outs: tuple[Array, Array], z: Array) -> Array:
    """sin(pi z**2 / 2) for S and cos(pi z**2 / 2) for C, DLMF 7.2.7 and 7.2.8."""
    angle = z * z * (math.pi / 2)
    return np.cos(angle) if k else np.sin(angle)


def expn(out: Array, n: Array, x: Array) -> Array:
    """-E_(n-1)(x), DLMF 8.19.13; for n = 0, of exp(-x) / x itself.

    SciPy drops what there is of `n` behind the point.
    """
    n = np.trunc(n)
    lowest = np.equal(n, 0)
    lower = -sp.expn(np.where(lowest, 0, np.subtract(n, 1)), x)
    return np.where(lowest, -out * (1 + 1 / x), lower) if lowest.any() else lower


def sici(k: int, outs: tuple[Array, Array], x: Array) -> Array:
    """sin(x) / x for Si and cos(x) / x for Ci, DLMF 6.2."""
    return np.cos(x) / x if k else np.sinc(x * (1 / math.pi))


def shichi(k: int, outs: tuple[Array, Array], x: Array) -> Array:
    """sinh(x) / x = sin(ix) / (ix) for Shi and cosh(x) / x for Chi, DLMF 6.2."""
    if k:
        return np.cosh(x) / x
    sinhc = np.sinc(x * (1j / math.pi))
    return sinhc if x.dtype.kind == "c" else sinhc.real


def spence(out: Array, z: Array) -> Array:
    """log(z) / (1 - z), near 1 by the hypergeometric function, DLMF 15.4.1."""
    near = np.less(np.absolute(z - 1), 0.5)
    inner, outer = np.where(near, 1 - z, 0), np.where(near, 2, z)
    series = -sp.hyp2f1(1.0, 1.0, 2.0, inner)
    return np.where(near, series, np.log(outer) / (1 - outer))


ERROR: dict[Any, Any] = {
    sp.erf: lambda out, x: bell(x, 1.0, TWO_OVER_ROOT_PI),
    sp.erfc: lambda out, x: bell(x, 1.0, -TWO_OVER_ROOT_PI),
    sp.erfcx: erfcx,
    erfcx_derivative: lambda out, x, order: erfcx_derivative(x, order + 1),
    sp.dawsn: dawsn,
    dawsn_derivative: lambda out, x, order: dawsn_derivative(x, order + 1),
    sp.wofz: lambda out, z: -2 * z * out + 1j * TWO_OVER_ROOT_PI,
    sp.erfinv: lambda out, y: np.exp(out * out) / TWO_OVER_ROOT_PI,
    sp.erfcinv: lambda out, y: np.exp(out * out) / -TWO_OVER_ROOT_PI,
    sp.ndtr: lambda out, x: bell(x, 0.5, NORMAL),
    sp.ndtri: lambda out, y: np.exp(0.5 * out * out) / NORMAL,
    sp.log_ndtr: lambda out, x: inverse_mills_ratio(x),
    sp.owens_t: (  # Owen 1956
        lambda out, h, a: np.exp(-0.5 * h * h) * sp.erf(a * h * ROOT_HALF) * (-0.5 * NORMAL),
        owens_t_second,
    ),
    sp.fresnel: fresnel,
    sp.erfi: lambda out, z: np.exp(z * z) * TWO_OVER_ROOT_PI,
    sp.expi: lambda out, x: np.exp(x) / x,
    sp.exp1: lambda out, z: -np.exp(-z) / z,
    sp.expn: ("n", expn),
    sp.sici: sici,
    sp.shichi: shichi,
    sp.spence: spence,
    sp.hyp1f1: ("a", "b", lambda out, a, b, x: a / b * sp.hyp1f1(a + 1, b + 1, x)),
    sp.hyp2f1: (
        "a",
        "b",
        "c",
        lambda out, a, b, c, z: a * b / c * sp.hyp2f1(a + 1, b + 1, c + 1, z),
    ),
    sp.hyp0f1: ("v", lambda out, v, z: sp.hyp0f1(v + 1, z) / v),  # DLMF 16.3.1
    # DLMF 13.3.22
    sp.hyperu: ("a", "b", lambda out, a, b, x: -a * sp.hyperu(a + 1, b + 1, x)),
}
