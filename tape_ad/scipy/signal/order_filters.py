"""The element of a rank in each window, and where the extremes are."""

import math
from typing import Any

import numpy as np

from tape_ad.errors import DtypeError, ShapeError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry, constants
from tape_ad.scipy.counterparts import counterpart, scipy_function
from tape_ad.scipy.installed import scipy

__all__ = [
    "ORDER",
    "argrelextrema",
    "argrelmax",
    "argrelmin",
    "medfilt",
    "medfilt2d",
    "order_filter",
]

argrelextrema, argrelmax, argrelmin = (
    scipy_function(function, "tape_ad.scipy.signal")
    for function in (scipy.signal.argrelextrema, scipy.signal.argrelmax, scipy.signal.argrelmin)
)

ORDER: dict[Any, Entry] = constants(
    argrelextrema, argrelmax, argrelmin, facts=facts.SHAPED_BY_VALUES
)


@counterpart(ORDER, scipy.signal.order_filter, "a")
def order_filter(a: Array, domain: Any, rank: int) -> Array:
    """Take the element of a rank in each window, as `scipy.signal.order_filter` does.

    Parameters
    ----------
    a : array or Tensor, real
        Beyond its edges there are zeros.
    domain : array
        The window: what is not 0 belongs to it. Each length is odd.
    rank : int
        0 for the least.

    Returns
    -------
    array or Tensor, shape of `a`
        Its derivative is that of the elements chosen.
    """
    return chosen("order_filter", as_array(a), np.asarray(domain) != 0, rank)


@counterpart(ORDER, scipy.signal.medfilt, "volume")
def medfilt(volume: Array, kernel_size: Any = None) -> Array:
    """Take the median of each window, as `scipy.signal.medfilt` does.

    Parameters
    ----------
    volume : array or Tensor, real
    kernel_size : int or sequence of int, optional
        Odd; 3 on all axes when left out.

    Returns
    -------
    array or Tensor, shape of `volume`
    """
    volume = as_array(volume)
    volume = volume.reshape((1,)) if volume.ndim == 0 else volume
    size = 3 if kernel_size is None else np.asarray(kernel_size)
    return median("medfilt", volume, np.broadcast_to(size, (volume.ndim,)))


@counterpart(ORDER, scipy.signal.medfilt2d, "input")
def medfilt2d(input: Array, kernel_size: Any = 3) -> Array:  # noqa: A002 - SciPy's name
    """Take the median of each window of an image, as `scipy.signal.medfilt2d` does.

    Parameters
    ----------
    input : array or Tensor, real, shape (m, n)
    kernel_size : int or sequence of two ints
        Odd.

    Returns
    -------
    array or Tensor, shape of `input`
    """
    size = 3 if kernel_size is None else np.asarray(kernel_size)
    return median("medfilt2d", as_array(input), np.broadcast_to(size, (2,)))


def median(name: str, volume: Array, size: Array) -> Array:
    """Take the median of each window."""
    window = np.ones(tuple(int(k) for k in size), bool)
    return chosen(name, volume, window, math.prod(window.shape) // 2)


def chosen(name: str, a: Array, window: Array, rank: int) -> Array:
    """Take the element of a rank in each window of an array with zeros around it.

    Raises
    ------
    DtypeError, ShapeError, ValueError
    """
    if a.dtype not in (np.float32, np.float64):
        raise DtypeError(f"{name} takes float32 and float64, got {a.dtype}")
    if window.ndim != a.ndim:
        raise ShapeError(f"{name}: a window of {window.ndim} axes for the shape {a.shape}")
    if any(k % 2 == 0 for k in window.shape):
        raise ValueError(f"{name}: each length of the window is odd, got {window.shape}")
    if not -window.sum() <= rank < window.sum():
        raise ValueError(f"{name}: rank {rank} of {window.sum()} elements")
    padded = np.pad(a, [(k // 2, k // 2) for k in window.shape])
    views = np.lib.stride_tricks.sliding_window_view(padded, window.shape)
    return np.sort(views[(..., window)], axis=-1)[..., rank]
