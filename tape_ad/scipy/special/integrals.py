"""SciPy's exponential, trigonometric, elliptic and hypergeometric integrals.

Hypergeometric functions have a rule for their argument only; the parameters refuse handles.
"""

import math
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, Rule, quiet, rule
from tape_ad.rules.maps import Array
from tape_ad.scipy.special.functions import sp
from tape_ad.scipy.special.shared import no_partial

__all__ = ["INTEGRALS"]


def expn(out: Array, n: Array, x: Array) -> Array:
    """-E_(n-1)(x), DLMF 8.19.13; for n = 0, of exp(-x) / x itself.

    SciPy drops what there is of `n` behind the point.
    """
    n = np.trunc(n)
    lowest = np.equal(n, 0)
    lower = -sp.expn(np.where(lowest, 0, np.subtract(n, 1)), x)
    return np.where(lowest, -out * (1 + 1 / x), lower) if lowest.any() else lower


def sici(k: int, outs: tuple[Array, Array], x: Array) -> Array:
    """sin(x) / x for Si and cos(x) / x for Ci, DLMF 6.2."""
    return np.cos(x) / x if k else np.sinc(x * (1 / math.pi))


def shichi(k: int, outs: tuple[Array, Array], x: Array) -> Array:
    """sinh(x) / x = sin(ix) / (ix) for Shi and cosh(x) / x for Chi, DLMF 6.2."""
    if k:
        return np.cosh(x) / x
    sinhc = np.sinc(x * (1j / math.pi))
    return sinhc if x.dtype.kind == "c" else sinhc.real


def spence(out: Array, z: Array) -> Array:
    """log(z) / (1 - z), near 1 by the hypergeometric function, DLMF 15.4.1."""
    near = np.less(np.absolute(z - 1), 0.5)
    inner, outer = np.where(near, 1 - z, 0), np.where(near, 2, z)
    series = -sp.hyp2f1(1.0, 1.0, 2.0, inner)
    return np.where(near, series, np.log(outer) / (1 - outer))


# Carlson's integrals give the derivatives of the complete elliptic integrals without cancellation:
# K - E = m R_D(0, p, 1) / 3 and E - p K = m p R_D(0, 1, p) / 3 with p = 1 - m, DLMF 19.25.1


@overridable
def carlson_first(p: Array) -> Array:
    """R_D(0, p, 1), which is -6 dE/dm at m = 1 - p."""
    return sp.elliprd(0.0, p, 1.0)


@overridable
def carlson_last(p: Array) -> Array:
    """R_D(0, 1, p), which is 6 dK/dm at m = 1 - p."""
    return sp.elliprd(0.0, 1.0, p)


def carlson_first_slope(out: Array, p: Array) -> Array:
    """6 d2E/dm2, from Legendre's equation DLMF 19.4.9; near m = 0 by 19.5.2."""
    near, inner, outer = around_one(p)
    series = (-9 * math.pi / 32) * sp.hyp2f1(1.5, 2.5, 3.0, 1 - inner)
    first = carlson_first(outer)
    direct = (outer * first - 1.5 * sp.ellipe(1 - outer)) / (outer * (1 - outer))
    return np.where(near, series, direct)


def carlson_last_slope(out: Array, p: Array) -> Array:
    """-6 d2K/dm2, from Legendre's equation DLMF 19.4.8; near m = 0 by 19.5.1."""
    near, inner, outer = around_one(p)
    series = (-27 * math.pi / 32) * sp.hyp2f1(2.5, 2.5, 3.0, 1 - inner)
    last = carlson_last(outer)
    direct = ((2 * outer - 1) * last - 1.5 * sp.ellipkm1(outer)) / (outer * (1 - outer))
    return np.where(near, series, direct)


def around_one(p: Array) -> tuple[Array, Array, Array]:
    """Tell where p is near 1, and give p there and elsewhere, filled up with harmless numbers."""
    near = np.less(np.absolute(p - 1), 0.5)
    return near, np.where(near, p, 1), np.where(near, 2, p)


INTEGRALS: dict[Any, Entry] = {
    sp.expi: rule(quiet(lambda out, x: np.exp(x) / x)),
    sp.exp1: rule(quiet(lambda out, z: -np.exp(-z) / z)),
    sp.expn: rule(no_partial("expn", "n"), quiet(expn)),
    sp.sici: Rule(makers=(quiet(sici),), multiple=True),
    sp.shichi: Rule(makers=(quiet(shichi),), multiple=True),
    sp.spence: rule(quiet(spence)),
    sp.ellipk: rule(quiet(lambda out, m: carlson_last(1 - m) / 6)),
    sp.ellipkm1: rule(quiet(lambda out, p: carlson_last(p) / -6)),
    sp.ellipe: rule(quiet(lambda out, m: carlson_first(1 - m) / -6)),
    carlson_first: rule(quiet(carlson_first_slope), facts=facts.ELEMENTWISE),
    carlson_last: rule(quiet(carlson_last_slope), facts=facts.ELEMENTWISE),
    sp.hyp1f1: rule(
        no_partial("hyp1f1", "a"),
        no_partial("hyp1f1", "b"),
        quiet(lambda out, a, b, x: a / b * sp.hyp1f1(a + 1, b + 1, x)),
    ),
    sp.hyp2f1: rule(
        no_partial("hyp2f1", "a"),
        no_partial("hyp2f1", "b"),
        no_partial("hyp2f1", "c"),
        quiet(lambda out, a, b, c, z: a * b / c * sp.hyp2f1(a + 1, b + 1, c + 1, z)),
    ),
}
