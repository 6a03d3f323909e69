"""Images shifted, zoomed, rotated and deformed: where SciPy reads them, as coordinates."""

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError, UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Derivation, Entry, add_facts, overridable, rule, takes_over
from tape_ad.scipy.counterparts import checked_call, joined, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.axes import one_axis, per_axis
from tape_ad.scipy.ndimage.correlation import MODULE
from tape_ad.scipy.ndimage.interpolation import interpolated
from tape_ad.scipy.ndimage.places import where_finite

__all__ = [
    "TRANSFORMS",
    "affine_transform",
    "cosine_of_degrees",
    "geometric_transform",
    "rotate",
    "shift",
    "sine_of_degrees",
    "zoom",
]


@functools.wraps(scipy.ndimage.affine_transform)
def regular_affine_transform(*args: Any, **kwargs: Any) -> Any:
    """Refuse a 0 in a diagonal as well, which SciPy divides by, and then reads anywhere."""
    matrix = inspect.signature(scipy.ndimage.affine_transform).bind(*args, **kwargs)
    if np.ndim(matrix.arguments["matrix"]) == 1 and not np.all(matrix.arguments["matrix"]):
        raise ValueError("ndimage.affine_transform: matrix= is a diagonal with a 0 in it")
    return where_finite(scipy.ndimage.affine_transform, "matrix", "offset")(*args, **kwargs)


affine_transform = scipy_function(
    regular_affine_transform,
    MODULE,
    "input matrix offset cval",
)
geometric_transform = scipy_function(
    scipy.ndimage.geometric_transform, MODULE, "input cval extra_arguments"
)
shift = scipy_function(where_finite(scipy.ndimage.shift, "shift"), MODULE, "input shift cval")
zoom = scipy_function(scipy.ndimage.zoom, MODULE, "input cval")
rotate = scipy_function(where_finite(scipy.ndimage.rotate, "angle"), MODULE, "input angle cval")


def read_at(
    image: Array,
    coordinates: Array,
    output: Any,
    order: int,
    mode: str,
    cval: Any,
    prefilter: bool,
) -> Array:
    """Read an image, or each of a stack, at coordinates."""
    return interpolated(
        *(image, coordinates, as_array(cval)),
        order=order,
        mode=mode,
        prefilter=prefilter,
        output=np.dtype(output).type,
    )


def places(length: int, axis: int, ndim: int) -> Array:
    """Count along one axis of several."""
    return np.arange(float(length)).reshape((-1,) + (1,) * (ndim - axis - 1))


def along_each(lines: Sequence[Array], shape: Sequence[int]) -> Array:
    """Make the coordinates of a grid, given those along each axis."""
    each = [
        np.broadcast_to(line.reshape((-1,) + (1,) * (len(shape) - axis - 1)), shape)
        for axis, line in enumerate(lines)
    ]
    return np.stack(each)


@functools.cache
def offset_first() -> bool:
    """Tell whether this release of SciPy adds the offset before the products, or after them.

    It rounds otherwise, and where an element is as near as another, the one or the other is read.
    """
    image, matrix = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[0.5, -0.9], [0.0, 0.0]])
    read = scipy.ndimage.affine_transform(image, matrix, (0.9, 0.0), order=0, mode="nearest")
    return bool(read[1, 1] == 0)  # 0.9 + 0.5 - 0.9 is less than 0.5, and 0.5 - 0.9 + 0.9 is 0.5


def affine_of(matrix: Array, offset: Array, shape: Sequence[int]) -> Array:
    """Compute the coordinates that a matrix makes, in the order in which SciPy adds up."""
    wide = (..., *(None,) * len(shape))
    terms = [matrix[:, axis][wide] * places(n, axis, len(shape)) for axis, n in enumerate(shape)]
    shift = offset[wide] if offset.ndim else offset
    return functools.reduce(operator.add, [shift, *terms] if offset_first() else [*terms, shift])


def affine_transform_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    matrix: Any,
    offset: Any,
    output_shape: Any,
    output: Any,
    *options: Any,
) -> Array:
    """Read at what a matrix makes of the coordinates, in the order in which SciPy adds up."""
    ndim, matrix = input.ndim, as_array(joined(matrix))
    shape = input.shape if output_shape is None else tuple(output_shape)
    offset = as_array(joined(offset))
    if matrix.ndim == 2 and matrix.shape[1] == ndim + 1 and matrix.shape[0] in (ndim, ndim + 1):
        if matrix.shape[0] > ndim and not np.all(np.equal(matrix[ndim], [0] * ndim + [1])):
            raise ShapeError(f"the last row of a homogeneous matrix is not 0 ... 0 1: {matrix!r}")
        offset, matrix = matrix[:ndim, ndim], matrix[:ndim, :ndim]
    if matrix.shape not in ((ndim,), (ndim, len(shape))):
        raise ShapeError(
            f"affine_transform of an image of shape {input.shape} to {shape} takes a matrix of "
            f"shape {(ndim, len(shape))}, got {matrix.shape}"
        )
    if matrix.ndim == 1:
        shifts = offset / matrix
        lines = [
            (np.arange(float(n)) + (shifts[i] if shifts.ndim else shifts)) * matrix[i]
            for i, n in enumerate(shape)
        ]
        return read_at(input, along_each(lines, shape), output, *options)
    coordinates = affine_of(matrix, offset, shape)
    return read_at(input, coordinates, output, *options)


def shift_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    shift: Any,
    output: Any,
    *options: Any,
) -> Array:
    """Read at coordinates less the shift."""
    shifts = per_axis(joined(shift), input.ndim)
    lines = [np.arange(float(n)) + -each for n, each in zip(input.shape, shifts, strict=True)]
    return read_at(input, along_each(lines, input.shape), output, *options)


@functools.cache
def given_back() -> bool:
    """Tell whether this release of SciPy gives an image that is not to be zoomed as it is."""
    image = np.array([0.1, 0.7, 0.3])
    return np.array_equal(scipy.ndimage.zoom(image, 1, order=5, mode="grid-mirror"), image)


def zoom_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    zoom: Any,
    output: Any,
    order: int,
    mode: str,
    cval: Any,
    prefilter: bool,
    *,
    grid_mode: bool = False,
) -> Array:
    """Read at coordinates that only the shape of the result sets."""
    zooms = per_axis(joined(zoom), input.ndim)
    if any(takes_over(type(each)) for each in zooms):
        raise UnsupportedArgumentError(
            "tape_ad.scipy.ndimage.zoom: zoom= sets the shape of the result and nothing else, so "
            "that "
            "there is no derivative by it; pass zoom.data, or write affine_transform with a matrix"
        )
    if prefilter and all(each == 1 for each in zooms) and given_back():
        return input.astype(output)
    shape = [round(n * each) for n, each in zip(input.shape, zooms, strict=True)]
    centred = grid_mode and input.dtype.kind != "c"  # of complex images SciPy forgets it
    lines = []
    for n, m in zip(input.shape, shape, strict=True):
        above, below = (n, m) if grid_mode and centred else (n - 1, m - 1)
        step = above / below if below else 1.0
        line = np.arange(float(m))
        lines.append((line + 0.5) * step - 0.5 if centred else line * step)
    return read_at(input, along_each(lines, shape), output, order, mode, cval, prefilter)


@overridable
def cosine_of_degrees(x: Array) -> Array:
    """Compute the cosine of an angle in degrees, exactly 0 where it is 0.

    Parameters
    ----------
    x : array or Tensor

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> float(cosine_of_degrees(np.array(90.0)) + 0)
    0.0
    """
    return scipy.special.cosdg(x)


@overridable
def sine_of_degrees(x: Array) -> Array:
    """Compute the sine of an angle in degrees; see `cosine_of_degrees`.

    Examples
    --------
    >>> float(sine_of_degrees(np.array(90.0)))
    1.0
    """
    return scipy.special.sindg(x)


def rotate_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    angle: Any,
    axes: Any,
    reshape: bool,
    output: Any,
    *options: Any,
) -> Array:
    """Rotate each plane; what shape it takes is piecewise constant in the angle."""
    if input.ndim < 2 or len(tuple(axes)) != 2:
        raise ShapeError(
            f"rotate takes an array of two or more axes, and two of these as axes=; got shape "
            f"{input.shape} and axes {axes}"
        )
    plane = sorted(one_axis(input.ndim, axis) for axis in axes)
    angle = as_array(angle)
    c, s = cosine_of_degrees(angle), sine_of_degrees(angle)
    matrix = np.stack([np.stack([c, s]), np.stack([-s, c])])
    image = np.moveaxis(input, plane, (-2, -1))
    inside = np.array(image.shape[-2:])
    shape = inside
    if reshape:
        turned = matrix @ np.array([[0, 0, inside[0], inside[0]], [0, inside[1], 0, inside[1]]])
        shape = np.floor(np.ptp(turned, axis=1) + 0.5).astype(int)
    lengths = tuple(shape.tolist())
    offset = (inside - 1) / 2 - matrix @ ((shape - 1) / 2)
    coordinates = affine_of(matrix, offset, lengths)
    return np.moveaxis(read_at(image, coordinates, output, *options), (-2, -1), plane)


def geometric_transform_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    mapping: Callable[..., Any],
    output_shape: Any,
    output: Any,
    order: int,
    mode: str,
    cval: Any,
    prefilter: bool,
    extra_arguments: Sequence[Any],
    extra_keywords: dict[str, Any] | None,
) -> Array:
    """Read at what a function of the user's makes of the coordinates; it may give handles."""
    if not callable(mapping):
        raise UnsupportedArgumentError(
            "tape_ad.scipy.ndimage.geometric_transform: mapping= of handles is a Python function, "
            f"got {type(mapping).__name__}"
        )
    shape = input.shape if output_shape is None else tuple(output_shape)
    rows = [
        as_array(joined(tuple(mapping(index, *extra_arguments, **(extra_keywords or {})))))
        for index in np.ndindex(*shape)
    ]
    coordinates = np.moveaxis(np.stack(rows), 0, -1).reshape((input.ndim, *shape))
    return read_at(input, coordinates, output, order, mode, cval, prefilter)


RADIANS = np.pi / 180

TRANSFORMS: dict[Any, Entry] = {
    cosine_of_degrees: rule(lambda out, x: sine_of_degrees(x) * -RADIANS, facts=facts.ELEMENTWISE),
    sine_of_degrees: rule(lambda out, x: cosine_of_degrees(x) * RADIANS, facts=facts.ELEMENTWISE),
    **{
        public: Derivation(checked_call(public, compute))
        for public, compute in (
            (affine_transform, affine_transform_of_handle),
            (geometric_transform, geometric_transform_of_handle),
            (shift, shift_of_handle),
            (zoom, zoom_of_handle),
            (rotate, rotate_of_handle),
        )
    },
}

add_facts(TRANSFORMS, (rotate,), shape_by_values=True)
