"""SciPy's Bessel functions, with respect to the argument; the order refuses handles.

The formulas are DLMF 10.6 (J, Y) and 10.29 (I, K). The scaled functions ive, i0e and i1e have a
factor exp(-abs(x.real)), whose kink is at 0 on the real axis: its derivative there is taken as 0.
"""

from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.linear_maps import Array
from tape_ad.rules.base import Entry, quiet, rule
from tape_ad.rules.scipy.special.functions import sp
from tape_ad.rules.scipy.special.shared import no_partial

__all__ = ["BESSEL"]


@define(eq=False, repr=False)
class ScaleBoth:
    """``t * factor + conj(t) * mirrored``: elementwise, and linear over the reals only."""

    broadcasts: ClassVar[bool] = True
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
}
