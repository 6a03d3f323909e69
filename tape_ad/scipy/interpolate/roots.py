"""Where a piecewise polynomial has a value, by the implicit function theorem."""

from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.base.arrays.overridable import overridable
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.record.primals import primal
from tape_ad.rules.base import Entry, constants
from tape_ad.rules.maps import Array
from tape_ad.rules.numpy.interpolation import in_double
from tape_ad.scipy.interpolate.pieces import piecewise_value
from tape_ad.scipy.interpolate.shared import is_plain

__all__ = ["ROOTS_OF_PIECES", "places_of", "solutions"]


@overridable
def places_of(c: Array, x: Array, y: Array, jumps: bool, extrapolate: bool) -> Array:
    """Find where a piecewise polynomial has a value, as `scipy.interpolate.PPoly.solve` does."""
    polynomial = scipy.interpolate.PPoly.construct_fast(in_double(c), in_double(x), extrapolate)
    return polynomial.solve(y, jumps, extrapolate)


def solutions(c: Array, x: Array, y: Array, jumps: bool, extrapolate: bool) -> Array:
    """Find where a piecewise polynomial has a value.

    Two steps of Newton's method do not move a root, and have its first three derivatives.
    A root at which the polynomial jumps moves with its breakpoint.

    Parameters
    ----------
    c : array or Tensor, shape (k, m)
    x : array or Tensor, shape (m + 1,)
    y : float or Tensor
    jumps : bool
        Whether jumps across the value count.
    extrapolate : bool

    Returns
    -------
    array or Tensor, shape (number of roots,)

    Raises
    ------
    UnsupportedArgumentError
        For handles, where a root is a double one or the polynomial is constant.
    """
    places = places_of(c, x, y, jumps, extrapolate)
    if is_plain(c, x, y):
        return places
    if c.ndim != 2:
        raise UnsupportedArgumentError(
            "PPoly.solve takes handles of a single polynomial; index the further axes of c"
        )
    roots: Array = places
    residual = piecewise_value(c, x, places) - y
    jumped = np.isin(places, x) & (np.abs(residual) > 1e-9 * np.max(np.abs(c)))
    slope = piecewise_value(c, x, places, 1)
    if np.any(np.isnan(places)) or np.any((primal(slope) == 0) & ~jumped):
        raise UnsupportedArgumentError(
            "PPoly.solve: a root of handles has to be a simple one; a double root has no derivative"
        )
    for _ in range(2):
        slope = piecewise_value(c, x, roots, 1)
        step = (piecewise_value(c, x, roots) - y) / np.where(jumped, 1.0, slope)
        roots = np.where(jumped, roots, roots - step)
    if not np.any(jumped):
        return roots
    return np.where(jumped, x[np.argmin(np.abs(places[:, None] - x), axis=1)], roots)


ROOTS_OF_PIECES: dict[Any, Entry] = constants(places_of)
