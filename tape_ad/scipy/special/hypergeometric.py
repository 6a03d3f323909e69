"""Hypergeometric functions of `scipy.special`, and trigonometric ones: of degrees, Dirichlet's."""

import math
from typing import Any

import numpy as np

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, possibly, primal
from tape_ad.extend.rules import Call, Entry, arguments_of, quiet, rule
from tape_ad.scipy.counterparts import refuse_elsewhere, scipy_function
from tape_ad.scipy.special.elliptic import carlson_last
from tape_ad.scipy.special.shared import BERNOULLI, no_partial, sp

__all__ = ["HYPERGEOMETRIC", "diric"]

DEGREE = math.pi / 180


def mean_slope(out: Array, a: Array, b: Array) -> Array:
    """d agm(a, b) / da, from agm = pi b / (2 K(1 - a**2 / b**2)), DLMF 19.8.5, and dK/dm."""
    nothing = np.equal(primal(b), 0) & np.not_equal(primal(a), 0)  # of 0 and any number
    b = np.where(nothing, 1, b) if possibly(nothing) else b
    ratio = a / b
    slope = (2 / (3 * math.pi)) * (out / b) ** 2 * ratio * carlson_last(ratio * ratio)
    return np.where(nothing, 0, slope) if possibly(nothing) else slope


def exprel(out: Array, x: Array) -> Array:
    """1F1(2; 3; x) / 2, DLMF 13.3.15; elsewhere from the quotient, which cancels near 0.

    SciPy's 1F1 does not return where x is infinite.
    """
    near = np.less(np.absolute(x), 20)
    inner, outer = np.where(near, x, 0), np.where(near, 20, x)
    far = out + (1 - out) / outer
    far = np.where(np.isinf(out), out, far)
    return np.where(near, 0.5 * sp.hyp1f1(2.0, 3.0, inner), far)


diric = scipy_function(sp.diric, "tape_ad.scipy.special", "x")
sort_diric = arguments_of(diric, "x")


def diric_call(*args: Any, **kwargs: Any) -> Call:
    """Refuse handles for n, which is a whole number."""
    (x,), options = sort_diric(*args, **kwargs)
    refuse_elsewhere(diric, options)
    return (as_array(x),), options


# n cot(n h) - cot(h) is the sum of COTANGENTS[k - 1] (n**(2 k) - 1) h**(2 k - 1), DLMF 4.19.6
COTANGENTS = [-abs(b) * 4**k / math.factorial(2 * k) for k, b in enumerate(BERNOULLI, 1)]


def diric_slope(out: Array, x: Array, n: Array) -> Array:
    """Differentiate sin(n x / 2) / (n sin(x / 2)), also at multiples of 2 pi."""
    half, n = x / 2, as_array(n)
    turns = np.round(half / math.pi)
    h = half - turns * math.pi
    near = np.less(n * np.abs(h), 0.2)
    inner, outer = np.where(near, h, 0), np.where(near, 1, half)
    series: Array = 0.0
    for k in range(len(COTANGENTS), 0, -1):
        series = series + COTANGENTS[k - 1] * (n ** (2.0 * k) - 1) * inner ** (2 * k - 1)
    direct = (np.cos(n * outer) - out * np.cos(outer)) / np.sin(outer)
    return 0.5 * np.where(near, out * series, direct)


HYPERGEOMETRIC: dict[Any, Entry] = {
    diric: rule(quiet(diric_slope), signature=diric_call, facts=facts.elementwise("x", "n")),
    sp.sindg: rule(lambda out, x: DEGREE * sp.cosdg(x)),
    sp.cosdg: rule(lambda out, x: -DEGREE * sp.sindg(x)),
    sp.tandg: rule(quiet(lambda out, x: DEGREE * (1 + out * out))),
    sp.cotdg: rule(quiet(lambda out, x: -DEGREE * (1 + out * out))),
    sp.cosm1: rule(lambda out, x: -np.sin(x)),
    sp.exprel: rule(quiet(exprel)),
    sp.erfi: rule(quiet(lambda out, z: np.exp(z * z) * (2 / math.sqrt(math.pi)))),
    sp.wrightomega: rule(quiet(lambda out, z: out / (1 + out))),  # of w + log w = z
    sp.agm: rule(
        quiet(mean_slope),
        quiet(lambda out, a, b: mean_slope(out, b, a)),
    ),
    sp.hyp0f1: rule(  # DLMF 16.3.1
        no_partial("hyp0f1", "v"), quiet(lambda out, v, z: sp.hyp0f1(v + 1, z) / v)
    ),
    sp.hyperu: rule(  # DLMF 13.3.22
        no_partial("hyperu", "a"),
        no_partial("hyperu", "b"),
        quiet(lambda out, a, b, x: -a * sp.hyperu(a + 1, b + 1, x)),
    ),
}
