"""Inverses, equations and factors of `scipy.linalg`, composed of `numpy.linalg`'s."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, primal
from tape_ad.extend.maps import adjoint
from tape_ad.extend.rules import Entry, constants, overridable
from tape_ad.scipy.counterparts import composition_of, counterpart
from tape_ad.scipy.installed import scipy

MODULE = "tape_ad.scipy.linalg"

BASICS: dict[Any, Entry] = {}


@functools.wraps(scipy.linalg.lstsq)
def of_arrays(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
    """Make arrays of lists, of which SciPy 1.18 makes none."""
    return scipy.linalg.lstsq(as_array(a), as_array(b), *args, **kwargs)


def refuse(name: str, **given: Any) -> None:
    """Refuse arguments that a handle does not take here, if they are not at their defaults."""
    for argument, value in given.items():
        if value is not None and value is not False:
            raise UnsupportedArgumentError(
                f"tape_ad.scipy.linalg.{name}: {argument}= is not supported on handles; write it "
                "with functions of np.linalg, or pass .data"
            )


# Equations


def as_assumed(a: Array, assume_a: Any, lower: bool) -> Array:
    """Make the matrix that SciPy reads, of the part of an array that it does not ignore."""
    n, kind = a.shape[-1], str(assume_a)
    below = np.tri(n, dtype=bool) if lower else np.tri(n, dtype=bool).T
    on = np.eye(n, dtype=bool)
    if kind in ("sym", "symmetric"):
        return np.where(below, a, np.matrix_transpose(a))
    if kind in ("her", "hermitian", "pos", "positive definite"):
        return np.where(on, np.real(a), np.where(below, a, adjoint(a)))
    read = {
        "diagonal": on,
        "tridiagonal": np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1,
        "upper triangular": np.tri(n, dtype=bool).T,
        "lower triangular": np.tri(n, dtype=bool),
    }
    return np.where(read[kind], a, 0) if kind in read else a


@composition_of(BASICS, scipy.linalg.inv, "a")
def inverse(a: Array, *overwrite: Any, assume_a: Any = None, lower: bool = False) -> Array:
    """Invert a matrix, of which the part is read that `assume_a` and `lower` name."""
    return np.linalg.inv(as_assumed(as_array(a), assume_a, lower))


@composition_of(BASICS, scipy.linalg.solve, "a b")
def solution(a: Array, b: Array, lower: bool, *options: Any) -> Array:
    """Solve with what is read; the last options say what it is, and whether it is transposed."""
    assume_a, transposed = options[-2:]
    a, b = as_array(a), as_array(b)
    a = as_assumed(a, assume_a, lower)
    return np.linalg.solve(np.matrix_transpose(a) if transposed else a, b)


def together(outputs: Sequence[Any]) -> Any:
    """Stack the arrays, or those at each place of tuples."""
    if isinstance(outputs[0], tuple):
        return tuple(map(together, zip(*outputs, strict=True)))
    return None if outputs[0] is None else np.stack(outputs)


@composition_of(BASICS, of_arrays, "a b", shape_by_values=True)
def least_squares(a: Array, b: Array, cond: Any, *options: Any) -> Any:
    """Solve by least squares, those of a stack one by one; the rank is plain."""
    a, b = as_array(a), as_array(b)
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if stack:
        a = np.broadcast_to(a, stack + a.shape[-2:])
        sides = [b] * len(a) if b.ndim == 1 else np.broadcast_to(b, stack + b.shape[-2:])
        return together(
            [least_squares(*each, cond, *options) for each in zip(a, sides, strict=True)]
        )
    rcond = float(np.finfo(np.result_type(a, b)).eps) if cond is None else cond
    if options[-1] == "gelsy":
        return by_columns(a, b, columns_kept(a, rcond))
    x, residuals, rank, values = np.linalg.lstsq(a, b, rcond=rcond)
    return x, residuals[0] if b.ndim == 1 and residuals.size else residuals, rank, values


def by_columns(a: Array, b: Array, kept: Array) -> Any:
    """Solve in the space of some columns, as the driver does that finds no singular values."""
    rank = len(kept)
    if rank < min(a.shape):
        q = adjoint(np.linalg.qr(a[:, kept])[0])
        a, b = q @ a, q @ b
    return np.linalg.lstsq(a, b, rcond=0.0)[0], np.zeros(0, b.dtype), rank, None


@overridable
def columns_kept(a: Array, rcond: float) -> Array:
    """Find which columns of a matrix span the space that "gelsy" solves in.

    Returns
    -------
    array of int, shape (rank,)
    """
    sides = np.zeros(len(a), a.dtype)
    rank = scipy.linalg.lstsq(a, sides, cond=rcond, lapack_driver="gelsy")[2]
    return pivots(a)[:rank]


def rank_cutoff(a: Array, atol: Any, rtol: Any) -> float:
    """Tell below which part of the largest one singular values count as 0."""
    relative = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps) if rtol is None else rtol
    if not atol:
        return float(0.0 if atol is not None and rtol is None else relative)
    largest = np.max(np.linalg.svdvals(a)).item()
    return float(max(relative if rtol is not None else 0.0, atol / largest))


@composition_of(BASICS, scipy.linalg.pinv, "a")
def pseudo_inverse(
    a: Array, *, atol: Any, rtol: Any, return_rank: bool, check_finite: bool = True
) -> Any:
    """Invert but for what counts as 0."""
    a = as_array(a)
    cutoff = rank_cutoff(a, atol, rtol)
    out = np.linalg.pinv(a, rcond=cutoff)
    return (out, np.linalg.matrix_rank(a, rtol=cutoff)) if return_rank else out


@composition_of(BASICS, scipy.linalg.pinvh, "a")
def hermitian_pseudo_inverse(
    a: Array, atol: Any, rtol: Any, lower: bool, return_rank: bool, check_finite: bool
) -> Any:
    """Invert the Hermitian matrix that is read, but for what counts as 0."""
    a = as_assumed(as_array(a), "her", lower)
    return pseudo_inverse(a, atol=atol, rtol=rtol, return_rank=return_rank)


@composition_of(BASICS, scipy.linalg.norm, "a")
def matrix_norm(a: Array, ord: Any, axis: Any, keepdims: bool, check_finite: bool) -> Array:
    """Compute a norm of vectors or matrices by NumPy's function."""
    return np.linalg.norm(as_array(a), ord, axis, bool(keepdims))


# Factors


@composition_of(BASICS, scipy.linalg.cholesky, "a")
def factor(a: Array, lower: bool, *options: Any) -> Array:
    """Compute the Cholesky factor of a matrix, upper or lower."""
    return np.linalg.cholesky(as_array(a), upper=not lower)


@composition_of(BASICS, scipy.linalg.qr, "a")
def orthogonal_factors(
    a: Array, overwrite_a: bool, lwork: Any, mode: str, pivoting: bool, check_finite: bool
) -> Any:
    """Factorise by Householder reflections; which columns come first is constant."""
    a = as_array(a)
    if mode == "raw":
        raise UnsupportedArgumentError(
            "tape_ad.scipy.linalg.qr: mode='raw' gives reflections, which have no derivative here; "
            "take mode='economic'"
        )
    order: tuple[Any, ...] = ()
    if pivoting:
        order = (pivots(a),)
        a = np.take_along_axis(a, order[0][..., None, :], axis=-1)
    if mode == "r":
        r: Any = np.linalg.qr(a, mode="r")
        rows = [(0, 0)] * (a.ndim - 2) + [(0, a.shape[-2] - r.shape[-2]), (0, 0)]
        return (np.pad(r, rows), *order)
    q, r = np.linalg.qr(a)
    if mode != "economic" and a.shape[-2] > a.shape[-1]:
        reflections(a)
        rows = [(0, 0)] * (a.ndim - 2) + [(0, a.shape[-2] - a.shape[-1]), (0, 0)]
        q, r = completed(q), np.pad(r, rows)
    return (q, r, *order)


def completed(q: Array) -> Array:
    """Give the square Q that LAPACK's reflections multiply to, of its first columns.

    With the reflections' vectors in V it is ``I - V T V^H``, and its first columns less those of
    the identity are ``W = -V T V1^H``, whose upper square is W1: so it is ``I + W W1^-H W^H``.
    """
    m, k = q.shape[-2:]
    w = q - np.eye(m, k, dtype=q.dtype)
    further = w @ np.linalg.solve(adjoint(w[..., :k, :]), adjoint(w[..., k:, :]))
    return np.concatenate((q, np.eye(m, m - k, -k, dtype=q.dtype) + further), axis=-1)


@overridable
def reflections(a: Array) -> Array:
    """Find the factors of a tall matrix's reflections, none of which is 0.

    Parameters
    ----------
    a : array, shape (..., m, n)

    Returns
    -------
    array, shape (..., n)

    Raises
    ------
    UnsupportedArgumentError
        Where one is 0, as a column is triangular already: beside it the factors jump.
    """
    factors = np.linalg.qr(a, mode="raw")[1]
    if np.any(primal(factors) == 0):
        raise UnsupportedArgumentError(
            "tape_ad.scipy.linalg.qr: a column of this matrix has zeros alone under the diagonal, "
            "where the further columns of a full Q have no derivative; take mode='economic'"
        )
    return factors


@overridable
def pivots(a: Array) -> Array:
    """Find which columns `qr` with pivoting takes first.

    Parameters
    ----------
    a : array, shape (..., m, n)

    Returns
    -------
    array of int, shape (..., n)
    """
    return scipy.linalg.qr(a, mode="r", pivoting=True)[-1]


@composition_of(BASICS, scipy.linalg.rq, "a", axes={None: -2, 0: -2, 1: -1}, signature="(m,n)->...")
def right_factors(a: Array, overwrite_a: bool, lwork: Any, mode: str, check_finite: bool) -> Any:
    """Factorise the matrix turned around, and turn its factors."""
    a = as_array(a)
    m, n = a.shape[-2:]
    turned = adjoint(a[..., ::-1, ::-1])
    q, r = np.linalg.qr(turned, mode="complete" if mode == "full" and m > n else "reduced")
    if mode == "full" and m < n:
        reflections(turned)
        q, r = completed(q), np.pad(r, [(0, 0)] * (a.ndim - 2) + [(0, n - m), (0, 0)])
    r, q = adjoint(r)[..., ::-1, ::-1], adjoint(q)[..., ::-1, ::-1]
    if mode != "r":
        return r, q
    columns = [(0, 0)] * (a.ndim - 1) + [(n - r.shape[-1], 0)]
    return np.pad(r, columns)


BASICS |= constants(pivots, reflections, facts=facts.cores("(m,n)->(n)"))
BASICS |= constants(columns_kept, facts=facts.Facts(shape_by_values=True))

counterpart(BASICS, scipy.linalg.det, "a", lambda a, *options: np.linalg.det(as_array(a)))
