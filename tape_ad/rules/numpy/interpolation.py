"""The rule for `numpy.interp`, piecewise linear interpolation.

On a knot the derivative is that of the piece to its right, on the last one that of the piece to
its left; outside of the knots it is 0.
"""

from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import as_in_key, overridable
from tape_ad.base.errors import DtypeError
from tape_ad.rules import facts
from tape_ad.rules.base import Derivation, Entry, as_array, constants, in_double, quiet, rule
from tape_ad.rules.maps import Array, Chain, Index, LinearMap, WeightedSum
from tape_ad.rules.numpy import bodies


@overridable
def interpolated(x: Array, xp: Array, fp: Array) -> Array:
    """Interpolate as `numpy.interp` does, with constant values outside of the knots.

    Parameters
    ----------
    x : array, any shape
    xp : array, shape (n,), increasing
    fp : array, shape (n,)

    Returns
    -------
    array, shape of `x`
    """
    return np.interp(x, xp, fp)


def located(x: Array, xp: Array, fp: Array) -> tuple[Array, Array]:
    """Interpolate, and keep the number of the knot to the left of each x."""
    knots = np.searchsorted(xp, x, side="right") - 1
    return interpolated(x, xp, fp), np.clip(knots, 0, max(len(xp) - 2, 0))


def next_knot(j: Array, xp: Array) -> Array:
    """Number the knot to the right; an only knot is its own neighbour."""
    return np.minimum(j + 1, len(xp) - 1)


def width(j: Array, xp: Array) -> Array:
    """Measure the piece, which is not to be 0 for an only knot, or for two that coincide."""
    after, xp = next_knot(j, xp), as_in_key(xp, (j,))
    return np.where(np.equal(xp[after], xp[j]), 1, xp[after] - xp[j])


@overridable
def outside(x: Array, xp: Array) -> tuple[Array, Array]:
    """Tell which x lie before the first knot and which lie behind the last one."""
    if len(xp) == 0:  # which NumPy takes where there are no x either
        return np.zeros(x.shape, bool), np.zeros(x.shape, bool)
    return np.less(x, xp[0]), np.greater(x, xp[-1])


def slope(j: Array, x: Array, xp: Array, fp: Array) -> Array:
    """Compute the slope at x, which is 0 outside of the knots."""
    fp = as_in_key(fp, (j,))
    rise = fp[next_knot(j, xp)] - fp[j]
    before, behind = outside(x, xp)
    return np.where(before | behind, 0, rise / width(j, xp))


def weight(j: Array, x: Array, xp: Array) -> Array:
    """Compute how far x lies between two knots, from 0 to 1."""
    before, behind = outside(x, xp)
    after, across, xp = next_knot(j, xp), width(j, xp), as_in_key(xp, (j,))
    behind = behind | (~before & np.equal(xp[after], xp[j]))  # of the last two the last one counts
    return np.where(before | behind, behind.astype(float), (x - xp[j]) / across)


def blend(j: Array, at: Array, after: Array, xp: Array) -> LinearMap:
    """Make the map from a value for each knot, of which those on both sides of x count."""
    both, weights = np.stack((j, next_knot(j, xp))), np.stack((at, after))
    ndim = both.ndim
    return Chain(
        (
            Index((both,), xp.shape, both.shape, repeats=True),
            WeightedSum(weights, ndim, (-ndim,), keepdims=False),
        )
    )


def of_positions(j: Array, x: Array, xp: Array, fp: Array) -> LinearMap:
    """Make the partial with respect to the knots: moving the line moves its values."""
    w, steepness = weight(j, x, xp), slope(j, x, xp, fp)
    return blend(j, steepness * (w - 1), -steepness * w, xp)


def of_values(j: Array, x: Array, xp: Array, fp: Array) -> LinearMap:
    """Make the partial with respect to the values at the knots."""
    w = weight(j, x, xp)
    return blend(j, 1 - w, w, xp)


def interp(
    x: Array,
    xp: Array,
    fp: Array,
    left: Array = None,
    right: Array = None,
    period: Array = None,
) -> Array:
    """Interpolate, with other values outside of the knots or with a period."""
    x, xp, fp = (in_double(each) for each in (x, xp, fp))
    ends = [as_array(each).dtype.kind for each in (left, right) if each is not None]
    if "c" in (x.dtype.kind, xp.dtype.kind) or (fp.dtype.kind != "c" and "c" in ends):
        raise DtypeError("np.interp: x and xp are real, and so are left and right where fp is")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period = abs(period)
        x, xp = x % period, xp % period
        order = np.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
        fp = np.concatenate((fp[-1:], fp, fp[:1]))
        left = right = None
    result = interpolated(x, xp, fp)
    if left is None and right is None:
        return result
    before, behind = outside(x, xp)
    result = result if left is None else np.where(before, left, result)
    return result if right is None else np.where(behind, right, result)


INTERPOLATION: dict[Any, Entry] = {
    np.interp: Derivation(interp, facts=facts.composed(interp)),
    interpolated: rule(
        quiet(slope),
        quiet(of_positions),
        quiet(of_values),
        signature=lambda x, xp, fp: ((x, xp, fp), {}),
        compute=located,
        saves=True,
        facts=facts.elementwise("x").also(body=bodies.interpolated),
    ),
    **constants(outside, facts=facts.elementwise("x").composed_of(outside)),
}
