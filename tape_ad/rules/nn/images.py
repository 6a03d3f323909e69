"""Convolution as neural networks mean it.

Convolution is bilinear in the image and the kernel. Its two adjoints are functions of their own,
with rules in terms of each other, so the three are closed under differentiation of any order. All
of them are matrix products with the images' patches ("im2col"): Chellapilla, Puri & Simard,
"High performance convolutional neural networks for document processing", 2006. Patches are made of
a few images at a time and given up again: so they stay in the cache, and to make them twice takes
less time than to keep them.

Like NumPy's generalized ufuncs they act on trailing axes, and leading ones broadcast.
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Call, Entry, rule
from tape_ad.rules.maps import Array, LinearMap
from tape_ad.rules.maps.patterns import dense, permutation
from tape_ad.rules.nn.windows import Windows

__all__ = [
    "IMAGES",
    "convolve_images",
    "correlate_images",
    "image_adjoint",
    "kernel_adjoint",
]

IN_CACHE = 1 << 20
"""How many bytes of patches are made at a time; half and twice as many are as quick."""


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
    return correlated(x, w, None, windows)


@overridable
def convolve_images(x: Array, w: Array, bias: Array, /, windows: Windows) -> Array:
    """Compute `correlate_images` and add a number to each channel, as one node.

    Parameters
    ----------
    x, w, windows
        As for `correlate_images`, but `w` without leading axes.
    bias : array or Tensor, shape (out_channels,)

    Returns
    -------
    array or Tensor, shape (..., n, out_channels, *windows.out)

    Examples
    --------
    >>> three = Windows((5,), (3,), (1,), ((0, 0),), (1,))
    >>> convolve_images(np.arange(5.0).reshape(1, 1, 5), np.ones((1, 1, 3)), np.ones(1), three)
    array([[[ 4.,  7., 10.]]])
    """
    return correlated(x, w, bias, windows)


def correlated(x: Array, w: Array, bias: Array | None, windows: Windows) -> Array:
    """Compute `correlate_images`, and add a bias if there is one."""
    rank = len(windows.size)
    kernels = as_matrices(w, windows)
    view = windows.view(images_of(x, rank) if kernels.ndim == 3 else x)
    lead = np.broadcast_shapes(view.shape[: -2 * rank - 2], kernels.shape[:-3])
    n, area = view.shape[-2 * rank - 2], math.prod(windows.out)
    out = np.empty((*lead, n, *kernels.shape[-3:-1], area), np.result_type(x, w))
    column = None if bias is None else bias.reshape((windows.groups, -1, 1))
    adds = column is not None and np.result_type(out, column) == out.dtype
    for part in parts_of(view, rank):
        piece = out[(..., part, *WHOLE)]
        np.matmul(kernels[..., None, :, :, :], patches(view, part, windows), out=piece)
        if adds:
            piece += column  # while it is in the cache
    if column is not None and not adds:
        out = out + column
    stack = x.shape[: -rank - 1] if kernels.ndim == 3 else (*lead, n)
    return out.reshape((*stack, w.shape[-rank - 2], *windows.out))


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
    kernels = as_matrices(w, windows).mT
    stack = ct.shape[: -rank - 1]
    sheared = is_sheared(ct, w, windows)
    ct = windows.spread(ct) if sheared else ct
    columns = as_columns(images_of(ct, rank) if kernels.ndim == 3 else ct, windows)
    lead = np.broadcast_shapes(columns.shape[:-4], kernels.shape[:-3])
    channels, n = windows.groups * w.shape[-rank - 1], columns.shape[-4]
    dtype = np.result_type(ct, w)
    make = np.empty if sheared else np.zeros
    out = make((*lead, n, channels, *windows.padded), dtype)
    flat = out.reshape((*out.shape[:-rank], math.prod(windows.padded)))
    taps = tuple(range(-rank - 1, -1))
    each = math.prod(lead) * channels * windows.taps * columns.shape[-1] * dtype.itemsize
    for part in slices(n, each):
        multiply = np.matmul if kernels.shape[-1] > 1 else np.multiply  # matmul is slow with one
        parts = multiply(kernels[..., None, :, :, :], columns[(..., part, *WHOLE)], order="C")
        shape = (*parts.shape[:-3], channels, *windows.kernel)
        if sheared:
            parts = windows.sheared(parts.reshape((*shape, parts.shape[-1])))
            np.add.reduce(parts, axis=taps, out=flat[..., part, :, :])
        else:
            parts, into = parts.reshape(shape + windows.out), out[(WHOLE[0],) * len(lead) + (part,)]
            for place, key in windows.offsets:
                into[key] += parts[(..., *place, *(slice(None),) * rank)]
    stack = stack if kernels.ndim == 3 else (*lead, n)
    return windows.crop(out).reshape((*stack, channels, *windows.size))


def is_sheared(ct: Array, w: Array, windows: Windows) -> bool:
    """Tell whether to add up contributions to images in the way of `Windows.sheared`.

    It goes through memory once, but takes zeros for products with the kernels, which they are not
    where those are nan or inf, and makes a copy of the results that is larger than they are.
    """
    rank = len(windows.size)
    given, taken = ct.shape[-rank - 1], w.shape[-rank - 1] * windows.groups * windows.taps
    worth = windows.taps > 1 and max(windows.stride) == 1 and given <= taken
    return worth and bool(np.isfinite(w).all())


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
    view, columns = windows.view(x), as_columns(ct, windows)
    total: Any = None
    for part in parts_of(view, rank):
        products = over_images(view, columns[(..., part, *WHOLE)], part, windows)
        if total is None:
            total = products
        else:
            total += products
    channels = x.shape[-rank - 1] // windows.groups
    out = total.mT
    return out.reshape((*out.shape[:-3], ct.shape[-rank - 1], channels, *windows.kernel))


def over_images(view: Array, columns: Array, part: slice, windows: Windows) -> Array:
    """Multiply patches of images with their results, and sum over the images.

    Either the images stand side by side in one product, or each has its own: what is smaller is
    copied, the operands or the products.

    Returns
    -------
    array, shape (..., groups, elements of a window, out_channels // groups)
    """
    rank = len(windows.size)
    n, area = columns.shape[-4], columns.shape[-1]
    if n == 1 or area >= view.shape[-2 * rank - 1] // windows.groups * windows.taps:
        products = np.matmul(patches(view, part, windows), columns.mT)
        return products[..., 0, :, :, :] if n == 1 else np.add.reduce(products, axis=-4)
    at = view.ndim - 2 * rank - 2
    axes = (*range(at), *range(at + 1, at + 2 + rank), at, *range(at + 2 + rank, view.ndim))
    chosen = view[(slice(None),) * at + (part,)].transpose(axes)
    side_by_side = chosen.reshape((*chosen.shape[:at], windows.groups, -1, n * area))
    ct = np.moveaxis(columns, -4, -2)
    return np.matmul(side_by_side, ct.reshape((*ct.shape[:-2], n * area)).mT)


# Shapes

WHOLE = (slice(None),) * 3


def images_of(x: Array, rank: int) -> Array:
    """Make one axis of all that stand before the channels."""
    if x.ndim == rank + 2:
        return x
    lead = x.shape[: -rank - 1]
    return x.reshape((math.prod(lead), *x.shape[-rank - 1 :]))


def as_matrices(w: Array, windows: Windows) -> Array:
    """Reshape kernels: (..., out_channels, channels, *kernel) -> (..., groups, o, k)."""
    *lead, out_channels, channels = w.shape[: w.ndim - len(windows.size)]
    each = out_channels // windows.groups
    return w.reshape((*lead, windows.groups, each, channels * windows.taps))


def as_columns(ct: Array, windows: Windows) -> Array:
    """Reshape results: (..., n, out_channels, *out) -> (..., n, groups, o, length)."""
    *lead, channels = ct.shape[: ct.ndim - len(windows.size)]
    length = math.prod(ct.shape[ct.ndim - len(windows.size) :])
    return ct.reshape((*lead, windows.groups, channels // windows.groups, length))


def patches(view: Array, part: slice, windows: Windows) -> Array:
    """Copy the windows of some images: (..., n, channels, *kernel, *out) -> (..., m, groups, k, l).

    What is seen through a window of one element is not copied.
    """
    rank = len(windows.size)
    at = view.ndim - 2 * rank - 2
    chosen = view[(slice(None),) * at + (part,)]
    rows = view.shape[at + 1] // windows.groups * windows.taps
    return chosen.reshape((*chosen.shape[: at + 1], windows.groups, rows, math.prod(windows.out)))


def parts_of(view: Array, rank: int) -> list[slice]:
    """Divide images into parts whose patches stay in the cache."""
    n = view.shape[-2 * rank - 2]
    return slices(n, view.size // max(n, 1) * view.itemsize)


def slices(n: int, each: int) -> list[slice]:
    """Divide `n` things of so many bytes into slices; there is one at least."""
    step = max(1, IN_CACHE // max(1, each))
    return [slice(start, start + step) for start in range(0, max(n, 1), step)]


# The rules

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
    pattern = dense
    held: Array
    windows: Windows
    forward: Product
    backward: Product

    def push(self, t: Array) -> Array:
        return self.forward(t, self.held, self.windows)

    def pull(self, ct: Array) -> Array:
        return self.backward(ct, self.held.conjugate(), self.windows)


@define(eq=False, repr=False)
class PerChannel:
    """A number for each channel, the same for all images and all windows.

    Parameters
    ----------
    lead, rank : int
        How many axes stand before that of the channels, and behind it.
    """

    broadcasts: ClassVar[bool] = False
    fresh: ClassVar[bool] = True
    pattern = permutation
    lead: int
    rank: int

    def push(self, t: Array) -> Array:
        return t.reshape((*t.shape[:-1], *(1,) * self.lead, t.shape[-1], *(1,) * self.rank))

    def pull(self, ct: Array) -> Array:
        return np.add.reduce(ct, axis=(-self.rank - 2, *range(-self.rank, 0)))


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

    return rule(by_first, by_second, signature=signature, facts=facts.depending(last_axes))


def last_axes(given: Any) -> facts.Facts:
    """Say that each operand has its images or kernels, and channels, in its last axes."""
    core = facts.letters(len(given["windows"].size) + 2)
    return facts.cores(f"{core},{core}->...")


def images_alone(given: Any) -> facts.Facts:
    """Say of `convolve_images` that there may be stacks of images, but of nothing else."""
    core = facts.letters(len(given["windows"].size) + 2)
    return facts.cores(f"{core},()!,()!->...").also(body=convolved)


def convolved(x: Array, w: Array, bias: Array, windows: Windows) -> Array:
    """Compute `convolve_images` in two steps."""
    return correlate_images(x, w, windows) + np.reshape(bias, (-1, *(1,) * len(windows.size)))


def by_image(out: Array, x: Array, w: Array, bias: Array, windows: Windows) -> LinearMap:
    """See `correlate_images`."""
    return Half(w, windows, correlate_images, image_adjoint)


def by_kernel(out: Array, x: Array, w: Array, bias: Array, windows: Windows) -> LinearMap:
    """See `correlate_images`."""
    return Half(x, windows, swapped(correlate_images), swapped(kernel_adjoint))


def by_bias(out: Array, x: Array, w: Array, bias: Array, windows: Windows) -> LinearMap:
    """See `PerChannel`."""
    rank = len(windows.size)
    return PerChannel(out.ndim - rank - 1, rank)


def with_bias(x: Array, w: Array, bias: Array, windows: Windows) -> Call:
    """Sort the arguments of `convolve_images`."""
    return (x, w, bias), {"windows": windows}


IMAGES: dict[Any, Entry] = {
    convolve_images: rule(
        by_image,
        by_kernel,
        by_bias,
        signature=with_bias,
        facts=facts.depending(images_alone),
    ),
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
