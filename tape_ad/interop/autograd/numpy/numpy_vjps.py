"""Helpers for VJPs that packages import from here; the VJPs themselves are this library's rules."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "balanced_eq",
    "match_complex",
    "repeat_to_match_shape",
    "replace_zero",
    "unbroadcast",
    "unbroadcast_f",
]


def unbroadcast(x: Any, target_meta: tuple[Any, ...], broadcast_idx: int = 0) -> Any:
    """Sum a cotangent over the axes along which an argument was broadcast.

    Parameters
    ----------
    x : array
        The cotangent.
    target_meta : tuple
        Shape, number of axes, dtype and whether it is complex, of the argument: see `metadata`.
    broadcast_idx : int
        Where axes were added: 0 for in front, -1 for behind.
    """
    shape, ndim, _, is_complex = target_meta
    while np.ndim(x) > ndim:
        x = np.sum(x, axis=broadcast_idx)
    axes = tuple([i for i, n in enumerate(shape) if n == 1 != np.shape(x)[i]])
    if axes:
        x = np.sum(x, axis=axes, keepdims=True)
    return np.real(x) if np.iscomplexobj(x) and not is_complex else x


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let what a VJP gives be summed over the axes along which its argument was broadcast."""
    meta = np.shape(target), np.ndim(target), np.result_type(target), np.iscomplexobj(target)
    return lambda g: unbroadcast(f(g), meta)


def match_complex(target: Any, x: Any) -> Any:
    """Bring a cotangent to a real argument, or a complex one, by its real part or as it is."""
    if np.iscomplexobj(target):
        return x if np.iscomplexobj(x) else x + 0j
    return np.real(x) if np.iscomplexobj(x) else x


def repeat_to_match_shape(
    g: Any, shape: tuple[int, ...], dtype: Any, axis: Any, keepdims: bool
) -> tuple[Any, int]:
    """Repeat what a reduction gave to the shape of what it took.

    Returns
    -------
    array
    int
        How many elements each one stands for.
    """
    if not shape:
        return g, 1
    axes = range(len(shape)) if axis is None else np.atleast_1d(axis) % len(shape)
    kept = [1 if i in axes else n for i, n in enumerate(shape)]
    repeated = np.broadcast_to(np.reshape(g, kept), shape) + np.zeros(shape, dtype)
    return repeated, int(np.prod([shape[i] for i in axes]))


def replace_zero(x: Any, val: Any) -> Any:
    """Put another value in place of zeros."""
    return np.where(x, x, val)


def balanced_eq(x: Any, z: Any, y: Any) -> Any:
    """Tell where `x` equals `z`, as a share: a half where `y` does too."""
    return (x == z) / (1.0 + (x == y))
