"""Matrices put together from smaller arrays, systems with such matrices, and their spectra."""

import functools
import warnings
from typing import Any

import numpy as np
import scipy.linalg

from tape_ad.extend.arrays import Array, as_array, in_double
from tape_ad.extend.maps import adjoint
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import composition_of, counterpart
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.spectral import eigh
from tape_ad.scipy.linalg.systems import solve_banded, solve_triangular

STRUCTURED: dict[Any, Entry] = {}

PAIRS: dict[str, Any] = {"axes": {1: -2}, "shape_by_values": True}
"""What is known of functions that give eigenvalues, as many as are asked for, and vectors."""


# Matrices of vectors


@composition_of(STRUCTURED, scipy.linalg.circulant, "c")
def circulant_of(c: Array) -> Array:
    """Turn a column around, once for each column."""
    c = as_array(c)
    n = np.arange(c.shape[-1])
    return c[..., np.mod(np.subtract.outer(n, n), max(n.size, 1))]


def toeplitz_of(c: Array, r: Array | None) -> Array:
    """Put the column turned round, and the row behind it, along the diagonals that go down.

    A stack of columns or rows is one of matrices; SciPy before 1.17 makes one column of it.
    """
    c = as_array(c)
    r = np.conjugate(c) if r is None else as_array(r)
    if (c.ndim > 1 or r.ndim > 1) and not takes_stacks_of_columns():
        c, r = c.reshape(-1), r.reshape(-1)
    stack, last = np.broadcast_shapes(c.shape[:-1], r.shape[:-1]), c.shape[-1] - 1
    if stack:
        c, r = (np.broadcast_to(each, stack + each.shape[-1:]) for each in (c, r))
    every = np.concatenate([c[..., ::-1], r[..., 1:]], axis=-1)
    return every[..., np.arange(last, -1, -1)[:, None] + np.arange(r.shape[-1])]


@functools.cache
def takes_stacks_of_columns() -> bool:
    """Tell whether the installed SciPy makes several matrices of several columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # releases before say that a later one will
        return bool(scipy.linalg.toeplitz(np.ones((1, 2)), np.ones((1, 2))).ndim == 3)


@composition_of(STRUCTURED, scipy.linalg.hankel, "c r")
def hankel_of(c: Array, r: Array | None) -> Array:
    """Put the column, and the row behind it, along the diagonals that go up."""
    c = as_array(c).reshape(-1)
    r = np.zeros(c.shape, c.dtype) if r is None else as_array(r).reshape(-1)
    every = np.concatenate([c, r[1:]])
    return every[np.add.outer(np.arange(c.shape[0]), np.arange(r.shape[0]))]


# Equations


@composition_of(STRUCTURED, scipy.linalg.solve_toeplitz, "c_or_cr b", trees="c_or_cr", anchor=False)
def toeplitz_solved(c_or_cr: Any, b: Array, check_finite: bool) -> Array:
    """Solve with the matrix of a first column, and of a first row or the conjugate of the column.

    It takes the time and the memory that a matrix without structure takes. Like SciPy it computes
    in double precision.
    """
    columns = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr,)
    return np.linalg.solve(toeplitz(*map(in_double, columns)), in_double(b))


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


@composition_of(STRUCTURED, scipy.linalg.solveh_banded, "ab b")
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


@composition_of(STRUCTURED, scipy.linalg.cholesky_banded, "ab")
def banded_factor(ab: Array, overwrite_ab: bool, lower: bool, check_finite: bool) -> Array:
    """Factorise the whole matrix, and take its diagonals; what is beyond them stays."""
    ab = as_array(ab)
    u, n = ab.shape[-2] - 1, ab.shape[-1]
    factor = np.linalg.cholesky(dense(ab, lower), upper=not lower)
    i, j = np.indices((u + 1, n))
    row = j + i if lower else j + i - u
    there = (row >= 0) & (row < n)
    return np.where(there, factor[..., row.clip(0, n - 1), j], ab)


@composition_of(
    STRUCTURED, scipy.linalg.cho_solve_banded, "cb_and_lower b", trees="cb_and_lower", anchor=False
)
def factor_solved(
    cb_and_lower: tuple[Array, bool], b: Array, overwrite_b: bool, check_finite: bool
) -> Array:
    """Solve with both triangles of a banded Cholesky factor."""
    cb, lower = cb_and_lower
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


@composition_of(STRUCTURED, scipy.linalg.eig_banded, "a_band", **PAIRS, signature="(m,n)->...")
def band_spectrum(
    a_band: Array, lower: bool, eigvals_only: bool, overwrite: bool, select: Any, ends: Any, *_: Any
) -> Any:
    """Compute those of the whole matrix."""
    # LAPACK takes the first number of a single column as its eigenvalue
    w, v = eigh(dense(a_band, lower or np.shape(a_band)[-1] == 1))
    return selected(w, None if eigvals_only else v, select, ends)


@composition_of(STRUCTURED, scipy.linalg.eigh_tridiagonal, "d e", **PAIRS, signature="(n),(k)->...")
def tridiagonal_spectrum(
    d: Array, e: Array, eigvals_only: bool, select: Any, select_range: Any, *options: Any
) -> Any:
    """Compute those of the whole matrix."""
    d, e = as_array(d), as_array(e)
    band = np.stack([d, np.concatenate([e, np.zeros((1,), e.dtype)])])
    return band_spectrum(band, True, eigvals_only, False, select, select_range)


toeplitz = counterpart(STRUCTURED, scipy.linalg.toeplitz, "c r", toeplitz_of, anchor=False)
