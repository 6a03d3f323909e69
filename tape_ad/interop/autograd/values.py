"""What goes in and out of programs written for HIPS autograd: numbers, arrays and handles."""

from typing import Any

import numpy as np

from tape_ad import Tensor
from tape_ad.extend.arrays import primal
from tape_ad.extend.trees import map_leaves

__all__ = ["as_number", "conjugated", "given_back", "holds_handles", "value_of"]


def number_of(leaf: Any, path: str = "") -> Any:
    """Take a plain array without axes to NumPy's scalar; leave all else as it is."""
    return leaf[()] if type(leaf) is np.ndarray and leaf.ndim == 0 else leaf


def as_number(leaf: Any, path: str = "") -> Any:
    """Take a handle without axes to one of a number, on which ``x += y`` makes another number."""
    return np.positive(leaf) if type(leaf) is Tensor and leaf.ndim == 0 else leaf


def conjugated(tree: Any) -> Any:
    """Take a cotangent of ours to one of HIPS autograd's, or the other way round."""

    def conjugate(leaf: Any, path: str) -> Any:
        dtype = getattr(leaf, "dtype", None)
        kind = dtype.kind if dtype is not None else "c" if isinstance(leaf, complex) else ""
        return np.conj(leaf) if kind == "c" else leaf

    return map_leaves(conjugate, tree)


def given_back(tree: Any) -> Any:
    """Give results as HIPS autograd does: numbers for arrays without axes, arrays to write to."""

    def own(leaf: Any, path: str) -> Any:
        leaf = number_of(leaf)
        return leaf.copy() if type(leaf) is np.ndarray and not leaf.flags.writeable else leaf

    return map_leaves(own, tree)


def value_of(handle: Any) -> Any:
    """Give what is behind a handle: a number, an array, or a handle further out."""
    return number_of(handle.data)


def plain(leaf: Any, path: str = "") -> Any:
    """Give the plain array or number behind a handle of any nesting; anything else as it is."""
    return number_of(primal(leaf)) if type(leaf) is Tensor else leaf


def holds_handles(value: Any) -> bool:
    """Tell whether a handle stands in nested lists and tuples, or in an array of objects."""
    kind = type(value)
    if kind is list or kind is tuple:
        return any(map(holds_handles, value))
    if kind is np.ndarray and value.dtype.kind == "O":
        return any(type(each) is Tensor for each in value.flat)
    return kind is Tensor
