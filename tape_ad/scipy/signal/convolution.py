"""Sections of the full convolution of arrays, of which every convolution of SciPy's is one.

It is bilinear, and its adjoint in one operand is another section of a convolution: that of the
cotangent with the conjugate of the other operand, which is turned round on every axis.
"""

import itertools
import math
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.errors import ShapeError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, Shape, as_array, axes_of
from tape_ad.extend.patterns import Pattern, banded, reads, separable
from tape_ad.extend.rules import Constant, Entry, arguments_of, overridable, rule
from tape_ad.scipy.counterparts import counterpart, scipy_function
from tape_ad.scipy.installed import scipy

FEW = 17
"""How many taps, or samples of the result, are too many to multiply them one by one."""

CONVOLVE: Any = np.convolve  # of which the types know three modes alone

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
            return CONVOLVE(a, b, mode)
    if method == "auto":
        first = [x[(0,) * (x.ndim - rank)] for x in (a, b)]
        method = scipy.signal.choose_conv_method(*first, mode=mode)
    if method == "direct":
        stack = np.broadcast_shapes(a.shape[:-rank], b.shape[:-rank])
        if rank == 1 and math.prod(stack) < min(a.shape[-1], b.shape[-1]):  # few and long
            a, b = (np.broadcast_to(x, stack + x.shape[-1:]) for x in (a, b))
            each = [CONVOLVE(a[place], b[place], mode) for place in np.ndindex(stack)]
            return np.stack(each).reshape((*stack, -1))
        if mode == "full":
            if math.prod(a.shape[-rank:]) < math.prod(b.shape[-rank:]):
                a, b = b, a
            margins = [(m - 1, m - 1) for m in b.shape[-rank:]]
            a = np.pad(a, [(0, 0)] * (a.ndim - rank) + margins)
        return slid(a, reversed_axes(b, rank), rank)
    ndim = max(a.ndim, b.ndim)
    a, b = (x.reshape((1,) * (ndim - x.ndim) + x.shape) for x in (a, b))
    return WITH_AXES[method](a, b, mode=mode, axes=tuple(range(-rank, 0)))


def slid(x: Array, w: Array, rank: int) -> Array:
    """Let a window slide over the last axes, and add up products where it lies inside.

    On arrays of several axes that is many times as quick as SciPy's code for it.
    """
    window = w.shape[-rank:]
    size = tuple(n - m + 1 for n, m in zip(x.shape[-rank:], window, strict=True))
    stack = np.broadcast_shapes(x.shape[:-rank], w.shape[:-rank])
    out = np.zeros(stack + size, np.result_type(x, w))
    if math.prod(window) <= math.prod(size):
        for place in itertools.product(*map(range, window)):
            part = tuple(slice(k, k + n) for k, n in zip(place, size, strict=True))
            out += x[(..., *part)] * w[(..., *place, *(None,) * rank)]
        return out
    axes = tuple(range(-rank, 0))
    for place in itertools.product(*map(range, size)):
        part = tuple(slice(k, k + m) for k, m in zip(place, window, strict=True))
        key: Any = (..., *place)
        out[key] = np.add.reduce(x[(..., *part)] * w, axis=axes)
    return out


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


SECTIONS: dict[Any, Entry] = {
    convolved: rule(
        lambda out, a, b, start, size, method: Convolution(b, a.shape, out.shape, start, method),
        lambda out, a, b, start, size, method: Convolution(a, b.shape, out.shape, start, method),
        signature=arguments_of(convolved, "a b"),
        facts=facts.depending(
            lambda given: facts.cores("{0},{0}->...".format(facts.letters(len(given["start"]))))
        ),
    )
}


def beside_nothing(out: Array, *operands: Array) -> Array:
    """Make what depends on no element of the operands a handle, where one of them is."""
    return out + sum(np.sum(np.reshape(x, -1)[:0].real).astype(out.dtype) for x in operands)


# Convolution and correlation of arrays of any rank

choose_conv_method = scipy_function(scipy.signal.choose_conv_method, "tape_ad.scipy.signal")

CONVOLUTION: dict[Any, Entry] = {choose_conv_method: Constant()}


@counterpart(CONVOLUTION, scipy.signal.convolve, "in1 in2")
def convolve(in1: Array, in2: Array, mode: str = "full", method: str = "auto") -> Array:
    """Convolve two arrays of the same rank, as `scipy.signal.convolve` does.

    Parameters
    ----------
    in1, in2 : array or Tensor
    mode : str
        "full", "same" (of the size of `in1`) or "valid".
    method : str
        "auto", "direct" or "fft".

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> convolve(np.array([1.0, 2.0]), np.array([1.0, -1.0]))
    array([ 1.,  1., -2.])
    """
    in1, in2 = of_one_rank("convolve", in1, in2)
    if in1.ndim == 0:
        return in1 * in2
    return section("convolve", in1, in2, mode, method)


@counterpart(CONVOLUTION, scipy.signal.correlate, "in1 in2")
def correlate(in1: Array, in2: Array, mode: str = "full", method: str = "auto") -> Array:
    """Correlate two arrays of the same rank, as `scipy.signal.correlate` does.

    Parameters
    ----------
    in1, in2, mode, method
        As for `convolve`; the conjugate of `in2` is taken.

    Returns
    -------
    array or Tensor

    Examples
    --------
    >>> correlate(np.array([1.0, 2.0]), np.array([1.0, -1.0]))
    array([-1., -1.,  2.])
    """
    in1, in2 = of_one_rank("correlate", in1, in2)
    if in1.ndim == 0:
        return in1 * np.conjugate(in2)
    turned = np.conjugate(reversed_axes(in2, in2.ndim))
    return section("correlate", in1, turned, mode, method)


@counterpart(CONVOLUTION, scipy.signal.fftconvolve, "in1 in2")
def fftconvolve(in1: Array, in2: Array, mode: str = "full", axes: Any = None) -> Array:
    """Convolve along some axes by Fourier transforms, as `scipy.signal.fftconvolve` does.

    Parameters
    ----------
    in1, in2 : array or Tensor
        Axes that are not convolved broadcast.
    mode : str
        As for `convolve`.
    axes : int or sequence of int, optional
        All when left out.

    Returns
    -------
    array or Tensor
    """
    return along_axes("fftconvolve", in1, in2, mode, axes, "fft")


@counterpart(CONVOLUTION, scipy.signal.oaconvolve, "in1 in2")
def oaconvolve(in1: Array, in2: Array, mode: str = "full", axes: Any = None) -> Array:
    """Convolve by overlapping and adding, as `scipy.signal.oaconvolve` does.

    Parameters
    ----------
    in1, in2, mode, axes
        As for `fftconvolve`.

    Returns
    -------
    array or Tensor
    """
    return along_axes("oaconvolve", in1, in2, mode, axes, "oa")


@counterpart(CONVOLUTION, scipy.signal.convolve2d, "in1 in2 fillvalue")
def convolve2d(
    in1: Array, in2: Array, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Array:
    """Convolve two matrices, as `scipy.signal.convolve2d` does.

    Parameters
    ----------
    in1, in2 : array or Tensor, shapes (m, n) and (k, l)
    mode : str
        As for `convolve`.
    boundary : str
        "fill", "wrap" or "symm": what is beyond the edges of `in1`.
    fillvalue : number or Tensor
        For the boundary "fill".

    Returns
    -------
    array or Tensor
    """
    in1, in2 = of_one_rank("convolve2d", in1, in2)
    return beyond_edges("convolve2d", in1, in2, mode, boundary, fillvalue)


@counterpart(CONVOLUTION, scipy.signal.correlate2d, "in1 in2 fillvalue")
def correlate2d(
    in1: Array, in2: Array, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Array:
    """Correlate two matrices, as `scipy.signal.correlate2d` does.

    Parameters
    ----------
    in1, in2, mode, boundary, fillvalue
        As for `convolve2d`; the conjugate of `in2` is taken.

    Returns
    -------
    array or Tensor
    """
    in1, in2 = of_one_rank("correlate2d", in1, in2)
    if mode == "valid" and any(i < j for i, j in zip(in1.shape, in2.shape, strict=True)):
        # SciPy correlates the larger with the smaller one and turns that round, without conjugating
        swapped = correlate2d(in2, in1, mode, boundary, fillvalue)
        return reversed_axes(swapped, 2)
    turned = np.conjugate(reversed_axes(in2, 2))
    return beyond_edges("correlate2d", in1, turned, mode, boundary, fillvalue)


# What they share


def of_one_rank(name: str, in1: Array, in2: Array) -> tuple[Array, Array]:
    """Take both operands to arrays.

    Raises
    ------
    ShapeError
        When they have not as many axes.
    """
    in1, in2 = as_array(in1), as_array(in2)
    wanted = 2 if name.endswith("2d") else in1.ndim
    if not in1.ndim == in2.ndim == wanted:
        raise ShapeError(
            f"{name} takes two arrays of {'two axes' if name.endswith('2d') else 'the same rank'}, "
            f"got shapes {in1.shape} and {in2.shape}"
        )
    return in1, in2


BROADCASTING = frozenset({"fftconvolve", "oaconvolve"})


def section_of(name: str, mode: str, n: Shape, m: Shape) -> tuple[Shape, Shape]:
    """Tell where the section of one of SciPy's modes starts, and its size.

    Raises
    ------
    ValueError
        When there is no such mode.
    ShapeError
        When neither operand holds the other in a valid convolution.
    """
    pairs = list(zip(n, m, strict=True))
    if mode == "full":
        return (0,) * len(pairs), tuple(i + j - 1 for i, j in pairs)
    if mode == "same":
        return tuple((j - 1) // 2 for _, j in pairs), tuple(n)
    if mode != "valid":
        raise ValueError(f"{name}: the mode is one of 'full', 'same' and 'valid', got {mode!r}")
    # Those by Fourier transforms let an axis of length 1 broadcast, and then ask nothing of it
    asked = [pair for pair in pairs if 1 not in pair] if name in BROADCASTING else pairs
    if not (all(i >= j for i, j in asked) or all(i <= j for i, j in asked)):
        raise ShapeError(f"{name}: of shapes {n} and {m}, neither holds the other on every axis")
    return tuple(min(pair) - 1 for pair in pairs), tuple(abs(i - j) + 1 for i, j in pairs)


def section(name: str, in1: Array, in2: Array, mode: str, method: str) -> Array:
    """Convolve two arrays along all axes, and cut out the part for a mode."""
    if 0 in (*in1.shape, *in2.shape):
        empty = (np.zeros(each.shape, each.dtype) for each in (in1, in2))
        return beside_nothing(getattr(scipy.signal, name)(*empty, mode, method), in1, in2)
    start, size = section_of(name, mode, in1.shape, in2.shape)
    return convolved(in1, in2, start, size, method)


def along_axes(name: str, in1: Array, in2: Array, mode: str, axes: Any, method: str) -> Array:
    """Convolve on some axes, and broadcast the others."""
    in1, in2 = of_one_rank(name, in1, in2)
    if in1.ndim == 0:
        return in1 * in2
    if 0 in (*in1.shape, *in2.shape):
        return beside_nothing(np.zeros(0), in1, in2)
    axes = axes_of(in1.ndim, axes)
    last = tuple(range(-len(axes), 0))
    one, other = (np.moveaxis(x, axes, last) if axes != last else x for x in (in1, in2))
    start, size = section_of(name, mode, *(x.shape[-len(axes) :] for x in (one, other)))
    out = convolved(one, other, start, size, method)
    out = np.moveaxis(out, last, axes) if axes != last else out
    if mode == "same" and out.shape != in1.shape:  # SciPy takes the middle on all axes
        starts = [(have - want) // 2 for have, want in zip(out.shape, in1.shape, strict=True)]
        out = out[tuple(slice(s, s + k) for s, k in zip(starts, in1.shape, strict=True))]
    return out


PADDED: dict[str, Any] = {"wrap": "wrap", "symm": "symmetric"}
"""NumPy's words for what is beyond the edges."""


def beyond_edges(
    name: str, in1: Array, in2: Array, mode: str, boundary: str, fillvalue: Any
) -> Array:
    """Convolve matrices, the first with margins."""
    if boundary not in ("fill", *PADDED):
        raise ValueError(f"{name}: the boundary is 'fill', 'wrap' or 'symm', got {boundary!r}")
    start, size = section_of(name, mode, in1.shape, in2.shape)
    if mode == "same" and name == "correlate2d":
        start = tuple(m // 2 for m in in2.shape)  # where there are two middles, the other one
    if mode == "valid" and any(i < j for i, j in zip(in1.shape, in2.shape, strict=True)):
        in1, in2 = in2, in1  # as SciPy does, so that it is the larger one that has margins
    if boundary == "fill" and is_zero(fillvalue):
        return convolved(in1, in2, start, size, "direct")
    widths = [(m - 1, m - 1) for m in in2.shape]
    if boundary == "fill":
        margins = np.pad(np.zeros(in1.shape, in1.dtype), widths, constant_values=1)
        padded = np.pad(in1, widths) + margins * as_array(fillvalue).astype(in1.dtype)
    else:
        padded = np.pad(in1, widths, mode=PADDED[boundary])
    start = tuple(s + m - 1 for s, m in zip(start, in2.shape, strict=True))
    return convolved(padded, in2, start, size, "direct")


def is_zero(value: Any) -> bool:
    """Tell whether a number changes nothing; a handle may, whatever it stands for."""
    return type(value) in (int, float) and value == 0
