"""Sections of the full convolution of arrays, of which every convolution of SciPy's is one.

It is bilinear, and its adjoint in one operand is another section of a convolution: that of the
cotangent with the conjugate of the other operand, which is turned round on every axis.
"""

import math
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, Shape
from tape_ad.extend.maps import LinearMap
from tape_ad.extend.patterns import Pattern, banded, reads, separable
from tape_ad.extend.rules import Entry, arguments_of, overridable, rule
from tape_ad.scipy.installed import scipy

__all__ = ["SECTIONS", "Convolution", "beside_nothing", "convolved", "reversed_axes"]

FEW = 17
"""How many taps, or samples of the result, are too many to multiply them one by one."""

WITH_AXES = {"fft": scipy.signal.fftconvolve, "oa": scipy.signal.oaconvolve}
"""SciPy's functions that broadcast what stands before the axes convolved."""


@overridable
def convolved(a: Array, b: Array, /, start: Shape, size: Shape, method: str = "auto") -> Array:
    """Give a section of the full convolution of two arrays along their last axes.

    Parameters
    ----------
    a, b : array or Tensor
        The axes before the last ``len(start)`` ones broadcast.
    start, size : tuple of int
        The section, one number for each of the axes. What is beyond the convolution is 0.
    method : str
        "auto", "direct", "fft" or "oa" (overlap and add), as in SciPy.

    Returns
    -------
    array or Tensor, shape stack + size
    """
    rank = len(start)
    one, other = a.shape[-rank:], b.shape[-rank:]
    stack = np.broadcast_shapes(a.shape[:-rank], b.shape[:-rank])
    dtype = np.result_type(a, b)
    if 0 in (*stack, *one, *other, *size):
        return np.zeros((*stack, *size), dtype)
    full = tuple(n + m - 1 for n, m in zip(one, other, strict=True))
    costs = [math.prod(x) * math.prod(y) for x, y in ((one, other), (size, other), (size, one))]
    way = costs.index(min(costs))
    inside = all(s >= 0 and s + k <= f for s, k, f in zip(start, size, full, strict=True))
    if way == 0 and inside:
        whole = stacked(a, b, rank, "full", method)
        return whole[(..., *(slice(s, s + k) for s, k in zip(start, size, strict=True)))]
    if way == 2:
        a, b, other = b, a, one
    # What meets the section, filled up with zeros
    first = tuple(s - m + 1 for s, m in zip(start, other, strict=True))
    window = cropped(a, first, tuple(k + m - 1 for k, m in zip(size, other, strict=True)))
    return stacked(window, b, rank, "valid", method)


def cropped(a: Array, first: Shape, size: Shape) -> Array:
    """Take a part of the last axes, with zeros for what is beyond them."""
    rank = len(first)
    key, margins = [], []
    for n, s, k in zip(a.shape[-rank:], first, size, strict=True):
        low, high = min(max(s, 0), n), max(min(s + k, n), 0)
        high = max(low, high)
        key.append(slice(low, high))
        before = min(max(-s, 0), k)
        margins.append((before, k - before - (high - low)))
    part = a[(..., *key)]
    if not any(map(any, margins)):
        return part
    return np.pad(part, [(0, 0)] * (a.ndim - rank) + margins)


def stacked(a: Array, b: Array, rank: int, mode: str, method: str) -> Array:
    """Convolve the last axes in one of SciPy's modes, with broadcasting of all others."""
    if rank == 1 and method in ("auto", "direct"):
        n, m = a.shape[-1], b.shape[-1]
        if min(n, m, FEW if mode == "full" else abs(n - m) + 1) < FEW:
            method = "direct"  # a few products of whole rows, of which SciPy thinks too ill
        if method == "direct" and a.ndim == b.ndim == 1:
            convolve: Any = np.convolve
            return convolve(a, b, mode)
    if method == "auto":
        first = [x[(0,) * (x.ndim - rank)] for x in (a, b)]
        method = scipy.signal.choose_conv_method(*first, mode=mode)
    if method == "direct":
        if a.ndim == b.ndim == rank:
            return scipy.signal.convolve(a, b, mode=mode, method="direct")
        single = [all(n == 1 for n in x.shape[:-rank]) for x in (a, b)]
        if single[1] or (single[0] and mode == "full"):
            # An axis of length 1 convolved with one of any length is a loop over that
            ndim = max(a.ndim, b.ndim)
            a, b = (x.reshape((1,) * (ndim - x.ndim) + x.shape) for x in (a, b))
            return scipy.signal.convolve(a, b, mode=mode, method="direct")
        stack = np.broadcast_shapes(a.shape[:-rank], b.shape[:-rank])
        a, b = (np.broadcast_to(x, stack + x.shape[-rank:]) for x in (a, b))
        each = [
            scipy.signal.convolve(a[place], b[place], mode=mode, method="direct")
            for place in np.ndindex(stack)
        ]
        return np.stack(each).reshape(stack + each[0].shape)
    ndim = max(a.ndim, b.ndim)
    a, b = (x.reshape((1,) * (ndim - x.ndim) + x.shape) for x in (a, b))
    return WITH_AXES[method](a, b, mode=mode, axes=tuple(range(-rank, 0)))


def reversed_axes(x: Array, rank: int) -> Array:
    """Turn the last axes of an array round."""
    return x[(..., *(slice(None, None, -1),) * rank)]


@define(eq=False, repr=False)
class Convolution:
    """A section of the convolution with an array.

    Parameters
    ----------
    other : array
        What is held.
    parent, node : tuple of int
        The shapes on both sides.
    start : tuple of int
        Where the section starts.
    method : str
    """

    broadcasts: ClassVar[bool] = True
    other: Array
    parent: Shape
    node: Shape
    start: Shape
    method: str

    @reads("other.shape", "other.ndim", "start")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that an element depends on those that the other array reaches from there."""
        lengths = self.other.shape[self.other.ndim - len(self.start) :]
        own = {
            axis: banded(parent[axis], node[axis], range(start - length + 1, start + 1))
            for axis, start, length in zip(
                range(-len(lengths), 0), self.start, lengths, strict=True
            )
        }
        return separable(parent, node, own)

    def push(self, t: Array) -> Array:
        """Convolve a tangent with the other operand."""
        return convolved(t, self.other, self.start, self.node[-len(self.start) :], self.method)

    def pull(self, ct: Array) -> Array:
        """Correlate a cotangent with what is held."""
        rank = len(self.start)
        size, held = self.parent[-rank:], self.other.shape[-rank:]
        start = tuple(m - 1 - s for m, s in zip(held, self.start, strict=True))
        turned = reversed_axes(self.other, rank).conjugate()
        out = convolved(ct, turned, start, size, self.method)
        # What the operands before these axes have been broadcast to is summed here, as a map in a
        # chain has no sweep behind it that would do so
        lead = ct.ndim - len(self.node)
        stack = (1,) * (len(self.node) - len(self.parent)) + self.parent[:-rank]
        broadcast = zip(stack, self.node[:-rank], strict=True)
        axes = tuple(lead + i for i, (n, m) in enumerate(broadcast) if n != m)
        if axes:
            out = np.add.reduce(out, axis=axes)
        return out.reshape((*ct.shape[:lead], *self.parent))


def by_first(out: Array, a: Array, b: Array, start: Shape, size: Shape, method: str) -> LinearMap:
    """Make the partial of `convolved` in the first operand."""
    return Convolution(b, a.shape, out.shape, start, method)


def by_second(out: Array, a: Array, b: Array, start: Shape, size: Shape, method: str) -> LinearMap:
    """Make the partial of `convolved` in the second operand."""
    return Convolution(a, b.shape, out.shape, start, method)


SECTIONS: dict[Any, Entry] = {
    convolved: rule(
        by_first,
        by_second,
        signature=arguments_of(convolved, "a b"),
        facts=facts.depending(
            lambda given: facts.cores("{0},{0}->...".format(facts.letters(len(given["start"]))))
        ),
    ),
}


def beside_nothing(out: Array, *operands: Array) -> Array:
    """Make what depends on no element of the operands a handle, where one of them is."""
    return out + sum(np.sum(np.reshape(x, -1)[:0].real).astype(out.dtype) for x in operands)
