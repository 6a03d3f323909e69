"""Products with constant matrices of `scipy.sparse`, which are never made dense.

SciPy is not imported here: who has a sparse matrix has imported it.
"""

from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import is_dask, overridable
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules.base import Call, Entry, rule
from tape_ad.rules.maps import Array, Chain, LinearMap, Reshape, Shape, Transpose
from tape_ad.rules.maps.patterns import Pattern, reads, separable

Sparse = Any
"""A matrix or an array of `scipy.sparse`, of any format."""


def is_sparse(x: Any) -> bool:
    """Tell whether something is a sparse matrix, as every format of SciPy can become CSR.

    Those of `tape_ad.scipy.sparse`, which may hold handles, say that operators are theirs.
    """
    kind = type(x)
    if is_dask(kind):  # a Delayed says that it has whatever it is asked for
        return False
    return hasattr(x, "tocsr") and getattr(kind, "__array_ufunc__", False) is not None


@overridable
def sparse_matmul(matrix: Sparse, x: Array) -> Array:
    """Compute ``matrix @ x`` for a constant sparse matrix.

    Parameters
    ----------
    matrix : sparse matrix, shape (m, n)
    x : array or Tensor, shape (n,) or (n, k)

    Returns
    -------
    array or Tensor, shape (m,) or (m, k)
    """
    return matrix @ x


@overridable
def matmul_sparse(x: Array, matrix: Sparse) -> Array:
    """Compute ``x @ matrix`` for a constant sparse matrix.

    Parameters
    ----------
    x : array or Tensor, shape (m,) or (k, m)
    matrix : sparse matrix, shape (m, n)

    Returns
    -------
    array or Tensor, shape (n,) or (k, n)
    """
    return x @ matrix


@define(eq=False, repr=False)
class SparseProduct:
    """``parent @ matrix``, for a parent of any number of axes."""

    matrix: Sparse

    @reads("matrix")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        places = self.matrix.tocoo()
        return separable(parent, node, {-1: Pattern(places.col, places.row)})

    def push(self, t: Array) -> Array:
        return times(t, self.matrix)

    def pull(self, ct: Array) -> Array:
        return times(ct, self.matrix.conj(copy=False).T)


def times(x: Array, matrix: Sparse) -> Array:
    """Multiply the last axis, the others being rows of one matrix."""
    m, n = matrix.shape
    if x.size == 0 and x.shape[-1] == m:  # else SciPy says what is wrong
        return np.zeros((*x.shape[:-1], n), np.result_type(x.dtype, matrix.dtype))
    rows = x if x.ndim <= 2 else np.reshape(x, (-1, m))
    found = rows @ matrix
    shape = (*x.shape[:-1], n)  # of one column, SciPy's coo_array gives a number
    return found if np.shape(found) == shape else np.reshape(found, shape)


def product(out: Array, x: Array, matrix: Sparse) -> LinearMap:
    """Make the partial of ``x @ matrix``."""
    return shaped(SparseProduct(matrix), out)


def product_from_left(out: Array, x: Array, matrix: Sparse) -> LinearMap:
    """Make the partial of ``matrix @ x``, which for columns is ``(x.T @ matrix.T).T``."""
    by_rows = SparseProduct(matrix.T)
    if x.ndim == 1:
        return shaped(by_rows, out)
    turn = Transpose((-1, -2))
    return Chain((turn, by_rows, turn))


def shaped(by_rows: SparseProduct, out: Array) -> LinearMap:
    """Leave out the axis of one element that a product with SciPy's `coo_array` may lack."""
    return by_rows if np.ndim(out) else Chain((by_rows, Reshape((1,), ())))


def checked(matrix: Sparse, x: Array) -> Call:
    """Sort the arguments: the matrix is a constant."""
    if matrix.ndim != 2 or np.ndim(x) not in (1, 2):
        raise UnsupportedArgumentError(
            f"a product of a handle of shape {np.shape(x)} and a sparse array of shape "
            f"{matrix.shape} is not supported; the one is to have one or two axes, the other two"
        )
    return (x,), {"matrix": matrix}


def from_left(x: Array, matrix: Sparse) -> Array:
    """Compute ``matrix @ x`` of what is one level below."""
    return sparse_matmul(matrix, x)


SPARSE: dict[Any, Entry] = {
    sparse_matmul: rule(product_from_left, signature=checked, compute=from_left),
    matmul_sparse: rule(
        product,
        signature=lambda x, matrix: checked(matrix, x),
        compute=matmul_sparse,
    ),
}
