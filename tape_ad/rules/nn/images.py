"""Convolution as neural networks mean it, and windows that slide over sequences and images.

Convolution is bilinear in the image and the kernel. Its two adjoints are functions of their own,
with rules in terms of each other, so the three are closed under differentiation of any order. All
of them are matrix products with the images' patches ("im2col"): Chellapilla, Puri & Simard,
"High performance convolutional neural networks for document processing", 2006. Patches are made of
a few images at a time and given up again: so they stay in the cache, and to make them twice takes
less time than to keep them.

Like NumPy's generalized ufuncs they act on trailing axes, and leading ones broadcast.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from operator import mul
from typing import Any, ClassVar

import numpy as np
from attrs import define, field, frozen

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, arguments_of, rule
from tape_ad.rules.maps import Array, Chain, LinearMap, Reshape, Stretch
from tape_ad.rules.maps.patterns import Pattern, dense

Shape = tuple[int, ...]
Key = tuple[Any, ...]


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
    padded, out : tuple of int
        The image's lengths with its padding, and how many windows there are along each axis.
    taps : int
        How many elements a window has.
    inside : tuple of slice
        The key of an image in its padding.
    offsets : tuple of (tuple of int, tuple of slice)
        The window's places, each with the key of what all windows have there.
    """

    size: Shape
    kernel: Shape
    stride: Shape
    padding: tuple[tuple[int, int], ...]
    dilation: Shape
    groups: int = 1
    padded: Shape = field(init=False)
    out: Shape = field(init=False)
    taps: int = field(init=False, eq=False)
    inside: Key = field(init=False, eq=False, repr=False)
    offsets: tuple[tuple[Shape, Key], ...] = field(init=False, eq=False, repr=False)

    @padded.default
    def _padded(self) -> Shape:
        return tuple(n + a + b for n, (a, b) in zip(self.size, self.padding, strict=True))

    @property
    def reach(self) -> Shape:
        """The window's lengths from its first element to its last."""
        return tuple(d * (k - 1) + 1 for d, k in zip(self.dilation, self.kernel, strict=True))

    @out.default
    def _out(self) -> Shape:
        lengths = zip(self.padded, self.reach, self.stride, strict=True)
        return tuple((n - r) // s + 1 for n, r, s in lengths)

    @taps.default
    def _taps(self) -> int:
        return math.prod(self.kernel)

    def slices(self) -> list[list[slice]]:
        """List for each axis what all windows have at each place along it."""
        steps = zip(self.kernel, self.dilation, self.stride, self.out, strict=True)
        return [
            [slice(p * d, p * d + (n - 1) * s + 1, s) for p in range(k)] for k, d, s, n in steps
        ]

    @property
    def along_axes(self) -> Iterator[list[Key]]:
        """For each axis, list the keys of what all windows have at each place along it."""
        for axis, slices in enumerate(self.slices(), 1):
            rest = (slice(None),) * (len(self.size) - axis)
            yield [(..., each, *rest) for each in slices]

    def relations(self) -> dict[int, Pattern]:
        """Tell for each axis, counted from the end, which windows have which elements."""
        sizes = zip(self.size, self.out, self.kernel, self.stride, self.dilation, strict=True)
        relations = {}
        for axis, (n, windows, k, s, d) in enumerate(sizes, -len(self.size)):
            before = self.padding[axis][0]
            reached = np.arange(windows)[:, None] * s + np.arange(k) * d - before
            rows, taps = np.nonzero((reached >= 0) & (reached < n))
            relations[axis] = Pattern(rows, reached[rows, taps])
        return relations

    @property
    def overlap(self) -> bool:
        """Whether an element may be in several windows."""
        return any(step < r for step, r in zip(self.stride, self.reach, strict=True))

    @inside.default
    def _inside(self) -> Key:
        pairs = zip(self.size, self.padding, strict=True)
        return (..., *(slice(before, before + n) for n, (before, _) in pairs))

    def pad(self, x: Array, value: float = 0.0) -> Array:
        """Pad images along their spatial axes."""
        if self.padded == self.size:
            return x
        shape = x.shape[: -len(self.size)] + self.padded
        like = np.full_like  # as one of a batch may stand for each
        out = like(x, value, order="C", shape=shape) if value else np.zeros(shape, x.dtype)
        out[self.inside] = x
        return out

    def crop(self, x: Array) -> Array:
        """Remove the padding around images."""
        return x if self.padded == self.size else x[self.inside]

    @offsets.default
    def _offsets(self) -> tuple[tuple[Shape, Key], ...]:
        places = itertools.product(*map(range, self.kernel))
        keys = itertools.product(*self.slices())
        return tuple((place, (..., *key)) for place, key in zip(places, keys, strict=True))

    def view(self, x: Array) -> Array:
        """See all windows of images: shape (..., *size) -> (..., *kernel, *out).

        It is a view of the images, or of a copy of them.
        """
        rank = len(self.size)
        x = np.ascontiguousarray(self.pad(x))
        lead, steps = x.strides[:-rank], x.strides[-rank:]
        return np.ndarray(
            x.shape[:-rank] + self.kernel + self.out,
            x.dtype,
            x,
            0,
            (*lead, *map(mul, steps, self.dilation), *map(mul, steps, self.stride)),
        )

    def spread(self, ct: Array) -> Array:
        """Put results where their windows begin, at a stride of 1: (..., *out) -> (..., *padded).

        The rest is zeros.
        """
        full = np.zeros(ct.shape[: -len(self.out)] + self.padded, ct.dtype)
        begin: Key = (..., *map(slice, self.out))
        full[begin] = ct
        return full

    def sheared(self, parts: Array) -> Array:
        """Line up what each element of a window adds to images, at a stride of 1.

        The images are as long as the memory that they take: element p of an image gets a
        contribution from each place o within a window, that of the window which begins at p - o.
        If those of one place follow those of another in memory, to read them from p - o on is a
        matter of strides. Where p - o is negative, that meets the end of the place before, which is
        0 as no window begins there; see `spread`.

        Parameters
        ----------
        parts : array, shape (..., *kernel, length), contiguous

        Returns
        -------
        array, the same shape
            A view, in which element p of the last axis belongs to element p of the image.
        """
        rank = len(self.size)
        steps = [math.prod(self.padded[axis + 1 :]) * parts.itemsize for axis in range(rank)]
        along = map(mul, steps, self.dilation)
        kernel = (
            own - step for own, step in zip(parts.strides[-rank - 1 : -1], along, strict=True)
        )
        strides = (*parts.strides[: -rank - 1], *kernel, parts.strides[-1])
        return np.ndarray(parts.shape, parts.dtype, parts, 0, strides)


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


def swapped(product: Product) -> Product:
    """Let a function take its two operands in the other order."""
    return lambda t, held, windows: product(held, t, windows)


def bilinear(
    function: Product,
    operands: str,
    first: tuple[Product, Product],
    second: tuple[Product, Product],
) -> Entry:
    """Make the rule of a product from what it is in each operand: forward and backward."""
    return rule(
        lambda out, a, b, windows: Half(b, windows, *first),
        lambda out, a, b, windows: Half(a, windows, *second),
        signature=arguments_of(function, operands),
        facts=facts.depending(last_axes),
    )


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


def by_bias(out: Array, x: Array, w: Array, bias: Array, windows: Windows) -> LinearMap:
    """Make the partial by the bias: a number for each channel, for all images and windows."""
    column = bias.shape + (1,) * len(windows.size)
    return Chain((Reshape(bias.shape, column), Stretch(column, out.shape)))


BY_IMAGE = correlate_images, image_adjoint
BY_KERNEL = swapped(correlate_images), swapped(kernel_adjoint)

IMAGES: dict[Any, Entry] = {
    convolve_images: rule(
        lambda out, x, w, bias, windows: Half(w, windows, *BY_IMAGE),
        lambda out, x, w, bias, windows: Half(x, windows, *BY_KERNEL),
        by_bias,
        signature=arguments_of(convolve_images, "x w bias"),
        facts=facts.depending(images_alone),
    ),
    correlate_images: bilinear(correlate_images, "x w", BY_IMAGE, BY_KERNEL),
    image_adjoint: bilinear(
        image_adjoint, "ct w", BY_IMAGE[::-1], (swapped(image_adjoint), kernel_adjoint)
    ),
    kernel_adjoint: bilinear(
        kernel_adjoint, "x ct", (kernel_adjoint, swapped(image_adjoint)), BY_KERNEL[::-1]
    ),
}
