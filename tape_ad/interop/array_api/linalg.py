"""Linear algebra, as the extension of the standard has it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tape_ad.interop.array_api.wrapping import of_standard

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Tell a type checker that there are more names than it sees."""


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """Factor positive definite matrices."""
    lower = np.linalg.cholesky(x)
    return np.conjugate(np.swapaxes(lower, -1, -2)) if upper else lower


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Compute the cross product.

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


def as_complex(x: Any) -> Any:
    """Cast a real array to complex numbers of its precision."""
    return x if x.dtype.kind == "c" else x.astype(np.result_type(x.dtype, np.complex64))


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """Count the singular values that are not zero."""
    if x.ndim < 2:
        raise np.linalg.LinAlgError("matrix_rank takes an array of two axes or more")
    values = np.linalg.svd(x, compute_uv=False)
    if rtol is None:
        relative: Any = max(x.shape[-2:]) * np.finfo(values.dtype).eps
    else:
        relative = np.asarray(rtol)[..., None]
    return np.count_nonzero(values > np.max(values, axis=-1, keepdims=True) * relative, axis=-1)


def matrix_transpose(x: Any, /) -> Any:
    """Swap the last two axes."""
    if x.ndim < 2:
        raise ValueError("matrix_transpose takes an array of two axes or more")
    return np.swapaxes(x, -1, -2)


def outer(x1: Any, x2: Any, /) -> Any:
    """Multiply each element of one vector by each of another."""
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError("outer takes arrays of one axis")
    return np.outer(x1, x2)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Invert matrices in the sense of least squares."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * np.finfo(x.dtype).eps
    return np.linalg.pinv(x, rcond=rtol)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:  # noqa: A002 - the standard's
    """Compute a norm of matrices."""
    return np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Multiply and sum along an axis, the first conjugated."""
    options: Any = {"axis": axis}
    return np.vecdot(x1, x2, **options)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:  # noqa: A002 - the standard's
    """Compute a norm of vectors."""
    return np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


def of_matrix(of: Any) -> Any:
    """Make a function of matrices alone."""
    return lambda x, /: of(x)


FUNCTIONS = of_standard(
    {
        **{name: of_matrix(vars(np.linalg)[name]) for name in ("det", "eigh", "eigvalsh", "inv")},
        "cholesky": cholesky,
        "cross": cross,
        "diagonal": lambda x, /, *, offset=0: np.diagonal(x, offset, -2, -1),
        "eig": lambda x, /: np.linalg.eig(as_complex(x)),
        "eigvals": lambda x, /: np.linalg.eigvals(as_complex(x)),
        "matmul": lambda x1, x2, /: np.matmul(x1, x2),
        "matrix_norm": matrix_norm,
        "matrix_power": lambda x, n, /: np.linalg.matrix_power(x, n),
        "matrix_rank": matrix_rank,
        "matrix_transpose": matrix_transpose,
        "outer": outer,
        "pinv": pinv,
        "qr": lambda x, /, *, mode="reduced": np.linalg.qr(x, mode=mode),
        "slogdet": of_matrix(np.linalg.slogdet),
        "solve": lambda x1, x2, /: np.linalg.solve(x1, x2),  # a vector is one, in NumPy 2 as well
        "svd": lambda x, /, *, full_matrices=True: np.linalg.svd(x, full_matrices=full_matrices),
        "svdvals": lambda x, /: np.linalg.svd(x, compute_uv=False),
        "tensordot": lambda x1, x2, /, *, axes=2: np.tensordot(x1, x2, axes=axes),
        "trace": lambda x, /, *, offset=0, dtype=None: np.sum(
            np.diagonal(x, offset, -2, -1), axis=-1, dtype=dtype
        ),
        "vecdot": vecdot,
        "vector_norm": vector_norm,
    },
    np.linalg,
)
globals().update(FUNCTIONS)

__all__ = sorted(FUNCTIONS)  # noqa: PLE0605 - a list
