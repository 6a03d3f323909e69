"""Diagonals, traces and cross products, and products of several matrices."""

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import define
from numpy.lib.array_utils import normalize_axis_index

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Derivation, Entry, arguments_of, as_array, refuse, rule
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


def linalg_cross(x1: Array, x2: Array, /, *, axis: int | None = -1) -> Array:
    """Multiply vectors of three numbers; in NumPy 2.5 no axis is the last."""
    vectors = as_array(x1), as_array(x2)
    place = -1 if axis is None else axis
    sizes = [each.shape[normalize_axis_index(place, each.ndim)] for each in vectors]
    if axis is None or sizes != [3, 3]:
        given: Any = None if axis is None else -1
        np.linalg.cross(np.zeros(sizes[0]), np.zeros(sizes[1]), axis=given)  # which NumPy refuses
    return np.cross(*vectors, axis=place)


# Other products


def linalg_outer(x1: Array, x2: Array, /) -> Array:
    """Multiply every element of one vector with every element of another."""
    x1, x2 = as_array(x1), as_array(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            f"np.linalg.outer takes arrays of one axis, got {x1.ndim} and {x2.ndim} axes; "
            "np.outer flattens what it is given"
        )
    return np.outer(x1, x2)


def linalg_vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Multiply vectors along an axis, the first conjugated."""
    return vecdot(x1, x2, axis=axis)


def matrix_power(a: Array, n: int) -> Array:
    """Multiply a matrix with itself, by repeated squaring."""
    exponent = operator.index(n)
    checked_square("matrix_power", a)
    if exponent == 0:
        unit = np.zeros_like(a) + np.eye(a.shape[-1], dtype=a.dtype)
        return unit if unit.dtype == a.dtype else unit.astype(a.dtype)  # the byte order too
    factor = a if exponent > 0 else np.linalg.inv(a)
    remaining = abs(exponent)
    power = None
    while True:
        if remaining % 2:
            power = factor if power is None else power @ factor
        remaining //= 2
        if not remaining:
            return power
        factor = factor @ factor


def checked_square(name: str, a: Array) -> None:
    """Refuse what is no square matrix, nor a stack of them."""
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError(
            f"np.linalg.{name} takes square matrices, stacked along the last two axes, "
            f"got shape {a.shape}"
        )


def multi_dot(arrays: Sequence[Array], *, out: None = None) -> Array:
    """Multiply matrices in the order that takes the fewest multiplications."""
    refuse("linalg.multi_dot", out=out)
    matrices = [as_array(array) for array in arrays]
    if len(matrices) < 2:
        raise ValueError(f"np.linalg.multi_dot takes two or more arrays, got {len(matrices)}")
    if len(matrices) == 2:
        return np.dot(*matrices)
    row, column = matrices[0].ndim == 1, matrices[-1].ndim == 1
    if row:
        matrices[0] = matrices[0][None, :]
    if column:
        matrices[-1] = matrices[-1][:, None]
    if any(matrix.ndim != 2 for matrix in matrices):
        raise np.linalg.LinAlgError(
            "np.linalg.multi_dot takes matrices, and vectors at the two ends; got arrays with "
            f"{[as_array(array).ndim for array in arrays]} axes"
        )
    product = cheapest_product(matrices)
    if not (row or column):
        return product
    return product[0 if row else slice(None), 0 if column else slice(None)]


def cheapest_product(matrices: Sequence[Array]) -> Array:
    """Multiply matrices after the best places to split them, found from short chains to long.

    Cormen, Leiserson, Rivest & Stein, *Introduction to Algorithms*, section 15.2.
    """
    sizes = [matrices[0].shape[0], *(matrix.shape[1] for matrix in matrices)]
    count = len(matrices)
    costs = {(i, i): 0 for i in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            options = [
                (costs[i, k] + costs[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            costs[i, j], splits[i, j] = min(options)

    def between(i: int, j: int) -> Array:
        if i == j:
            return matrices[i]
        return between(i, splits[i, j]) @ between(splits[i, j] + 1, j)

    return between(0, count - 1)


def on_last_axes(function: Callable[..., Array]) -> Callable[..., Array]:
    """Let a function of NumPy work on the last two axes, as its namesake in `numpy.linalg`."""
    return lambda x, /, **options: function(as_array(x), axis1=-2, axis2=-1, **options)


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
    np.linalg.diagonal: Derivation(on_last_axes(np.diagonal), facts=facts.cores("(m,n)->...")),
    np.linalg.trace: Derivation(on_last_axes(np.trace), facts=facts.cores("(m,n)->()")),
    np.linalg.cross: Derivation(linalg_cross),
    np.linalg.outer: Derivation(linalg_outer),
    np.linalg.vecdot: Derivation(linalg_vecdot),
    np.linalg.matmul: Derivation(lambda x1, x2, /: np.matmul(x1, x2)),
    np.linalg.tensordot: Derivation(lambda x1, x2, /, *, axes=2: np.tensordot(x1, x2, axes)),
    np.linalg.matrix_transpose: Derivation(
        lambda x, /: np.swapaxes(x, -1, -2), facts=facts.cores("(m,n)->(n,m)")
    ),
    np.linalg.matrix_power: Derivation(matrix_power, facts=facts.cores("(n,n)->(n,n)")),
    np.linalg.multi_dot: Derivation(multi_dot),
}
