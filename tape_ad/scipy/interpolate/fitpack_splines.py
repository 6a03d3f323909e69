"""Roots, derivatives and knots of splines in FITPACK's form, and smoothing splines."""

from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, in_double, primal
from tape_ad.extend.rules import Entry, constants, overridable
from tape_ad.scipy.counterparts import joined
from tape_ad.scipy.interpolate.bsplines import BSpline, padded
from tape_ad.scipy.interpolate.fitpack import splev, splprep
from tape_ad.scipy.interpolate.fitting import make_interp_spline
from tape_ad.scipy.interpolate.shared import is_plain

__all__ = [
    "SPLINE_PLACES",
    "insert",
    "make_splprep",
    "make_splrep",
    "places_of_spline",
    "spalde",
    "sproot",
]


def parts_of(tck: Any) -> tuple[Array, Any, int]:
    """Take apart a spline: knots, coefficients, or a list of them for a curve, and degree."""
    t, c, k = padded(tck.tck) if hasattr(tck, "tck") else tck
    return joined(t), c, k


def spalde(x: Array, tck: Any) -> Any:
    """Evaluate all derivatives of a spline, as `scipy.interpolate.spalde` does.

    Parameters
    ----------
    x : float, array or Tensor
    tck : tuple
        Knots, coefficients and degree; arrays or handles.

    Returns
    -------
    array or Tensor, shape (k + 1,), or a list of them for several points
    """
    t, c, k = parts_of(tck)
    if is_plain(x, t, c):
        return scipy.interpolate.spalde(x, tck)
    if isinstance(c, list | tuple):
        return [spalde(x, (t, each, k)) for each in c]
    points = np.atleast_1d(joined(x))
    rows = np.stack([splev(points, (t, c, k), der) for der in range(k + 1)], axis=1)
    return rows[0] if points.shape[0] == 1 else list(rows)


@overridable
def places_of_spline(t: Array, c: Array, mest: int) -> Array:
    """Find where a cubic spline is 0, as `scipy.interpolate.sproot` does."""
    return scipy.interpolate.sproot((t, c, 3), mest)


def sproot(tck: Any, mest: int = 10) -> Any:
    """Find where a cubic spline is 0, as `scipy.interpolate.sproot` does.

    Parameters
    ----------
    tck : tuple or BSpline
        Knots, coefficients and degree, 3; arrays or handles.
    mest : int
        How many roots there may be.

    Returns
    -------
    array or Tensor, shape (number of roots,), or a list of them for a curve

    Raises
    ------
    UnsupportedArgumentError
        For handles, where a root is a double one, which has no derivative.
    """
    t, c, k = parts_of(tck)
    if is_plain(t, c):
        return scipy.interpolate.sproot((t, c, k), mest)
    if k != 3:
        raise ValueError("sproot works only for cubic (k=3) splines")
    if isinstance(c, list | tuple):
        return [sproot((t, each, k), mest) for each in c]
    roots: Any = places_of_spline(t, c, mest)
    if np.any(primal(splev(roots, (t, c, k), 1)) == 0):
        raise UnsupportedArgumentError(
            "sproot: a root of handles has to be a simple one; a double root has no derivative"
        )
    for _ in range(2):  # which do not move a root, and have its first three derivatives
        roots = roots - splev(roots, (t, c, k)) / splev(roots, (t, c, k), 1)
    return roots


def insert(x: Array, tck: Any, m: int = 1, per: int = 0) -> Any:
    """Insert a knot into a spline, which stays as it is, as `scipy.interpolate.insert` does.

    Parameters
    ----------
    x : float or Tensor
        The knot.
    tck : tuple or BSpline
        Knots, coefficients and degree; arrays or handles.
    m : int
        How often.
    per : int
        0 for handles.

    Returns
    -------
    tuple or BSpline, as `tck`

    Notes
    -----
    W. Boehm, *Inserting new knots into B-spline curves*, Computer-Aided Design 12 (1980).
    """
    t, c, k = parts_of(tck)
    if is_plain(x, t, c):
        if not hasattr(tck, "tck"):
            return scipy.interpolate.insert(x, tck, m, per)
        host = scipy.interpolate.BSpline(*tck.tck)
        return BSpline.construct_fast(*scipy.interpolate.insert(x, host, m, per).tck)
    if per:
        raise UnsupportedArgumentError("insert: per= cannot go with handles")
    if isinstance(c, list | tuple):
        several = [insert(x, (t, each, k), m) for each in c]
        return several[0][0], [each for _, each, _ in several], k
    x, t, c = in_double(joined(x)), in_double(t), in_double(joined(c))
    c = c[: t.shape[0] - k - 1]
    for _ in range(m):
        n = c.shape[0]
        left = int(np.clip(np.searchsorted(t, x, side="right") - 1, k, n - 1))
        i = np.arange(left - k + 1, left + 1)
        share = ((x - t[i]) / (t[i + k] - t[i])).reshape((-1,) + (1,) * (c.ndim - 1))
        between = share * c[i] + (1 - share) * c[i - 1]
        c = np.concatenate((c[: left - k + 1], between, c[left:]))
        t = np.concatenate((t[: left + 1], x.reshape((1,)), t[left + 1 :]))
    if hasattr(tck, "tck"):
        return BSpline.construct_fast(t, c, k)
    return padded((t, c, k))


INTERPOLATED = (
    "{}: handles are interpolated, and where a smoothing spline has its knots is found by a "
    "search, which has no derivative; give s=0, or write make_smoothing_spline(x, y, lam=...)"
)


def make_splrep(x: Array, y: Array, *, s: Any = 0, k: int = 3, **options: Any) -> BSpline:
    """Make a spline of points, as `scipy.interpolate.make_splrep` does.

    Parameters
    ----------
    x, y : array or Tensor, shape (n,)
    s : float
        0 for handles.
    k : int
    **options
        SciPy's; handles take `bc_type`.

    Returns
    -------
    BSpline
    """
    if is_plain(x, y, s, *options.values()):
        made = scipy.interpolate.make_splrep(x, y, s=s, k=k, **options)
        return BSpline.construct_fast(made.t, made.c, made.k, made.extrapolate, made.axis)
    given = {name: each for name, each in options.items() if each is not None}
    bc_type = given.pop("bc_type", None)
    if not is_plain(s) or s != 0 or given:
        raise UnsupportedArgumentError(INTERPOLATED.format("make_splrep"))
    return make_interp_spline(joined(x), joined(y), k, bc_type=bc_type)


def make_splprep(
    x: Any, *, u: Any = None, s: Any = 0, k: int = 3, **options: Any
) -> tuple[BSpline, Array]:
    """Make a spline of the points of a curve, as `scipy.interpolate.make_splprep` does.

    Parameters
    ----------
    x : list of array or Tensor, shape (n,)
        The coordinates.
    u : array or Tensor, shape (n,), optional
    s : float
        0 for handles.
    k : int
    **options
        SciPy's, for plain arrays.

    Returns
    -------
    spline : BSpline
    u : array or Tensor, shape (n,)
    """
    given = list(x) if isinstance(x, list | tuple) else [x]
    if is_plain(*given, u, s, *options.values()):
        made, u = scipy.interpolate.make_splprep(x, u=u, s=s, k=k, **options)
        return BSpline.construct_fast(made.t, made.c, made.k, made.extrapolate, made.axis), u
    if not is_plain(s) or s != 0 or any(each is not None for each in options.values()):
        raise UnsupportedArgumentError(INTERPOLATED.format("make_splprep"))
    (t, c, k), u = splprep(x, u=u, s=0, k=k)
    return BSpline.construct_fast(t, np.stack(c, axis=-1), k, axis=1), u


# Polynomials


SPLINE_PLACES: dict[Any, Entry] = {**constants(places_of_spline)}
