"""Arithmetic of handles with constant matrices of `scipy.sparse`, element by element.

What handles stand for is dense, and so is the result, where SciPy may give a sparse one; a matrix
times a number is a sparse one of `tape_ad.scipy.sparse`. A matrix that would have to grow, as a
number or a row is added to it, is refused.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.arrays.adapters import adapter
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.base.naming import called
from tape_ad.rules.sparse_products import is_sparse, matmul_sparse, sparse_matmul

__all__ = ["beside_sparse", "meets_sparse"]

Function = Callable[..., Any]

COMPARED: dict[Any, Function] = {
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
}

PRODUCTS = (matmul_sparse, sparse_matmul)


def meets_sparse(function: Function, x: Any, y: Any) -> bool:
    """Tell whether one of two operands is a sparse matrix, of a function that knows none."""
    return (is_sparse(x) or is_sparse(y)) and function not in PRODUCTS


def beside_sparse(function: Function, x: Any, y: Any, again: Function) -> Any:
    """Compute a function of a handle and a sparse matrix.

    Parameters
    ----------
    function : callable
    x, y
        One of them is sparse.
    again : callable
        ``again(function, x, y)`` computes it for other operands.

    Raises
    ------
    UnsupportedArgumentError
        It says what to write instead.
    """
    if function in COMPARED:
        return COMPARED[function](primal_of(x), primal_of(y))
    matrix, handle = (x, y) if is_sparse(x) else (y, x)
    divided = function is np.divide and matrix is x
    if np.ndim(handle) == 0 and (divided or function is np.multiply):
        scaled = adapter("scipy.sparse").sparse_of(matrix)
        return scaled / handle if divided else scaled * handle
    if function in (np.multiply, np.matmul) and (is_matrix(matrix) or function is np.matmul):
        if np.ndim(handle):
            return again(sparse_matmul, x, y) if matrix is x else again(matmul_sparse, x, y)
    elif matrix.shape == np.shape(handle) and (
        divided or function in (np.add, np.subtract, np.multiply)
    ):
        x, y = (each.toarray() if is_sparse(each) else each for each in (x, y))
        return again(function, x, y)
    raise UnsupportedArgumentError(
        f"{called(function)} of a handle of shape {np.shape(handle)} and a {type(matrix).__name__} "
        f"of shape {matrix.shape} is not supported; write A.toarray() for the matrix, if it may "
        "become dense, or after A = A.tocoo() tape_ad.scipy.sparse.coo_array((A.data * t, "
        "A.coords), A.shape) for a sparse matrix whose elements are a handle"
    )


def primal_of(x: Any) -> Any:
    """Give the primal of a handle, and a sparse matrix as it is."""
    return x if is_sparse(x) else getattr(x, "data", x)


def is_matrix(x: Any) -> bool:
    """Tell whether ``*`` means the product of matrices, as it does for those that are no arrays."""
    return any(kind.__name__ == "spmatrix" for kind in type(x).__mro__)
