"""Spherical Bessel functions, and derivatives of Bessel functions, which SciPy writes in Python.

The formulas are DLMF 10.51 and 10.6.7, 10.29.5; orders refuse handles.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry, arguments_of, quiet, rule
from tape_ad.scipy.counterparts import counterpart, scipy_function
from tape_ad.scipy.special.shared import no_partial, sp

__all__ = ["SPHERICAL", "SPHERICAL_FUNCTIONS"]

Function = Callable[..., Any]

HOME = "tape_ad.scipy.special"


def taking_arrays(function: Function) -> Function:
    """Let a function of numbers take arrays without axes, which handles are of."""

    @functools.wraps(function)
    def unpacked(order: Any, x: Any) -> Any:
        return function(order, x.item() if isinstance(x, np.ndarray) and not x.ndim else x)

    return unpacked


SPHERICAL: dict[Any, Entry] = {}

SPHERICAL_FUNCTIONS: dict[str, Function] = {}
"""Ours, by their names."""


def spherical(name: str, below: int, above: int) -> None:
    """Enter the rule of one kind: (2n + 1) w' = below n w_(n-1) + above (n + 1) w_(n+1).

    The same holds for w', which SciPy gives as well, so nothing is divided by z.
    """
    function = SPHERICAL_FUNCTIONS[name] = scipy_function(getattr(sp, name), HOME, "z")

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

    SPHERICAL[function] = rule(
        no_partial(name, "n"),
        quiet(maker),
        signature=arguments_of(function, "n z", "derivative"),
        facts=facts.elementwise("n", "z"),
    )


def of_numbers(name: str, composition: Function) -> None:
    """Enter a function of which SciPy's takes numbers alone."""
    theirs = taking_arrays(getattr(sp, name))
    SPHERICAL_FUNCTIONS[name] = counterpart(SPHERICAL, theirs, "x", composition)


def riccati(kind: str) -> None:
    """Enter x w_n(x) and its derivative, for all orders up to n, DLMF 10.21(xi)."""
    function = SPHERICAL_FUNCTIONS[f"spherical_{kind}"]

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


spherical("spherical_jn", 1, -1)
spherical("spherical_yn", 1, -1)
spherical("spherical_in", 1, 1)
spherical("spherical_kn", -1, -1)
riccati("jn")
riccati("yn")
of_numbers("lmbda", lmbda)
of_numbers("pbdv_seq", in_sequence(sp.pbdv))
of_numbers("pbvv_seq", in_sequence(sp.pbvv))
