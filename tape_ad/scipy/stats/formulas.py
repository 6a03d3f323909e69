"""What the derivatives of several distributions are made of."""

import math
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules.base import Entry, quiet, rule
from tape_ad.rules.maps import Array
from tape_ad.scipy.special.densities import beta_density
from tape_ad.scipy.special.functions import sp
from tape_ad.scipy.special.incomplete import betainc_slope, gammainc_slope
from tape_ad.scipy.special.logarithms import root_slope
from tape_ad.scipy.special.shared import in_double

__all__ = [
    "FORMULAS",
    "end_move",
    "fisher_slopes",
    "log_root",
    "mills",
    "power_slope",
    "share",
]


@overridable
def log_root(y: Array, c: Array) -> Array:
    """log(1 + c y) / c, which is y where c is 0."""

    def logarithm(y: Array, c: Array) -> Array:
        zero = c == 0
        return np.where(zero, y, np.log1p(c * y) / np.where(zero, 1, c))

    return in_double(logarithm, y, c)


def end_move(y: Array, c: Array) -> Array:
    """The move of ``(1 - u**c) / c`` with c, also at its end, where u is 0."""
    end = np.equal(c * y, 1)
    inner = np.where(end, 0.0, y)
    rest = root_slope(inner, -c) * (1 - c * inner)
    return np.where(end, -y / np.where(end, c, 1.0), rest)


def mills(z: Array) -> Array:
    """The normal density over the normal distribution function, in its tails too."""
    return math.sqrt(2 / math.pi) / sp.erfcx(z * -math.sqrt(0.5))


def share(y: Array, c: Array) -> Array:
    """y**c / (1 + y**c)."""
    return sp.expit(c * np.log(y))


def share_over(y: Array, c: Array) -> Array:
    """share(y, c) / y, at 0 too."""
    small = y ** (c - 1) * sp.expit(-c * np.log(y))
    return np.where(np.less(y, 1), small, share(y, c) / y)


# Fisher's F


def fisher_slopes(y: Array, m: Array, n: Array) -> tuple[Array, Array]:
    """Differentiate the distribution function of F, I(m/2, n/2) at m y / (m y + n), by m and n."""
    total = m * y + n
    w = m * y / total
    density = beta_density(m / 2, n / 2, w) * (y / (total * total))
    return (
        0.5 * betainc_slope(m / 2, n / 2, w, 1, 0) + n * density,
        0.5 * betainc_slope(m / 2, n / 2, w, 0, 1) - m * density,
    )


# The normal distribution of an exponent


def power_slope(y: Array, beta: Array) -> Array:
    """Differentiate the distribution function of gennorm by its shape parameter."""
    size = np.absolute(y)
    power = size**beta
    inside = sp.xlogy(size, size) * np.exp(-power - sp.gammaln(1 / beta))  # a density's, times y
    slope = inside - gammainc_slope(1 / beta, power, 1) / (beta * beta)
    return 0.5 * np.sign(y) * slope


FORMULAS: dict[Any, Entry] = {
    log_root: rule(
        quiet(lambda out, y, c: 1 / (1 + c * y)), quiet(lambda out, y, c: root_slope(y, c))
    ),
}
