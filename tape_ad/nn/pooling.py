"""Layers that give the largest or the mean element of each window of a sequence or an image."""

from typing import Any, ClassVar

import attrs
import numpy as np
from attrs import field, frozen

from tape_ad.extend.arrays import Array, as_array
from tape_ad.nn.calls import Params, Rng
from tape_ad.nn.convolutions import Lengths, as_lengths, at_least, lengths, windows_of
from tape_ad.nn.stores import Layer
from tape_ad.rules.nn.activations import inexact, real
from tape_ad.rules.nn.pooling import largest, sum_of_windows

__all__ = [
    "AvgPool1d",
    "AvgPool2d",
    "MaxPool1d",
    "MaxPool2d",
    "avg_pool1d",
    "avg_pool2d",
    "max_pool1d",
    "max_pool2d",
]


def max_pool1d(
    x: Array,
    kernel_size: Lengths,
    stride: Lengths | None = None,
    padding: Lengths = 0,
    dilation: Lengths = 1,
) -> Array:
    """Take the maximum of each window of a sequence; see `max_pool2d`.

    Parameters
    ----------
    x : array or Tensor, shape (..., length)
    kernel_size : int
    stride : int, optional
        The steps between windows; the kernel's size when left out.
    padding : int
        How far windows reach over the ends, at most half of the kernel's size. What is there is
        never the maximum.
    dilation : int
        The steps within a window.

    Returns
    -------
    array or Tensor, shape (..., length)

    Raises
    ------
    ShapeError
        When no window fits.

    Examples
    --------
    >>> max_pool1d(np.array([1.0, 3.0, 2.0, 0.0]), 2)
    array([3., 2.])
    """
    return max_pool(1, x, kernel_size, stride, padding, dilation)


def max_pool2d(
    x: Array,
    kernel_size: Lengths,
    stride: Lengths | None = None,
    padding: Lengths = 0,
    dilation: Lengths = 1,
) -> Array:
    """Take the maximum of each window of an image.

    Where several elements tie, the first one gets the gradient, as in PyTorch.

    Parameters
    ----------
    x : array or Tensor, shape (..., height, width)
    kernel_size : int or a pair
    stride : int or a pair, optional
        The steps between windows; the kernel's size when left out.
    padding : int or a pair
        How far windows reach over the border on both sides, at most half of the kernel's size.
        What is there is never the maximum.
    dilation : int or a pair
        The steps within a window.

    Returns
    -------
    array or Tensor, shape (..., height, width)

    Raises
    ------
    ShapeError
        When no window fits.

    Examples
    --------
    >>> max_pool2d(np.arange(16.0).reshape(4, 4), 2)
    array([[ 5.,  7.],
           [13., 15.]])
    """
    return max_pool(2, x, kernel_size, stride, padding, dilation)


def max_pool(
    rank: int,
    x: Array,
    kernel_size: Lengths,
    stride: Lengths | None,
    padding: Lengths,
    dilation: Lengths,
) -> Array:
    """Take the maximum over windows in one or two dimensions."""
    name = f"max_pool{rank}d"
    x = real(x, name)
    kernel = checked_kernel(name, rank, kernel_size, padding)
    windows = windows_of(name, x, kernel, kernel if stride is None else stride, padding, dilation)
    return largest(x, windows=windows)


def avg_pool1d(
    x: Array,
    kernel_size: Lengths,
    stride: Lengths | None = None,
    padding: Lengths = 0,
    count_include_pad: bool = True,
) -> Array:
    """Average over each window of a sequence; see `avg_pool2d`.

    Parameters
    ----------
    x : array or Tensor, shape (..., length)
    kernel_size : int
    stride : int, optional
        The steps between windows; the kernel's size when left out.
    padding : int
        How many zeros are put at both ends, at most half of the kernel's size.
    count_include_pad : bool
        Whether these zeros are counted in the average.

    Returns
    -------
    array or Tensor, shape (..., length)

    Raises
    ------
    ShapeError
        When no window fits.

    Examples
    --------
    >>> avg_pool1d(np.array([1.0, 3.0, 2.0, 0.0]), 2)
    array([2., 1.])
    """
    return avg_pool(1, x, kernel_size, stride, padding, count_include_pad)


def avg_pool2d(
    x: Array,
    kernel_size: Lengths,
    stride: Lengths | None = None,
    padding: Lengths = 0,
    count_include_pad: bool = True,
) -> Array:
    """Average over each window of an image.

    Parameters
    ----------
    x : array or Tensor, shape (..., height, width)
    kernel_size : int or a pair
    stride : int or a pair, optional
        The steps between windows; the kernel's size when left out.
    padding : int or a pair
        How many zeros are put on both sides, at most half of the kernel's size.
    count_include_pad : bool
        Whether those zeros count in the average.

    Returns
    -------
    array or Tensor, shape (..., height, width)

    Raises
    ------
    ShapeError
        When no window fits.

    Examples
    --------
    >>> avg_pool2d(np.arange(16.0).reshape(4, 4), 2)
    array([[ 2.5,  4.5],
           [10.5, 12.5]])
    """
    return avg_pool(2, x, kernel_size, stride, padding, count_include_pad)


def avg_pool(
    rank: int,
    x: Array,
    kernel_size: Lengths,
    stride: Lengths | None,
    padding: Lengths,
    count_include_pad: bool,
) -> Array:
    """Average over windows in one or two dimensions, for `avg_pool1d` and `avg_pool2d`."""
    name = f"avg_pool{rank}d"
    x = inexact(as_array(x))
    kernel = checked_kernel(name, rank, kernel_size, padding)
    windows = windows_of(name, x, kernel, kernel if stride is None else stride, padding, 1)
    count: Any = windows.taps
    if not count_include_pad:
        count = sum_of_windows(np.ones(windows.size, x.dtype), windows=windows)
    return sum_of_windows(x, windows=windows) / count


def checked_kernel(name: str, rank: int, kernel_size: Lengths, padding: Lengths) -> tuple[int, ...]:
    """Write out the kernel's size, and refuse windows that would see nothing but padding."""
    kernel = lengths(rank, kernel_size)
    if any(2 * p > k or p < 0 for p, k in zip(lengths(rank, padding), kernel, strict=True)):
        raise ValueError(
            f"{name}: padding must be at least 0 and at most half of the kernel's size {kernel}, "
            f"got {padding}"
        )
    return kernel


@frozen
class Pool(Layer):
    """What layers of windows that slide over sequences or images have in common."""

    rank: ClassVar[int]

    kernel_size: Lengths = field(converter=as_lengths, validator=at_least(1))
    stride: Lengths | None = field(
        default=None, converter=attrs.converters.optional(as_lengths), validator=at_least(1)
    )
    padding: Lengths = field(default=0, converter=as_lengths, validator=at_least(0))

    def __attrs_post_init__(self) -> None:
        checked_kernel(type(self).__name__, self.rank, self.kernel_size, self.padding)


@frozen
class MaxPool(Pool):
    """What `MaxPool1d` and `MaxPool2d` have in common."""

    dilation: Lengths = field(default=1, converter=as_lengths, validator=at_least(1))

    def __call__(
        self, store: Params, x: Array, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Take the maximum of each window; see `max_pool1d` and `max_pool2d`."""
        return max_pool(self.rank, x, self.kernel_size, self.stride, self.padding, self.dilation)


@frozen
class MaxPool1d(MaxPool):
    """The maximum of each window of a sequence; see `max_pool1d` for the parameters.

    Examples
    --------
    >>> MaxPool1d(2)({}, np.array([[1.0, 3.0, 2.0, 0.0]]))
    array([[3., 2.]])
    """

    rank: ClassVar[int] = 1


@frozen
class MaxPool2d(MaxPool):
    """The maximum of each window of an image; see `max_pool2d` for the parameters.

    Examples
    --------
    >>> MaxPool2d(2)({}, np.zeros((5, 3, 8, 8))).shape
    (5, 3, 4, 4)
    """

    rank: ClassVar[int] = 2


@frozen
class AvgPool(Pool):
    """What `AvgPool1d` and `AvgPool2d` have in common."""

    count_include_pad: bool = True

    def __call__(
        self, store: Params, x: Array, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Average over each window; see `avg_pool1d` and `avg_pool2d`."""
        return avg_pool(
            self.rank, x, self.kernel_size, self.stride, self.padding, self.count_include_pad
        )


@frozen
class AvgPool1d(AvgPool):
    """The mean of each window of a sequence; see `avg_pool1d` for the parameters.

    Examples
    --------
    >>> AvgPool1d(2)({}, np.array([[1.0, 3.0, 2.0, 0.0]]))
    array([[2., 1.]])
    """

    rank: ClassVar[int] = 1


@frozen
class AvgPool2d(AvgPool):
    """The mean of each window of an image; see `avg_pool2d` for the parameters.

    Examples
    --------
    >>> AvgPool2d(2)({}, np.zeros((5, 3, 8, 8))).shape
    (5, 3, 4, 4)
    """

    rank: ClassVar[int] = 2
