"""Splines on rectangles and spheres, with derivatives by the values that they fit and by places.

With knots that stay, FITPACK's coefficients are a linear function of the values. Its matrix is what
FITPACK itself makes of values that are 1 at one point and 0 at all others.
"""

import functools
import inspect
from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, in_double, is_handle, joined
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.bsplines import knots_for
from tape_ad.scipy.interpolate.grids import tensor_coefficients, tensor_value
from tape_ad.scipy.interpolate.shared import is_plain, refuse_handles
from tape_ad.scipy.stand_ins import stands_for

__all__: list[str] = []


@stands_for(scipy.interpolate._fitpack2._BivariateSplineBase.__call__)
def evaluate(self: Any, x: Array, y: Array, dx: int = 0, dy: int = 0, grid: bool = True) -> Array:
    """Evaluate a spline or its derivative on a grid, or at points."""
    t, u, c = map(in_double, map(joined, self.tck[:3]))
    knots, degrees = [t, u], self.degrees
    if any(order >= k for order, k in zip((dx, dy), degrees, strict=True) if order):
        raise ValueError(f"a spline of degrees {degrees} has no derivative {(dx, dy)}")
    x, y = in_double(joined(x)), in_double(joined(y))
    if grid:
        x, y = x.reshape((-1, 1)), y.reshape((1, -1))
    x, y = np.broadcast_arrays(x, y)
    pairs = zip((x, y), knots, degrees, strict=True)
    coordinates = [within(each.reshape(-1), t, k) for each, t, k in pairs]
    shape = [t.shape[0] - k - 1 for t, k in zip(knots, degrees, strict=True)]
    c = c[: shape[0] * shape[1]].reshape(shape)
    return tensor_value(c, knots, degrees, coordinates, (dx, dy)).reshape(x.shape)


def within(x: Array, t: Array, k: int) -> Array:
    """Move points outside of the knots to their ends, as FITPACK does."""
    low, high = t[k], t[t.shape[0] - k - 1]
    return np.where(x < low, low, np.where(x > high, high, x))


@stands_for(scipy.interpolate._fitpack_impl.bisplev)
def bisplev(x: Array, y: Array, tck: Any, dx: int = 0, dy: int = 0) -> Array:
    """Evaluate a spline in FITPACK's form on a grid, without axes of one element."""
    surface = differentiable(scipy.interpolate.BivariateSpline)()
    surface.tck, surface.degrees = tuple(tck[:3]), tuple(tck[3:])
    z = evaluate(surface, np.atleast_1d(joined(x)), np.atleast_1d(joined(y)), dx, dy)
    if z.shape[0] > 1:
        return z
    return z[0] if z.shape[1] > 1 else z[0][0]


@stands_for(scipy.interpolate.RectBivariateSpline.__init__)
def through_grid(
    self: Any,
    x: Array,
    y: Array,
    z: Array,
    bbox: Any = (None, None, None, None),
    kx: int = 3,
    ky: int = 3,
    s: float = 0,
    maxit: int = 20,
) -> None:
    """Make a `RectBivariateSpline` through values on a grid."""
    if not is_plain(s) or s != 0 or any(each is not None for each in bbox):
        raise UnsupportedArgumentError(
            "RectBivariateSpline: s= and bbox= are not supported on handles, as the knots of "
            "a smoothing spline are found by a search; make it of t.data"
        )
    axes, z = [in_double(joined(x)), in_double(joined(y))], in_double(joined(z))
    if any(np.any(axis[1:] <= axis[:-1]) for axis in axes):
        raise ValueError("x and y must be strictly increasing")
    if z.shape != (axes[0].shape[0], axes[1].shape[0]):
        raise ValueError(f"z has shape {z.shape}, which is not that of the grid")
    knots = [knots_for(axis, k) for axis, k in zip(axes, (kx, ky), strict=True)]
    c = tensor_coefficients(z, axes, knots, (kx, ky)).reshape(-1)
    self.tck, self.degrees = (*knots, c), (kx, ky)


READS_UNWRITTEN = np.lib.NumpyVersion(scipy.__version__) >= "1.18.0"
"""Whether FITPACK reads memory that it has not written, where a spline is continuous at poles: its
coefficients are other ones at each call then, or nan."""

UNWRITTEN = (
    "RectSphereBivariateSpline: r= cannot be a handle with pole_continuity=True under SciPy "
    f"{scipy.__version__}, which reads memory there that it has not written, so that its splines "
    "are other ones at each call; use SciPy 1.17, or leave out pole_continuity"
)

SEARCHED = (
    "{}: {}= cannot be a handle{}, for how much to smooth decides by a search where the knots are, "
    "which has no derivative; write LSQ{}BivariateSpline with knots of your own, or "
    "Rect{}BivariateSpline with s=0"
)


def fit(kind: Any, self: Any, *args: Any, **options: Any) -> None:
    """Fit values, the third argument, which alone may be handles."""
    name, given = kind.__name__, inspect.signature(kind).bind(*args, **options).arguments
    values_name = list(given)[2]
    values = joined(given.pop(values_name))
    instead = f"there are derivatives by {values_name}= alone, and by where the spline is taken"
    refuse_handles(name, instead, **given)
    smooths = given.get("s", 0.0) != 0
    if is_handle(values) and ("Smooth" in name or smooths):
        where = "" if "Smooth" in name else " with s= other than 0"
        surface = "Sphere" if "Sphere" in name else ""
        raise UnsupportedArgumentError(SEARCHED.format(name, values_name, where, surface, surface))
    if READS_UNWRITTEN and np.any(given.get("pole_continuity", False)):
        raise UnsupportedArgumentError(UNWRITTEN)

    def made(values: Array) -> Any:
        return kind(**{values_name: values}, **given)

    host = made(np.zeros(values.shape))
    t, u, start = host.tck[:3]
    units = np.eye(values.size).reshape((-1, *values.shape))
    columns = [made(unit).tck[2] - start for unit in units]
    c = np.stack(columns, axis=-1) @ in_double(values).reshape((-1,)) + start
    self.__dict__.update({**host.__dict__, "tck": (t, u, c)})


for _kind in (
    scipy.interpolate.LSQBivariateSpline,
    scipy.interpolate.LSQSphereBivariateSpline,
    scipy.interpolate.RectSphereBivariateSpline,
    scipy.interpolate.SmoothBivariateSpline,
    scipy.interpolate.SmoothSphereBivariateSpline,
):
    stands_for(_kind.__init__)(functools.partial(fit, _kind))
