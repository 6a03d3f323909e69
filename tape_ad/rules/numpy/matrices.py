"""Diagonals, traces and cross products, and products of several matrices."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Derivation, Entry, arguments_of, as_array, rule
from tape_ad.rules.maps import Array, Chain, Index, LinearMap, Shape, Transpose
from tape_ad.rules.maps.patterns import rows_of
from tape_ad.rules.numpy import bodies

vecdot: Callable[..., Array] = np.vecdot
"""NumPy's type for it leaves out ``axis=``."""


def reordering(order: tuple[int, ...]) -> tuple[LinearMap, ...]:
    """Make the map that permutes axes; nothing where they are in order already."""
    ndim = len(order)
    in_order = order == tuple(range(ndim))
    return () if in_order else (Transpose(tuple(axis - ndim for axis in order)),)


# Diagonals


def diagonal_maps(
    shape: Shape, offset: int, axis1: int, axis2: int
) -> tuple[tuple[LinearMap, ...], Index]:
    """Make the maps that bring two axes to the end, and the one that picks their diagonal."""
    ndim = len(shape)
    ends = (axis1 % ndim, axis2 % ndim)
    order = (*(axis for axis in range(ndim) if axis not in ends), *ends)
    parent = tuple(shape[axis] for axis in order)
    row, column = max(-offset, 0), max(offset, 0)
    length = max(min(parent[-2] - row, parent[-1] - column), 0)
    steps = np.arange(length)
    whole = (slice(None),) * (ndim - 2)
    index = Index((*whole, steps + row, steps + column), parent, (*parent[:-2], length))
    return reordering(order), index


def diagonal_partial(out: Array, a: Array, offset: int, axis1: int, axis2: int) -> LinearMap:
    """Make the partial of a diagonal; its pull is 0 elsewhere."""
    moved, index = diagonal_maps(a.shape, offset, axis1, axis2)
    return Chain((*moved, index))


def trace(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Array:
    """Add up a diagonal."""
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


# Cross products


@define(eq=False, repr=False)
class Cross:
    """``cross(parent, other)``, or ``cross(other, parent)`` where the parent is on the right."""

    broadcasts: ClassVar[bool] = True
    pattern = rows_of
    other: Array
    left: bool

    def push(self, t: Array) -> Array:
        return vector_product(t, self.other) if self.left else vector_product(self.other, t)

    def pull(self, ct: Array) -> Array:
        other = self.other.conjugate()
        return vector_product(other, ct) if self.left else vector_product(ct, other)


@overridable
def vector_product(a: Array, b: Array) -> Array:
    """Multiply 3-vectors along the last axis, plain arrays of one dtype in half of NumPy's time.

    Parameters
    ----------
    a, b : array, shape (..., 3)

    Returns
    -------
    array, shape (..., 3)
    """
    if type(a) is not np.ndarray or type(b) is not np.ndarray or a.dtype is not b.dtype:
        return np.cross(a, b)
    shape = a.shape if a.shape == b.shape else np.broadcast_shapes(a.shape, b.shape)
    product = np.empty(shape, a.dtype)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        ahead, back = a[..., j] * b[..., k], a[..., k] * b[..., j]
        np.subtract(ahead, back, out=product[..., i])
    return product


def cross_product(
    a: Array,
    b: Array,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Array:
    """Multiply vectors of two or three numbers, as `numpy.cross` does."""
    if axis is not None:
        axisa = axisb = axisc = axis
    vectors = [last(as_array(each), place) for each, place in ((a, axisa), (b, axisb))]
    sizes = [each.shape[-1] for each in vectors]
    if sizes != [3, 3]:
        np.cross(np.zeros(sizes[0]), np.zeros(sizes[1]))  # which NumPy warns of, or refuses
    whole = [
        each if each.shape[-1] == 3 else np.concatenate((each, np.zeros_like(each[..., :1])), -1)
        for each in vectors
    ]
    product = vector_product(*whole)
    if sizes == [2, 2]:
        return product[..., 2]
    return product if axisc in (-1, product.ndim - 1) else np.moveaxis(product, -1, axisc)


def last(a: Array, axis: int) -> Array:
    """Bring an axis to the end."""
    return a if axis in (-1, a.ndim - 1) else np.moveaxis(a, axis, -1)


POWER = bodies.own_lines(np.linalg.matrix_power)


def matrix_power(a: Array, n: int) -> Array:
    """Multiply a matrix with itself; the power 0 has nothing of it."""
    if n:
        power: Array = POWER(a, n)
        return power
    unit = np.zeros_like(a) + np.linalg.matrix_power(np.zeros(a.shape, a.dtype), n)
    return unit.astype(a.dtype, copy=False)  # with its byte order


MATRICES: dict[Any, Entry] = {
    np.diagonal: rule(
        diagonal_partial,
        signature=arguments_of(np.diagonal, "a", "offset axis1 axis2"),
        facts=facts.Facts(view=True),
    ),
    np.trace: Derivation(
        trace, arguments_of(np.trace, "a", "offset axis1 axis2 dtype"), facts.composed(trace)
    ),
    vector_product: rule(
        lambda out, a, b: Cross(b, left=True),
        lambda out, a, b: Cross(a, left=False),
        signature=arguments_of(vector_product, "a b"),
        facts=facts.cores("(n),(n)->(n)"),
        body=bodies.crossed,
    ),
    np.cross: Derivation(cross_product, facts=facts.composed(bodies.crossed)),
    **bodies.own(np.linalg.diagonal, facts=facts.cores("(m,n)->...")),
    **bodies.own(np.linalg.trace, facts=facts.cores("(m,n)->()")),
    **bodies.own(np.linalg.matrix_transpose, facts=facts.cores("(m,n)->(n,m)")),
    np.linalg.matrix_power: Derivation(matrix_power, facts=facts.cores("(n,n)->(n,n)")),
    **bodies.own(np.linalg.cross, np.linalg.outer, np.linalg.vecdot),
    **bodies.own(np.linalg.matmul, np.linalg.tensordot, np.linalg.multi_dot),
}
