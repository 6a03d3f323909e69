"""What is known of further continuous distributions of `scipy.stats`; see `families`."""

import math

import numpy as np

from tape_ad.rules.maps import Array
from tape_ad.rules.numpy.continued import ratio
from tape_ad.scipy.special.densities import gamma_density
from tape_ad.scipy.special.functions import sp
from tape_ad.scipy.special.gamma_functions import digamma_step
from tape_ad.scipy.special.incomplete import betainc_slope, gammainc_slope
from tape_ad.scipy.stats.families import COMMON, Family, Shape, by_power
from tape_ad.scipy.stats.formulas import mills, share, share_over
from tape_ad.scipy.stats.rarer_families import RARER
from tape_ad.scipy.stats.rarest_families import RAREST

__all__ = ["CONTINUOUS"]


def burr_move(y: Array, c: Array, d: Array) -> Array:
    """The move of ``(1 + y**c)**-d`` with d."""
    power = y**c
    zero = np.equal(power, 0)
    return -np.where(zero, 1.0, ratio(np.log1p(power), power)) * (1 + power) * y / (c * d)


def bounded_normal(y: Array, a: Array, b: Array) -> Array:
    """The normal variable behind johnsonsb."""
    return a + b * sp.logit(y)


def unbounded_normal(y: Array, a: Array, b: Array) -> Array:
    """The normal variable behind johnsonsu."""
    return a + b * np.arcsinh(y)


def way(y: Array, a: Array, b: Array) -> Array:
    """How far a variable is on its logarithmic way from a to b."""
    return np.log(y / a) / np.log(b / a)


def bradford_shape(y: Array, c: Array) -> Array:
    """Differentiate the logarithm of the density of bradford by its parameter."""
    return 1 / c - y / (1 + c * y) - 1 / ((1 + c) * np.log1p(c))


def bradford_move(y: Array, c: Array) -> Array:
    """The move of ``log(1 + c y) / log(1 + c)``."""
    return (np.log1p(c * y) / np.log1p(c) * (1 + c * y) / (1 + c) - y) / c


def nakagami_slope(y: Array, nu: Array) -> Array:
    """Differentiate the distribution function of nakagami, P(nu, nu y**2)."""
    square = y * y
    return gammainc_slope(nu, nu * square, 1) + gamma_density(nu, nu * square) * square


def gengamma_slope(y: Array, a: Array, c: Array) -> Array:
    """Differentiate the distribution function of gengamma, P(a, y**c), or Q where c < 0."""
    return np.sign(c) * gammainc_slope(a, y**c, 1)


def betaprime_slope(i: int, j: int, y: Array, a: Array, b: Array) -> Array:
    """Differentiate the distribution function of betaprime, I(a, b) at y / (1 + y)."""
    return betainc_slope(a, b, y / (1 + y), i, j)


def doubled(y: Array, slope: Array) -> Array:
    """Spread what is known for positive y to both sides."""
    return np.sign(y) * slope


FURTHER: dict[str, Family] = {
    "gibrat": Family(lambda y: -(1 + np.log(y)) / y),
    "wald": Family(lambda y: (0.5 / y - 1.5) / y - 0.5),
    "moyal": Family(lambda y: 0.5 * np.expm1(-y)),
    "semicircular": Family(lambda y: -y / (1 - y * y)),
    "anglit": Family(lambda y: -2 * np.tan(2 * y)),
    "cosine": Family(lambda y: -np.tan(0.5 * y)),
    "levy_l": Family(lambda y: (-0.5 / y - 1.5) / y),
    "invweibull": Family(
        lambda y, c: (c * y**-c - (c + 1)) / y,
        (Shape(lambda y, c: 1 / c - np.log(y) * (1 - y**-c), move=by_power),),
    ),
    "loglaplace": Family(
        lambda y, c: ratio(np.where(np.less(y, 1), c, -c) - 1, y),
        (Shape(lambda y, c: 1 / c - np.absolute(np.log(y)), move=by_power),),
        kink=lambda c: 0.0 * c + 1.0,
    ),
    "burr12": Family(
        lambda y, c, d: ratio(c - 1, y) - (d + 1) * c * share_over(y, c),
        (
            Shape(
                lambda y, c, d: 1 / c + np.log(y) * (1 - (d + 1) * share(y, c)),
                move=lambda y, c, d: by_power(y, c),
            ),
            Shape(lambda y, c, d: 1 / d - np.log1p(y**c), move=burr_move),
        ),
    ),
    "johnsonsb": Family(
        lambda y, a, b: (2 * y - 1 - b * bounded_normal(y, a, b)) / (y * (1 - y)),
        (
            Shape(
                lambda y, a, b: -bounded_normal(y, a, b),
                move=lambda y, a, b: -y * (1 - y) / b,
            ),
            Shape(
                lambda y, a, b: 1 / b - bounded_normal(y, a, b) * sp.logit(y),
                move=lambda y, a, b: -sp.logit(y) * y * (1 - y) / b,
            ),
        ),
    ),
    "johnsonsu": Family(
        lambda y, a, b: -(y / np.hypot(1.0, y) + b * unbounded_normal(y, a, b)) / np.hypot(1.0, y),
        (
            Shape(
                lambda y, a, b: -unbounded_normal(y, a, b),
                move=lambda y, a, b: -np.hypot(1.0, y) / b,
            ),
            Shape(
                lambda y, a, b: 1 / b - unbounded_normal(y, a, b) * np.arcsinh(y),
                move=lambda y, a, b: -np.arcsinh(y) * np.hypot(1.0, y) / b,
            ),
        ),
    ),
    **dict.fromkeys(
        ("loguniform", "reciprocal"),
        Family(
            lambda y, a, b: -1 / y,
            (
                Shape(
                    lambda y, a, b: 1 / (a * np.log(b / a)),
                    move=lambda y, a, b: y * (1 - way(y, a, b)) / a,
                ),
                Shape(
                    lambda y, a, b: -1 / (b * np.log(b / a)),
                    move=lambda y, a, b: y * way(y, a, b) / b,
                ),
            ),
        ),
    ),
    "bradford": Family(lambda y, c: -c / (1 + c * y), (Shape(bradford_shape, move=bradford_move),)),
    "genlogistic": Family(
        lambda y, c: (c + 1) * sp.expit(-y) - 1,
        (
            Shape(
                lambda y, c: 1 / c + sp.log_expit(y),
                move=lambda y, c: -sp.log_expit(y) / (c * sp.expit(-y)),
            ),
        ),
    ),
    "dweibull": Family(
        lambda y, c: doubled(y, ratio(c - 1, np.absolute(y)) - c * np.absolute(y) ** (c - 1)),
        (
            Shape(
                lambda y, c: 1 / c + np.log(np.absolute(y)) * (1 - np.absolute(y) ** c),
                move=lambda y, c: doubled(y, by_power(np.absolute(y), c)),
            ),
        ),
        kink=lambda c: 0.0 * c,
    ),
    "dgamma": Family(
        lambda y, a: doubled(y, ratio(a - 1, np.absolute(y)) - 1),
        (
            Shape(
                lambda y, a: np.log(np.absolute(y)) - sp.digamma(a),
                slope=lambda y, a: 0.5 * doubled(y, gammainc_slope(a, np.absolute(y), 1)),
            ),
        ),
        kink=lambda a: 0.0 * a,
    ),
    "betaprime": Family(
        lambda y, a, b: ratio(a - 1, y) - (a + b) / (1 + y),
        (
            Shape(
                lambda y, a, b: np.log(y) - np.log1p(y) + digamma_step(a, b),
                slope=lambda y, a, b: betaprime_slope(1, 0, y, a, b),
            ),
            Shape(
                lambda y, a, b: digamma_step(b, a) - np.log1p(y),
                slope=lambda y, a, b: betaprime_slope(0, 1, y, a, b),
            ),
        ),
    ),
    "nakagami": Family(
        lambda y, nu: ratio(2 * nu - 1, y) - 2 * nu * y,
        (
            Shape(
                lambda y, nu: np.log(nu) + 1 - sp.digamma(nu) + 2 * np.log(y) - y * y,
                slope=nakagami_slope,
            ),
        ),
    ),
    "gengamma": Family(
        lambda y, a, c: ratio(c * a - 1, y) - c * y ** (c - 1),
        (
            Shape(lambda y, a, c: c * np.log(y) - sp.digamma(a), slope=gengamma_slope),
            Shape(
                lambda y, a, c: 1 / c + np.log(y) * (a - y**c),
                move=lambda y, a, c: by_power(y, c),
            ),
        ),
    ),
    "truncexpon": Family(
        lambda y, b: 0.0 * y - 1.0,
        (
            Shape(
                lambda y, b: -1 / np.expm1(b) + 0.0 * y,
                slope=lambda y, b: np.expm1(-y) / np.expm1(-b) / -np.expm1(b),
            ),
        ),
    ),
    "powernorm": Family(
        lambda y, c: -y - (c - 1) * mills(-y),
        (
            Shape(
                lambda y, c: 1 / c + sp.log_ndtr(-y),
                move=lambda y, c: sp.log_ndtr(-y) / (c * mills(-y)),
            ),
        ),
    ),
    "powerlognorm": Family(
        lambda y, c, s: -(1 + (np.log(y) / s + (c - 1) * mills(-np.log(y) / s)) / s) / y,
        (
            Shape(
                lambda y, c, s: 1 / c + sp.log_ndtr(-np.log(y) / s),
                move=lambda y, c, s: (
                    s * y * sp.log_ndtr(-np.log(y) / s) / (c * mills(-np.log(y) / s))
                ),
            ),
            Shape(
                lambda y, c, s: (
                    (np.log(y) / s * (np.log(y) / s + (c - 1) * mills(-np.log(y) / s)) - 1) / s
                ),
                move=lambda y, c, s: y * np.log(y) / s,
            ),
        ),
    ),
    "foldnorm": Family(
        lambda y, c: c * np.tanh(c * y) - y,
        (
            Shape(
                lambda y, c: y * np.tanh(c * y) - c,
                slope=lambda y, c: (
                    (np.exp(-0.5 * (y + c) ** 2) - np.exp(-0.5 * (y - c) ** 2))
                    / math.sqrt(2 * math.pi)
                ),
            ),
        ),
    ),
    "rice": Family(
        lambda y, b: 1 / y - y + b * sp.i1e(b * y) / sp.i0e(b * y),
        (
            Shape(
                lambda y, b: y * sp.i1e(b * y) / sp.i0e(b * y) - b,
                slope=lambda y, b: -y * np.exp(-0.5 * (y - b) ** 2) * sp.i1e(b * y),
            ),
        ),
    ),
}
"""The further ones by SciPy's names; shapes stand in SciPy's order."""

CONTINUOUS = {**COMMON, **FURTHER, **RARER, **RAREST}
"""All continuous distributions that are known."""
