"""Splines on rectangles, as `scipy.interpolate.RectBivariateSpline` interpolates by them."""

from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules.maps import Array
from tape_ad.rules.numpy.interpolation import in_double
from tape_ad.scipy.interpolate.fitting import knots_for
from tape_ad.scipy.interpolate.grids import tensor_coefficients, tensor_value
from tape_ad.scipy.interpolate.shared import increasing, is_plain

__all__ = ["RectBivariateSpline"]


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
