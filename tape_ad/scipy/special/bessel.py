"""SciPy's Bessel, Hankel and Airy functions by their argument; the order refuses handles.

The formulas are DLMF 10.6 (J, Y) and 10.29 (I, K). The scaled functions ive, i0e and i1e have a
factor exp(-abs(x.real)), whose kink is at 0 on the real axis: its derivative there is taken as 0.
So do jve and yve, with exp(-abs(z.imag)), and Bi of `airye`, with the exponential of a power of z.
"""

from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.rules.base import Entry, Maker, Rule, quiet, rule
from tape_ad.rules.maps import Array
from tape_ad.rules.maps.patterns import elementwise
from tape_ad.scipy.special.functions import sp
from tape_ad.scipy.special.shared import no_partial

__all__ = ["BESSEL"]


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
        quiet(lambda out, n, x: -0.5 * (sp.kv(n - 1, x) + sp.kv(n + 1, x))),
    ),
    sp.yn: rule(no_partial("yn", "n"), quiet(lambda out, n, x: half_difference(sp.yv, n, x))),
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
