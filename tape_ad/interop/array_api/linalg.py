"""Linear algebra, as the extension of the standard has it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tape_ad.interop.array_api.wrapping import of_standard

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Tell a type checker that there are more names than it sees."""


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


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Invert matrices in the sense of least squares."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * np.finfo(x.dtype).eps
    return np.linalg.pinv(x, rcond=rtol)


SAME = (
    *("cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm"),
    *("matrix_power", "matrix_transpose", "outer", "qr", "slogdet", "solve", "svd", "svdvals"),
    *("tensordot", "trace", "vecdot", "vector_norm"),
)
"""Functions of which NumPy's own take all that those of the standard do."""

FUNCTIONS = of_standard(
    {
        **{name: vars(np.linalg)[name] for name in SAME},
        "eig": lambda x, /: np.linalg.eig(as_complex(x)),
        "eigvals": lambda x, /: np.linalg.eigvals(as_complex(x)),
        "matrix_rank": matrix_rank,
        "pinv": pinv,
    },
    np.linalg,
)
globals().update(FUNCTIONS)

__all__ = sorted(FUNCTIONS)  # noqa: PLE0605 - a list
