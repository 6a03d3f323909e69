"""SciPy's integrals of Bessel, Struve and Airy functions, with respect to the limit.

A derivative is the integrand, DLMF 10.22, 10.43, 11.7 and 9.10. Where it has a quotient whose
numerator vanishes at 0 with the denominator, its power series is taken near 0.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.rules.base import Entry, Maker, Rule, quiet, rule
from tape_ad.rules.maps import Array
from tape_ad.scipy.special.functions import sp
from tape_ad.scipy.special.shared import no_partial

__all__ = ["BESSEL_INTEGRALS"]

TERMS = 12
"""Of the power series, each at most a fourth of the one before it where abs(x) < 1."""

# (1 - J0(x)) / x = sum of c (-1)**k (x**2)**k * x, and I0 likewise, DLMF 10.8.3
BESSEL_SERIES = [1 / (4 ** (k + 1) * math.factorial(k + 1) ** 2) for k in range(TERMS)]

# H0(x) / x = 2 / pi * sum of (-x**2)**k / (2k + 1)!!**2, DLMF 11.2.1
STRUVE_SERIES = [2 / math.pi / math.prod(range(1, 2 * k + 2, 2)) ** 2 for k in range(TERMS)]


def over_x(x: Array, quotient: Callable[[Array], Array], series: Sequence[float], sign: int) -> Any:
    """Give a quotient by x, and a power series in ``sign * x**2`` instead near 0."""
    near = np.less(np.absolute(x), 1)
    inner, outer = np.where(near, x, 0), np.where(near, 1, x)
    square = sign * (inner * inner)
    total: Array = 0.0
    for coefficient in reversed(series):
        total = coefficient + square * total
    return np.where(near, total, quotient(outer))


def circular(x: Array) -> Array:
    """(1 - J0(x)) / x."""
    return over_x(x, lambda x: (1 - sp.j0(x)) / (x * x), BESSEL_SERIES, -1) * x


def hyperbolic(x: Array) -> Array:
    """(I0(x) - 1) / x."""
    return over_x(x, lambda x: (sp.i0(x) - 1) / (x * x), BESSEL_SERIES, 1) * x


def struve_over_x(x: Array) -> Array:
    """H0(x) / x."""
    return over_x(x, lambda x: sp.struve(0.0, x) / x, STRUVE_SERIES, -1)


def each_of(*slopes: Callable[[Array], Array]) -> Entry:
    """Make the rule of a function of x with several outputs from their derivatives."""

    def maker(k: int, outs: tuple[Array, ...], x: Array) -> Array:
        return slopes[k](x)

    return Rule(makers=(quiet(maker),), multiple=True)


def fresnel_plus(k: int, outs: tuple[Array, Array], x: Array) -> Array:
    """-exp(i x**2), and -2 i x K - exp(-i pi/4) / sqrt(pi), from K = F exp(-i (x**2 + pi/4)).

    For x < 0, SciPy's F has another imaginary part than the integral; this is the integral's slope.
    """
    return -2j * x * outs[1] - PHASE.conjugate() if k else -np.exp(1j * (x * x))


def fresnel_minus(k: int, outs: tuple[Array, Array], x: Array) -> Array:
    """The conjugate of `fresnel_plus`."""
    return 2j * x * outs[1] - PHASE if k else -np.exp(-1j * (x * x))


PHASE = complex(math.sqrt(0.5), math.sqrt(0.5)) / math.sqrt(math.pi)


def bessel_moment(out: Array, a: Array, lmb: Array, nu: Array) -> Array:
    """The derivative of the integral of x**lmb J_nu(2 a x) by a; inside, 2x J' = x (J - J)."""
    one = lmb + 1
    upper = sp.besselpoly(a, one, nu + 1)
    lowest = np.equal(nu, 0)  # where J_(-1) is -J_1
    lower = sp.besselpoly(a, one, np.where(lowest, 1, nu - 1))
    return np.where(lowest, -lower, lower) - upper


def struve(out: Array, v: Array, z: Array) -> Array:
    """H' from DLMF 11.4.23 and 11.4.27, of which only the first is good far from 0.

    For order 0 it is 2 / pi - H1, DLMF 11.4.28, which has derivatives at 0.
    """
    near = np.less(np.absolute(z), 1)
    inner, outer = np.where(near, z, 0), np.where(near, 1, z)
    zeroth = np.equal(v, 0)
    v = np.where(zeroth, 1, v)
    below = sp.struve(v - 1, z)
    half = 0.5 * (below - sp.struve(v + 1, inner) + lowest_term(v, inner))
    slope = np.where(near, half, below - v / outer * sp.struve(v, outer))
    return np.where(zeroth, 2 / math.pi - sp.struve(1.0, z), slope)


def modified_struve(out: Array, v: Array, z: Array) -> Array:
    """L' from DLMF 11.4.25 and 11.4.29, and 2 / pi + L1 for order 0."""
    zeroth = np.equal(v, 0)
    v = np.where(zeroth, 1, v)
    slope = 0.5 * (sp.modstruve(v - 1, z) + sp.modstruve(v + 1, z) + lowest_term(v, z))
    return np.where(zeroth, 2 / math.pi + sp.modstruve(1.0, z), slope)


def lowest_term(v: Array, z: Array) -> Array:
    """(z/2)**v / (sqrt(pi) gamma(v + 3/2))."""
    return (0.5 * z) ** v * (sp.rgamma(v + 1.5) / math.sqrt(math.pi))


def wright(out: Array, a: Array, b: Array, x: Array) -> Array:
    """The series of x**k / (k! gamma(a k + b)), DLMF 10.46.1, is that with b + a when derived."""
    return sp.wright_bessel(a, a + b, x)


def log_wright(out: Array, a: Array, b: Array, x: Array) -> Array:
    """The same relative to the function."""
    return np.exp(sp.log_wright_bessel(a, a + b, x) - out)


def by_last(name: str, refused: str, maker: Maker) -> Entry:
    """Make the rule of a function whose parameters, before the argument, refuse handles."""
    return rule(*(no_partial(name, each) for each in refused.split()), quiet(maker))


BESSEL_INTEGRALS: dict[Any, Entry] = {
    sp.itj0y0: each_of(sp.j0, sp.y0),
    sp.iti0k0: each_of(sp.i0, sp.k0),
    sp.it2j0y0: each_of(circular, lambda x: -sp.y0(x) / x),
    sp.it2i0k0: each_of(hyperbolic, lambda x: -sp.k0(x) / x),
    sp.itstruve0: rule(lambda out, x: sp.struve(0.0, x)),
    sp.itmodstruve0: rule(lambda out, x: sp.modstruve(0.0, x)),
    sp.it2struve0: rule(quiet(lambda out, x: -struve_over_x(x))),
    sp.itairy: each_of(  # of which SciPy gives rough values, from 1 up to 9.25
        lambda x: sp.airy(x)[0],
        lambda x: sp.airy(x)[2],
        lambda x: sp.airy(-x)[0],
        lambda x: sp.airy(-x)[2],
    ),
    sp.modfresnelp: Rule(makers=(quiet(fresnel_plus),), multiple=True),
    sp.modfresnelm: Rule(makers=(quiet(fresnel_minus),), multiple=True),
    sp.besselpoly: rule(
        quiet(bessel_moment), no_partial("besselpoly", "lmb"), no_partial("besselpoly", "nu")
    ),
    sp.struve: by_last("struve", "v", struve),
    sp.modstruve: by_last("modstruve", "v", modified_struve),
    sp.wright_bessel: by_last("wright_bessel", "a b", wright),
    sp.log_wright_bessel: by_last("log_wright_bessel", "a b", log_wright),
}
