"""SciPy's Bessel, Hankel and Airy functions by their argument; the order refuses handles.

The formulas are DLMF 10.6 (J, Y) and 10.29 (I, K). The scaled functions ive, i0e and i1e have a
factor exp(-abs(x.real)), whose kink is at 0 on the real axis: its derivative there is taken as 0.
So do jve and yve, with exp(-abs(z.imag)), and Bi of `airye`, with the exponential of a power of z.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.extend.arrays import Array, possibly
from tape_ad.extend.patterns import elementwise
from tape_ad.extend.rules import Entry, Maker, Rule, quiet, rule
from tape_ad.scipy.special.shared import no_partial, sp

__all__ = ["BESSEL", "BESSEL_INTEGRALS"]


@define(eq=False, repr=False)
class ScaleBoth:
    """``t * factor + conj(t) * mirrored``: elementwise, and linear over the reals only."""

    broadcasts: ClassVar[bool] = True
    pattern = elementwise
    factor: Array
    mirrored: Array

    def push(self, t: Array) -> Array:
        """Push a tangent; see `LinearMap.push`."""
        return t * self.factor + t.conjugate() * self.mirrored

    def pull(self, ct: Array) -> Array:
        """Pull a cotangent; see `LinearMap.pull`."""
        return ct * self.factor.conjugate() + ct.conjugate() * self.mirrored


def neighbours(function: Any, v: Array, z: Array, sign: int) -> Array:
    """Half the function of order v - 1 plus or minus half that of order v + 1."""
    return 0.5 * function(v - 1, z) + (0.5 * sign) * function(v + 1, z)


def scaled_first(out: Array, v: Array, z: Array) -> Array:
    """Add to that of iv the derivative of the factor, -sign(Re z) Re(t)."""
    slope = neighbours(sp.ive, v, z, 1)
    inward = -np.sign(z.real) * out
    if z.dtype.kind != "c":
        return slope + inward
    return ScaleBoth(slope + 0.5 * inward, 0.5 * inward)


def scaled_across(function: Any) -> Maker:
    """Add to the derivative of jv or yv that of the factor, -sign(Im z) Im(t)."""

    def partial(out: Array, v: Array, z: Array) -> Any:
        slope = neighbours(function, v, z, -1)
        if z.dtype.kind != "c":
            return slope
        inward = (-0.5j * np.sign(z.imag)) * out
        return ScaleBoth(slope - inward, inward)

    return partial


def half_difference(function: Any, v: Array, z: Array) -> Array:
    """Half the function of order v - 1 minus half that of order v + 1, DLMF 10.6.1."""
    return 0.5 * (function(v - 1, z) - function(v + 1, z))


def airy(k: int, outs: tuple[Array, ...], z: Array) -> Array:
    """Ai', z Ai, Bi' and z Bi, DLMF 9.2.1."""
    return z * outs[k - 1] if k % 2 else outs[k + 1]


def scaled_airy(k: int, outs: tuple[Array, ...], z: Array) -> Any:
    """Add the derivative of exp(w) or exp(-abs(Re w)), where w = 2/3 z**(3/2) has sqrt(z)."""
    slope = airy(k, outs, z)
    if z.dtype.kind == "c":
        root = np.sqrt(z)
        if k < 2:
            return slope + root * outs[k]
        half = (-0.5 * np.sign((z * root).real)) * outs[k]
        return ScaleBoth(slope + half * root, half * root.conjugate())
    right = np.greater_equal(z, 0)
    root = np.where(right, np.sqrt(np.where(right, z, 1)), 0)  # w is imaginary left of 0
    return slope + root * outs[k] if k < 2 else slope - root * outs[k]


BESSEL: dict[Any, Entry] = {
    sp.j0: rule(lambda out, x: -sp.j1(x)),
    sp.j1: rule(lambda out, x: 0.5 * (sp.j0(x) - sp.jv(2.0, x))),
    sp.jv: rule(no_partial("jv", "v"), lambda out, v, z: neighbours(sp.jv, v, z, -1)),
    sp.y0: rule(quiet(lambda out, x: -sp.y1(x))),
    sp.y1: rule(quiet(lambda out, x: 0.5 * (sp.y0(x) - sp.yv(2.0, x)))),
    sp.yv: rule(no_partial("yv", "v"), quiet(lambda out, v, z: neighbours(sp.yv, v, z, -1))),
    sp.i0: rule(lambda out, x: sp.i1(x)),
    sp.i1: rule(lambda out, x: 0.5 * (sp.i0(x) + sp.iv(2.0, x))),
    sp.iv: rule(no_partial("iv", "v"), lambda out, v, z: neighbours(sp.iv, v, z, 1)),
    sp.i0e: rule(lambda out, x: sp.i1e(x) - np.sign(x) * out),
    sp.i1e: rule(lambda out, x: 0.5 * (sp.i0e(x) + sp.ive(2.0, x)) - np.sign(x) * out),
    sp.ive: rule(no_partial("ive", "v"), scaled_first),
    sp.k0: rule(quiet(lambda out, x: -sp.k1(x))),
    sp.k1: rule(quiet(lambda out, x: -0.5 * (sp.k0(x) + sp.kv(2.0, x)))),
    sp.kv: rule(no_partial("kv", "v"), quiet(lambda out, v, z: -neighbours(sp.kv, v, z, 1))),
    sp.kve: rule(
        no_partial("kve", "v"),
        quiet(lambda out, v, z: out - neighbours(sp.kve, v, z, 1)),
    ),
    sp.k0e: rule(quiet(lambda out, x: out - sp.k1e(x))),
    sp.k1e: rule(quiet(lambda out, x: out - 0.5 * (sp.k0e(x) + sp.kve(2.0, x)))),
    sp.kn: rule(
        no_partial("kn", "n"),
        quiet(lambda out, n, x: -neighbours(sp.kv, np.trunc(n), x, 1)),
    ),
    sp.yn: rule(
        no_partial("yn", "n"), quiet(lambda out, n, x: half_difference(sp.yv, np.trunc(n), x))
    ),
    sp.jve: rule(no_partial("jve", "v"), scaled_across(sp.jve)),
    sp.yve: rule(no_partial("yve", "v"), quiet(scaled_across(sp.yve))),
    sp.hankel1: rule(
        no_partial("hankel1", "v"), quiet(lambda out, v, z: half_difference(sp.hankel1, v, z))
    ),
    sp.hankel2: rule(
        no_partial("hankel2", "v"), quiet(lambda out, v, z: half_difference(sp.hankel2, v, z))
    ),
    sp.hankel1e: rule(  # which is hankel1 times exp(-iz)
        no_partial("hankel1e", "v"),
        quiet(lambda out, v, z: half_difference(sp.hankel1e, v, z) - 1j * out),
    ),
    sp.hankel2e: rule(
        no_partial("hankel2e", "v"),
        quiet(lambda out, v, z: half_difference(sp.hankel2e, v, z) + 1j * out),
    ),
    sp.airy: Rule(makers=(airy,), multiple=True),
    sp.airye: Rule(makers=(quiet(scaled_airy),), multiple=True),
}


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
    """Compute H0(x) / x, for Struve's function H0, also where x is 0."""
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
    """The derivative of the integral of x**lmb J_nu(2 a x) by a; inside, 2x J' = x (J - J).

    For lower orders SciPy ends its sum where two terms are alike: there 2x J' = nu / a J - 2x J.
    """
    one = lmb + 1
    upper = sp.besselpoly(a, one, nu + 1)
    lowest = np.equal(nu, 0)  # where J_(-1) is -J_1
    low = np.less(nu, 0) & np.not_equal(nu, np.floor(nu))
    lower = sp.besselpoly(a, one, np.where(lowest | low, 1, nu - 1))
    slope = np.where(lowest, -lower, lower) - upper
    if not possibly(low):
        return slope
    return np.where(low, nu / np.where(low, a, 1) * out - 2 * upper, slope)


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
