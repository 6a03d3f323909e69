"""Convolution as neural networks mean it.

Convolution is bilinear in the image and the kernel. Its two adjoints are functions of their own,
with rules in terms of each other, so the three are closed under differentiation of any order. All
of them are one matrix product on the image's patches ("im2col"): Chellapilla, Puri & Simard,
"High performance convolutional neural networks for document processing", 2006.

Like NumPy's generalized ufuncs they act on trailing axes, and leading ones broadcast.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from attrs import define, field, frozen

from tape_ad.linear_maps import Array, LinearMap
from tape_ad.overrides import overridable
from tape_ad.rules.base import Call, Entry, rule

__all__ = [
    "IMAGES",
    "Windows",
    "correlate_images",
    "image_adjoint",
    "kernel_adjoint",
]

Shape = tuple[int, ...]


@frozen
class Windows:
    """How a window moves over images, and how large they are.

    Attributes
    ----------
    size : tuple of int
        The image's lengths, one for each axis.
    kernel, stride, dilation : tuple of int
        The window's lengths, the steps between windows, and the steps within one.
    padding : tuple of (int, int)
        What is added before and behind each axis.
    groups : int
        How many groups of channels there are, which do not mix.
    """

    size: Shape
    kernel: Shape
    stride: Shape
    padding: tuple[tuple[int, int], ...]
    dilation: Shape
    groups: int = 1
    padded: Shape = field(init=False)
    out: Shape = field(init=False)

    @padded.default
    def _padded(self) -> Shape:
        return tuple(n + a + b for n, (a, b) in zip(self.size, self.padding, strict=True))

    @out.default
    def _out(self) -> Shape:
        reach = (d * (k - 1) + 1 for d, k in zip(self.dilation, self.kernel, strict=True))
        lengths = zip(self.padded, reach, self.stride, strict=True)
        return tuple((n - r) // s + 1 for n, r, s in lengths)

    def pad(self, x: Array, value: float = 0.0) -> Array:
        """Put padding around images."""
        if self.padded == self.size:
            return x
        out = np.full(x.shape[: -len(self.size)] + self.padded, value, x.dtype)
        out[self._inside()] = x
        return out

    def crop(self, x: Array) -> Array:
        """Take padding away."""
        return x if self.padded == self.size else x[self._inside()]

    def _inside(self) -> tuple[Any, ...]:
        pairs = zip(self.size, self.padding, strict=True)
        return (..., *(slice(before, before + n) for n, (before, _) in pairs))

    def offsets(self) -> Iterator[tuple[Shape, tuple[Any, ...]]]:
        """List the window's places, each with the key of what all windows have there."""
        steps = list(zip(self.dilation, self.stride, self.out, strict=True))
        for place in itertools.product(*map(range, self.kernel)):
            key = (
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, (d, s, n) in zip(place, steps, strict=True)
            )
            yield place, (..., *key)

    def patches(self, x: Array) -> Array:
        """Copy all windows: shape (..., n, channels, *size) -> (..., groups, k, n * windows)."""
        rank = len(self.size)
        reach = tuple(d * (k - 1) + 1 for d, k in zip(self.dilation, self.kernel, strict=True))
        view = np.lib.stride_tricks.sliding_window_view(
            self.pad(x), reach, axis=tuple(range(-rank, 0))
        )
        steps: Any = (..., *(slice(None, None, step) for step in self.stride + self.dilation))
        view = view[steps]
        lead = x.ndim - rank - 2
        order = (
            *range(lead),
            lead + 1,
            *range(lead + 2 + rank, lead + 2 + 2 * rank),
            lead,
            *range(lead + 2, lead + 2 + rank),
        )
        rows = x.shape[lead + 1] // self.groups * math.prod(self.kernel)
        columns = x.shape[lead] * math.prod(self.out)
        return view.transpose(order).reshape((*x.shape[:lead], self.groups, rows, columns))

    def as_matrix(self, w: Array) -> Array:
        """Reshape kernels: (..., out_channels, channels, *kernel) -> (..., groups, o, k)."""
        lead = w.shape[: w.ndim - len(self.size) - 2]
        rows, columns = w.shape[len(lead)] // self.groups, math.prod(w.shape[len(lead) + 1 :])
        return w.reshape((*lead, self.groups, rows, columns))

    def as_columns(self, ct: Array) -> Array:
        """Reshape results: (..., n, out_channels, *out) -> (..., groups, o, n * windows)."""
        lead = ct.shape[: ct.ndim - len(self.size) - 2]
        n, channels = ct.shape[len(lead) : len(lead) + 2]
        columns = n * math.prod(self.out)
        swapped = np.swapaxes(ct, len(lead), len(lead) + 1)
        return swapped.reshape((*lead, self.groups, channels // self.groups, columns))


@overridable
def correlate_images(x: Array, w: Array, /, windows: Windows) -> Array:
    """Multiply every window of images with kernels, and sum.

    Parameters
    ----------
    x : array or Tensor, shape (..., n, channels, *windows.size)
    w : array or Tensor, shape (..., out_channels, channels // groups, *windows.kernel)
    windows : Windows

    Returns
    -------
    array or Tensor, shape (..., n, out_channels, *windows.out)

    Examples
    --------
    >>> three = Windows((5,), (3,), (1,), ((0, 0),), (1,))
    >>> correlate_images(np.arange(5.0).reshape(1, 1, 5), np.ones((1, 1, 3)), three)
    array([[[3., 6., 9.]]])
    """
    rank = len(windows.size)
    out = windows.as_matrix(w) @ windows.patches(x)
    n, channels = x.shape[-rank - 2], w.shape[-rank - 2]
    out = out.reshape((*out.shape[:-3], channels, n, *windows.out))
    return np.swapaxes(out, -rank - 1, -rank - 2)


@overridable
def image_adjoint(ct: Array, w: Array, /, windows: Windows) -> Array:
    """Turn `correlate_images` around, from results to images.

    Parameters
    ----------
    ct : array or Tensor, shape (..., n, out_channels, *windows.out)
    w : array or Tensor, shape (..., out_channels, channels // groups, *windows.kernel)
    windows : Windows

    Returns
    -------
    array or Tensor, shape (..., n, channels, *windows.size)
    """
    rank = len(windows.size)
    parts = np.swapaxes(windows.as_matrix(w), -1, -2) @ windows.as_columns(ct)
    n, channels = ct.shape[-rank - 2], windows.groups * w.shape[-rank - 1]
    parts = parts.reshape((*parts.shape[:-3], channels, *windows.kernel, n, *windows.out))
    lead = parts.ndim - 2 * rank - 2
    out = np.zeros((*parts.shape[: lead + 1], n, *windows.padded), parts.dtype)
    for place, key in windows.offsets():
        out[key] += parts[(..., *place, *(slice(None),) * (rank + 1))]
    return np.swapaxes(windows.crop(out), -rank - 1, -rank - 2)


@overridable
def kernel_adjoint(x: Array, ct: Array, /, windows: Windows) -> Array:
    """Turn `correlate_images` around, from results to kernels.

    Parameters
    ----------
    x : array or Tensor, shape (..., n, channels, *windows.size)
    ct : array or Tensor, shape (..., n, out_channels, *windows.out)
    windows : Windows

    Returns
    -------
    array or Tensor, shape (..., out_channels, channels // groups, *windows.kernel)
    """
    rank = len(windows.size)
    out = windows.as_columns(ct) @ np.swapaxes(windows.patches(x), -1, -2)
    channels = x.shape[-rank - 1] // windows.groups
    return out.reshape((*out.shape[:-3], ct.shape[-rank - 1], channels, *windows.kernel))


Product = Callable[[Array, Array, Windows], Array]


@define(eq=False, repr=False)
class Half:
    """A bilinear function with one operand held.

    Parameters
    ----------
    held : array
    windows : Windows
    forward, backward : callable
        ``forward(t, held, windows)`` and its adjoint.
    """

    broadcasts: ClassVar[bool] = True
    held: Array
    windows: Windows
    forward: Product
    backward: Product

    def push(self, t: Array) -> Array:
        return self.forward(t, self.held, self.windows)

    def pull(self, ct: Array) -> Array:
        return self.backward(ct, self.held, self.windows)


def swapped(product: Product) -> Product:
    """Let a function take its two operands in the other order."""
    return lambda t, held, windows: product(held, t, windows)


def bilinear(first: tuple[Product, Product], second: tuple[Product, Product]) -> Entry:
    """Make the rule of a product from what it is in each operand: forward and backward."""

    def by_first(out: Array, a: Array, b: Array, windows: Windows) -> LinearMap:
        return Half(b, windows, *first)

    def by_second(out: Array, a: Array, b: Array, windows: Windows) -> LinearMap:
        return Half(a, windows, *second)

    def signature(a: Array, b: Array, windows: Windows) -> Call:
        return (a, b), {"windows": windows}

    return rule(by_first, by_second, signature=signature)


IMAGES: dict[Any, Entry] = {
    correlate_images: bilinear(
        (correlate_images, image_adjoint),
        (swapped(correlate_images), swapped(kernel_adjoint)),
    ),
    image_adjoint: bilinear(
        (image_adjoint, correlate_images),
        (swapped(image_adjoint), kernel_adjoint),
    ),
    kernel_adjoint: bilinear(
        (kernel_adjoint, swapped(image_adjoint)),
        (swapped(kernel_adjoint), swapped(correlate_images)),
    ),
}
