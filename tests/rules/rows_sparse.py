"""Rows for products with constant sparse matrices."""

from typing import Any

import numpy as np
import scipy.sparse

from tape_ad.rules.sparse_products import matmul_sparse, sparse_matmul
from tests.rules.table import REAL, Row, Shape

__all__ = ["ROWS"]

Array = Any

DENSE = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, -1.5], [0.0, 0.0, 0.0], [0.5, 0.0, 3.0]])
MATRICES: tuple[tuple[str, Any], ...] = (
    ("csr_array", scipy.sparse.csr_array(DENSE)),
    ("csr_matrix", scipy.sparse.csr_matrix(DENSE)),
    ("coo_array", scipy.sparse.coo_array(DENSE)),
    ("complex csc_array", scipy.sparse.csc_array(DENSE * (1 + 0.5j))),
    ("single precision", scipy.sparse.csr_array(DENSE.astype(np.float32))),
)


def dense_from_left(jax: Any) -> Any:
    """Write `sparse_matmul` with a dense matrix."""
    return lambda matrix, x: jax.numpy.matmul(matrix.toarray(), x)


def dense_from_right(jax: Any) -> Any:
    """Write `matmul_sparse` with a dense matrix."""
    return lambda x, matrix: jax.numpy.matmul(x, matrix.toarray())


def row(name: str, matrix: Any, *shape: int, left: bool) -> Row:
    """Make the row of a product with a matrix from the left or from the right."""
    if left:
        call, jax = lambda f, x: f(matrix, x), dense_from_left
    else:
        call, jax = lambda f, x: f(x, matrix), dense_from_right
    function = sparse_matmul if left else matmul_sparse
    return Row(function, [REAL(*shape)], call=call, note=name, complex=True, jax=jax)


ON_LEFT: tuple[Shape, ...] = ((3,), (3, 2), (3, 1), (3, 0))
ON_RIGHT: tuple[Shape, ...] = ((4,), (2, 4), (1, 4), (0, 4))

COLUMN = scipy.sparse.coo_array(DENSE[:, 2:])

ROWS: list[Row] = [
    *(row(name, m, *shape, left=True) for name, m in MATRICES for shape in ON_LEFT),
    *(row(name, m, *shape, left=False) for name, m in MATRICES for shape in ON_RIGHT),
    row("coo_array of one column", COLUMN, 1, left=True),
    Row(
        matmul_sparse,
        [REAL(4)],
        call=lambda f, x: f(x, COLUMN),
        note="coo_array of one column",
        complex=True,
        no_jax="SciPy gives a number",
    ),
]
