"""Filters in Fourier space, which multiply by one number for each frequency."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.errors import DtypeError, UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.packages import called
from tape_ad.extend.rules import Derivation, Entry, takes_over
from tape_ad.scipy.counterparts import checked_call, joined, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.axes import numbers, one_axis
from tape_ad.scipy.ndimage.correlation import MODULE

__all__ = [
    "FOURIER",
    "fourier_ellipsoid",
    "fourier_gaussian",
    "fourier_shift",
    "fourier_uniform",
]

fourier_gaussian = scipy_function(scipy.ndimage.fourier_gaussian, MODULE, "input sigma")
fourier_uniform = scipy_function(scipy.ndimage.fourier_uniform, MODULE, "input size")
fourier_ellipsoid = scipy_function(scipy.ndimage.fourier_ellipsoid, MODULE, "input")
fourier_shift = scipy_function(scipy.ndimage.fourier_shift, MODULE, "input shift")


def frequencies(length: int, n: int, *, halved: bool) -> Array:
    """List the frequencies along an axis, over its length; of a real transform those that are left.

    As in SciPy, the middle one of an even number of them is negative.
    """
    if halved and n >= 0:
        return np.arange(float(length)) / n
    whole = np.arange(float(length))
    return np.where(whole >= (length + 1) // 2, whole - length, whole) / length


def gaussian(f: Array, sigma: Array) -> Array:
    """Compute the factors of a Gaussian."""
    return np.exp(-2 * np.pi**2 * f**2 * sigma**2)


def box(f: Array, size: Array) -> Array:
    """Compute the factors of a box; of one without a size SciPy makes 0."""
    return np.where(np.equal(size, 0), 0, np.sinc(f * size))


def moved(f: Array, shift: Array) -> Array:
    """Compute the factors of a shift."""
    return np.exp(-2j * np.pi * f * shift)


def filtered(
    public: Any,
    factors: Callable[[Array, Array], Array] | None,
    input: Array,  # noqa: A002 - SciPy's name
    parameter: Any,
    n: int,
    axis: int,
    output: Any,
) -> Array:
    """Multiply, by SciPy's own factors where the parameter is no handle."""
    parameter = joined(parameter)
    if not takes_over(type(parameter)):
        ones = np.ones(input.shape)
        return (input * public(ones, parameter, n, axis)).astype(output)
    if factors is None:
        raise UnsupportedArgumentError(
            "tape_ad.scipy.ndimage.fourier_ellipsoid: there is no derivative by size=; pass "
            "size.data"
        )
    if as_array(parameter).dtype.kind == "c":
        raise DtypeError(f"{called(public)}: SciPy drops the imaginary part of what it filters by")
    axis, out = one_axis(input.ndim, axis), input
    for number, each in enumerate(numbers(as_array(parameter), input.ndim)):
        f = frequencies(input.shape[number], n, halved=number == axis)
        out = out * factors(f, each).reshape((-1,) + (1,) * (input.ndim - number - 1))
    return out.astype(output)


def in_fourier_space(public: Any, factors: Callable[[Array, Array], Array] | None) -> Entry:
    """Make the rule of a filter; the result is complex where the factors are."""

    def compute(*arguments: Any) -> Array:
        image, parameter, n, axis, output = arguments
        if public is fourier_shift:
            output = output if output.kind == "c" else np.dtype(complex)
        return filtered(public, factors, image, parameter, n, axis, output)

    return Derivation(checked_call(public, compute))


FOURIER: dict[Any, Entry] = {
    fourier_gaussian: in_fourier_space(fourier_gaussian, gaussian),
    fourier_uniform: in_fourier_space(fourier_uniform, box),
    fourier_ellipsoid: in_fourier_space(fourier_ellipsoid, None),
    fourier_shift: in_fourier_space(fourier_shift, moved),
}
