"""The value of a piecewise polynomial, of its derivatives and integrals.

On a breakpoint all derivatives are those of the piece that SciPy evaluates: the one to the right,
and on the last breakpoint the one to the left. Where a point is not evaluated (nan, for lack of
extrapolation) they are 0.
"""

import inspect
from typing import Any, Self

import numpy as np
import scipy.interpolate

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, in_double, primal
from tape_ad.extend.rules import Derivation, Entry, constants, overridable
from tape_ad.scipy.interpolate.cubics import (
    akima_coefficients,
    cubic_spline_coefficients,
    hermite_coefficients,
    pchip_coefficients,
)
from tape_ad.scipy.interpolate.shared import (
    folded,
    in_place_of_axis,
    increasing,
    integral_over_periods,
    is_plain,
    values_along,
)

__all__ = [
    "PIECES",
    "ROOTS_OF_PIECES",
    "Akima1DInterpolator",
    "CubicHermiteSpline",
    "CubicSpline",
    "PPoly",
    "PchipInterpolator",
    "antiderivative_coefficients",
    "local_value",
    "pchip_interpolate",
    "piece_of",
    "piecewise_integral",
    "piecewise_value",
    "places_of",
    "rising",
    "solutions",
]


@overridable
def piecewise_value(
    c: Array, x: Array, points: Array, nu: int = 0, extrapolate: bool = True
) -> Array:
    """Evaluate a piecewise polynomial, as `scipy.interpolate.PPoly` does.

    Parameters
    ----------
    c : array or Tensor, shape (k, m, ...)
        The coefficients of each piece in powers of the distance from its left end, the highest
        power first.
    x : array or Tensor, shape (m + 1,)
        The breakpoints, in increasing or decreasing order.
    points : array or Tensor, any shape
    nu : int
        The order of the derivative.
    extrapolate : bool
        Whether there are values outside of the breakpoints, rather than nan.

    Returns
    -------
    array or Tensor, shape of `points`, then the further axes of `c`

    Examples
    --------
    >>> c = np.array([[1.0, 1.0], [0.0, 2.0], [0.0, 1.0]])
    >>> piecewise_value(c, np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.5]))
    array([0.25, 2.25])
    """
    polynomial = scipy.interpolate.PPoly.construct_fast(in_double(c), in_double(x), extrapolate)
    return polynomial(points, nu)


@overridable
def piece_of(x: Array, points: Array) -> Array:
    """Number the piece that each point is in, or the outermost one that is nearest to it."""
    last = x.shape[0] - 2
    if x[-1] < x[0]:
        return last - np.clip(np.searchsorted(x[::-1], points, side="left") - 1, 0, last)
    return np.clip(np.searchsorted(x, points, side="right") - 1, 0, last)


@overridable
def evaluated(x: Array, points: Array, extrapolate: bool) -> Array:
    """Tell which points have a value."""
    if extrapolate:
        return ~np.isnan(points)
    low, high = (x[-1], x[0]) if x[-1] < x[0] else (x[0], x[-1])
    return (points >= low) & (points <= high)


def rising(power: int, nu: int) -> float:
    """Compute the factor that a power gets by deriving it nu times, or by integrating it."""
    factor = 1.0
    for j in range(max(nu, 0)):
        factor *= power - j
    for j in range(max(-nu, 0)):
        factor /= power + j + 1
    return factor


def local_value(c: Array, s: Array, nu: int) -> Array:
    """Evaluate polynomials, each at one point.

    Parameters
    ----------
    c : array, shape (k, ...)
        For each point, the highest power first.
    s : array, shape (..., 1, 1)
        It broadcasts to the further axes of `c`.
    nu : int
        The order of the derivative; negative for integrals from 0.
    """
    degree = c.shape[0] - 1
    if nu > degree:
        return c[0] * 0.0
    power = s**-nu if nu < 0 else None
    total = None
    for exponent in range(max(nu, 0), degree + 1):  # in SciPy's order
        term = c[degree - exponent] if power is None else c[degree - exponent] * power
        factor = rising(exponent, nu)
        term = term if factor == 1 else term * factor
        total = term if total is None else total + term
        power = s if power is None else power * s
    return total


def piecewise_derivation(
    c: Array, x: Array, points: Array, nu: int = 0, extrapolate: bool = True
) -> Array:
    """Gather the coefficients of the piece that each point is in, and evaluate them."""
    c, x, points = in_double(c), in_double(x), in_double(points)
    i = piece_of(x, points)
    trailing = (...,) + (None,) * (c.ndim - 2)
    value = local_value(c[:, i], (points - x[i])[trailing], nu)
    inside = evaluated(x, points, extrapolate)
    return value if np.all(inside) else np.where(inside[trailing], value, np.nan)


def antiderivative_coefficients(c: Array, x: Array, nu: int) -> Array:
    """Compute the coefficients of an antiderivative without jumps, as SciPy does."""
    steps = x[1:] - x[:-1]
    for _ in range(nu):
        k, s = c.shape[0], steps.reshape((-1,) + (1,) * (c.ndim - 2))
        factors = 1.0 / np.arange(k, 0, -1)
        rises = local_value(c, s, -1)[:-1]
        start = np.cumsum(np.concatenate((np.zeros_like(c[:1, 0]), rises)), axis=0)
        c = np.concatenate((c * factors.reshape((k,) + (1,) * (c.ndim - 1)), start[None]))
    return c


@overridable
def piecewise_integral(c: Array, x: Array, a: Array, b: Array, extrapolate: bool = True) -> Array:
    """Integrate a piecewise polynomial, as `scipy.interpolate.PPoly.integrate` does.

    Parameters
    ----------
    c, x
        As in `piecewise_value`.
    a, b : float or Tensor
        The bounds.
    extrapolate : bool
        Whether the polynomial goes on outside of the breakpoints; the integral is nan otherwise.

    Returns
    -------
    array or Tensor, shape of the further axes of `c`
    """
    polynomial = scipy.interpolate.PPoly.construct_fast(in_double(c), in_double(x), extrapolate)
    return polynomial.integrate(a, b)


def integral_derivation(c: Array, x: Array, a: Array, b: Array, extrapolate: bool = True) -> Array:
    """Add up the integrals over the pieces between the bounds."""
    c, x, a, b = (in_double(each) for each in (c, x, a, b))
    if b < a:
        return -integral_derivation(c, x, b, a, extrapolate)
    if x[-1] < x[0]:
        return -integral_of_pieces(c, x, b, a, extrapolate)
    return integral_of_pieces(c, x, a, b, extrapolate)


def integral_of_pieces(c: Array, x: Array, a: Array, b: Array, extrapolate: bool) -> Array:
    """Integrate between bounds that are in the order of the breakpoints."""
    first, last = int(piece_of(x, a)), int(piece_of(x, b))
    if not (evaluated(x, a, extrapolate) and evaluated(x, b, extrapolate)):
        return c[0, 0] * np.nan
    end = local_value(c[:, last], b - x[last], -1)
    start = local_value(c[:, first], a - x[first], -1)
    if first == last:
        return end - start
    steps = (x[first + 1 : last + 1] - x[first:last]).reshape((-1,) + (1,) * (c.ndim - 2))
    whole = local_value(c[:, first:last], steps, -1)
    return np.add.reduce(whole, axis=0) - start + end


PIECES: dict[Any, Entry] = {
    piecewise_value: Derivation(piecewise_derivation),
    piecewise_integral: Derivation(integral_derivation),
    **constants(piece_of, facts=facts.composed(inspect.unwrap(piece_of))),
    **constants(evaluated, facts=facts.composed(inspect.unwrap(evaluated))),
}


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


ROOTS_OF_PIECES: dict[Any, Entry] = constants(places_of, facts=facts.SHAPED_BY_VALUES)


# `PPoly` and the piecewise cubic interpolants, as objects that may hold handles

Extrapolation = bool | str | None


class PPoly:
    """A piecewise polynomial, as `scipy.interpolate.PPoly`, whose parts may be handles.

    Parameters
    ----------
    c : array or Tensor, shape (k, m, ...)
        The coefficients of the pieces, the highest power first.
    x : array or Tensor, shape (m + 1,)
        The breakpoints.
    extrapolate : bool or "periodic", optional
    axis : int, optional

    Attributes
    ----------
    c, x, extrapolate, axis

    Examples
    --------
    >>> import tape_ad as ta
    >>> c = ta.ComputationRecord().tensor([[1.0], [0.0]])
    >>> ta.scipy.interpolate.PPoly(c, [0.0, 1.0])(0.5).grad().wrt(c)
    array([[0.5], [1. ]])
    """

    def __init__(
        self, c: Array, x: Array, extrapolate: Extrapolation = None, axis: int = 0
    ) -> None:
        c, x = in_double(c), in_double(x)
        if c.ndim < 2:
            raise ValueError("Coefficients array must be at least 2-dimensional.")
        if not 0 <= axis < c.ndim - 1:
            raise ValueError(f"axis={axis} must be between 0 and {c.ndim - 1}")
        if axis != 0:
            c = np.moveaxis(c, (axis, axis + 1), (0, 1))
        if x.ndim != 1:
            raise ValueError("x must be 1-dimensional")
        if x.size < 2:
            raise ValueError("at least 2 breakpoints are needed")
        if c.shape[0] == 0:
            raise ValueError("polynomial must be at least of order 0")
        if c.shape[1] != x.size - 1:
            raise ValueError("number of coefficients != len(x)-1")
        if np.any(x[1:] < x[:-1]) and np.any(x[1:] > x[:-1]):
            raise ValueError("`x` must be strictly increasing or decreasing.")
        self._fill(c, x, extrapolate, axis)

    def _fill(self, c: Array, x: Array, extrapolate: Extrapolation, axis: int) -> None:
        self.c, self.x, self.axis = c, x, axis
        if extrapolate is None:
            extrapolate = True
        self.extrapolate = extrapolate if extrapolate == "periodic" else bool(extrapolate)

    @classmethod
    def construct_fast(
        cls, c: Array, x: Array, extrapolate: Extrapolation = None, axis: int = 0
    ) -> Self:
        """Make one without checks."""
        made = cls.__new__(cls)
        made._fill(as_array(c), as_array(x), extrapolate, axis)
        return made

    def __call__(self, x: Array, nu: int = 0, extrapolate: Extrapolation = None) -> Array:
        """Evaluate the polynomial or its derivative.

        Parameters
        ----------
        x : array or Tensor, any shape
        nu : int
            The order of the derivative.
        extrapolate : bool or "periodic", optional

        Returns
        -------
        array or Tensor
            The axis of the breakpoints is replaced by those of `x`.
        """
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        x = in_double(x)
        if extrapolate == "periodic":
            x, extrapolate = folded(x, self.x[0], self.x[-1]), False
        value = piecewise_value(self.c, self.x, x, nu, bool(extrapolate))
        return in_place_of_axis(value, x, self.axis)

    def derivative(self, nu: int = 1) -> Self:
        """Make the polynomial that is the derivative; with a negative order, an antiderivative."""
        if nu < 0:
            return self.antiderivative(-nu)
        k = self.c.shape[0]
        kept = self.c[: k - nu] if nu < k else self.c[:1] * 0.0
        factors = np.array([rising(power, nu) for power in range(k - 1, nu - 1, -1)] or [0.0])
        c = kept * factors.reshape((-1,) + (1,) * (kept.ndim - 1))
        return self.construct_fast(c, self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> Self:
        """Make a polynomial without jumps of which this is the derivative."""
        if nu <= 0:
            return self.derivative(-nu)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        c = antiderivative_coefficients(self.c, self.x, nu)
        return self.construct_fast(c, self.x, extrapolate, self.axis)

    def integrate(self, a: Array, b: Array, extrapolate: Extrapolation = None) -> Array:
        """Integrate the piecewise polynomial between two bounds.

        Parameters
        ----------
        a, b : float or Tensor
        extrapolate : bool or "periodic", optional

        Returns
        -------
        array or Tensor, shape of the further axes of `c`
        """
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate != "periodic":
            return piecewise_integral(self.c, self.x, a, b, bool(extrapolate))
        if b < a:
            return -self.integrate(b, a, extrapolate)
        return integral_over_periods(
            lambda start, end: piecewise_integral(self.c, self.x, start, end),
            a,
            b,
            self.x[0],
            self.x[-1],
        )

    def solve(
        self, y: Array = 0.0, discontinuity: bool = True, extrapolate: Extrapolation = None
    ) -> Array:
        """Find where the polynomial has a value.

        Parameters
        ----------
        y : float or Tensor
        discontinuity : bool
            Whether jumps across the value count.
        extrapolate : bool or "periodic", optional

        Returns
        -------
        array or Tensor, shape (number of places,)
        """
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        beyond = extrapolate is not False and extrapolate != "periodic"
        return solutions(self.c, self.x, y, bool(discontinuity), beyond)

    def roots(self, discontinuity: bool = True, extrapolate: Extrapolation = None) -> Array:
        """Find where the polynomial is 0; see `solve`."""
        return self.solve(0.0, discontinuity, extrapolate)


class CubicHermiteSpline(PPoly):
    """Piecewise cubic with given values and slopes, as `scipy.interpolate.CubicHermiteSpline`.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
        The knots, increasing.
    y, dydx : array or Tensor, shape (..., n, ...)
        The values and slopes there.
    axis : int
        That of the knots in `y` and `dydx`.
    extrapolate : bool or "periodic", optional

    Examples
    --------
    >>> float(CubicHermiteSpline([0.0, 1.0], [0.0, 1.0], [0.0, 0.0])(0.5))
    0.5
    """

    def __init__(
        self,
        x: Array,
        y: Array,
        dydx: Array,
        axis: int = 0,
        extrapolate: Extrapolation = None,
    ) -> None:
        x, y, dydx = increasing(x), as_array(y), as_array(dydx)
        if y.shape != dydx.shape:
            raise ValueError("The shapes of `y` and `dydx` must be identical.")
        axis %= y.ndim
        y, dydx = values_along(x, y, axis), values_along(x, dydx, axis, "dydx")
        self._fill(hermite_coefficients(x, y, dydx), x, extrapolate, axis)


class PchipInterpolator(CubicHermiteSpline):
    """Monotone piecewise cubic, as `scipy.interpolate.PchipInterpolator`.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
        The knots, increasing.
    y : array or Tensor, shape (..., n, ...)
        Real.
    axis : int
    extrapolate : bool or "periodic", optional

    Examples
    --------
    >>> float(PchipInterpolator([0.0, 1.0, 2.0], [0.0, 1.0, 1.0])(1.5))
    1.0
    """

    def __init__(
        self, x: Array, y: Array, axis: int = 0, extrapolate: Extrapolation = None
    ) -> None:
        x, y = increasing(x), as_array(y)
        axis %= y.ndim
        c = pchip_coefficients(x, values_along(x, y, axis))
        self._fill(c, x, extrapolate, axis)


def pchip_interpolate(xi: Array, yi: Array, x: Array, der: Any = 0, axis: int = 0) -> Any:
    """Interpolate by a monotone piecewise cubic, as `scipy.interpolate.pchip_interpolate` does.

    Parameters
    ----------
    xi, yi : array or Tensor
        Knots and values.
    x : array or Tensor
    der : int or list of int
        The order of the derivative, or several.
    axis : int

    Returns
    -------
    array or Tensor, or a list of them
    """
    polynomial = PchipInterpolator(xi, yi, axis=axis)
    if np.ndim(der) == 0:
        return polynomial(x) if der == 0 else polynomial.derivative(der)(x)
    return [polynomial.derivative(nu)(x) for nu in der]


class Akima1DInterpolator(CubicHermiteSpline):
    """Piecewise cubic with Akima's slopes, as `scipy.interpolate.Akima1DInterpolator`.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
        The knots, increasing.
    y : array or Tensor, shape (..., n, ...)
        Real.
    axis : int
    method : str
        "akima" or "makima".
    extrapolate : bool or "periodic", optional
        Not, when left out.

    Examples
    --------
    >>> float(Akima1DInterpolator([0.0, 1.0, 2.0], [0.0, 1.0, 2.0])(1.5))
    1.5
    """

    def __init__(
        self,
        x: Array,
        y: Array,
        axis: int = 0,
        *,
        method: str = "akima",
        extrapolate: Extrapolation = None,
    ) -> None:
        x, y = increasing(x), as_array(y)
        axis %= y.ndim
        c = akima_coefficients(x, values_along(x, y, axis), method)
        self._fill(c, x, False if extrapolate is None else extrapolate, axis)


class CubicSpline(CubicHermiteSpline):
    """A cubic spline through points, as `scipy.interpolate.CubicSpline`.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
        The knots, increasing.
    y : array or Tensor, shape (..., n, ...)
    axis : int
        That of the knots in `y`.
    bc_type : str or pair
        As in SciPy; the values of derivatives in it may be handles.
    extrapolate : bool or "periodic", optional

    Examples
    --------
    >>> import tape_ad as ta
    >>> y = ta.ComputationRecord().tensor([0.0, 1.0, 4.0])
    >>> ta.scipy.interpolate.CubicSpline([0.0, 1.0, 2.0], y).integrate(0.0, 2.0).grad().wrt(
    ...     y
    ... ).round(12)
    array([0.33333333, 1.33333333, 0.33333333])
    """

    def __init__(
        self,
        x: Array,
        y: Array,
        axis: int = 0,
        bc_type: Any = "not-a-knot",
        extrapolate: Extrapolation = None,
    ) -> None:
        x, y = increasing(x), as_array(y)
        axis %= y.ndim
        y = values_along(x, y, axis)
        kinds, (start, end) = conditions(bc_type, y, axis)
        if extrapolate is None and kinds[0] == "periodic":
            extrapolate = "periodic"
        self._fill(cubic_spline_coefficients(x, y, start, end, kinds), x, extrapolate, axis)


def conditions(bc_type: Any, y: Array, axis: int) -> tuple[tuple[Any, Any], list[Array]]:
    """Sort what a spline is to fulfil at its ends into kinds and values, with SciPy's checks."""
    if isinstance(bc_type, str):
        if bc_type == "periodic" and not np.allclose(y[0], y[-1], rtol=1e-15, atol=1e-15):
            raise ValueError(
                f"The first and last `y` point along axis {axis} must be identical (within "
                "machine precision) when bc_type='periodic'."
            )
        bc_type = (bc_type, bc_type)
    elif len(bc_type) != 2:
        raise ValueError("`bc_type` must contain 2 elements to specify start and end conditions.")
    elif any(isinstance(each, str) and each == "periodic" for each in bc_type):
        raise ValueError(
            "'periodic' `bc_type` is defined for both curve ends and cannot be used with other "
            "boundary conditions."
        )
    kinds, values = zip(*(condition(each, y.shape[1:]) for each in bc_type), strict=True)
    return kinds, list(values)


NAMED: dict[str, int | str] = {
    "clamped": 1,
    "natural": 2,
    "not-a-knot": "not-a-knot",
    "periodic": "periodic",
}


def condition(given: Any, shape: tuple[int, ...]) -> tuple[Any, Array]:
    """Read what a spline is to fulfil at one end."""
    if isinstance(given, str):
        if given not in NAMED:
            raise ValueError(f"bc_type={given} is not allowed.")
        return NAMED[given], np.zeros(shape)
    try:
        order, value = given
    except Exception as error:
        raise ValueError(
            "A specified derivative value must be given in the form (order, value)."
        ) from error
    if order not in (1, 2):
        raise ValueError("The specified derivative order must be 1 or 2.")
    value = as_array(value)
    if value.shape != shape:
        raise ValueError(f"`deriv_value` shape {value.shape} is not the expected one {shape}.")
    return order, value
