"""Slopes of the rarer continuous distributions, which `rarer_families` puts into a table."""

import math

import numpy as np

from tape_ad.rules.maps import Array
from tape_ad.scipy.special.functions import sp
from tape_ad.scipy.special.incomplete import betainc_slope
from tape_ad.scipy.stats.formulas import log_root, mills, share
from tape_ad.scipy.stats.methods import pdf

__all__ = [
    "alpha_slope",
    "asymmetric_slope",
    "bessel_ratio",
    "burr_move",
    "by_part",
    "cosine_distance",
    "exponnorm_slope",
    "foldcauchy_score",
    "foldcauchy_shape",
    "foldcauchy_slope",
    "half_logistic",
    "hazard",
    "hazard_slope",
    "kappa_move",
    "kappa_score",
    "mielke_move",
    "mielke_second",
    "rdist_slope",
    "skewcauchy_score",
    "skewcauchy_shape",
    "skewcauchy_slope",
    "trapezoid_first",
    "trapezoid_second",
    "truncpareto_bound",
    "truncpareto_slope",
    "truncweibull_slope",
    "weibull_edge",
    "weibull_part",
    "weibull_part_slope",
]


def alpha_slope(y: Array, a: Array) -> Array:
    """Differentiate the distribution function of alpha, ndtr(a - 1 / y) / ndtr(a)."""
    z = a - 1 / y
    return sp.ndtr(z) / sp.ndtr(a) * (mills(z) - mills(a))


def log_over(y: Array, c: Array) -> Array:
    """y * log1p(y**-c), at 0 too."""
    small = y * np.log1p(y**c) - c * sp.xlogy(y, y)
    return np.where(np.less(y, 1), small, y * np.log1p(y**-c))


def burr_move(y: Array, c: Array, d: Array) -> Array:
    """The move of ``(1 + y**-c)**-d`` with d."""
    return log_over(y, c) / (c * d * share(y, -c))


def mielke_move(y: Array, k: Array, s: Array) -> Array:
    """The move of ``share(y, s)**(k / s)`` with k."""
    return log_over(y, s) / (k * s * share(y, -s))


def mielke_second(y: Array, k: Array, s: Array) -> Array:
    """The same with s."""
    return -(sp.xlogy(y, y) + log_over(y, s) / (s * share(y, -s))) / s


def exponnorm_slope(y: Array, k: Array) -> Array:
    """Differentiate the distribution function of exponnorm, ndtr(y) - k times the density."""
    z = y - 1 / k
    return -pdf(y, k, 0.0, 1.0, name="exponnorm") * (z + mills(z)) / k


def foldcauchy_parts(y: Array, c: Array) -> tuple[Array, Array]:
    """The two densities that foldcauchy is the sum of, times pi."""
    return 1 / (1 + (y - c) ** 2), 1 / (1 + (y + c) ** 2)


def foldcauchy_score(y: Array, c: Array) -> Array:
    """The slope of the logarithm of the density of foldcauchy."""
    p, q = foldcauchy_parts(y, c)
    return -2 * ((y - c) * p * p + (y + c) * q * q) / (p + q)


def foldcauchy_shape(y: Array, c: Array) -> Array:
    """The same by the shape parameter."""
    p, q = foldcauchy_parts(y, c)
    return 2 * ((y - c) * p * p - (y + c) * q * q) / (p + q)


def foldcauchy_slope(y: Array, c: Array) -> Array:
    """Differentiate the distribution function of foldcauchy."""
    p, q = foldcauchy_parts(y, c)
    return (q - p) / math.pi


def weibull_part(c: Array, a: Array, b: Array) -> Array:
    """The probability that a Weibull variable lies between a and b."""
    return np.exp(-(a**c)) - np.exp(-(b**c))


def weibull_part_slope(c: Array, a: Array, b: Array) -> Array:
    """The same, differentiated by c."""
    return sp.xlogy(b**c, b) * np.exp(-(b**c)) - sp.xlogy(a**c, a) * np.exp(-(a**c))


def weibull_edge(x: Array, c: Array, a: Array, b: Array) -> Array:
    """The density of truncweibull_min at a bound."""
    return c * x ** (c - 1) * np.exp(-(x**c)) / weibull_part(c, a, b)


def truncweibull_slope(y: Array, c: Array, a: Array, b: Array) -> Array:
    """Differentiate the distribution function of truncweibull_min by c."""
    part, whole = weibull_part(c, a, y), weibull_part(c, a, b)
    rest = part / whole * weibull_part_slope(c, a, b)
    return (weibull_part_slope(c, a, y) - rest) / whole


def hazard(y: Array, a: Array, b: Array, c: Array) -> Array:
    """The hazard rate of genexpon."""
    return a - b * np.expm1(-c * y)


def hazard_slope(y: Array, a: Array, b: Array, c: Array) -> Array:
    """The integral of the hazard rate of genexpon, differentiated by c."""
    return -b / c * (np.expm1(-c * y) / c + y * np.exp(-c * y))


def half_logistic(y: Array, c: Array) -> Array:
    """The slope of the logarithm of halflogistic's density where genhalflogistic needs it."""
    return -np.tanh(0.5 * log_root(y, -c))


def kappa_move(y: Array, a: Array) -> Array:
    """The move of ``y * (a + y**a)**(-1 / a)``."""
    n = a + y**a
    return -y * (np.log(n) * n / a - 1 - sp.xlogy(y**a, y)) / (a * a)


def kappa_score(y: Array, h: Array, k: Array) -> Array:
    """The slope of the logarithm of the density of kappa4."""
    u = np.exp(-log_root(y, -k))
    return (k - 1 + (1 - h) * u / (1 - h * u)) / (1 - k * y)


def bessel_ratio(y: Array, a: Array) -> Array:
    """The ratio of K0 to K1 that norminvgauss needs."""
    z = a * np.hypot(1.0, y)
    return sp.kve(0, z) / sp.kve(1, z)


def asymmetric_slope(y: Array, kappa: Array) -> Array:
    """Differentiate the distribution function of laplace_asymmetric."""
    n, size = kappa * kappa + 1, np.absolute(y)
    decay = np.exp(-size * np.where(np.less(y, 0), 1 / kappa, kappa))
    return decay * (size + 2 * kappa / n) / n


def lean(y: Array, a: Array) -> tuple[Array, Array]:
    """The side of a skewed Cauchy variable, and the width of its density there."""
    side = np.where(np.greater(y, 0), 1.0, -1.0)
    return side, 1 + a * side


def skewcauchy_score(y: Array, a: Array) -> Array:
    """The slope of the logarithm of the density of skewcauchy."""
    _, width = lean(y, a)
    return -2 * y / (width * width + y * y)


def skewcauchy_shape(y: Array, a: Array) -> Array:
    """The same by the shape parameter."""
    side, width = lean(y, a)
    return 2 * side * y * y / (width * (width * width + y * y))


def skewcauchy_slope(y: Array, a: Array) -> Array:
    """Differentiate the distribution function of skewcauchy."""
    side, width = lean(y, a)
    t = y / width
    return side / math.pi * (np.arctan(t) - t / (1 + t * t)) - 0.5


def rdist_slope(y: Array, c: Array) -> Array:
    """Differentiate the distribution function of rdist, I(c/2, c/2) at (1 + y) / 2."""
    half, w = c / 2, (1 + y) / 2
    return 0.5 * (betainc_slope(half, half, w, 1, 0) + betainc_slope(half, half, w, 0, 1))


def truncpareto_slope(y: Array, b: Array, c: Array) -> Array:
    """Differentiate the distribution function of truncpareto by b."""
    part, whole = -np.expm1(-b * np.log(y)), -np.expm1(-b * np.log(c))
    return (y**-b * np.log(y) - part / whole * c**-b * np.log(c)) / whole


def truncpareto_bound(y: Array, b: Array, c: Array) -> Array:
    """The same by c."""
    part = np.expm1(-b * np.log(y)) / np.expm1(-b * np.log(c))
    return -part * b / (c * np.expm1(b * np.log(c)))


def by_part(y: Array, c: Array, d: Array, rise: Array, level: Array, fall: Array) -> Array:
    """Choose a formula for the part of a trapezoid that y is in."""
    return np.where(np.less(y, c), rise, np.where(np.greater(y, d), fall, level))


def trapezoid_first(y: Array, c: Array, d: Array) -> Array:
    """Differentiate the distribution function of trapezoid by c."""
    n = d - c + 1
    rise, fall = y * y / c * (1 / n - 1 / c) / n, -((1 - y) ** 2) / (1 - d) / (n * n)
    return by_part(y, c, d, rise, (2 * y - c - n) / (n * n), fall)


def trapezoid_second(y: Array, c: Array, d: Array) -> Array:
    """The same by d."""
    n = d - c + 1
    fall = -((1 - y) ** 2) / (1 - d) * (1 / (1 - d) - 1 / n) / n
    return by_part(y, c, d, -y * y / c / (n * n), (c - 2 * y) / (n * n), fall)


def cosine_distance(y: Array, c: Array) -> Array:
    """1 + c**2 - 2 c cos y, which the density of wrapcauchy has below."""
    return 1 + c * c - 2 * c * np.cos(y)
