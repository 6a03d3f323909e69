"""Scores of the noncentral distributions, and of those whose densities hold Bessel functions.

Each density is a sum or an integral of positive terms, f = sum of k(j), or the quotient of two
such. So the derivative of log f is the mean of that of log k, with the terms as weights: there is
no cancellation, and no function that lacks a derivative.
"""

import math
from collections.abc import Callable

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.scipy.special.gamma_functions import digamma_step
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.stats.families import Family, Shape

__all__ = ["NONCENTRAL"]


def weighed(logs: Array, *values: Array) -> list[Array]:
    """Give the means of values along the last axis, with weights by their logarithms."""
    weights = np.exp(logs - np.max(logs, axis=-1, keepdims=True))
    whole = np.sum(weights, axis=-1)
    return [np.sum(weights * value, axis=-1) / whole for value in values]


def columns(*operands: Array) -> list[Array]:
    """Put an axis for terms behind those of the operands."""
    return [np.expand_dims(x, -1) for x in np.broadcast_arrays(*operands)]


def counts(at: Array) -> Array:
    """Number the terms of a sum over Poisson's probabilities, whose greatest is near `at`."""
    most = float(np.max(np.ceil(np.where(np.isfinite(at), at, 0.0)), initial=0.0))
    return np.arange(most + 12 * math.sqrt(most) + 40)


def poisson_log(j: Array, mean: Array) -> Array:
    """The logarithm of Poisson's probabilities."""
    return sp.xlogy(j, mean) - mean - sp.gammaln(j + 1)


def chi_terms(y: Array, df: Array, nc: Array) -> list[Array]:
    """Differentiate the logarithm of the density of ncx2 by y, df and nc."""
    far = (np.sqrt(nc) + 40) ** 2  # beyond which the density is 0
    j = counts(np.maximum(nc, np.sqrt(nc * np.clip(y, 0.0, far))) / 2)
    y, df, nc = columns(y, df, nc)
    a, half = df / 2 + j, y / 2
    logs = poisson_log(j, nc / 2) + sp.xlogy(a - 1, half) - half - sp.gammaln(a)
    values = (a - 1) / y - 0.5, 0.5 * (np.log(half) - sp.digamma(a)), 0.5 * (half / a - 1)
    return weighed(logs, *values)


def fisher_terms(y: Array, m: Array, n: Array, nc: Array) -> list[Array]:
    """Differentiate the logarithm of the density of ncf by y, dfn, dfd and nc."""
    j = counts(nc)
    y, m, n, nc = columns(y, m, n, nc)
    a, d, x = m / 2 + j, n / 2, m / n * y
    share, log = x / (1 + x), np.log1p(x)
    logs = poisson_log(j, nc / 2) + sp.xlogy(a - 1, x) - (a + d) * log - sp.betaln(a, d)
    moved = a - (a + d) * share
    return weighed(
        logs,
        (a - 1 - (a + d) * share) / y,
        0.5 * (np.log(x) - log + digamma_step(a, d)) + moved / m,
        0.5 * (digamma_step(d, a) - log) - moved / n,
        0.5 * (share * (a + d) / a - 1),
    )


PLACES = np.linspace(-6.0, 6.0, 161)


def student_terms(y: Array, df: Array, nc: Array) -> list[Array]:
    """Differentiate the logarithm of the density of nct by y, df and nc.

    It is the integral over s of s phi(y s - nc) times the density of s = sqrt(chi2 / df), by the
    trapezoidal rule in a variable around the greatest of it.
    """
    y, df, nc = columns(y, df, nc)
    whole = df + y * y
    root = np.sqrt((nc * y) ** 2 + 4 * (df + 1) * whole)
    middle = np.where(np.less(nc * y, 0), 2 * (df + 1) / (root - nc * y), (nc * y + root) / 2)
    middle = np.where(np.less(nc * y, 0), middle, middle / whole)
    v = np.sinh(PLACES) / np.sqrt(df + 1)
    s = middle * np.exp(v)
    z = y * s - nc
    logs = (df + 1) * (v + np.log(middle)) - df * s * s / 2 - z * z / 2 + np.log(np.cosh(PLACES))
    scale = np.log(s) - s * s / 2 + 0.5 * (np.log(df / 2) + 1 - sp.digamma(df / 2))
    return weighed(logs, -s * z, scale, z)


NODES = np.linspace(0.0, 1.0, 129)
ENDS = np.where(NODES == 0, 0.5, 1.0)


def bessel_slopes(nu: Array, z: Array) -> list[Array]:
    """Differentiate the logarithm of K_nu(z) by nu and by z.

    K_nu(z) is the integral of exp(-z cosh(t)) cosh(nu t) over t > 0, DLMF 10.32.9.
    """
    nu, z = columns(nu, z)
    size = np.absolute(nu)
    t = NODES * 2 * np.arcsinh(np.sqrt((50 + 20 * size) / (2 * z)))
    fall = 2 * np.sinh(t / 2) ** 2
    both = 1 + np.exp(-2 * size * t)
    logs = size * t - z * fall + np.log(ENDS * both)
    return weighed(logs, t * np.tanh(nu * t), -1 - fall)


def hyperbolic_terms(y: Array, p: Array, a: Array, b: Array) -> list[Array]:
    """Differentiate the logarithm of the density of genhyperbolic by y, p, a and b."""
    r, square = np.hypot(1.0, y), (a - b) * (a + b)
    root = np.sqrt(square)
    order, slope = bessel_slopes(p, root)
    order_at, slope_at = bessel_slopes(p - 0.5, a * r)
    return [
        b + (a * slope_at + (p - 0.5) / r) * y / r,
        0.5 * np.log(square) - np.log(a) - order + order_at + np.log(r),
        p * a / square - (p - 0.5) / a - slope * a / root + slope_at * r,
        slope * b / root - p * b / square + y,
    ]


def inverse_terms(y: Array, p: Array, b: Array) -> list[Array]:
    """Differentiate the logarithm of the density of geninvgauss by y, p and b."""
    order, slope = bessel_slopes(p, b)
    return [
        (p - 1) / y - 0.5 * b * (1 - 1 / (y * y)),
        np.log(y) - order,
        -0.5 * (y + 1 / y) - slope,
    ]


def family_of(terms: Callable[..., list[Array]], shapes: int) -> Family:
    """Make the family whose scores are those terms, in their order."""

    def term(i: int) -> Callable[..., Array]:
        return lambda *operands: terms(*operands)[i]

    return Family(term(0), tuple(Shape(term(i + 1)) for i in range(shapes)))


NONCENTRAL: dict[str, Family] = {
    "ncx2": family_of(chi_terms, 2),
    "ncf": family_of(fisher_terms, 3),
    "nct": family_of(student_terms, 2),
    "genhyperbolic": family_of(hyperbolic_terms, 3),
    "geninvgauss": family_of(inverse_terms, 2),
}
"""The distributions by SciPy's names; shapes stand in SciPy's order."""
