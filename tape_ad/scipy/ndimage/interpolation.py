"""Images between their grid points, by splines of orders 0 to 5, and what moves images.

At given coordinates the image is a sum of a few of the splines' coefficients, with weights that
are polynomials of the coordinates; the coefficients are the image, filtered (Unser, Aldroubi & Eden
1993, "B-spline signal processing"). The derivative by a coordinate has the weights' derivatives;
at a knot of a piecewise linear or constant spline, it is that of the piece to the right.
"""

import functools
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import (
    Array,
    Shape,
    any_handle,
    as_array,
    holds,
    is_handle,
    joined,
    primal,
)
from tape_ad.extend.maps import Deferred, LinearMap, PlainMap
from tape_ad.extend.packages import copied
from tape_ad.extend.patterns import Pattern, along, dense_blocks, reads, stacked
from tape_ad.extend.rules import Entry, add_facts, arguments_of, each, overridable, rule
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.extension import MODES, OUTSIDE, folded, picking
from tape_ad.scipy.ndimage.filters import KERNELS, write
from tape_ad.scipy.stand_ins import stands_for

__all__ = ["INTERPOLATION"]


KNOTS = {"constant": "mirror", "wrap": "mirror"}
"""How the coefficients go on beyond the edges, in modes that do not say so themselves."""


def within(c: Array, n: int, mode: str) -> tuple[Array, Array]:
    """Bring the coordinates along one axis to where the image is.

    Parameters
    ----------
    c : array or Tensor
    n : int
    mode : str

    Returns
    -------
    inside : array or Tensor
    slope : array
        Its derivative, 1, -1 or 0; a constant.
    """
    one = np.ones(c.shape)
    low, high = np.less(c, 0), np.greater(c, n - 1)
    if mode in ("nearest", "grid-constant"):  # whose coefficients go on for ever
        return c, one
    if mode == "constant" or n <= 1:
        inside = np.where(low, 0, np.where(high, n - 1, c))
        return inside, np.where(low | high, 0.0, 1.0)
    if mode == "wrap":
        period = n - 1
        below, above = c + period * (np.trunc(-c / period) + 1), c - period * np.trunc(c / period)
        return np.where(low, below, np.where(high, above, c)), one
    if mode == "grid-wrap":
        below, above = n - 1 + wrapped(c + 1, n), wrapped(c, n)
        return np.where(low, below, np.where(high, above, c)), one
    shift = 0 if mode == "mirror" else 1
    period = 2 * n - 2 if mode == "mirror" else 2 * n
    below, above = c + period * np.trunc(-c / period), c - period * np.trunc(c / period)
    if mode == "mirror":
        turned_below, turned_above = np.greater(below, 1 - n), np.greater_equal(above, n)
    else:
        turned_below, turned_above = np.greater_equal(below, -n), np.greater_equal(above, n)
    below = np.where(turned_below, -below - shift, below + period)
    above = np.where(turned_above, period - above - shift, above)
    turned = np.where(low, turned_below, high & turned_above)
    return np.where(low, below, np.where(high, above, c)), np.where(turned, -1.0, 1.0)


def wrapped(c: Array, n: int) -> Array:
    """Compute the remainder with the sign of the dividend, as C's ``fmod`` does."""
    return c - n * np.trunc(c / n)


@frozen(eq=False)
class Place:
    """Where the coordinates along one axis are among the knots.

    Attributes
    ----------
    y : array or Tensor, shape (points,)
        How far behind a knot.
    slope : array, shape (points,)
    index : array of int, shape (points, order + 1)
        The coefficients whose splines reach there; `OUTSIDE` for the constant.
    """

    y: Array
    slope: Array
    index: Array


def placed(c: Array, n: int, order: int, mode: str) -> Place:
    """Find where coordinates along an axis of `n` coefficients are."""
    inside, slope = within(c, n, mode)
    knots = inside if order % 2 else inside + 0.5
    first = np.floor(knots)
    reaching = first.astype(int)[:, None] - order // 2 + np.arange(order + 1)
    index = folded(reaching, n, KNOTS.get(mode, mode))
    if mode == "constant":
        index = np.where((np.less(c, 0) | np.greater(c, n - 1))[:, None], OUTSIDE, index)
    return Place(knots - first, slope, index)


@frozen(eq=False)
class Reading:
    """How SciPy's compiled code reads splines.

    Attributes
    ----------
    order, mode : int
    margin : int
        By how much there are more coefficients on each side than the image has elements.
    dtype : dtype
        Of the result.
    """

    order: int
    mode: int
    margin: int
    dtype: Any


@overridable
def interpolated(spline: Array, coordinates: Array, cval: Array, reading: Reading) -> Array:
    """Read splines at coordinates, by SciPy's compiled code.

    Parameters
    ----------
    spline : array or Tensor, shape (..., n1, n2, ...)
        The coefficients, also of a stack of images.
    coordinates : array or Tensor, shape (d, ...)
        One for each of the last d axes.
    cval : array or Tensor, shape ()
    reading : Reading

    Returns
    -------
    array or Tensor, shape (..., *coordinates.shape[1:])
    """
    stack = spline.shape[: spline.ndim - coordinates.shape[0]]
    out = np.zeros(stack + coordinates.shape[1:], reading.dtype)
    given = reading.order, reading.mode, cval, reading.margin, None, None
    for place in np.ndindex(stack):
        KERNELS.geometric_transform(
            spline[place], None, coordinates, None, None, out[place], *given
        )
    return out


@frozen(eq=False)
class Sampling:
    """All that a result of `interpolated` is made of.

    Attributes
    ----------
    places : list of Place
        One for each axis.
    order : int
    shape : tuple of int
        Of the coefficients of one image.
    points : tuple of int
        The shape of the result for one image.
    """

    places: list[Place]
    order: int
    shape: Shape
    points: Shape

    def gather(self) -> tuple[LinearMap, Array]:
        """Make the map that picks all coefficients, and the mask of those that there are."""
        flat: Any = np.zeros((len(self.places[0].slope), 1), int)
        there: Any = np.ones(flat.shape, bool)
        for place, n in zip(self.places, self.shape, strict=True):
            index = place.index
            flat = (flat[:, :, None] * n + index[:, None, :].clip(0)).reshape(len(index), -1)
            there = (there[:, :, None] & (index != OUTSIDE)[:, None, :]).reshape(len(index), -1)
        flat, length = flat.reshape(-1), int(np.prod(self.shape))
        return picking(flat, (length,)), there

    def weights(self, by: int | None = None) -> Array:
        """Compute the weights of all these coefficients, or their derivative by a coordinate."""
        out: Any = np.ones((len(self.places[0].slope), 1))
        for axis, place in enumerate(self.places):
            weights = weights_at(place.y, self.order, int(axis == by))
            if axis == by:
                weights = weights * place.slope[:, None]
            out = (out[:, :, None] * weights[:, None, :]).reshape((out.shape[0], -1))
        return out

    def values(self, spline: Array, cval: Any, weights: Array) -> Array:
        """Compute the sums with some weights."""
        gather, there = self.gather()
        stack = spline.shape[: spline.ndim - len(self.shape)]
        picked = gather.push(spline.reshape((*stack, -1))).reshape(stack + there.shape)
        sums = np.add.reduce(np.where(there, picked, cval) * weights, axis=-1)
        return sums.reshape(stack + self.points)


def sampling(shape: Shape, coordinates: Array, reading: Reading) -> Sampling:
    """Make the `Sampling` of coefficients of a shape, at coordinates."""
    d, points = coordinates.shape[0], coordinates.shape[1:]
    shape, flat = shape[len(shape) - d :], coordinates.reshape((d, -1))
    order, mode, margin = reading.order, MODES[reading.mode], reading.margin
    places = [placed(flat[i] + margin, n, order, mode) for i, n in enumerate(shape)]
    return Sampling(places, order, shape, points)


@define(eq=False, repr=False)
class Sampled:
    """Sums of coefficients, picked and weighted.

    Parameters
    ----------
    gather : LinearMap
    weights : array, shape (points, terms)
    shape : tuple of int
        Of the coefficients.
    points : tuple of int
        The shape that the sums take.
    """

    gather: Any
    weights: Array
    shape: Shape
    points: Shape

    @reads("gather", "weights.shape", "shape", "points")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        points, terms = self.weights.shape
        own = Pattern(np.repeat(np.arange(points), terms), self.gather.index.reshape(-1))
        return stacked(own, (self.shape, self.points), parent, node)

    def push(self, t: Array) -> Array:
        stack = t.shape[: t.ndim - len(self.shape)]
        picked = self.gather.push(t.reshape((*stack, -1)))
        terms = picked.reshape((*stack, *self.weights.shape)) * self.weights
        return np.add.reduce(terms, axis=-1).reshape(stack + self.points)

    def pull(self, ct: Array) -> Array:
        stack = ct.shape[: ct.ndim - len(self.points)]
        terms = ct.reshape((*stack, -1))[..., None] * self.weights
        return self.gather.pull(terms.reshape((*stack, -1))).reshape(stack + self.shape)


def in_spline(spline: Array, coordinates: Array, reading: Reading) -> LinearMap:
    """Make the partial of `interpolated` in the coefficients."""
    sampled = sampling(spline.shape, coordinates, reading)
    gather, there = sampled.gather()
    return Sampled(gather, sampled.weights() * there, sampled.shape, sampled.points)


@define(eq=False, repr=False)
class AtPoints:
    """The sum over coordinates of a derivative by each, times its change.

    Parameters
    ----------
    slopes : array, shape (d, *images, *points)
    images : int
        The number of axes that a stack of images has.
    """

    slopes: Array
    images: int

    @reads("slopes.ndim", "images")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        axes = range(1 + self.images - self.slopes.ndim, 0)
        return dense_blocks(parent, node, [(axis, axis) for axis in axes])

    def push(self, t: Array) -> Array:
        at = t.ndim - self.slopes.ndim + self.images
        return np.add.reduce(np.expand_dims(t, self._stack(at + 1)) * self.slopes, axis=at)

    def pull(self, ct: Array) -> Array:
        at = ct.ndim + 1 - self.slopes.ndim
        products = np.expand_dims(ct, at) * self.slopes
        return np.add.reduce(products, axis=self._stack(at + 1)) if self.images else products

    def _stack(self, first: int) -> tuple[int, ...]:
        return tuple(range(first, first + self.images))


def in_coordinates(spline: Array, coordinates: Array, cval: Array, reading: Reading) -> LinearMap:
    """Make the partial of `interpolated` in the coordinates."""
    sampled, d = sampling(spline.shape, coordinates, reading), coordinates.shape[0]
    slopes = [sampled.values(spline, cval, sampled.weights(i)) for i in range(d)]
    return AtPoints(np.stack(slopes), spline.ndim - d)


def partial(
    position: int, out: Array, spline: Array, coordinates: Array, cval: Array, reading: Reading
) -> Any:
    """Make one of the partials of `interpolated`; splines of order 0 are constant in places."""
    if out.size == 0 or (position == 1 and reading.order == 0):
        return None
    if position == 0:
        return Deferred(in_spline, (spline, coordinates, reading))
    if position == 1:
        return Deferred(in_coordinates, (spline, coordinates, cval, reading))
    sampled = sampling(spline.shape, coordinates, reading)
    return sampled.values(np.zeros(spline.shape), 1.0, sampled.weights())


INTERPOLATION: dict[Any, Entry] = {
    interpolated: each(partial, signature=arguments_of(interpolated, "spline coordinates cval"))
}


def interpolated_body(spline: Array, coordinates: Array, cval: Array, reading: Reading) -> Array:
    """Read splines as `interpolated` does, in NumPy."""
    sampled = sampling(spline.shape, coordinates, reading)
    return sampled.values(spline, cval, sampled.weights()).astype(reading.dtype)


add_facts(INTERPOLATION, (interpolated,), body=interpolated_body)


# What SciPy's compiled code is given in place of coordinates


def read(
    output: Array, spline: Array, coordinates: Array, order: int, mode: int, cval: Any, margin: int
) -> None:
    """Read splines at coordinates.

    Raises
    ------
    ValueError
        Where SciPy's compiled code would read outside of its memory.
    """
    check_finite("the place that is read", coordinates, mode)
    reading = Reading(order, mode, margin, output.dtype)
    write(output, interpolated(spline, coordinates, as_array(cval), reading))


@stands_for(KERNELS.geometric_transform)
def geometric_transform(
    spline: Array,
    mapping: Any,
    coordinates: Any,
    matrix: Any,
    offset: Any,
    output: Array,
    order: int,
    mode: int,
    cval: Any,
    margin: int,
    extra_arguments: Any,
    extra_keywords: Any,
) -> None:
    """Read at coordinates, at what a matrix makes of the grid's, or a function of the user's."""
    shape = output.shape
    if mapping is not None:
        if not callable(mapping):
            raise UnsupportedArgumentError(
                "tape_ad.scipy.ndimage.geometric_transform: mapping= of handles is a Python "
                f"function, got {type(mapping).__name__}"
            )
        found = [mapping(where, *extra_arguments, **extra_keywords) for where in np.ndindex(*shape)]
        rows = np.stack([as_array(joined(tuple(row))) for row in found])
        coordinates = np.moveaxis(rows, 0, -1).reshape((spline.ndim, *shape))
    elif coordinates is None:
        coordinates = affine(matrix, offset, shape)
    read(output, spline, as_array(joined(coordinates)), order, mode, cval, margin)


@stands_for(KERNELS.zoom_shift)
def zoom_shift(
    spline: Array,
    zoom: Any,
    shift: Any,
    output: Array,
    order: int,
    mode: int,
    cval: Any,
    margin: int,
    centred: bool,
) -> None:
    """Read at the grid's coordinates, shifted and zoomed."""
    along = []
    for axis, line in enumerate(lines(output.shape)):
        moved = line if shift is None else line + shift[axis]
        if zoom is not None:
            moved = (moved + 0.5) * zoom[axis] - 0.5 if centred else moved * zoom[axis]
        along.append(np.broadcast_to(moved, output.shape))
    read(output, spline, np.stack(along), order, mode, cval, margin)


own_rotate = copied(scipy.ndimage.rotate)


@stands_for(scipy.ndimage.rotate)
def rotate(
    image: Array,
    angle: Any,
    axes: Any = (1, 0),
    reshape: bool = True,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Array:
    """Rotate all planes of an array at once, where SciPy takes one after the other."""
    image, plane = as_array(joined(image)), tuple(axes)
    rest = order, mode, cval, prefilter
    usual = image.ndim > 2 and image.dtype.kind == "f" and output is None and order in range(6)
    if not usual or mode not in MODES or len({each % image.ndim for each in plane}) != 2:
        return own_rotate(image, angle, axes, reshape, output, *rest)
    plane = tuple(sorted(each % image.ndim for each in plane))
    stack = np.moveaxis(image, plane, (-2, -1))
    cos, sin = scipy.special.cosdg(angle), scipy.special.sindg(angle)
    matrix = np.stack([np.stack([cos, sin]), np.stack([-sin, cos])])
    inside = shape = np.array(stack.shape[-2:])
    if reshape:
        turned = matrix @ np.array([[0, 0, inside[0], inside[0]], [0, inside[1], 0, inside[1]]])
        shape = (np.ptp(turned, axis=1) + 0.5).astype(int)
    offset = (inside - 1) / 2 - matrix @ ((shape - 1) / 2)
    coordinates = affine(matrix, offset, tuple(shape.tolist()))
    margin = 0
    if prefilter and order > 1:
        if mode in ("nearest", "grid-constant"):
            margin = 12
            kind: dict[str, Any] = {"mode": "edge"}
            if mode == "grid-constant":
                kind = {"mode": "constant", "constant_values": cval}
            stack = np.pad(stack, [(0, 0)] * (stack.ndim - 2) + [(margin, margin)] * 2, **kind)
        for axis in (-2, -1):
            stack = prefiltered(stack, order, axis, MODES.index(mode), np.float64)
    check_finite("angle=", coordinates, mode)
    reading = Reading(order, MODES.index(mode), margin, image.dtype)
    out = interpolated(stack, coordinates, as_array(cval), reading)
    return np.moveaxis(out, (-2, -1), plane)


def affine(matrix: Array, offset: Array, shape: Shape) -> Array:
    """Compute what a matrix makes of a grid's coordinates, in the order in which SciPy adds up.

    In another one, another element might be the nearest.
    """
    wide = (..., *(None,) * len(shape))
    terms = [matrix[:, i][wide] * line for i, line in enumerate(lines(shape))]
    terms = [offset[wide], *terms] if offset_first() else [*terms, offset[wide]]
    return functools.reduce(operator.add, terms)


def lines(shape: Shape) -> list[Array]:
    """List the coordinates of a grid along each axis."""
    return [
        np.arange(float(n)).reshape((-1,) + (1,) * (len(shape) - axis - 1))
        for axis, n in enumerate(shape)
    ]


@functools.cache
def offset_first() -> bool:
    """Tell whether this release of SciPy adds the offset before the products, or after them."""
    image, matrix = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[0.5, -0.9], [0.0, 0.0]])
    read = scipy.ndimage.affine_transform(image, matrix, (0.9, 0.0), order=0, mode="nearest")
    return bool(read[1, 1] == 0)  # 0.9 + 0.5 - 0.9 is less than 0.5, and 0.5 - 0.9 + 0.9 is 0.5


def check_finite(name: str, given: Array, mode: int | str) -> None:
    """Refuse what makes SciPy read outside of its memory.

    Raises
    ------
    ValueError
        When something is nan, or infinite where the mode reads the image there.
    """
    data = primal(given)
    bad = np.isnan(data) if mode in (MODES.index("constant"), "constant") else ~np.isfinite(data)
    if np.any(bad):
        raise ValueError(f"ndimage: {name} is not finite")


def where_finite(*names: str) -> Callable[[Any], Any]:
    """Make of a copy of one of SciPy's functions one that checks some of its arguments."""

    def around(copy: Any) -> Any:
        signature = inspect.signature(copy)

        @functools.wraps(copy)
        def checked(*args: Any, **kwargs: Any) -> Any:
            every = (*args, *kwargs.values())
            if any(is_handle(each) or holds(each) for each in every):
                return copy(*args, **kwargs)  # which `read` checks the places of
            given = signature.bind(*args, **kwargs).arguments
            for name in names:
                value = as_array(given.get(name, 0.0))
                check_finite(f"{name}=", value, given.get("mode", "constant"))
            matrix = given.get("matrix", 1.0)
            if np.ndim(matrix) == 1 and not np.all(matrix):  # divided by, and read anywhere then
                raise ValueError("ndimage.affine_transform: matrix= is a diagonal with a 0 in it")
            return copy(*args, **kwargs)

        return checked

    return around


def without_derivative(copy: Any) -> Any:
    """Make of the copy of `zoom` one that refuses a handle that changes nothing but a shape."""
    signature = inspect.signature(copy)

    @functools.wraps(copy)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if any_handle(signature.bind(*args, **kwargs).arguments["zoom"]):
            raise UnsupportedArgumentError(
                "tape_ad.scipy.ndimage.zoom: zoom= sets the shape of the result and nothing else, "
                "so that there is no derivative by it; pass zoom.data, or write affine_transform "
                "with a matrix"
            )
        return copy(*args, **kwargs)

    return checked


CHECKED = {
    "map_coordinates": where_finite("coordinates"),
    "affine_transform": where_finite("matrix", "offset"),
    "shift": where_finite("shift"),
    "rotate": where_finite("angle"),
    "zoom": without_derivative,
}
"""The copies of which some arguments are checked."""


# B-splines: their weights between grid points, and the filter that makes them interpolate.


HALVED = tuple(map(MODES.index, ("mirror", "constant", "wrap", "grid-constant")))
"""The modes in which the first and the last element are mirrored at."""

SHORT = 32
"""So few elements are filtered back by the matrix itself, for SciPy's values at the edges are
approximations, of which nothing is left after so many."""


@define(eq=False, repr=False)
class SplineFilter(PlainMap):
    """The coefficients of the splines through the elements along one axis.

    It is the inverse of the matrix of the splines' samples, which is symmetric; where the first
    and the last element are mirrored at, it is so if these two rows have half the weight.

    Parameters
    ----------
    order : int
        From 2.
    axis : int
        Negative.
    mode : int
        SciPy's number of it.
    """

    pattern = along("axis")
    order: int
    axis: int
    mode: int

    def forward(self, t: Array) -> Array:
        """Compute the spline coefficients of a tangent along one axis."""
        if t.dtype.kind == "c":
            return self.forward(t.real) + 1j * self.forward(t.imag)
        return prefiltered(t, self.order, self.axis, self.mode, np.result_type(t, np.float64))

    def backward(self, ct: Array) -> Array:
        """Filter, which is its own adjoint but for the edges."""
        n = ct.shape[self.axis]
        if ct.size == 0:
            return self.forward(ct)
        if n <= SHORT:
            matrix = SplineFilter(self.order, -1, self.mode).forward(np.eye(n))
            return np.moveaxis(np.moveaxis(ct, self.axis, -1) @ matrix.T, -1, self.axis)
        if self.mode not in HALVED:
            return self.forward(ct)
        weights = np.ones(n)
        weights[0] = weights[-1] = 0.5
        weights = weights.reshape((-1,) + (1,) * (-self.axis - 1))
        return weights * self.forward(ct / weights)


@overridable
def prefiltered(image: Array, order: int, axis: int, mode: int, dtype: Any) -> Array:
    """Compute the spline coefficients along one axis, by SciPy's compiled code.

    Parameters
    ----------
    image : array or Tensor
    order, axis, mode : int
        The axis is negative.
    dtype : dtype
        Of the result.
    """
    out = np.zeros(image.shape, dtype)
    if out.size:
        KERNELS.spline_filter1d(image, order, axis % image.ndim, out, mode)
    return out


@stands_for(KERNELS.spline_filter1d)
def spline_filter1d(image: Array, order: int, axis: int, output: Array, mode: int) -> None:
    """Compute the spline coefficients along one axis."""
    write(output, prefiltered(image, order, axis - image.ndim, mode, output.dtype))


def filter_partial(out: Array, image: Array, order: int, axis: int, mode: int, dtype: Any) -> Any:
    """Make the partial of `prefiltered`."""
    return SplineFilter(order, axis, mode) if out.size else None


# Weights


@functools.cache
def pieces(order: int, derivative: int) -> Array:
    """Make the coefficients of the B-spline's pieces, or of a derivative of these.

    Returns
    -------
    array, shape (order + 1, order + 1)
        In row k what the powers y^k are multiplied by, with a column for each of the splines that
        reach between two knots, y after the first of these. The spline is the sum of
        ``(-1)^i binomial(order + 1, i) / order! (d - i)^order`` over all i below d, the distance
        from where it begins (Schoenberg 1946).
    """
    n = order
    table = np.zeros((n + 1, n + 1))
    for j in range(n + 1):
        total = np.polynomial.Polynomial([0.0])
        for i in range(n - j + 1):
            factor = (-1) ** i * math.comb(n + 1, i)
            total = total + factor * np.polynomial.Polynomial([float(n - j - i), 1.0]) ** n
        total = (total / math.factorial(n)).deriv(derivative)
        table[: len(total.coef), j] = total.coef
    return table


def weights_at(y: Array, order: int, derivative: int = 0) -> Array:
    """Compute the weights of the splines that reach to a place between two knots.

    Parameters
    ----------
    y : array or Tensor, shape (...)
        From 0 at the one knot to 1 at the next.
    order : int
    derivative : int
        Which of its derivatives in `y` to compute instead.

    Returns
    -------
    array or Tensor, shape (..., order + 1)

    Examples
    --------
    >>> weights_at(np.array(0.5), 1)
    array([0.5, 0.5])
    >>> weights_at(np.array(0.0), 3) * 6
    array([1., 4., 1., 0.])
    """
    table = pieces(order, derivative)
    y = y[..., None]
    out = table[order] + y * 0
    for k in range(order - 1, -1, -1):  # Horner's scheme
        out = out * y + table[k]
    return out


SPLINES: dict[Any, Entry] = {
    prefiltered: rule(
        filter_partial, signature=arguments_of(prefiltered, "image"), facts=facts.along(axis="axis")
    )
}
