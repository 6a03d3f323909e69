"""Windows that slide over sequences and images: where they are, as views of memory."""

import itertools
import math
from collections.abc import Iterator
from operator import mul
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.rules.maps import Array
from tape_ad.rules.maps.patterns import Pattern

__all__ = ["Windows"]

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

    @out.default
    def _out(self) -> Shape:
        reach = (d * (k - 1) + 1 for d, k in zip(self.dilation, self.kernel, strict=True))
        lengths = zip(self.padded, reach, self.stride, strict=True)
        return tuple((n - r) // s + 1 for n, r, s in lengths)

    @taps.default
    def _taps(self) -> int:
        return math.prod(self.kernel)

    @property
    def along_axes(self) -> Iterator[list[Key]]:
        """For each axis, list the keys of what all windows have at each place along it."""
        steps = zip(self.kernel, self.dilation, self.stride, self.out, strict=True)
        for axis, (k, d, s, n) in enumerate(steps, 1):
            rest = (slice(None),) * (len(self.size) - axis)
            yield [(..., slice(p * d, p * d + (n - 1) * s + 1, s), *rest) for p in range(k)]

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
        reach = (d * (k - 1) + 1 for d, k in zip(self.dilation, self.kernel, strict=True))
        return any(step < r for step, r in zip(self.stride, reach, strict=True))

    @inside.default
    def _inside(self) -> Key:
        pairs = zip(self.size, self.padding, strict=True)
        return (..., *(slice(before, before + n) for n, (before, _) in pairs))

    def pad(self, x: Array, value: float = 0.0) -> Array:
        """Pad images along their spatial axes."""
        if self.padded == self.size:
            return x
        shape = x.shape[: -len(self.size)] + self.padded
        out = np.full(shape, value, x.dtype) if value else np.zeros(shape, x.dtype)
        out[self.inside] = x
        return out

    def crop(self, x: Array) -> Array:
        """Remove the padding around images."""
        return x if self.padded == self.size else x[self.inside]

    @offsets.default
    def _offsets(self) -> tuple[tuple[Shape, Key], ...]:
        steps = list(zip(self.dilation, self.stride, self.out, strict=True))
        places = itertools.product(*map(range, self.kernel))
        return tuple(
            (
                place,
                (
                    ...,
                    *(
                        slice(p * d, p * d + (n - 1) * s + 1, s)
                        for p, (d, s, n) in zip(place, steps, strict=True)
                    ),
                ),
            )
            for place in places
        )

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
