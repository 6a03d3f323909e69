"""Matrices put together from smaller arrays, systems with such matrices, and their spectra."""

from typing import Any

import numpy as np
import scipy.linalg

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.maps import Adjoint, Chain, Index, LinearMap, Reshape, adjoint
from tape_ad.extend.rules import Call, Entry, add_facts, each
from tape_ad.scipy.counterparts import counterpart, takes_lists
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.spectral import eigh
from tape_ad.scipy.linalg.systems import solve_banded, solve_triangular


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


STRUCTURED: dict[Any, Entry] = {block_diag: each(block, signature=block_diag_signature)}

add_facts(STRUCTURED, (block_diag,), moves=("*",))


# Matrices of vectors


def circulant_of(c: Array) -> Array:
    """Turn a column around, once for each column."""
    c = as_array(c)
    n = np.arange(c.shape[-1])
    return c[..., np.mod(np.subtract.outer(n, n), max(n.size, 1))]


def fiedler_companion_of(a: Array) -> Array:
    """Put the coefficients, over the first, on both sides of the diagonal in turns."""
    a = as_array(a)
    a = a[None] if a.ndim == 0 else a
    n = a.shape[-1] - 1
    if n < 1:
        return np.zeros((*a.shape[:-1], 0), a.dtype)
    numbers = np.concatenate([-a[..., 1:] / a[..., :1], np.ones_like(a[..., :1])], axis=-1)
    numbers = np.concatenate([numbers, np.zeros_like(a[..., :1])], axis=-1)
    place = np.full((n, n), n + 1)  # which of the numbers stands there: 1 is the last but one
    odd, even = np.arange(1, n, 2), np.arange(2, n, 2)
    place[odd[1:], odd[1:] - 2] = place[even - 2, even] = n
    place[even, even - 1], place[odd - 1, odd] = even, odd
    place[0, 0] = 0
    place[1:2, 0] = n
    return numbers[..., place]


def toeplitz_of(c: Array, r: Array | None) -> Array:
    """Put the column turned round, and the row behind it, along the diagonals that go down.

    Raises
    ------
    UnsupportedArgumentError
        For stacks of columns or rows.
    """
    c = as_array(c)
    r = np.conjugate(c) if r is None else as_array(r)
    if c.ndim != 1 or r.ndim != 1:
        raise UnsupportedArgumentError(
            f"toeplitz of handles takes one column and one row, got shapes {c.shape} and {r.shape}"
        )
    every, last = np.concatenate([c[::-1], r[1:]]), c.shape[0] - 1
    return every[np.arange(last, -1, -1)[:, None] + np.arange(r.shape[0])]


def hankel_of(c: Array, r: Array | None) -> Array:
    """Put the column, and the row behind it, along the diagonals that go up."""
    c = as_array(c).reshape(-1)
    r = np.zeros(c.shape, c.dtype) if r is None else as_array(r).reshape(-1)
    every = np.concatenate([c, r[1:]])
    return every[np.add.outer(np.arange(c.shape[0]), np.arange(r.shape[0]))]


# Equations


def pair_of(c_or_cr: Any) -> tuple[Array, Array]:
    """Give the first column and row of a Toeplitz matrix."""
    if isinstance(c_or_cr, tuple):
        c, r = c_or_cr
        return as_array(c).reshape(-1), as_array(r).reshape(-1)
    c = as_array(c_or_cr).reshape(-1)
    return c, np.conjugate(c)


def solve_toeplitz(c_or_cr: Any, b: Array, check_finite: bool = True) -> Array:
    """Solve with a Toeplitz matrix, as `scipy.linalg.solve_toeplitz` does.

    Parameters
    ----------
    c_or_cr : array or Tensor, shape (n,), or a tuple of two
        The first column; and the first row, which is the conjugate of it when left out.
    b : array or Tensor, shape (n,) or (n, k)
    check_finite : bool

    Returns
    -------
    array or Tensor, shape of `b`

    Notes
    -----
    Of handles it takes the time and the memory that a matrix without structure takes.

    Examples
    --------
    >>> solve_toeplitz(np.array([2.0, 0.0]), np.array([2.0, 4.0]))
    array([1., 2.])
    """
    c, r = pair_of(c_or_cr)
    return toeplitz_solved(c, r, as_array(b), check_finite)


def toeplitz_solved_plainly(c: Array, r: Array, b: Array, check_finite: bool) -> Array:
    """Call SciPy's function, of which older releases take no array that is not to be written to."""
    return scipy.linalg.solve_toeplitz((np.array(c), np.array(r)), np.array(b), check_finite)


def dense(ab: Array, lower: bool) -> Array:
    """Make the Hermitian matrix of which an array holds the diagonals of one triangle."""
    ab = as_array(ab)
    u, n = ab.shape[-2] - 1, ab.shape[-1]
    i, j = np.indices((n, n))
    apart = np.abs(i - j)
    row = apart if lower else u - apart
    column = np.minimum(i, j) if lower else np.maximum(i, j)
    picked = ab[..., row.clip(0, u), column]
    mirrored_part = (i < j) if lower else (i > j)
    whole = np.where(mirrored_part, np.conjugate(picked), picked)
    whole = np.where(i == j, np.real(whole), whole)
    return np.where(apart <= u, whole, 0)


def banded_solved(
    ab: Array, b: Array, overwrite_ab: bool, overwrite_b: bool, lower: bool, check_finite: bool
) -> Array:
    """Solve with both triangles of the band."""
    ab = as_array(ab)
    u, n = ab.shape[-2] - 1, ab.shape[-1]
    whole = dense(ab, lower)
    i, j = np.indices((2 * u + 1, n))
    row = j + i - u
    band = np.where((row >= 0) & (row < n), whole[..., row.clip(0, n - 1), j], 0)
    return solve_banded((u, u), band, as_array(b))


def banded_factor(ab: Array, overwrite_ab: bool, lower: bool, check_finite: bool) -> Array:
    """Factorise the whole matrix, and take its diagonals; what is beyond them stays."""
    ab = as_array(ab)
    u, n = ab.shape[-2] - 1, ab.shape[-1]
    factor = np.linalg.cholesky(dense(ab, lower), upper=not lower)
    i, j = np.indices((u + 1, n))
    row = j + i if lower else j + i - u
    there = (row >= 0) & (row < n)
    return np.where(there, factor[..., row.clip(0, n - 1), j], ab)


def cho_solve_banded(
    cb_and_lower: tuple[Array, bool], b: Array, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """Solve given the Cholesky factor of a banded matrix, as SciPy's function does.

    Parameters
    ----------
    cb_and_lower : tuple of array or Tensor, shape (u + 1, n), and bool
        What `cholesky_banded` gives, and whether it is the lower one.
    b : array or Tensor, shape (n,) or (n, k)
    overwrite_b, check_finite : bool
        As in SciPy.

    Returns
    -------
    array or Tensor, shape of `b`

    Examples
    --------
    >>> cho_solve_banded((np.array([[2.0, 1.0]]), False), np.array([4.0, 3.0]))
    array([1., 3.])
    """
    cb, lower = cb_and_lower
    return factor_solved(as_array(cb), as_array(b), bool(lower), overwrite_b, check_finite)


def factor_solved_plainly(
    cb: Array, b: Array, lower: bool, overwrite_b: bool, check_finite: bool
) -> Array:
    """Call SciPy's function."""
    return scipy.linalg.cho_solve_banded((cb, lower), b, overwrite_b, check_finite)


def factor_solved_of_handle(
    cb: Array, b: Array, lower: bool, overwrite_b: bool, check_finite: bool
) -> Array:
    """Solve with both triangles of a banded Cholesky factor."""
    cb, b = as_array(cb), as_array(b)
    u, n = cb.shape[-2] - 1, cb.shape[-1]
    i, j = np.indices((n, n))
    row = i - j if lower else u - (j - i)
    factor = np.where((row >= 0) & (row <= u), cb[..., row.clip(0, u), j], 0)
    first, second = (factor, adjoint(factor)) if lower else (adjoint(factor), factor)
    half = solve_triangular(first, b, lower=True)
    return solve_triangular(second, half, lower=False)


# Spectra


def selected(w: Array, v: Array | None, select: Any, select_range: Any) -> Any:
    """Take those of the eigenvalues that were asked for, and their vectors."""
    kept: Any = slice(None)
    if select in ("i", "index", 2):
        kept = slice(select_range[0], select_range[1] + 1)
    elif select in ("v", "value", 1):
        kept = np.flatnonzero((w > select_range[0]) & (w <= select_range[1]))
    return w[kept] if v is None else (w[kept], v[:, kept])


def band_spectrum(
    a_band: Array,
    lower: bool,
    eigvals_only: bool,
    overwrite_a_band: bool,
    select: Any,
    select_range: Any,
    *options: Any,
) -> Any:
    """Compute those of the whole matrix."""
    # LAPACK takes the first number of a single column as its eigenvalue
    w, v = eigh(dense(a_band, lower or np.shape(a_band)[-1] == 1))
    return selected(w, None if eigvals_only else v, select, select_range)


def band_values(
    a_band: Array,
    lower: bool,
    overwrite_a_band: bool,
    select: Any,
    select_range: Any,
    check_finite: bool,
) -> Any:
    """Compute eigenvalues alone."""
    return band_spectrum(a_band, lower, True, False, select, select_range)


def tridiagonal_spectrum(
    d: Array, e: Array, eigvals_only: bool, select: Any, select_range: Any, *options: Any
) -> Any:
    """Compute those of the whole matrix."""
    d, e = as_array(d), as_array(e)
    band = np.stack([d, np.concatenate([e, np.zeros((1,), e.dtype)])])
    return band_spectrum(band, True, eigvals_only, False, select, select_range)


def tridiagonal_values(d: Array, e: Array, select: Any, select_range: Any, *options: Any) -> Any:
    """Compute eigenvalues alone."""
    return tridiagonal_spectrum(d, e, True, select, select_range)


circulant = counterpart(STRUCTURED, scipy.linalg.circulant, "c", circulant_of)
fiedler_companion = counterpart(
    STRUCTURED, scipy.linalg.fiedler_companion, "a", fiedler_companion_of
)
toeplitz = counterpart(STRUCTURED, scipy.linalg.toeplitz, "c r", toeplitz_of, anchor=False)
hankel = counterpart(STRUCTURED, scipy.linalg.hankel, "c r", hankel_of)
solveh_banded = counterpart(STRUCTURED, scipy.linalg.solveh_banded, "ab b", banded_solved)
cholesky_banded = counterpart(STRUCTURED, scipy.linalg.cholesky_banded, "ab", banded_factor)
eig_banded = counterpart(
    STRUCTURED, scipy.linalg.eig_banded, "a_band", band_spectrum, axes={1: -2}, shape_by_values=True
)
eigvals_banded = counterpart(
    STRUCTURED, scipy.linalg.eigvals_banded, "a_band", band_values, shape_by_values=True
)
eigh_tridiagonal = counterpart(
    STRUCTURED,
    scipy.linalg.eigh_tridiagonal,
    "d e",
    tridiagonal_spectrum,
    axes={1: -2},
    shape_by_values=True,
)
eigvalsh_tridiagonal = counterpart(
    STRUCTURED, scipy.linalg.eigvalsh_tridiagonal, "d e", tridiagonal_values, shape_by_values=True
)
toeplitz_solved = counterpart(
    STRUCTURED,
    toeplitz_solved_plainly,
    "c r b",
    lambda c, r, b, check_finite: np.linalg.solve(toeplitz(c, r), b),
)
add_facts(STRUCTURED, (eig_banded, eigvals_banded), signature="(m,n)->...")
add_facts(STRUCTURED, (eigh_tridiagonal, eigvalsh_tridiagonal), signature="(n),(k)->...")
factor_solved = counterpart(STRUCTURED, factor_solved_plainly, "cb b", factor_solved_of_handle)
