"""Spherical Bessel functions, and derivatives of Bessel functions, which SciPy writes in Python.

The formulas are DLMF 10.51 and 10.6.7, 10.29.5; orders refuse handles.
"""

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry, arguments_of, quiet, rule
from tape_ad.scipy.counterparts import scipy_function, with_scipy_value
from tape_ad.scipy.special.shared import no_partial, sp

__all__ = ["SPHERICAL", "SPHERICAL_FUNCTIONS"]

Function = Callable[..., Any]

HOME = "tape_ad.scipy.special"

OF_ARRAYS = "spherical_jn spherical_yn spherical_in spherical_kn jvp yvp ivp kvp h1vp h2vp"
OF_NUMBERS = "riccati_jn riccati_yn lmbda pbdv_seq pbvv_seq"


def taking_arrays(function: Function) -> Function:
    """Let a function of numbers take arrays without axes, which handles are of."""

    @functools.wraps(function)
    def unpacked(order: Any, x: Any) -> Any:
        return function(order, x.item() if isinstance(x, np.ndarray) and not x.ndim else x)

    return unpacked


SPHERICAL_FUNCTIONS: dict[str, Function] = {
    **{name: scipy_function(getattr(sp, name), HOME, "z") for name in OF_ARRAYS.split()},
    **{
        name: scipy_function(taking_arrays(getattr(sp, name)), HOME, "x")
        for name in OF_NUMBERS.split()
    },
}
"""Ours, by their names."""

OURS = SPHERICAL_FUNCTIONS


def spherical(name: str, below: int, above: int) -> Entry:
    """Make the rule of one kind: (2n + 1) w' = below n w_(n-1) + above (n + 1) w_(n+1).

    The same holds for w', which SciPy gives as well, so nothing is divided by z.
    """
    function = OURS[name]

    def maker(out: Array, n: Array, z: Array, derivative: bool) -> Array:
        if not derivative:
            slope: Array = function(n, z, True)
            return slope
        n = as_array(n)
        lowest = np.equal(n, 0)
        lower = n * np.where(lowest, 0, function(np.where(lowest, 0, n - 1), z, True))
        upper = (n + 1) * function(n + 1, z, True)
        return (below * lower + above * upper) / (2 * n + 1)

    return rule(
        no_partial(name, "n"),
        quiet(maker),
        signature=arguments_of(function, "n z", "derivative"),
        facts=facts.elementwise("n", "z"),
    )


def repeatedly(name: str, of: Function, sign: int, outer: int = 1) -> Entry:
    """Make the entry of an n-th derivative: a sum of functions of orders v - n, v - n + 2, ..."""

    def composed(v: Array, z: Array, n: Any) -> Array:
        n = operator.index(n)
        if n == 0:
            return of(v, z)
        v = as_array(v)
        terms = [sign**i * math.comb(n, i) * of(v - n + 2 * i, z) for i in range(n + 1)]
        return sum(terms) * (outer**n / 2.0**n)

    return with_scipy_value(OURS[name], composed)


def riccati(kind: str) -> Entry:
    """Make the entry of x w_n(x) and its derivative, for all orders up to n, DLMF 10.21(xi)."""
    function = OURS[f"spherical_{kind}"]

    def composed(n: Any, x: Array) -> tuple[Array, Array]:
        orders = np.arange(operator.index(n) + 1)
        value = function(orders, x)
        return x * value, value + x * function(orders, x, True)

    return with_scipy_value(OURS[f"riccati_{kind}"], composed)


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


SPHERICAL: dict[Any, Entry] = {
    OURS["spherical_jn"]: spherical("spherical_jn", 1, -1),
    OURS["spherical_yn"]: spherical("spherical_yn", 1, -1),
    OURS["spherical_in"]: spherical("spherical_in", 1, 1),
    OURS["spherical_kn"]: spherical("spherical_kn", -1, -1),
    OURS["jvp"]: repeatedly("jvp", sp.jv, -1),
    OURS["yvp"]: repeatedly("yvp", sp.yv, -1),
    OURS["ivp"]: repeatedly("ivp", sp.iv, 1),
    OURS["kvp"]: repeatedly("kvp", sp.kv, 1, -1),
    OURS["h1vp"]: repeatedly("h1vp", sp.hankel1, -1),
    OURS["h2vp"]: repeatedly("h2vp", sp.hankel2, -1),
    OURS["riccati_jn"]: riccati("jn"),
    OURS["riccati_yn"]: riccati("yn"),
    OURS["lmbda"]: with_scipy_value(OURS["lmbda"], lmbda),
    OURS["pbdv_seq"]: with_scipy_value(OURS["pbdv_seq"], in_sequence(sp.pbdv)),
    OURS["pbvv_seq"]: with_scipy_value(OURS["pbvv_seq"], in_sequence(sp.pbvv)),
}
