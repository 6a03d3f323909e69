"""Discrete convolution and correlation of two sequences, in NumPy's three modes.

Each is a section of the full convolution: ``convolve(a, v)[start : start + size]``. The adjoint
of that is a section of a convolution too, with the conjugate of the other sequence reversed.
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.rules.base import Call, Entry, as_array, rule
from tape_ad.rules.maps import Array, Chain, Conjugate, Index, LinearMap, Reshape, Shape
from tape_ad.rules.maps.patterns import Pattern, banded, reads, separable
from tape_ad.rules.numpy import bodies

__all__ = ["CONVOLUTION", "convolved"]

Function = Callable[..., Array]


@define(eq=False, repr=False)
class Convolution:
    """A section of the full convolution with a sequence.

    Parameters
    ----------
    other : array, shape (m,)
        The sequence that is held.
    n : int
        The parent's length.
    start, size : int
        The section.
    """

    broadcasts: ClassVar[bool] = False
    multiplies: ClassVar[bool] = True
    other: Array
    n: int
    start: int
    size: int

    @reads("other.shape", "n", "start", "size")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        offsets = range(self.start - self.other.shape[-1] + 1, self.start + 1)
        return separable(parent, node, {-1: banded(self.n, self.size, offsets)})

    def push(self, t: Array) -> Array:
        return section(t, self.other, self.start, self.size)

    def pull(self, ct: Array) -> Array:
        reversed_ = self.other[::-1].conjugate()
        return section(ct, reversed_, len(self.other) - 1 - self.start, self.n)


def section(x: Array, v: Array, start: int, size: int) -> Array:
    """Convolve the last axis of `x` with `v`, and give part of it.

    Parameters
    ----------
    x : array, shape stack + (n,)
    v : array, shape (m,)
    start, size : int
        Which part of the n + m - 1 elements.

    Returns
    -------
    array, shape stack + (size,)
    """
    stack, n, m = x.shape[:-1], x.shape[-1], v.shape[0]
    if math.prod(stack) == 0:
        return np.zeros((*stack, size), x.dtype)
    if start == min(n, m) - 1 and size == max(n, m) - start:
        mode, key = "valid", slice(None)
    else:
        mode, key = "full", slice(start, start + size)
    convolve: Function = np.convolve
    if not stack:
        return convolve(x, v, mode)[key]
    rows = [convolve(row, v, mode)[key] for row in x.reshape((-1, n))]
    return np.stack(rows).reshape((*stack, size))


def section_of(mode: Any, n: int, m: int) -> tuple[int, int]:
    """Tell where the section of a mode of `numpy.convolve` starts, and its size.

    Examples
    --------
    >>> section_of("same", 5, 2)
    (0, 5)
    """
    shorter, longer = min(n, m), max(n, m)
    return {
        "full": (0, n + m - 1),
        "same": ((shorter - 1) // 2, longer),
        "valid": (shorter - 1, longer - shorter + 1),
    }[{0: "valid", 1: "same", 2: "full"}.get(mode, mode)]


def convolved(parent: Array, other: Array, start: int, size: int) -> LinearMap:
    """Make the map from a sequence to a section of its convolution with another.

    Either may be a number, which stands for a sequence of one.
    """
    linear = Convolution(np.ravel(other), parent.size, start, size)
    return linear if parent.ndim else Chain((Reshape((), (1,)), linear))


def correlate_left(out: Array, a: Array, v: Array, mode: Any) -> LinearMap:
    """``correlate(a, v)`` is ``convolve(a, conj(v[::-1]))``."""
    return Convolution(v[::-1].conjugate(), a.size, *section_of_correlation(mode, a.size, v.size))


def correlate_right(out: Array, a: Array, v: Array, mode: Any) -> LinearMap:
    """See `correlate_left`."""
    backwards = Index((slice(None, None, -1),), v.shape, v.shape)
    start, size = section_of_correlation(mode, a.size, v.size)
    return Chain((Conjugate(), backwards, Convolution(a, v.size, start, size)))


def section_of_correlation(mode: Any, n: int, m: int) -> tuple[int, int]:
    """See `section_of`; where there are two middles, correlation takes that of the longer one."""
    start, size = section_of(mode, n, m)
    return (n // 2 if mode in ("same", 1) and n < m else start), size


def signature(default: str) -> Callable[..., Call]:
    """Make a signature with a default for the mode."""

    def of_two(a: Array, v: Array, mode: Any = default) -> Call:
        return (as_array(a), as_array(v)), {"mode": mode}

    return of_two


CONVOLUTION: dict[Any, Entry] = {
    np.convolve: rule(
        lambda out, a, v, mode: convolved(a, v, *section_of(mode, a.size, v.size)),
        lambda out, a, v, mode: convolved(v, a, *section_of(mode, a.size, v.size)),
        signature=signature("full"),
        body=bodies.convolved,
    ),
    np.correlate: rule(
        correlate_left, correlate_right, signature=signature("valid"), body=bodies.correlated
    ),
}
