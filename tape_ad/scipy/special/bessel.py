"""SciPy's Bessel, Hankel and Airy functions, Kelvin's, Weber's, Mathieu's and spheroidal ones.

Orders, parameters and characteristic values refuse handles.

The formulas are DLMF 10.6 (J, Y) and 10.29 (I, K). The scaled functions ive, i0e and i1e have a
factor exp(-abs(x.real)), whose kink is at 0 on the real axis: its derivative there is taken as 0.
So do jve and yve, with exp(-abs(z.imag)), and Bi of `airye`, with the exponential of a power of z.
"""

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, possibly
from tape_ad.extend.patterns import elementwise
from tape_ad.extend.rules import Maker, arguments_of, quiet, rule
from tape_ad.scipy.counterparts import counterpart, scipy_function
from tape_ad.scipy.special.shared import HOME, no_partial, sp


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


BESSEL: dict[Any, Any] = {
    sp.j0: lambda out, x: -sp.j1(x),
    sp.j1: lambda out, x: 0.5 * (sp.j0(x) - sp.jv(2.0, x)),
    sp.jv: ("v", lambda out, v, z: neighbours(sp.jv, v, z, -1)),
    sp.y0: lambda out, x: -sp.y1(x),
    sp.y1: lambda out, x: 0.5 * (sp.y0(x) - sp.yv(2.0, x)),
    sp.yv: ("v", lambda out, v, z: neighbours(sp.yv, v, z, -1)),
    sp.i0: lambda out, x: sp.i1(x),
    sp.i1: lambda out, x: 0.5 * (sp.i0(x) + sp.iv(2.0, x)),
    sp.iv: ("v", lambda out, v, z: neighbours(sp.iv, v, z, 1)),
    sp.i0e: lambda out, x: sp.i1e(x) - np.sign(x) * out,
    sp.i1e: lambda out, x: 0.5 * (sp.i0e(x) + sp.ive(2.0, x)) - np.sign(x) * out,
    sp.ive: ("v", scaled_first),
    sp.k0: lambda out, x: -sp.k1(x),
    sp.k1: lambda out, x: -0.5 * (sp.k0(x) + sp.kv(2.0, x)),
    sp.kv: ("v", lambda out, v, z: -neighbours(sp.kv, v, z, 1)),
    sp.kve: ("v", lambda out, v, z: out - neighbours(sp.kve, v, z, 1)),
    sp.k0e: lambda out, x: out - sp.k1e(x),
    sp.k1e: lambda out, x: out - 0.5 * (sp.k0e(x) + sp.kve(2.0, x)),
    sp.kn: ("n", lambda out, n, x: -neighbours(sp.kv, np.trunc(n), x, 1)),
    sp.yn: ("n", lambda out, n, x: neighbours(sp.yv, np.trunc(n), x, -1)),
    sp.jve: ("v", scaled_across(sp.jve)),
    sp.yve: ("v", scaled_across(sp.yve)),
    sp.hankel1: ("v", lambda out, v, z: neighbours(sp.hankel1, v, z, -1)),
    sp.hankel2: ("v", lambda out, v, z: neighbours(sp.hankel2, v, z, -1)),
    # hankel1 times exp(-iz)
    sp.hankel1e: ("v", lambda out, v, z: neighbours(sp.hankel1e, v, z, -1) - 1j * out),
    sp.hankel2e: ("v", lambda out, v, z: neighbours(sp.hankel2e, v, z, -1) + 1j * out),
    sp.airy: airy,
    sp.airye: scaled_airy,
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


def each_of(*slopes: Callable[[Array], Array]) -> Maker:
    """Make the maker of a function of x with several outputs from their derivatives."""

    def maker(k: int, outs: tuple[Array, ...], x: Array) -> Array:
        return slopes[k](x)

    return maker


def fresnel(turn: complex) -> Maker:
    """-exp(i x**2), and -2 i x K - exp(-i pi/4) / sqrt(pi), from K = F exp(-i (x**2 + pi/4)).

    That is with i for `turn`, and for -i the conjugate. For x < 0, SciPy's F has another imaginary
    part than the integral; this is the integral's slope.
    """
    phase = complex(math.sqrt(0.5), -turn.imag * math.sqrt(0.5)) / math.sqrt(math.pi)
    return lambda k, outs, x: -2 * turn * x * outs[1] - phase if k else -np.exp(turn * (x * x))


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


BESSEL |= {
    sp.itj0y0: each_of(sp.j0, sp.y0),
    sp.iti0k0: each_of(sp.i0, sp.k0),
    sp.it2j0y0: each_of(circular, lambda x: -sp.y0(x) / x),
    sp.it2i0k0: each_of(hyperbolic, lambda x: -sp.k0(x) / x),
    sp.itstruve0: lambda out, x: sp.struve(0.0, x),
    sp.itmodstruve0: lambda out, x: sp.modstruve(0.0, x),
    sp.it2struve0: lambda out, x: -over_x(x, lambda x: sp.struve(0.0, x) / x, STRUVE_SERIES, -1),
    sp.itairy: each_of(  # of which SciPy gives rough values, from 1 up to 9.25
        lambda x: sp.airy(x)[0],
        lambda x: sp.airy(x)[2],
        lambda x: sp.airy(-x)[0],
        lambda x: sp.airy(-x)[2],
    ),
    sp.modfresnelp: fresnel(1j),
    sp.modfresnelm: fresnel(-1j),
    sp.besselpoly: (bessel_moment, "lmb", "nu"),
    sp.struve: ("v", struve),
    sp.modstruve: ("v", modified_struve),
    # The series of x**k / (k! gamma(a k + b)), DLMF 10.46.1, is that with b + a when derived
    sp.wright_bessel: ("a", "b", lambda out, a, b, x: sp.wright_bessel(a, a + b, x)),
    sp.log_wright_bessel: (
        *("a", "b"),
        lambda out, a, b, x: np.exp(sp.log_wright_bessel(a, a + b, x) - out),
    ),
}


# Spherical Bessel functions, and derivatives of Bessel functions, which SciPy writes in Python


Function = Callable[..., Any]


def taking_arrays(function: Function) -> Function:
    """Let a function of numbers take arrays without axes, which handles are of."""

    @functools.wraps(function)
    def unpacked(order: Any, x: Any) -> Any:
        return function(order, x.item() if isinstance(x, np.ndarray) and not x.ndim else x)

    return unpacked


def spherical(name: str, below: int, above: int) -> Function:
    """Enter the rule of one kind: (2n + 1) w' = below n w_(n-1) + above (n + 1) w_(n+1).

    The same holds for w', which SciPy gives as well, so nothing is divided by z.
    """
    function = scipy_function(getattr(sp, name), HOME, "z")

    def maker(out: Array, n: Array, z: Array, derivative: bool) -> Array:
        if not derivative:
            slope: Array = function(n, z, True)
            return slope
        whole = as_array(n).astype(np.intp)
        if np.any(np.not_equal(whole, n)):
            raise UnsupportedArgumentError(
                f"{name}: SciPy leaves out the fraction of an order, and has a sign of its own for "
                "it below 0; write int(n) or np.trunc(n)"
            )
        n = whole
        lowest = np.equal(n, 0)
        lower = n * np.where(lowest, 0, function(np.where(lowest, 0, n - 1), z, True))
        upper = (n + 1) * function(n + 1, z, True)
        return (below * lower + above * upper) / (2 * n + 1)

    BESSEL[function] = rule(
        no_partial(name, "n"),
        quiet(maker),
        signature=arguments_of(function, "n z", "derivative"),
        facts=facts.elementwise("n", "z"),
    )
    return function


def of_numbers(name: str, composition: Function) -> None:
    """Enter a function of which SciPy's takes numbers alone."""
    counterpart(BESSEL, taking_arrays(getattr(sp, name)), "x", composition)


def riccati(kind: str, function: Function) -> None:
    """Enter x w_n(x) and its derivative, for all orders up to n, DLMF 10.21(xi)."""

    def composed(n: Any, x: Array) -> tuple[Array, Array]:
        orders = np.arange(operator.index(n) + 1)
        value = function(orders, x)
        return x * value, value + x * function(orders, x, True)

    of_numbers(f"riccati_{kind}", composed)


def lmbda(v: float, x: Array) -> tuple[Array, Array]:
    """0F1(v + 1; -x**2 / 4), DLMF 10.16.9, and its derivative."""
    orders = v % 1 + np.arange(int(v) + 1)
    power = -0.25 * (x * x)
    return sp.hyp0f1(orders + 1, power), -0.5 * x / (orders + 1) * sp.hyp0f1(orders + 2, power)


def in_sequence(function: Function) -> Function:
    """Make the composition that gives a function of orders up to v, one apart, from [0, 1) on."""

    def composed(v: float, x: Array) -> tuple[Array, Array]:
        if v < 0:
            raise UnsupportedArgumentError(
                f"scipy.special.{function.__name__}_seq: of v < 0 SciPy gives other orders, and "
                f"not all derivatives; write scipy.special.{function.__name__} of an array of v"
            )
        value, slope = function(v % 1 + np.arange(max(int(v), 1) + 1), x)
        return value, slope

    return composed


spherical("spherical_in", 1, 1)
spherical("spherical_kn", -1, -1)
riccati("jn", spherical("spherical_jn", 1, -1))
riccati("yn", spherical("spherical_yn", 1, -1))
of_numbers("lmbda", lmbda)
of_numbers("pbdv_seq", in_sequence(sp.pbdv))
of_numbers("pbvv_seq", in_sequence(sp.pbvv))


# Solutions of the wave equation's separated parts: Kelvin, Weber, Mathieu, spheroidal functions


DEGREE = math.pi / 180

# Kelvin functions: w = ber + i bei = J0(c x) with c = exp(3 pi i / 4) fulfils w'' = i w - w' / x,
# and so does ker + i kei, DLMF 10.61.1, 10.61.2 and 10.61.3

TURN = complex(-math.sqrt(0.5), math.sqrt(0.5))


def curvature(x: Array, w: Array, slope: Array) -> Array:
    """ber'' + i bei''; near 0 from Bessel's functions, DLMF 10.6.1, without a quotient."""
    near = np.less(np.absolute(x), 1)
    inner, outer = np.where(near, x, 0), np.where(near, 1, x)
    direct = 1j * w - slope / outer
    return np.where(near, 0.5j * (sp.jv(0.0, TURN * inner) - sp.jv(2.0, TURN * inner)), direct)


def pole(x: Array, w: Array, slope: Array) -> Array:
    """ker'' + i kei'', where kei'' grows like log(1/x) at 0."""
    at_pole = np.equal(x, 0)
    away = np.where(at_pole, 1, x)
    return np.where(at_pole, complex(math.inf, math.inf), 1j * w - slope / away)


def kelvin(k: int, outs: tuple[Array, ...], x: Array) -> Array:
    """Be', Ke' and their derivatives."""
    if k < 2:
        return outs[k + 2]
    return (curvature, pole)[k - 2](x, outs[k - 2], outs[k])


def bent(out: Array, x: Array, part: str) -> Array:
    """One part of ber'' + i bei''."""
    whole = curvature(x, sp.ber(x) + 1j * sp.bei(x), sp.berp(x) + 1j * sp.beip(x))
    return getattr(whole, part)


def kei_bent(out: Array, x: Array) -> Array:
    """kei'' = ker - kei' / x, where kei' vanishes at 0."""
    at_pole = np.equal(x, 0)
    return sp.ker(x) - out / np.where(at_pole, 1, x)


# Functions that come as a pair, with the derivative

Equation = Callable[..., Array]
"""``equation(w, slope, *parameters, x)``: the second derivative of w by x."""


def pair(refused: str, equation: Equation, unit: float = 1.0) -> tuple[Any, ...]:
    """Make the row of a function that gives w and w'.

    Parameters
    ----------
    refused : str
        Its parameters, apart by spaces.
    equation : callable
    unit : float
        What x is measured in, where w' is by a number: degrees.
    """

    def maker(k: int, outs: tuple[Array, Array], *arguments: Array) -> Array:
        value, slope = outs
        return unit * (equation(value, slope, *arguments) if k else slope)

    return *refused.split(), maker


def mathieu(values: Any) -> Equation:
    """The second derivative of Mathieu functions by the argument, DLMF 28.2.1."""
    return lambda w, slope, m, q, x: (2 * q * np.cos(2 * DEGREE * x) - values(m, q)) * w


def mathieu_modified(values: Any) -> Equation:
    """The second derivative of modified Mathieu functions by the argument, DLMF 28.20.1."""
    return lambda w, slope, m, q, x: (values(m, q) - 2 * q * np.cosh(2 * x)) * w


def spheroidal(values: Any, around: bool, sign: int) -> Equation:
    """(1 - x**2) w'' = 2 x w' - (cv - c**2 x**2 - m**2 / (1 - x**2)) w, DLMF 30.2.1.

    Parameters
    ----------
    values : callable
        SciPy's for cv, which is Flammer's.
    around : bool
        Whether the function is of the angle; else it is of the radius, DLMF 30.11.
    sign : int
        1 for prolate functions, -1 for oblate ones, in which i c stands for c, and i x for x where
        it is a radius.
    """

    def equation(w: Array, slope: Array, m: Array, n: Array, c: Array, *cv_x: Array) -> Array:
        cv, x = cv_x if len(cv_x) == 2 else (values(m, n, c), *cv_x)
        square = c * c * x * x
        if around:
            inside = 1 - x * x
            return (2 * x * slope - (cv - sign * square - m * m / inside) * w) / inside
        outside = x * x - sign
        return (-2 * x * slope + (cv - square + sign * m * m / outside) * w) / outside

    return equation


BESSEL |= {
    sp.ber: lambda out, x: sp.berp(x),
    sp.bei: lambda out, x: sp.beip(x),
    sp.ker: lambda out, x: sp.kerp(x),
    sp.kei: lambda out, x: sp.keip(x),
    sp.berp: lambda out, x: bent(out, x, "real"),
    sp.beip: lambda out, x: bent(out, x, "imag"),
    sp.kerp: lambda out, x: -sp.kei(x) - out / x,
    sp.keip: kei_bent,
    sp.kelvin: kelvin,
    **dict.fromkeys(  # DLMF 12.2.4
        (sp.pbdv, sp.pbvv), pair("v", lambda w, slope, v, x: (0.25 * x * x - v - 0.5) * w)
    ),
    sp.pbwa: pair("a", lambda w, slope, a, x: (a - 0.25 * x * x) * w),  # DLMF 12.14.2
    sp.mathieu_cem: pair("m q", mathieu(sp.mathieu_a), DEGREE),
    sp.mathieu_sem: pair("m q", mathieu(sp.mathieu_b), DEGREE),
    **dict.fromkeys(
        (sp.mathieu_modcem1, sp.mathieu_modcem2), pair("m q", mathieu_modified(sp.mathieu_a))
    ),
    **dict.fromkeys(
        (sp.mathieu_modsem1, sp.mathieu_modsem2), pair("m q", mathieu_modified(sp.mathieu_b))
    ),
}

for kind, values, sign in (("pro", sp.pro_cv, 1), ("obl", sp.obl_cv, -1)):
    for name in (f"{kind}_ang1", f"{kind}_rad1", f"{kind}_rad2"):
        equation = spheroidal(values, "ang" in name, sign)
        BESSEL[getattr(sp, name)] = pair("m n c", equation)
        BESSEL[getattr(sp, f"{name}_cv")] = pair("m n c cv", equation)
