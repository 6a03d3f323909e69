"""`scipy.signal`, with `tape_ad.scipy.signal` in front, and HIPS autograd's own `convolve`."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.signal

import tape_ad.scipy.signal
from tape_ad.interop.autograd.fallback import falling_back

__all__ = ["convolve"]

Axes = Sequence[int]


def convolve(
    A: Any,  # noqa: N803 - HIPS autograd's name
    B: Any,  # noqa: N803 - as above
    axes: Sequence[Axes] | None = None,
    dot_axes: Sequence[Axes] = ((), ()),
    mode: str = "full",
) -> Any:
    """Convolve two arrays along some axes, sum over others, and keep the rest.

    Parameters
    ----------
    A, B : array or Tensor
    axes : pair of sequence of int, optional
        Which axes of the one are convolved with which of the other; all when left out.
    dot_axes : pair of sequence of int
        Which are multiplied and summed.
    mode : {"full", "valid", "same"}
        All sums; those in which the one array is within the other; as many as `A` has elements.

    Returns
    -------
    array or Tensor
        Its axes are the other ones of `A`, the other ones of `B`, and the convolved ones.
    """
    if mode not in {"full", "valid", "same"}:
        raise ValueError(f"mode is 'full', 'valid' or 'same', not {mode!r}")
    along = axes or (range(np.ndim(A)), range(np.ndim(B)))
    a, kept_a, a_sizes = grouped(A, along[0], dot_axes[0])
    b, kept_b, b_sizes = grouped(B, along[1], dot_axes[1])
    ahead = [not b < a for a, b in zip(a_sizes, b_sizes, strict=True)]
    behind = [not a < b for a, b in zip(a_sizes, b_sizes, strict=True)]
    if mode == "valid" and not (all(ahead) or all(behind)):
        raise ValueError("one array must be larger than the other along all convolved axes")
    within = [(0, 0), (0, 0), *[(n - 1, n - 1) for n in b_sizes]]
    padded = np.pad(a, within)
    places = tuple(range(2, 2 + len(b_sizes)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, tuple(b_sizes), axis=places)
    full_sizes = [m + n - 1 for m, n in zip(a_sizes, b_sizes, strict=True)]
    spread = windows.reshape(*a.shape[:2], math.prod(full_sizes), math.prod(b_sizes))
    turned = b[(..., *[slice(None, None, -1)] * len(b_sizes))].reshape(*b.shape[:2], -1)
    full = np.einsum("idok,jdk->ijo", spread, turned).reshape(*kept_a, *kept_b, *full_sizes)
    pairs = zip(a_sizes, b_sizes, strict=True)
    return full[(..., *[section(mode, m, n) for m, n in pairs])]


def grouped(array: Any, along: Axes, dotted: Axes) -> tuple[Any, list[int], list[int]]:
    """Bring an array to the axes: all that are kept as one, all that are summed, the convolved."""
    ndim, shape = np.ndim(array), np.shape(array)
    convolved, summed = ([axis % ndim for axis in each] for each in (along, dotted))
    kept = [axis for axis in range(ndim) if axis not in convolved and axis not in summed]
    sizes = [shape[axis] for axis in convolved]
    joined = [math.prod(shape[axis] for axis in each) for each in (kept, summed)]
    moved = np.transpose(array, (*kept, *summed, *convolved))
    return np.reshape(moved, (*joined, *sizes)), [shape[axis] for axis in kept], sizes


def section(mode: str, m: int, n: int) -> slice:
    """Choose the sums of a mode along one axis."""
    if mode == "full":
        return slice(None)
    if mode == "same":
        start = (n - 1) // 2
        return slice(start, start + m)
    return slice(min(m, n) - 1, max(m, n))


__getattr__ = falling_back(globals(), tape_ad.scipy.signal, scipy.signal)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(scipy.signal)})
