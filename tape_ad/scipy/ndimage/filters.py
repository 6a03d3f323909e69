"""Filters that are a few correlations along axes, as SciPy writes them."""

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Derivation, Entry, overridable
from tape_ad.scipy.counterparts import checked_call, joined, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.axes import axes_of, numbers, one_axis, per_axis
from tape_ad.scipy.ndimage.correlation import MODULE, correlate1d, uniform_filter1d
from tape_ad.scipy.ndimage.extension import OUTSIDE, extension
from tape_ad.scipy.ndimage.ranks import around, footprint_of

__all__ = [
    "FILTERS",
    "USER_FUNCTIONS",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "gaussian_weights",
    "generic_filter",
    "generic_filter1d",
    "generic_gradient_magnitude",
    "generic_laplace",
    "laplace",
    "prewitt",
    "sobel",
    "uniform_filter",
]

uniform_filter = scipy_function(scipy.ndimage.uniform_filter, MODULE, "input cval")
gaussian_filter1d = scipy_function(scipy.ndimage.gaussian_filter1d, MODULE, "input sigma cval")
gaussian_filter = scipy_function(scipy.ndimage.gaussian_filter, MODULE, "input sigma cval")
prewitt = scipy_function(scipy.ndimage.prewitt, MODULE, "input cval")
sobel = scipy_function(scipy.ndimage.sobel, MODULE, "input cval")
laplace = scipy_function(scipy.ndimage.laplace, MODULE, "input cval")
gaussian_laplace = scipy_function(scipy.ndimage.gaussian_laplace, MODULE, "input sigma cval")
gaussian_gradient_magnitude = scipy_function(
    scipy.ndimage.gaussian_gradient_magnitude, MODULE, "input sigma cval"
)
generic_laplace = scipy_function(
    scipy.ndimage.generic_laplace, MODULE, "input cval extra_arguments"
)
generic_gradient_magnitude = scipy_function(
    scipy.ndimage.generic_gradient_magnitude, MODULE, "input cval"
)

Derivative = Callable[..., Array]

NO_STEP = 1e-15
"""A deviation so small is none, and nothing is filtered."""


def uniform_filter_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    size: Any,
    output: Any,
    mode: Any,
    cval: Any,
    origin: Any,
    *,
    axes: Any = None,
) -> Array:
    """Take means along one axis after another."""
    named = axes_of(input.ndim, axes)
    n = len(named)
    plans = zip(named, per_axis(size, n), per_axis(mode, n), per_axis(origin, n), strict=True)
    out = input.astype(output)
    for axis, length, each, shift in plans:
        if length > 1:
            out = uniform_filter1d(out, int(length), axis, None, each, cval, shift)
    return out


@overridable
def gaussian_weights(sigma: Array, order: int, radius: int) -> Array:
    """Compute the weights of `gaussian_filter1d`, which it gives to `correlate1d`.

    Parameters
    ----------
    sigma : array or Tensor, shape ()
    order, radius : int

    Returns
    -------
    array or Tensor, shape (2 * radius + 1,)

    Examples
    --------
    >>> gaussian_weights(np.array(1.0), 1, 1).round(3)
    array([-0.274,  0.   ,  0.274])
    """
    impulse = np.zeros(2 * radius + 1)
    impulse[radius] = 1
    given = {"order": order, "mode": "constant", "radius": radius}
    return scipy.ndimage.gaussian_filter1d(impulse, sigma, **given)[::-1]


def gaussian_weights_of_handle(sigma: Array, order: int, radius: int) -> Array:
    """Compute them as a derivative of the Gaussian, a polynomial times the Gaussian.

    With each further derivative the polynomial q becomes q' - q x / sigma^2.
    """
    square = sigma * sigma
    x = np.arange(-radius, radius + 1)
    gauss = np.exp(-0.5 / square * x**2)
    gauss = gauss / np.sum(gauss)
    polynomial: list[Any] = [1.0, *([0.0] * order)]
    for _ in range(order):
        risen = [0.0, *[each * (-1 / square) for each in polynomial[:-1]]]
        fallen = [*[i * each for i, each in enumerate(polynomial)][1:], 0.0]
        polynomial = [a + b for a, b in zip(fallen, risen, strict=True)]
    total = sum(each * x.astype(float) ** i for i, each in enumerate(polynomial))
    return (total * gauss)[::-1]


def gaussian_filter1d_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    sigma: Array,
    axis: int,
    order: int,
    output: Any,
    mode: str,
    cval: Any,
    truncate: float,
    *,
    radius: int | None,
) -> Array:
    """Correlate with a Gaussian; how far it reaches is piecewise constant in its deviation."""
    sigma = as_array(sigma)
    reach = int(truncate * sigma.item() + 0.5) if radius is None else operator.index(radius)
    if reach < 0:
        raise ValueError("gaussian_filter1d takes a radius that is not negative")
    weights = gaussian_weights(sigma, operator.index(order), reach)
    return correlate1d(input, weights, axis, output, mode, cval, 0)


def gaussian_filter_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    sigma: Any,
    order: Any,
    output: Any,
    mode: Any,
    cval: Any,
    truncate: float,
    *,
    radius: Any,
    axes: Any = None,
) -> Array:
    """Filter along one axis after another."""
    named = axes_of(input.ndim, axes)
    n = len(named)
    plans = zip(
        named,
        *(numbers(sigma, n), per_axis(order, n), per_axis(mode, n), per_axis(radius, n)),
        strict=True,
    )
    out, filtered = input, False
    for axis, deviation, each, extended, reach in plans:
        if deviation > NO_STEP:
            out = gaussian_filter1d(
                out, deviation, axis, each, output, extended, cval, truncate, radius=reach
            )
            filtered = True
    return out if filtered else out.astype(output)


def edges(weights: Sequence[float], *arguments: Any) -> Array:
    """Take differences along one axis, and smooth along all others."""
    image, axis, output, mode, cval = arguments
    axis, modes = one_axis(image.ndim, axis), per_axis(mode, image.ndim)
    out = correlate1d(image, [-1.0, 0.0, 1.0], axis, output, modes[axis], cval, 0)
    for other in range(image.ndim):
        if other != axis:
            out = correlate1d(out, weights, other, None, modes[other], cval, 0)
    return out


def prewitt_of_handle(*arguments: Any) -> Array:
    """See `edges`."""
    return edges([1.0, 1.0, 1.0], *arguments)


def sobel_of_handle(*arguments: Any) -> Array:
    """See `edges`."""
    return edges([1.0, 2.0, 1.0], *arguments)


# Sums over axes of what a function gives for each


def along_axes(
    combine: Callable[[list[Array]], Array],
    derivative: Derivative,
    image: Array,
    output: Any,
    mode: Any,
    cval: Any,
    extra: Sequence[Any],
    named: dict[str, Any] | None,
    axes: Any,
) -> Array:
    """Put together what a function of the user's gives for each axis; it may be given handles."""
    numbered = axes_of(image.ndim, axes)
    if not numbered:
        return image.astype(output)
    parts = [
        derivative(image, axis, output.type, each, cval, *extra, **(named or {}))
        for axis, each in zip(numbered, per_axis(mode, len(numbered)), strict=True)
    ]
    return combine(parts)


def added(parts: list[Array]) -> Array:
    """Add up."""
    return functools.reduce(operator.add, parts)


def length_of(parts: list[Array]) -> Array:
    """Take the length of a vector, which has the gradient 0 at 0."""
    return root(added([part * part for part in parts]))


def root(x: Array) -> Array:
    """Take the square root, with the derivative 0 at 0."""
    none = np.equal(x, 0)
    return np.where(none, 0, np.sqrt(np.where(none, 1, x)))


def generic_laplace_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    derivative2: Derivative,
    output: Any,
    mode: Any,
    cval: Any,
    extra_arguments: Sequence[Any],
    extra_keywords: dict[str, Any] | None,
    *,
    axes: Any = None,
) -> Array:
    """Sum second derivatives along all axes, each by a given function."""
    extra = extra_arguments, extra_keywords
    return along_axes(added, derivative2, input, output, mode, cval, *extra, axes)


def generic_gradient_magnitude_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    derivative: Derivative,
    output: Any,
    mode: Any,
    cval: Any,
    extra_arguments: Sequence[Any],
    extra_keywords: dict[str, Any] | None,
    *,
    axes: Any = None,
) -> Array:
    """Take the length of a gradient."""
    extra = extra_arguments, extra_keywords
    return along_axes(length_of, derivative, input, output, mode, cval, *extra, axes)


def laplace_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    output: Any,
    mode: Any,
    cval: Any,
    *,
    axes: Any = None,
) -> Array:
    """Sum second differences along all axes."""

    def second(image: Array, axis: int, *others: Any) -> Array:
        return correlate1d(image, [1.0, -2.0, 1.0], axis, *others, 0)

    return along_axes(added, second, input, output, mode, cval, (), None, axes)


def of_order(order: int) -> Derivative:
    """Make the derivative by one axis of an image that a Gaussian smooths along all of them."""

    def derivative(
        image: Array, axis: int, output: Any, mode: Any, cval: Any, sigma: Any, **kwargs: Any
    ) -> Array:
        orders = [0] * image.ndim
        orders[axis] = order
        return gaussian_filter(image, sigma, orders, output, mode, cval, **kwargs)

    return derivative


def gaussian_laplace_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    sigma: Any,
    output: Any,
    mode: Any,
    cval: Any,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> Array:
    """Add up second derivatives; what is not named among the axes is not smoothed."""
    numbered = axes_of(input.ndim, axes)
    deviations: list[Any] = [0.0] * input.ndim
    for axis, deviation in zip(numbered, numbers(sigma, len(numbered)), strict=True):
        deviations[axis] = deviation
    return along_axes(
        added, of_order(2), input, output, mode, cval, (deviations,), kwargs, numbered
    )


def gaussian_gradient_magnitude_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    sigma: Any,
    output: Any,
    mode: Any,
    cval: Any,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> Array:
    """Take the length of a gradient."""
    return along_axes(length_of, of_order(1), input, output, mode, cval, (sigma,), kwargs, axes)


FILTERS: dict[Any, Entry] = {
    gaussian_weights: Derivation(gaussian_weights_of_handle),
    **{
        public: Derivation(checked_call(public, compute))
        for public, compute in (
            (uniform_filter, uniform_filter_of_handle),
            (gaussian_filter1d, gaussian_filter1d_of_handle),
            (gaussian_filter, gaussian_filter_of_handle),
            (prewitt, prewitt_of_handle),
            (sobel, sobel_of_handle),
            (laplace, laplace_of_handle),
            (gaussian_laplace, gaussian_laplace_of_handle),
            (gaussian_gradient_magnitude, gaussian_gradient_magnitude_of_handle),
            (generic_gradient_magnitude, generic_gradient_magnitude_of_handle),
            (generic_laplace, generic_laplace_of_handle),
        )
    },
}


generic_filter = scipy_function(scipy.ndimage.generic_filter, MODULE, "input cval extra_arguments")
generic_filter1d = scipy_function(scipy.ndimage.generic_filter1d, MODULE, "input cval")


def extended(image: Array, margins: list[tuple[int, int]], modes: list[str], cval: Any) -> Array:
    """Extend an image beyond its edges, where a mode has it so by a constant."""
    numbers = np.arange(1, image.size + 1).reshape(image.shape)
    places = extension(image.shape, margins, modes).forward(numbers) - 1
    return np.where(places == OUTSIDE, cval, image.reshape(-1)[places.clip(0)])


def generic_filter_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    function: Callable[..., Any],
    size: Any,
    footprint: Any,
    output: Any,
    mode: Any,
    cval: Any,
    origin: Any,
    extra_arguments: Sequence[Any],
    extra_keywords: dict[str, Any] | None,
    *,
    axes: Any = None,
) -> Array:
    """Call a function with the elements around each one."""
    if not input.size:
        return input.astype(output)
    named = axes_of(input.ndim, axes)
    laid = footprint_of(size, footprint, None, len(named))
    choice = around(input.ndim, laid, named, mode, origin, 0)
    window = choice.footprint.shape
    margins = [(b, m - 1 - b) for b, m in zip(choice.before, window, strict=True)]
    values = extended(input, margins, choice.modes, cval)
    parts = [
        values[tuple(slice(k, k + n) for k, n in zip(offset, input.shape, strict=True))]
        for offset in itertools.product(*map(range, window))
        if choice.footprint[offset]
    ]
    rows = np.stack(parts, axis=-1).reshape((-1, len(parts)))
    more = extra_keywords or {}
    found = [as_array(joined(function(row, *extra_arguments, **more))) for row in rows]
    return np.stack(found).reshape(input.shape).astype(output)


def generic_filter1d_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    function: Callable[..., Any],
    filter_size: int,
    axis: int,
    output: Any,
    mode: str,
    cval: Any,
    origin: int,
    extra_arguments: Sequence[Any],
    extra_keywords: dict[str, Any] | None,
) -> Array:
    """Call a function with each extended line, and with one to be filled."""
    if not input.size:
        return input.astype(output)
    axis = one_axis(input.ndim, axis)
    before = filter_size // 2 + origin
    margins, modes = [(0, 0)] * input.ndim, ["nearest"] * input.ndim
    margins[axis], modes[axis] = (before, filter_size - 1 - before), mode
    lines = np.moveaxis(extended(input, margins, modes, cval), axis, -1)
    shape = (*lines.shape[:-1], input.shape[axis])
    found = []
    for line in lines.reshape((-1, lines.shape[-1])):
        out = np.zeros(shape[-1], np.float64, like=line)
        function(line, out, *extra_arguments, **(extra_keywords or {}))
        found.append(out)
    return np.moveaxis(np.stack(found).reshape(shape), -1, axis).astype(output)


USER_FUNCTIONS: dict[Any, Entry] = {
    public: Derivation(checked_call(public, compute))
    for public, compute in (
        (generic_filter, generic_filter_of_handle),
        (generic_filter1d, generic_filter1d_of_handle),
    )
}
