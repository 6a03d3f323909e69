"""Functions that join arrays."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tape_ad.linear_maps import Adjoint, Array, Chain, Index, LinearMap, Reshape
from tape_ad.rules.base import Call, Entry, each, refuse

__all__ = ["JOINING"]


def joining_signature(
    arrays: Sequence[Array],
    axis: int | None = 0,
    out: None = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Call:
    """Sort the arguments of `numpy.concatenate` and `numpy.stack`."""
    refuse("concatenate", out=out)
    return tuple(arrays), {"axis": axis, "dtype": dtype, "casting": casting}


def concatenated(
    position: int, out: Array, *arrays: Array, axis: int | None, **options: Any
) -> LinearMap:
    """Make the partial of `numpy.concatenate`: the operand lands in one slice of the node."""
    shape = np.shape(arrays[position])
    if axis is None:
        start = sum(np.size(a) for a in arrays[:position])
        flat = Index((slice(start, start + math.prod(shape)),), out.shape, (math.prod(shape),))
        return Chain((Reshape(shape, flat.node), Adjoint(flat)))
    start = sum(np.shape(a)[axis] for a in arrays[:position])
    key = [slice(None)] * out.ndim
    key[axis] = slice(start, start + shape[axis])
    return Adjoint(Index(tuple(key), out.shape, shape))


def stacked(position: int, out: Array, *arrays: Array, axis: int, **options: Any) -> LinearMap:
    """Make the partial of `numpy.stack`: the operand lands at one place of a new axis."""
    key: list[Any] = [slice(None)] * out.ndim
    key[axis] = position
    return Adjoint(Index(tuple(key), out.shape, np.shape(arrays[position])))


JOINING: dict[Any, Entry] = {
    np.concatenate: each(
        concatenated,
        signature=joining_signature,
        compute=lambda *arrays, **options: np.concatenate(arrays, **options),
    ),
    np.stack: each(
        stacked,
        signature=joining_signature,
        compute=lambda *arrays, **options: np.stack(arrays, **options),
    ),
}
