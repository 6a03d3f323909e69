"""Matrices put together from smaller arrays."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from attrs import define

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.maps import Adjoint, Chain, Index, LinearMap, Reshape
from tape_ad.extend.patterns import permutation
from tape_ad.extend.rules import Call, Entry, add_facts, each, rule
from tape_ad.scipy.counterparts import takes_lists

__all__ = ["STRUCTURED", "block_diag", "toeplitz"]


@takes_lists
def block_diag(*arrs: Array) -> Array:
    """Put matrices on the diagonal of a larger one, as `scipy.linalg.block_diag` does.

    Parameters
    ----------
    arrs : array or Tensor, shape (), (n,) or (m, n)
        A vector is a matrix of one row.

    Returns
    -------
    array or Tensor, shape (sum of m, sum of n)

    Examples
    --------
    >>> block_diag(np.array([[1.0, 2.0]]), np.array([[3.0]]))
    array([[1., 2., 0.], [0., 0., 3.]])
    """
    return scipy.linalg.block_diag(*arrs)


def block(position: int, out: Array, *arrs: Array) -> LinearMap:
    """Make the partial of `block_diag` in one of the blocks."""
    shapes = [(1,) * (2 - a.ndim) + a.shape for a in arrs]
    row, column = (sum(shape[axis] for shape in shapes[:position]) for axis in (0, 1))
    m, n = shapes[position]
    key = (slice(row, row + m), slice(column, column + n))
    return Chain((Reshape(arrs[position].shape, (m, n)), Adjoint(Index(key, out.shape, (m, n)))))


def block_diag_signature(*arrs: Array) -> Call:
    """Sort the arguments of `block_diag`."""
    arrays = tuple(map(as_array, arrs))
    if any(a.ndim > 2 for a in arrays):
        raise UnsupportedArgumentError("block_diag of handles takes single matrices, not stacks")
    return arrays, {}


@takes_lists
def toeplitz(c: Array, r: Array | None = None) -> Array:
    """Make the matrix with constant diagonals, as `scipy.linalg.toeplitz` does.

    Parameters
    ----------
    c : array or Tensor, shape (m,)
        The first column.
    r : array or Tensor, shape (n,), optional
        The first row, but for ``r[0]``, which is ignored; the conjugate of `c` when left out.

    Returns
    -------
    array or Tensor, shape (m, n)

    Examples
    --------
    >>> toeplitz(np.array([1.0, 2.0]), np.array([1.0, 3.0, 4.0]))
    array([[1., 3., 4.], [2., 1., 3.]])
    """
    return scipy.linalg.toeplitz(c) if r is None else scipy.linalg.toeplitz(c, r)


@define(eq=False, repr=False)
class Diagonals:
    """The matrix with given diagonals, from the lower left corner to the upper right one."""

    broadcasts: ClassVar[bool] = False
    pattern = permutation
    rows: int
    columns: int

    def push(self, t: Array) -> Array:
        m, n = self.rows, self.columns
        return t[..., np.arange(m - 1, -1, -1)[:, None] + np.arange(n)]

    def pull(self, ct: Array) -> Array:
        # Rows laid one after another with one zero less than it takes to align them are a shear
        m, n = self.rows, self.columns
        stack = ct.shape[:-2]
        padded = np.concatenate((ct[..., ::-1, :], np.zeros((*stack, m, m), ct.dtype)), axis=-1)
        flat = padded.reshape((*stack, m * (m + n)))[..., : m * (m + n - 1)]
        return np.add.reduce(flat.reshape((*stack, m, m + n - 1)), axis=-2)


def column(out: Array, c: Array, r: Array) -> LinearMap | None:
    """Make the partial of `toeplitz` in the first column."""
    if out.size == 0:
        return None
    m, n = out.shape
    key = (slice(m - 1, None, -1),)
    return Chain((Adjoint(Index(key, (m + n - 1,), (m,))), Diagonals(m, n)))


def row(out: Array, c: Array, r: Array) -> LinearMap | None:
    """Make the partial of `toeplitz` in the first row."""
    if out.size == 0:
        return None
    m, n = out.shape
    rest = Index((slice(1, None),), (n,), (n - 1,))
    placed = Adjoint(Index((slice(m, None),), (m + n - 1,), (n - 1,)))
    return Chain((rest, placed, Diagonals(m, n)))


def toeplitz_signature(c: Array, r: Array | None = None) -> Call:
    """Sort the arguments of `toeplitz`; a missing row is the conjugate of the column."""
    c = as_array(c)
    r = c.conjugate() if r is None else as_array(r)
    if c.ndim != 1 or r.ndim != 1:
        raise UnsupportedArgumentError(
            f"toeplitz of handles takes one column and one row, got shapes {c.shape} and {r.shape}"
        )
    return (c, r), {}


def moved_diagonals(given: Mapping[str, Any]) -> facts.Facts:
    """Say what is known of a call: without a row, that is the column's conjugate."""
    if given["r"] is None:
        return facts.composed(lambda c, r=None: toeplitz(c, np.conjugate(c)))
    return facts.moves("c", "r")


STRUCTURED: dict[Any, Entry] = {
    block_diag: each(block, signature=block_diag_signature),
    toeplitz: rule(
        column, row, signature=toeplitz_signature, facts=facts.depending(moved_diagonals)
    ),
}

add_facts(STRUCTURED, (block_diag,), moves=("*",))
