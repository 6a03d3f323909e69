"""Linear algebra, as the extension of the standard has it."""

from typing import Any

import numpy as np

from tape_ad.interop.array_api.wrapping import gives_handles

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


@gives_handles
def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """Factor positive definite matrices; see ``cholesky`` in the standard."""
    lower = np.linalg.cholesky(x)
    return np.conjugate(np.swapaxes(lower, -1, -2)) if upper else lower


@gives_handles
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Compute the cross product; see ``cross`` in the standard.

    Raises
    ------
    ValueError
        When the vectors are not of three numbers.
    """
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            f"cross takes vectors of three numbers along the axis {axis}, not of "
            f"{x1.shape[axis]} and {x2.shape[axis]}"
        )
    return np.cross(x1, x2, axis=axis)


@gives_handles
def det(x: Any, /) -> Any:
    """Compute the determinant; see ``det`` in the standard."""
    return np.linalg.det(x)


@gives_handles
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Take a diagonal of matrices; see ``diagonal`` in the standard."""
    return np.diagonal(x, offset, -2, -1)


@gives_handles
def eig(x: Any, /) -> Any:
    """Find eigenvalues and eigenvectors, complex ones; see ``eig`` in the standard."""
    return np.linalg.eig(as_complex(x))


@gives_handles
def eigvals(x: Any, /) -> Any:
    """Find eigenvalues, complex ones; see ``eigvals`` in the standard."""
    return np.linalg.eigvals(as_complex(x))


def as_complex(x: Any) -> Any:
    """Cast a real array to complex numbers of its precision."""
    return x if x.dtype.kind == "c" else x.astype(np.result_type(x.dtype, np.complex64))


@gives_handles
def eigh(x: Any, /) -> Any:
    """Find eigenvalues and eigenvectors of symmetric matrices; see ``eigh`` in the standard."""
    return np.linalg.eigh(x)


@gives_handles
def eigvalsh(x: Any, /) -> Any:
    """Find eigenvalues of symmetric matrices; see ``eigvalsh`` in the standard."""
    return np.linalg.eigvalsh(x)


@gives_handles
def inv(x: Any, /) -> Any:
    """Invert matrices; see ``inv`` in the standard."""
    return np.linalg.inv(x)


@gives_handles
def matmul(x1: Any, x2: Any, /) -> Any:
    """Multiply matrices; see ``matmul`` in the standard."""
    return np.matmul(x1, x2)


@gives_handles
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:  # noqa: A002 - the standard's
    """Compute a norm of matrices; see ``matrix_norm`` in the standard."""
    return np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)


@gives_handles
def matrix_power(x: Any, n: int, /) -> Any:
    """Raise matrices to a power; see ``matrix_power`` in the standard."""
    return np.linalg.matrix_power(x, n)


@gives_handles
def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """Count the singular values that are not zero; see ``matrix_rank`` in the standard."""
    if x.ndim < 2:
        raise np.linalg.LinAlgError("matrix_rank takes an array of two axes or more")
    values = np.linalg.svd(x, compute_uv=False)
    if rtol is None:
        relative: Any = max(x.shape[-2:]) * np.finfo(values.dtype).eps
    else:
        relative = np.asarray(rtol)[..., None]
    return np.count_nonzero(values > np.max(values, axis=-1, keepdims=True) * relative, axis=-1)


@gives_handles
def matrix_transpose(x: Any, /) -> Any:
    """Swap the last two axes; see ``matrix_transpose`` in the standard."""
    if x.ndim < 2:
        raise ValueError("matrix_transpose takes an array of two axes or more")
    return np.swapaxes(x, -1, -2)


@gives_handles
def outer(x1: Any, x2: Any, /) -> Any:
    """Multiply each element of one vector by each of another; see ``outer`` in the standard."""
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError("outer takes arrays of one axis")
    return np.outer(x1, x2)


@gives_handles
def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Invert matrices in the sense of least squares; see ``pinv`` in the standard."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * np.finfo(x.dtype).eps
    return np.linalg.pinv(x, rcond=rtol)


@gives_handles
def qr(x: Any, /, *, mode: Any = "reduced") -> Any:
    """Factor matrices into orthonormal and triangular ones; see ``qr`` in the standard."""
    return np.linalg.qr(x, mode=mode)


@gives_handles
def slogdet(x: Any, /) -> Any:
    """Compute the determinant's sign and logarithm; see ``slogdet`` in the standard."""
    return np.linalg.slogdet(x)


@gives_handles
def solve(x1: Any, x2: Any, /) -> Any:
    """Solve linear equations; see ``solve`` in the standard.

    A right-hand side of one axis is a vector, in NumPy 2 as well.
    """
    return np.linalg.solve(x1, x2)


@gives_handles
def svd(x: Any, /, *, full_matrices: bool = True) -> Any:
    """Find singular values and vectors; see ``svd`` in the standard."""
    return np.linalg.svd(x, full_matrices=full_matrices)


@gives_handles
def svdvals(x: Any, /) -> Any:
    """Find singular values; see ``svdvals`` in the standard."""
    return np.linalg.svd(x, compute_uv=False)


@gives_handles
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Contract axes; see ``tensordot`` in the standard."""
    return np.tensordot(x1, x2, axes=axes)


@gives_handles
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sum a diagonal of matrices; see ``trace`` in the standard."""
    return np.sum(np.diagonal(x, offset, -2, -1), axis=-1, dtype=dtype)


@gives_handles
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Multiply and sum along an axis, the first conjugated; see ``vecdot`` in the standard."""
    options: Any = {"axis": axis}
    return np.vecdot(x1, x2, **options)


@gives_handles
def vector_norm(
    x: Any,
    /,
    *,
    axis: Any = None,
    keepdims: bool = False,
    ord: Any = 2,  # noqa: A002 - the standard's name
) -> Any:
    """Compute a norm of vectors; see ``vector_norm`` in the standard."""
    return np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
