"""Solutions of the wave equation's separated parts: Kelvin, Weber, Mathieu, spheroidal functions.

SciPy gives each with its first derivative, and the differential equation has the second. Orders,
parameters and characteristic values refuse handles.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array
from tape_ad.extend.rules import Entry, Rule, quiet, rule
from tape_ad.scipy.special.shared import no_partial, sp

__all__ = ["WAVES"]

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


def ker_bent(out: Array, x: Array) -> Array:
    """ker'' = -kei - ker' / x."""
    return -sp.kei(x) - out / x


def kei_bent(out: Array, x: Array) -> Array:
    """kei'' = ker - kei' / x, where kei' vanishes at 0."""
    at_pole = np.equal(x, 0)
    return sp.ker(x) - out / np.where(at_pole, 1, x)


# Functions that come as a pair, with the derivative

Equation = Callable[..., Array]
"""``equation(w, slope, *parameters, x)``: the second derivative of w by x."""


def pair(function: Any, refused: str, equation: Equation, unit: float = 1.0) -> Entry:
    """Make the rule of a function that gives w and w'.

    Parameters
    ----------
    function : numpy.ufunc
    refused : str
        Its parameters, apart by spaces.
    equation : callable
    unit : float
        What x is measured in, where w' is by a number: degrees.
    """

    def maker(k: int, outs: tuple[Array, Array], *arguments: Array) -> Array:
        value, slope = outs
        return unit * (equation(value, slope, *arguments) if k else slope)

    refusing = [no_partial(function.__name__, each) for each in refused.split()]
    return Rule(makers=(*refusing, quiet(maker)), multiple=True)


def weber(w: Array, slope: Array, v: Array, x: Array) -> Array:
    """The second derivative of parabolic cylinder functions by the argument, DLMF 12.2.4."""
    return (0.25 * x * x - v - 0.5) * w


def weber_between(w: Array, slope: Array, a: Array, x: Array) -> Array:
    """The second derivative of Weber's functions by the argument, DLMF 12.14.2."""
    return (a - 0.25 * x * x) * w


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


SPHEROIDAL: dict[str, Equation] = {
    "pro_ang1": spheroidal(sp.pro_cv, True, 1),
    "obl_ang1": spheroidal(sp.obl_cv, True, -1),
    "pro_rad1": spheroidal(sp.pro_cv, False, 1),
    "pro_rad2": spheroidal(sp.pro_cv, False, 1),
    "obl_rad1": spheroidal(sp.obl_cv, False, -1),
    "obl_rad2": spheroidal(sp.obl_cv, False, -1),
}

WAVES: dict[Any, Entry] = {
    sp.ber: rule(lambda out, x: sp.berp(x)),
    sp.bei: rule(lambda out, x: sp.beip(x)),
    sp.ker: rule(quiet(lambda out, x: sp.kerp(x))),
    sp.kei: rule(quiet(lambda out, x: sp.keip(x))),
    sp.berp: rule(lambda out, x: bent(out, x, "real")),
    sp.beip: rule(lambda out, x: bent(out, x, "imag")),
    sp.kerp: rule(quiet(ker_bent)),
    sp.keip: rule(quiet(kei_bent)),
    sp.kelvin: Rule(makers=(quiet(kelvin),), multiple=True),
    sp.pbdv: pair(sp.pbdv, "v", weber),
    sp.pbvv: pair(sp.pbvv, "v", weber),
    sp.pbwa: pair(sp.pbwa, "a", weber_between),
    sp.mathieu_cem: pair(sp.mathieu_cem, "m q", mathieu(sp.mathieu_a), DEGREE),
    sp.mathieu_sem: pair(sp.mathieu_sem, "m q", mathieu(sp.mathieu_b), DEGREE),
    **{
        getattr(sp, f"mathieu_mod{kind}"): pair(
            getattr(sp, f"mathieu_mod{kind}"), "m q", mathieu_modified(values)
        )
        for kind, values in (
            *(("cem1", sp.mathieu_a), ("cem2", sp.mathieu_a)),
            *(("sem1", sp.mathieu_b), ("sem2", sp.mathieu_b)),
        )
    },
    **{
        getattr(sp, name): pair(getattr(sp, name), "m n c", equation)
        for name, equation in SPHEROIDAL.items()
    },
    **{
        getattr(sp, f"{name}_cv"): pair(getattr(sp, f"{name}_cv"), "m n c cv", equation)
        for name, equation in SPHEROIDAL.items()
    },
}
