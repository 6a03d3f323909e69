"""`numpy.fft`: every transform is linear, and one map for the transform of one axis is enough.

With the norm "backward" the inverse transform is 1/n times the adjoint of the forward one, and
with "forward" it is the other way round, so that the adjoint of a transform is a transform the
other way with the other norm. A real transform keeps one of each pair of conjugate frequencies
k and n - k; what it keeps counts twice, except for k = 0 and, where n is even, k = n / 2.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from attrs import define

from tape_ad.rules import facts
from tape_ad.rules.base import Entry, arguments_of, axes_of, rule
from tape_ad.rules.maps import SAME, Adjoint, Array, Chain, Conjugate, Index, LinearMap
from tape_ad.rules.maps.patterns import along
from tape_ad.rules.numpy.rearranging import Roll

Function = Callable[..., Array]
Norm = Literal["backward", "ortho", "forward"] | None

DUAL: Mapping[str | None, Norm] = {
    None: "forward",
    "backward": "forward",
    "ortho": "ortho",
    "forward": "backward",
}
"""The norm of the adjoint for the norm of a transform."""

INVERSE: dict[Function, Function] = {
    np.fft.fft: np.fft.ifft,
    np.fft.ifft: np.fft.fft,
    np.fft.rfft: np.fft.irfft,
    np.fft.irfft: np.fft.rfft,
}


@define(eq=False, repr=False)
class Transform:
    """A discrete Fourier transform of one axis, which already has the length that it takes.

    Parameters
    ----------
    function : callable
        `numpy.fft.fft`, `numpy.fft.ifft`, `numpy.fft.rfft` or `numpy.fft.irfft`.
    n : int
        The number of points.
    axis : int
        A negative axis.
    norm : str or None
        As in `numpy.fft`.
    """

    pattern = along("axis")
    function: Function
    n: int
    axis: int
    norm: Norm

    def push(self, t: Array) -> Array:
        return self.function(t, self.n, self.axis, self.norm)

    def pull(self, ct: Array) -> Array:
        back, norm = INVERSE[self.function], DUAL[self.norm]
        if self.function is np.fft.rfft:
            return back(ct * self._pairs(ct, 0.5), self.n, self.axis, norm)
        ct = back(ct, self.n, self.axis, norm)
        return ct * self._pairs(ct, 2.0) if self.function is np.fft.irfft else ct

    def _pairs(self, ct: Array, weight: float) -> Array:
        """Make factors for the kept frequencies, `weight` where one stands for two."""
        factors = np.full(self.n // 2 + 1, weight, np.finfo(ct.dtype).dtype)
        factors[0] = 1
        if self.n % 2 == 0:
            factors[-1] = 1
        return factors.reshape((-1,) + (1,) * (-1 - self.axis))


def fitted(shape: Sequence[int], axis: int, length: int) -> tuple[LinearMap, ...]:
    """Make the map, if one is needed, that crops an axis or fills it up with zeros."""
    have = shape[axis]
    if have == length:
        return ()
    key = [slice(None)] * len(shape)
    key[axis] = slice(0, min(have, length))
    other = list(shape)
    other[axis] = length
    if have > length:
        return (Index(tuple(key), tuple(shape), tuple(other)),)
    return (Adjoint(Index(tuple(key), tuple(other), tuple(shape))),)


@define(eq=False, repr=False)
class OfReal:
    """Complex transforms of real numbers along several axes, whose pull computes half as much.

    The part of a cotangent that is conjugate at opposite frequencies goes to real numbers, and the
    rest to imaginary ones; and half of the frequencies tell that part.

    Parameters
    ----------
    axes : tuple of int
        Negative axes that differ, in the order in which they are transformed.
    ns : tuple of int
        Their lengths.
    norm : str or None
        As in `numpy.fft`.
    """

    pattern = along("axes")
    axes: tuple[int, ...]
    ns: tuple[int, ...]
    norm: Norm

    def push(self, t: Array) -> Array:
        for axis, n in zip(self.axes, self.ns, strict=True):
            t = np.fft.fft(t, n, axis, self.norm)
        return t

    def pull(self, ct: Array) -> Array:
        norm = DUAL[self.norm]
        counts = (self.ns[0] // 2 + 1, *self.ns[1:])
        kept = (..., slice(counts[0]), *[slice(None)] * (-1 - self.axes[0]))
        opposite = ct
        for axis, n, count in zip(self.axes, self.ns, counts, strict=True):
            opposite = np.take(opposite, -np.arange(count) % n, axis)
        half = (ct[kept] + np.conj(opposite)) * 0.5
        for axis, n in zip(self.axes[:0:-1], self.ns[:0:-1], strict=True):
            half = np.fft.ifft(half, n, axis, norm)
        return np.fft.irfft(half, self.ns[0], self.axes[0], norm)


LARGE = 2**13
"""From how many elements on the time to transform them is more than that to call functions."""


def transforms(
    a: Array, functions: Sequence[Function], ns: Sequence[int], axes: Sequence[int], norm: Norm
) -> list[LinearMap]:
    """Make the maps that transform one axis after another."""
    maps: list[LinearMap] = []
    lengths = list(a.shape)
    complex_ones = {*functions} == {np.fft.fft} and len({*axes}) == len(axes)
    if complex_ones and a.dtype.kind == "f" and math.prod(lengths) >= LARGE:
        for n, axis in zip(ns, axes, strict=True):
            maps += fitted(lengths, axis, n)
            lengths[axis] = n
        return [*maps, OfReal(tuple(axes), tuple(lengths[axis] for axis in axes), norm)]
    for function, n, axis in zip(functions, ns, axes, strict=True):
        half = n // 2 + 1
        maps += fitted(lengths, axis, half if function is np.fft.irfft else n)
        maps.append(Transform(function, n, axis, norm))
        lengths[axis] = half if function is np.fft.rfft else n
    return maps


def chained(maps: Sequence[LinearMap]) -> LinearMap:
    """Put maps one behind the other, as one map."""
    return maps[0] if len(maps) == 1 else Chain(tuple(maps))


# One axis


def one_axis(own: Function, function: Function, *, conjugate: str = "") -> Entry:
    """Make the rule of a transform of one axis.

    Parameters
    ----------
    own : callable
        NumPy's function.
    function : callable
        The transform that it is, up to conjugation.
    conjugate : str
        For the Hermitian transforms, which are real ones the other way with the other norm, what
        is conjugated: their "input" or their "output".
    """
    grows = function is np.fft.irfft

    def partial(out: Array, a: Array, n: int | None, axis: int, norm: Norm) -> LinearMap:
        axis = axes_of(a.ndim, axis)[0]
        if n is None:
            n = a.shape[axis]
        if grows:  # SciPy makes one point of none
            n = out.shape[axis]
        if conjugate:
            norm = DUAL[norm]
        maps = transforms(a, (function,), (int(n),), (axis,), norm)
        if conjugate == "input":
            maps.insert(0, Conjugate())
        elif conjugate == "output":
            maps.append(Conjugate())
        return chained(maps)

    return rule(partial, signature=arguments_of(own, "a", "n axis norm"), facts=facts.along())


# Several axes

SEVERAL = facts.along("axes", none="all", lengths="s")


def several_axes(own: Function, function: Function) -> Entry:
    """Make the rule of a transform of several axes.

    Parameters
    ----------
    own : callable
        NumPy's function.
    function : callable
        The transform of the last of the axes; a complex one of all others goes the same way.
    """
    inverse = function in (np.fft.ifft, np.fft.irfft)

    def partial(out: Array, a: Array, s: Any, axes: Any, norm: Norm) -> LinearMap:
        if axes is None:
            axes = range(-a.ndim if s is None else -len(s), 0)
        axes = axes_of(a.ndim, tuple(axes), repeated=True)
        if not axes:
            return SAME
        if s is None:
            ns = [a.shape[axis] for axis in axes]
        else:
            ns = [a.shape[axis] if n == -1 else int(n) for n, axis in zip(s, axes, strict=True)]
        if function is np.fft.irfft:
            ns[-1] = out.shape[axes[-1]]
        functions = [np.fft.ifft if inverse else np.fft.fft] * (len(axes) - 1) + [function]
        order = slice(None) if function is np.fft.irfft else slice(None, None, -1)
        return chained(transforms(a, functions[order], ns[order], axes[order], norm))

    return rule(partial, signature=arguments_of(own, "a", "s axes norm"), facts=SEVERAL)


# The zero frequency moved to the middle, and back


def shift(function: Function, sign: int) -> Entry:
    """Make the rule of a shift."""

    def partial(out: Array, x: Array, axes: Any) -> LinearMap:
        axes = axes_of(x.ndim, axes, repeated=True)
        return Roll(tuple([sign * (x.shape[axis] // 2) for axis in axes]), axes)

    return rule(
        partial,
        signature=arguments_of(function, "x", "axes"),
        facts=facts.along("axes", none="all"),
    )


FFT: dict[Any, Entry] = {
    **{function: one_axis(function, function) for function in INVERSE},
    np.fft.hfft: one_axis(np.fft.hfft, np.fft.irfft, conjugate="input"),
    np.fft.ihfft: one_axis(np.fft.ihfft, np.fft.rfft, conjugate="output"),
    **{
        own: several_axes(own, function)
        for function in INVERSE
        for own in (getattr(np.fft, f"{function.__name__}{several}") for several in ("2", "n"))
    },
    np.fft.fftshift: shift(np.fft.fftshift, 1),
    np.fft.ifftshift: shift(np.fft.ifftshift, -1),
}
