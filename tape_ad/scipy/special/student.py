"""Student's t and its degrees of freedom.

What they change falls with their square, so a formula whose terms fall with them alone has no
digits left where they are many. The logarithm of the density is differentiated without those terms,
and the distribution function by integrating that: in the variable w, u = sqrt(df) sinh(w), the
density is a multiple of cosh(w)**-df, whose logarithm is concave. From 0 to the variable, or from
there to where it has fallen by exp(-42), one Gauss-Legendre rule of 64 nodes does it.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.scipy.special.elementary import root_slope
from tape_ad.scipy.special.gamma_functions import digamma_step, polygamma
from tape_ad.scipy.special.incomplete import CUT, bell, integrated, reach, spread, stirling_error
from tape_ad.scipy.special.shared import BERNOULLI, of_doubles, sp

LN2 = math.log(2.0)

MIDDLE = 1.5
"""From where on the tail is integrated: near there, the density does not depend on df."""

HEAVY = 0.05
"""Below which share of its length a tail has nearly all there is, and the same for any df."""


@of_doubles
def student_density(y: Array, df: Array) -> Array:
    """Give the density of Student's t distribution, and the normal one where df is infinite."""
    scale = sp.poch(df / 2, 0.5) / np.sqrt(math.pi * df)  # keeps its digits for large df
    student = scale * np.exp(-0.5 * (df + 1) * np.log1p(y / df * y))
    return np.where(df == np.inf, np.exp(-0.5 * y * y) / math.sqrt(2 * math.pi), student)


def student_score(y: Array, df: Array) -> Array:
    """Differentiate the logarithm of the density with respect to the variable."""
    endless = np.isinf(df)
    df = np.where(endless, 1.0, df)
    size = np.hypot(y, np.sqrt(df))
    return np.where(endless, -y, -(df + 1) * (y / size) / size)


def student_shape(y: Array, df: Array) -> Array:
    """Differentiate the logarithm of the density with respect to df."""
    return kappas(*compared(y, df), df)(1, 0)


def compared(y: Array, df: Array) -> tuple[Array, Array]:
    """Give the share of y**2 in df + y**2, behind log(1 + y**2 / df) without it."""
    root = np.sqrt(df)
    size = np.hypot(y, root)
    share = (y / size) ** 2
    small = np.less(np.absolute(y), root)
    logarithm = 2 * np.log(size / root)
    excess = np.where(
        small, -root_slope(np.where(small, y / root, 0.0) ** 2, 1.0), logarithm - share
    )
    return excess, share


def kappas(excess: Array, share: Array, df: Array) -> Callable[[int, int], Array]:
    """Give the derivatives of the logarithm of the density by df, as `bell` takes them.

    The first is half of gamma_step(df) - excess + share / df.
    """
    rest = 1 - share

    def kappa(k: int, _: int) -> Array:
        n = k - 1
        factor = (-1) ** n * math.factorial(n) / df**n
        powers = sum(rest**i for i in range(k))
        excesses = excess
        if n:
            excesses = factor / n * share * share * sum(i * rest ** (i - 1) for i in range(1, k))
        return 0.5 * (gamma_step(df, n) - excesses + factor * share * powers / df)

    return kappa


def gamma_step(df: Array, n: int) -> Array:
    """The n-th derivative of digamma((df + 1) / 2) - digamma(df / 2) - 1 / df, DLMF 5.11.2."""
    far = np.maximum(df, 30.0)
    inverse: Any = 1 / (far * far)
    series: Array = 0.0
    for k in range(8, 0, -1):
        factor = math.prod(range(2 * k, 2 * k + n)) * (4**k - 1) / k
        series = (series + factor * BERNOULLI[k - 1]) * inverse
    near = np.minimum(df, 30.0)
    if n:
        step = (polygamma(n, (near + 1) / 2) - polygamma(n, near / 2)) / 2**n
    else:
        step = digamma_step(near / 2, 0.5)
    sign = (-1) ** n
    step = step - sign * math.factorial(n) / near ** (n + 1)
    return np.where(np.greater(df, 30), sign * series / far**n, step)


@of_doubles
def student_slope(y: Array, df: Array, order: int) -> Array:
    """Differentiate the distribution function with respect to df, `order` times."""
    inside = (df > 0) & (df < np.inf) & (y != 0) & np.isfinite(y)
    size = np.abs(y)
    close = (size < MIDDLE) | (df * np.arcsinh(size / np.sqrt(df)) < HEAVY)
    near = integrated(lambda t, df: from_zero(t, df, order), inside & close, size, df)
    far = integrated(lambda t, df: tail(t, df, order), inside & ~close, size, df)
    return np.where((df > 0) & ~np.isnan(y), np.sign(y) * (near - far), np.nan)


def log_cosh(w: Array) -> Array:
    """The logarithm of cosh(w), for w >= 0."""
    small = np.minimum(w, 1.0)
    return np.where(w < 1, 0.5 * np.log1p(np.sinh(small) ** 2), w + np.log1p(np.exp(-2 * w)) - LN2)


def weighed(w: Array, df: Array, order: int) -> Array:
    """The derivative of the density by df, in the variable w, over its largest value."""
    small = w < 0.8  # where y**2 < df
    share = np.tanh(w) ** 2
    square = np.sinh(np.where(small, w, 0.0)) ** 2
    excess = np.where(small, -root_slope(square, 1.0), 2 * log_cosh(w) - share)
    terms = bell(kappas(excess, share, df), order)
    return np.exp(-df * log_cosh(w)) * terms


def greatest(df: Array) -> Array:
    """1 / B(1/2, df/2), the greatest value of the density in the variable w."""
    a = df / 2
    error = stirling_error(a + 0.5) - stirling_error(a)
    return np.sqrt(a / np.pi) * np.exp(a * np.log1p(0.5 / a) - 0.5 + error)


def from_zero(t: Array, df: Array, order: int) -> Array:
    """Integrate from 0 to t; the nodes stand closer near 0, where most of it is for small df."""
    w, weights = spread(np.arcsinh(t / np.sqrt(df)))
    return greatest(df)[:, 0] * np.add.reduce(weights * weighed(w, df, order), axis=-1)


def tail(t: Array, df: Array, order: int) -> Array:
    """Integrate from t on; the nodes stand closer near t, where a long tail has its structure."""
    start = np.arcsinh(t / np.sqrt(df))
    level = log_cosh(start)

    def fall(w: Array) -> Array:
        return df * (log_cosh(start + w) - level)

    end = reach(fall, lambda w: df * np.tanh(start + w), np.sqrt(2 * CUT / df) + CUT / df)
    w, weights = spread(end)
    return greatest(df)[:, 0] * np.add.reduce(weights * weighed(start + w, df, order), axis=-1)


def density_slope(out: Array, y: Array, df: Array, order: int) -> Array:
    """Differentiate the density with respect to df, `order` times."""
    return student_density(y, df) * bell(kappas(*compared(y, df), df), order)


STUDENT: dict[Any, Any] = {
    sp.stdtr: (
        lambda out, df, t: student_slope(t, df, 1),
        lambda out, df, t: student_density(t, df),
    ),
    student_density: (
        lambda out, y, df: out * student_score(y, df),
        lambda out, y, df: out * student_shape(y, df),
    ),
    student_slope: (density_slope, lambda out, y, df, order: student_slope(y, df, order + 1)),
}
