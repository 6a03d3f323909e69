"""Splines on rectangles and spheres, with derivatives by the values that they fit and by places.

With knots that stay, FITPACK's coefficients are a linear function of the values. Its matrix is what
FITPACK itself makes of values that are 1 at one point and 0 at all others.
"""

import inspect
from typing import Any

import numpy as np
import scipy
import scipy.interpolate

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, in_double, is_handle, joined
from tape_ad.scipy.interpolate.fitting import knots_for
from tape_ad.scipy.interpolate.grids import tensor_coefficients, tensor_value
from tape_ad.scipy.interpolate.shared import increasing, is_plain, refuse_handles

__all__ = [
    "LSQBivariateSpline",
    "LSQSphereBivariateSpline",
    "RectBivariateSpline",
    "RectSphereBivariateSpline",
    "SmoothBivariateSpline",
    "SmoothSphereBivariateSpline",
    "bisplev",
]


class RectBivariateSpline:
    """A spline through values on a grid, as `scipy.interpolate.RectBivariateSpline`.

    Parameters
    ----------
    x : array or Tensor, shape (m,)
    y : array or Tensor, shape (n,)
        The axes of the grid, increasing.
    z : array or Tensor, shape (m, n)
    bbox : sequence of float, optional
        For plain arrays only; handles have the bounds of the grid.
    kx, ky : int
        The degrees.
    s : float
        For plain arrays; handles are interpolated, which is ``s=0``.

    Examples
    --------
    >>> import tape_ad as ta
    >>> axis = [0.0, 1.0, 2.0, 3.0]
    >>> z = ta.ComputationRecord().tensor(np.ones((4, 4)))
    >>> ta.scipy.interpolate.RectBivariateSpline(axis, axis, z).ev(1.0, 2.0).grad().wrt(z).argmax()
    np.int64(6)
    """

    def __init__(
        self,
        x: Array,
        y: Array,
        z: Array,
        bbox: Any = (None, None, None, None),
        kx: int = 3,
        ky: int = 3,
        s: float = 0,
        **options: Any,
    ) -> None:
        self.degrees = kx, ky
        self._host = None
        if is_plain(x, y, z, s):
            self._host = scipy.interpolate.RectBivariateSpline(
                x, y, z, list(bbox), kx, ky, s, **options
            )
            self.knots = [np.asarray(t) for t in self._host.get_knots()]
            shape = [t.shape[0] - k - 1 for t, k in zip(self.knots, self.degrees, strict=True)]
            self.c = self._host.get_coeffs().reshape(shape)
            return
        if not is_plain(s) or s != 0 or any(each is not None for each in bbox):
            raise UnsupportedArgumentError(
                "RectBivariateSpline: s= and bbox= are not supported on handles, as the knots of "
                "a smoothing spline are found by a search; make it of t.data"
            )
        axes, z = [increasing(x), increasing(y)], in_double(z)
        if z.shape != (axes[0].shape[0], axes[1].shape[0]):
            raise ValueError(f"z has shape {z.shape}, which is not that of the grid")
        self.knots = [knots_for(axis, k) for axis, k in zip(axes, self.degrees, strict=True)]
        self.c = tensor_coefficients(z, axes, self.knots, self.degrees)

    def get_knots(self) -> tuple[Array, Array]:
        """Give the knots along both axes."""
        return self.knots[0], self.knots[1]

    def get_coeffs(self) -> Array:
        """Give the coefficients, as one axis."""
        return self.c.reshape(-1)

    def ev(self, xi: Array, yi: Array, dx: int = 0, dy: int = 0) -> Array:
        """Evaluate the spline or its derivative at points.

        Parameters
        ----------
        xi, yi : array or Tensor
            The coordinates, which broadcast.
        dx, dy : int
            The orders of the derivative.

        Returns
        -------
        array or Tensor
        """
        return self(xi, yi, dx, dy, grid=False)

    def __call__(self, x: Array, y: Array, dx: int = 0, dy: int = 0, grid: bool = True) -> Array:
        """Evaluate the spline or its derivative on a grid, or at points.

        Parameters
        ----------
        x, y : array or Tensor
        dx, dy : int
            The orders of the derivative.
        grid : bool
            Whether the coordinates are those of a grid.

        Returns
        -------
        array or Tensor
        """
        if self._host is not None and is_plain(x, y):
            return self._host(x, y, dx, dy, grid)
        if any(order >= k for order, k in zip((dx, dy), self.degrees, strict=True) if order):
            raise ValueError(f"a spline of degrees {self.degrees} has no derivative {(dx, dy)}")
        x, y = in_double(x), in_double(y)
        if grid:
            x, y = np.broadcast_arrays(x.reshape((-1, 1)), y.reshape((1, -1)))
        else:
            x, y = np.broadcast_arrays(x, y)
        coordinates = [self._within(i, each.reshape(-1)) for i, each in enumerate((x, y))]
        value = tensor_value(self.c, self.knots, self.degrees, coordinates, (dx, dy))
        return value.reshape(x.shape)

    def _within(self, i: int, x: Array) -> Array:
        """Move points outside of the rectangle to its edge, as FITPACK does."""
        t, k = self.knots[i], self.degrees[i]
        low, high = t[k], t[t.shape[0] - k - 1]
        return np.where(x < low, low, np.where(x > high, high, x))


class FittedSurface(RectBivariateSpline):
    """What FITPACK fits, with the values as the third argument."""

    def _fit(self, values: Array, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """Fit values, which alone may be handles; `args` are two before them, and others."""
        name = type(self).__name__
        kind = getattr(scipy.interpolate, name)

        def made(values: Array) -> Any:
            return kind(*args[:2], values, *args[2:], **options)

        values, self._host = joined(values), None
        given = inspect.signature(kind).bind(*args[:2], values, *args[2:], **options).arguments
        its_name = list(given)[2]
        instead = f"there are derivatives by {its_name}= alone, and by where the spline is taken"
        refuse_handles(name, instead, **{each: given[each] for each in given if each != its_name})
        if is_handle(values):
            host = made(np.zeros(values.shape))
        else:
            host = self._host = made(values)
        t, u, _ = host.tck
        self.knots, self.degrees = [t, u], host.degrees
        shape = [each.shape[0] - k - 1 for each, k in zip(self.knots, self.degrees, strict=True)]
        size = int(np.prod(shape))
        c = start = host.tck[2][:size]
        if is_handle(values):
            units = np.eye(values.size).reshape((-1, *values.shape))
            columns = [made(unit).tck[2][:size] - start for unit in units]
            c = np.stack(columns, axis=-1) @ in_double(values).reshape((-1,)) + start
        self.c = c.reshape(shape)


class LSQBivariateSpline(FittedSurface):
    """A spline of given knots on a rectangle, as `scipy.interpolate.LSQBivariateSpline`.

    Parameters
    ----------
    x, y : array, shape (n,)
        The points.
    z : array or Tensor, shape (n,)
        The values there; handles cost as many fits as there are values.
    tx, ty : array
        The knots between the ends.
    w, bbox, kx, ky, eps
        As in SciPy.
    """

    def __init__(
        self, x: Array, y: Array, z: Array, tx: Array, ty: Array, *args: Any, **options: Any
    ) -> None:
        self._fit(z, (x, y, tx, ty, *args), options)


class SmoothBivariateSpline(FittedSurface):
    """A smooth spline on a rectangle, as `scipy.interpolate.SmoothBivariateSpline`.

    Parameters
    ----------
    x, y, z : array, shape (n,)
        The values `z` cannot be handles, but the spline can be taken at handles.
    w, bbox, kx, ky, s, eps
        As in SciPy.
    """

    def __init__(self, x: Array, y: Array, z: Array, *args: Any, **options: Any) -> None:
        if is_handle(joined(z)):
            raise UnsupportedArgumentError(
                SEARCHED.format("SmoothBivariateSpline", "z=").replace("Sphere", "")
            )
        self._fit(z, (x, y, *args), options)


class OnSphere(FittedSurface):
    """What the three kinds share."""

    def __call__(
        self, theta: Array, phi: Array, dtheta: int = 0, dphi: int = 0, grid: bool = True
    ) -> Array:
        """Evaluate the spline or its derivative on a grid, or at points.

        Parameters
        ----------
        theta, phi : array or Tensor
            Colatitudes and longitudes, in radians.
        dtheta, dphi : int
            The orders of the derivative.
        grid : bool

        Returns
        -------
        array or Tensor
        """
        theta, phi = joined(theta), joined(phi)
        if self._host is not None and is_plain(theta, phi):
            return self._host(theta, phi, dtheta, dphi, grid)
        theta, phi = as_array(theta), as_array(phi)
        if np.any((theta < 0) | (theta > np.pi)):
            raise ValueError("requested theta out of bounds.")
        if type(self) is not RectSphereBivariateSpline and np.any((phi < 0) | (phi > 2 * np.pi)):
            raise ValueError("requested phi out of bounds.")
        return super().__call__(theta, phi, dtheta, dphi, grid)

    def ev(self, theta: Array, phi: Array, dtheta: int = 0, dphi: int = 0) -> Array:
        """Evaluate the spline or its derivative at points; see the call."""
        return self(theta, phi, dtheta, dphi, grid=False)


class RectSphereBivariateSpline(OnSphere):
    """A spline through values on a grid of a sphere, as `scipy.interpolate`'s of that name.

    Parameters
    ----------
    u, v : array
        The colatitudes and longitudes of the grid.
    r : array or Tensor, shape (len(u), len(v))
        Handles cost as many fits as there are values.
    s : float
        0 for handles.
    pole_continuity : bool or pair of bool
        False for handles under SciPy 1.18, which takes memory that it has not written into account.
    pole_values, pole_exact, pole_flat
        As in SciPy.
    """

    def __init__(
        self,
        u: Array,
        v: Array,
        r: Array,
        s: float = 0.0,
        pole_continuity: Any = False,
        *args: Any,
        **options: Any,
    ) -> None:
        if is_handle(joined(r)):
            interpolated("RectSphereBivariateSpline", s)
            if READS_UNWRITTEN and np.any(pole_continuity):
                raise UnsupportedArgumentError(UNWRITTEN)
        self._fit(r, (u, v, s, pole_continuity, *args), options)


class SmoothSphereBivariateSpline(OnSphere):
    """A smooth spline on a sphere, as `scipy.interpolate.SmoothSphereBivariateSpline`.

    Parameters
    ----------
    theta, phi, r, w : array, shape (n,)
        The values `r` cannot be handles, but the spline can be taken at handles.
    s, eps : float
    """

    def __init__(self, theta: Array, phi: Array, r: Array, *args: Any, **options: Any) -> None:
        if is_handle(joined(r)):
            raise UnsupportedArgumentError(SEARCHED.format("SmoothSphereBivariateSpline", "r="))
        self._fit(r, (theta, phi, *args), options)


class LSQSphereBivariateSpline(OnSphere):
    """A spline of given knots on a sphere, as `scipy.interpolate.LSQSphereBivariateSpline`.

    Parameters
    ----------
    theta, phi : array, shape (n,)
        The colatitudes and longitudes of the points.
    r : array or Tensor, shape (n,)
        The values there; handles cost as many fits as there are values.
    tt, tp : array
        The knots between the ends.
    w, eps
        As in SciPy.
    """

    def __init__(
        self, theta: Array, phi: Array, r: Array, tt: Array, tp: Array, *args: Any, **options: Any
    ) -> None:
        self._fit(r, (theta, phi, tt, tp, *args), options)


READS_UNWRITTEN = np.lib.NumpyVersion(scipy.__version__) >= "1.18.0"
"""Whether FITPACK reads memory that it has not written, where a spline is continuous at poles: its
coefficients are other ones at each call then, or nan."""

UNWRITTEN = (
    "RectSphereBivariateSpline: r= cannot be a handle with pole_continuity=True under SciPy "
    f"{scipy.__version__}, which reads memory there that it has not written, so that its splines "
    "are other ones at each call; use SciPy 1.17, or leave out pole_continuity"
)

SEARCHED = (
    "{}: {} cannot be a handle, for how much to smooth decides by a search where the knots are, "
    "which has no derivative; write LSQSphereBivariateSpline with knots of your own, or "
    "RectSphereBivariateSpline with s=0"
)


def interpolated(name: str, s: Any) -> None:
    """Refuse to smooth handles: they are interpolated only."""
    if not is_plain(s) or s != 0:
        raise UnsupportedArgumentError(SEARCHED.format(name, "r= with s= other than 0"))


def bisplev(x: Array, y: Array, tck: Any, dx: int = 0, dy: int = 0) -> Array:
    """Evaluate a spline on a grid, as `scipy.interpolate.bisplev` does.

    Parameters
    ----------
    x, y : array or Tensor, shape (m,) and (n,)
        The axes of the grid.
    tck : list
        Knots, coefficients and degrees, as `scipy.interpolate.bisplrep` gives them; arrays or
        handles.
    dx, dy : int
        The orders of the derivative.

    Returns
    -------
    array or Tensor, shape (m, n)
        Without axes of one element, as in SciPy.
    """
    t, u, c, kx, ky = tck
    if is_plain(x, y, t, u, c):
        return scipy.interpolate.bisplev(x, y, tck, dx, dy)
    surface = RectBivariateSpline.__new__(RectBivariateSpline)
    surface._host, surface.degrees = None, (kx, ky)
    surface.knots = [in_double(joined(t)), in_double(joined(u))]
    surface.c = in_double(joined(c)).reshape(
        [each.shape[0] - k - 1 for each, k in zip(surface.knots, (kx, ky), strict=True)]
    )
    z = surface(np.atleast_1d(joined(x)), np.atleast_1d(joined(y)), dx, dy)
    if z.shape[0] > 1:
        return z
    return z[0] if z.shape[1] > 1 else z[0][0]
