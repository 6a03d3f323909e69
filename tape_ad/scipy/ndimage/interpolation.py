"""Images between their grid points, by splines of orders 0 to 5, and what moves images.

At given coordinates the image is a sum of a few of the splines' coefficients, with weights that
are polynomials of the coordinates; the coefficients are the image, filtered (Unser, Aldroubi & Eden
1993, "B-spline signal processing"). The derivative by a coordinate has the weights' derivatives;
at a knot of a piecewise linear or constant spline, it is that of the piece to the right.
"""

from typing import Any, ClassVar

import numpy as np
from attrs import define, frozen

from tape_ad.base.errors import ShapeError
from tape_ad.extend.arrays import Array, Shape
from tape_ad.extend.maps import Chain, Deferred, LinearMap, PlainMap
from tape_ad.extend.patterns import Pattern, dense_blocks, permutation, reads, stacked
from tape_ad.extend.rules import Entry, overridable, rule
from tape_ad.scipy.counterparts import by_name, operands_of, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.correlation import MODULE
from tape_ad.scipy.ndimage.extension import OUTSIDE, extension
from tape_ad.scipy.ndimage.places import Place, place, where_finite
from tape_ad.scipy.ndimage.splines import filters, weights_at

__all__ = ["INTERPOLATION", "interpolated", "map_coordinates"]


map_coordinates = scipy_function(
    where_finite(scipy.ndimage.map_coordinates, "coordinates"), MODULE, "input coordinates cval"
)

MARGIN = 12
"""By how much SciPy extends an image before it is filtered, in modes that need it."""

EXTENDED = {"nearest": "nearest", "grid-constant": "constant"}
"""The modes that need it, and how the image goes on then."""


@overridable
def interpolated(
    image: Array,
    coordinates: Array,
    cval: Array,
    *,
    order: int = 3,
    mode: str = "constant",
    prefilter: bool = True,
    output: Any = None,
) -> Array:
    """Interpolate each image of a stack at coordinates, by `map_coordinates`.

    Parameters
    ----------
    image : array or Tensor, shape (..., n1, n2, ...)
    coordinates : array or Tensor, shape (d, ...)
        Of the last d axes.
    cval : array or Tensor, shape ()
    order, mode, prefilter, output
        As in `map_coordinates`.

    Returns
    -------
    array or Tensor, shape (..., *coordinates.shape[1:])
    """
    read = where_finite(scipy.ndimage.map_coordinates, "coordinates")
    stack = image.shape[: image.ndim - coordinates.shape[0]]
    given = {"order": order, "mode": mode, "cval": cval, "prefilter": prefilter}
    if not stack:
        return read(image, coordinates, output, **given)
    images = image.reshape((-1, *image.shape[len(stack) :]))
    shape = stack + coordinates.shape[1:]
    made = [read(each, coordinates, output, **given) for each in images]
    return np.stack(made).reshape(shape) if made else np.zeros(shape, output or image.dtype)


@define(eq=False, repr=False)
class Picks(PlainMap):
    """Elements of a sequence, most of them picked several times, in no order.

    Parameters
    ----------
    index : array of int, shape (m,)
    length : int
        The parent's.
    """

    pattern = permutation
    index: Array
    length: int

    def forward(self, t: Array) -> Array:
        """Pick."""
        return np.take(t, self.index, axis=-1)

    def backward(self, ct: Array) -> Array:
        """Add up; `numpy.bincount` does so without sorting."""
        if ct.dtype.kind == "c":
            return self.backward(ct.real) + 1j * self.backward(ct.imag)
        rows = ct.reshape((-1, self.index.size))
        sums = [np.bincount(self.index, row, self.length) for row in rows]
        total = np.stack(sums) if sums else np.zeros((0, self.length))
        return total.reshape((*ct.shape[:-1], self.length))


@frozen(eq=False)
class Sampling:
    """All that a result of `interpolated` is made of.

    Attributes
    ----------
    filtered : LinearMap
        From the image to its coefficients.
    beyond : array or Tensor
        The coefficients that the constant has where the image is extended by it, if it is 1.
    places : list of Place
        One for each axis.
    order : int
    shape : tuple of int
        Of the coefficients of one image.
    points : tuple of int
        The shape of the result for one image.
    """

    filtered: LinearMap
    beyond: Array
    places: list[Place]
    order: int
    shape: Shape
    points: Shape

    def gather(self) -> tuple[Picks, Array]:
        """Make the map that picks all coefficients, and the mask of those that there are."""
        flat: Any = np.zeros((len(self.places[0].slope), 1), int)
        there: Any = np.ones(flat.shape, bool)
        for each, n in zip(self.places, self.shape, strict=True):
            index = each.index
            flat = (flat[:, :, None] * n + index[:, None, :].clip(0)).reshape(len(index), -1)
            there = (there[:, :, None] & (index != OUTSIDE)[:, None, :]).reshape(len(index), -1)
        return Picks(flat.reshape(-1), int(np.prod(self.shape))), there

    def weights(self, by: int | None = None) -> Array:
        """Compute the weights of all these coefficients, or their derivative by a coordinate."""
        out: Any = np.ones((len(self.places[0].slope), 1))
        for axis, each in enumerate(self.places):
            weights = weights_at(each.y, self.order, int(axis == by))
            if axis == by:
                weights = weights * each.slope[:, None]
            out = (out[:, :, None] * weights[:, None, :]).reshape((out.shape[0], -1))
        return out

    def values(self, image: Array, cval: Array, weights: Array) -> Array:
        """Compute the sums with some weights."""
        gather, there = self.gather()
        coefficients = self.filtered.push(image) + self.beyond * cval
        rank = len(self.shape)
        flat = coefficients.reshape((*coefficients.shape[: coefficients.ndim - rank], -1))
        picked = gather.push(flat).reshape((*flat.shape[:-1], *there.shape))
        sums = np.add.reduce(np.where(there, picked, cval) * weights, axis=-1)
        return sums.reshape((*flat.shape[:-1], *self.points))


def sampling(shape: Shape, coordinates: Array, order: int, mode: str, prefilter: bool) -> Sampling:
    """Make the `Sampling` of images of a shape, at coordinates."""
    d = coordinates.shape[0]
    shape, points = shape[len(shape) - d :], coordinates.shape[1:]
    flat = coordinates.reshape((d, -1))
    maps: tuple[LinearMap, ...] = ()
    margin, beyond = 0, 0.0
    if prefilter and order > 1:
        maps = (filters(order, d, mode),)
        if mode in EXTENDED:
            margin = MARGIN
            extended = extension(shape, [(margin, margin)] * d, [EXTENDED[mode]] * d)
            beyond = maps[0].push(1 - extended.forward(np.ones(shape)))
            maps = (extended, *maps)
    shape = tuple(n + 2 * margin for n in shape)
    places = [place(flat[i] + margin, n, order, mode) for i, n in enumerate(shape)]
    return Sampling(Chain(maps), beyond, places, order, shape, points)


@define(eq=False, repr=False)
class Sampled:
    """Sums of coefficients, picked and weighted.

    Parameters
    ----------
    gather : Picks
    weights : array, shape (points, terms)
    shape : tuple of int
        Of the coefficients.
    points : tuple of int
        The shape that the sums take.
    """

    broadcasts: ClassVar[bool] = False
    gather: Picks
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


def in_image(image: Array, coordinates: Array, *options: Any) -> LinearMap:
    """Make the partial of `interpolated` in the image."""
    sampled = sampling(image.shape, coordinates, *options)
    gather, there = sampled.gather()
    weights = sampled.weights() * there
    return Chain((sampled.filtered, Sampled(gather, weights, sampled.shape, sampled.points)))


@define(eq=False, repr=False)
class AtPoints:
    """The sum over coordinates of a derivative by each, times its change.

    Parameters
    ----------
    slopes : array, shape (d, *images, *points)
    images : int
        The number of axes that a stack of images has.
    """

    broadcasts: ClassVar[bool] = False
    slopes: Array
    images: int

    @reads("slopes.ndim", "images")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        points = self.slopes.ndim - 1 - self.images
        return dense_blocks(parent, node, [(axis, axis) for axis in range(-points, 0)])

    def push(self, t: Array) -> Array:
        points = self.slopes.ndim - 1 - self.images
        at = t.ndim - points - 1
        for _ in range(self.images):
            t = np.expand_dims(t, at + 1)
        return np.add.reduce(t * self.slopes, axis=at)

    def pull(self, ct: Array) -> Array:
        rank = self.slopes.ndim - 1
        products = np.expand_dims(ct, ct.ndim - rank) * self.slopes.conjugate()
        points = rank - self.images
        axes = tuple(range(-rank, -points))
        return np.add.reduce(products, axis=axes) if self.images else products


def in_coordinates(image: Array, coordinates: Array, cval: Array, *options: Any) -> LinearMap:
    """Make the partial of `interpolated` in the coordinates."""
    sampled = sampling(image.shape, coordinates, *options)
    d = coordinates.shape[0]
    slopes = [sampled.values(image, cval, sampled.weights(axis)) for axis in range(d)]
    return AtPoints(np.stack(slopes), image.ndim - d)


def image_partial(
    out: Array,
    image: Array,
    coordinates: Array,
    cval: Array,
    order: int,
    mode: str,
    prefilter: bool,
    output: Any,
) -> LinearMap | None:
    """Make the partial in the image."""
    if out.size == 0:
        return None
    return Deferred(in_image, (image, coordinates, order, mode, prefilter))


def coordinates_partial(
    out: Array,
    image: Array,
    coordinates: Array,
    cval: Array,
    order: int,
    mode: str,
    prefilter: bool,
    output: Any,
) -> LinearMap | None:
    """Make the partial in the coordinates, in which splines of order 0 are constant."""
    if out.size == 0 or order == 0:
        return None
    return Deferred(in_coordinates, (image, coordinates, cval, order, mode, prefilter))


def constant_partial(
    out: Array,
    image: Array,
    coordinates: Array,
    cval: Array,
    order: int,
    mode: str,
    prefilter: bool,
    output: Any,
) -> Array:
    """Make the partial in the constant: the result for images that are 0."""
    if out.size == 0 or mode not in ("constant", "grid-constant"):
        return None
    sampled = sampling(image.shape, coordinates, order, mode, prefilter)
    blank = np.zeros(image.shape)
    return sampled.values(blank, 1.0, sampled.weights())


def checked_signature(function: Any, operands: str) -> Any:
    """Make a signature that checks how many coordinates there are."""
    sort = operands_of(function, operands)

    def signature(*args: Any, **kwargs: Any) -> Any:
        (image, coordinates, cval), options = sort(*args, **kwargs)
        if coordinates.ndim < 2 or coordinates.shape[0] > image.ndim:
            raise ShapeError(
                f"coordinates of shape {coordinates.shape} are not those of points in an image of "
                f"shape {image.shape}: one row is asked for each axis, and an axis of points"
            )
        return (image, coordinates, cval), options

    return signature


PARTIALS = image_partial, coordinates_partial, constant_partial

INTERPOLATION: dict[Any, Entry] = {
    map_coordinates: rule(
        *PARTIALS,
        signature=checked_signature(map_coordinates, "input coordinates cval"),
        compute=by_name(map_coordinates, "input coordinates cval"),
    ),
    interpolated: rule(
        *PARTIALS, signature=checked_signature(interpolated, "image coordinates cval")
    ),
}
