"""Hypergeometric functions of `scipy.special`, and trigonometric ones of degrees."""

import math
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, possibly, primal
from tape_ad.extend.rules import Entry, quiet, rule
from tape_ad.scipy.special.elliptic import carlson_last
from tape_ad.scipy.special.shared import no_partial, sp

__all__ = ["HYPERGEOMETRIC"]

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


HYPERGEOMETRIC: dict[Any, Entry] = {
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
