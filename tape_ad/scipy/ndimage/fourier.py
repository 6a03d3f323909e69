"""Filters in Fourier space, which multiply by one number for each frequency."""

from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, reaches
from tape_ad.scipy.ndimage.correlation import KERNELS, write
from tape_ad.scipy.stand_ins import stands_for

Factors = Any
"""What makes factors of frequencies and a parameter."""


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


def filtered(image: Array, parameters: Array, n: int, axis: int, factors: Factors) -> Array:
    """Multiply by the factors that parameters make."""
    for number, length in enumerate(image.shape):
        f = frequencies(length, n, halved=number == axis)
        along = (-1,) + (1,) * (image.ndim - number - 1)
        image = image * factors(f, parameters[number]).reshape(along)
    return image


@stands_for(KERNELS.fourier_filter)
def fourier_filter(
    image: Array, parameters: Array, n: int, axis: int, output: Array, kind: int
) -> None:
    """Filter by a Gaussian, by a box or by an ellipsoid; by SciPy's own factors if it can be.

    Raises
    ------
    UnsupportedArgumentError
        When the size of an ellipsoid is a handle.
    """
    if reaches(parameters):
        if kind == 2:
            raise UnsupportedArgumentError(
                "tape_ad.scipy.ndimage.fourier_ellipsoid: there is no derivative by size=; pass "
                "size.data"
            )
        write(output, filtered(image, parameters, n, axis, (gaussian, box)[kind]))
    else:
        factors = np.zeros(image.shape)
        KERNELS.fourier_filter(np.ones(image.shape), parameters, n, axis, factors, kind)
        write(output, image * factors)


@stands_for(KERNELS.fourier_shift)
def fourier_shift(image: Array, shifts: Array, n: int, axis: int, output: Array) -> None:
    """Shift, by factors of length one."""
    if reaches(shifts):
        write(output, filtered(image, shifts, n, axis, moved))
    else:
        factors = np.zeros(image.shape, complex)
        KERNELS.fourier_shift(np.ones(image.shape), shifts, n, axis, factors)
        write(output, image * factors)
