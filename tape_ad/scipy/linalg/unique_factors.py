"""Factors that are unique: of Hessenberg, of L D L^H, of balancing, of bases, of complex Schur.

Each is composed of what leads to it step by step, for given signs, orders and blocks, which are
those that SciPy finds; beside the matrix they stay as they are.
"""

from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.maps import adjoint
from tape_ad.extend.rules import Constant, Entry, add_facts, overridable
from tape_ad.scipy.counterparts import scipy_function, with_scipy_value
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.basics import MODULE, as_assumed, pivots
from tape_ad.scipy.linalg.spectral import singular_vectors, vectors

__all__ = [
    "UNIQUE_FACTORS",
    "balance",
    "hessenberg",
    "layout",
    "ldl",
    "matrix_balance",
    "null_space",
    "null_vector",
    "orth",
    "qr_multiply",
    "rank",
    "rsf2csf",
    "subdiagonal_signs",
]

hessenberg = scipy_function(scipy.linalg.hessenberg, MODULE, "a")
ldl = scipy_function(scipy.linalg.ldl, MODULE, "A")
matrix_balance = scipy_function(scipy.linalg.matrix_balance, MODULE, "A")
null_space = scipy_function(scipy.linalg.null_space, MODULE, "A")
orth = scipy_function(scipy.linalg.orth, MODULE, "A")
qr_multiply = scipy_function(scipy.linalg.qr_multiply, MODULE, "a c")
rsf2csf = scipy_function(scipy.linalg.rsf2csf, MODULE, "T Z")


# What SciPy finds, and what is constant around it


@overridable
def subdiagonal_signs(a: Array) -> Array:
    """Find the signs of what `hessenberg` has below its diagonal.

    They count as 0 where a column is reduced already, for beside it the reflection is another.
    """
    (gehrd,) = scipy.linalg.get_lapack_funcs(("gehrd",), (a,))
    h, tau, _ = gehrd(a)
    n = a.shape[-1]
    steps = n - 1 if np.iscomplexobj(a) else n - 2  # the last vector of reals has one element
    signs = np.sign(np.diagonal(h, -1).real)
    signs[:steps][tau[:steps] == 0] = 0
    return signs


@overridable
def layout(a: Array, lower: bool, hermitian: bool) -> Array:
    """Find the order of the rows that `ldl` has, and where its blocks of two begin.

    Returns
    -------
    array of int, shape (2, n)
    """
    _, d, order = scipy.linalg.ldl(a, lower=lower, hermitian=hermitian)
    begins = np.append(np.diagonal(d, -1) != 0, [False])
    return np.stack([order, begins.astype(int)])


@overridable
def balance(a: Array, permute: bool, scale: bool) -> Any:
    """Find the scales and the order of `matrix_balance`, shape (2, n)."""
    _, (scales, order) = scipy.linalg.matrix_balance(a, permute, scale, separate=True)
    return np.stack([scales, order.astype(float)])


@overridable
def null_vector(a: Array, rcond: Any) -> Array:
    """Find the only vector of a null space.

    Raises
    ------
    UnsupportedArgumentError
        Where there are several, or none beside the matrix.
    """
    found = scipy.linalg.null_space(a, rcond)
    if found.shape[1] > 1 or a.shape[0] != a.shape[1] - found.shape[1]:
        raise UnsupportedArgumentError(
            f"tape_ad.scipy.linalg.null_space of a handle of shape {a.shape}: {found.shape[1]} "
            "vectors "
            "span the null space; there is a derivative of one alone, of n - 1 independent rows, "
            "as several may be turned, and dependent rows have another null space beside them; "
            "write np.eye(n) - np.linalg.pinv(a) @ a for the projection onto it"
        )
    return found[:, 0] if found.shape[1] else found


@overridable
def rank(a: Array, rcond: Any) -> Any:
    """Count the vectors of `orth`."""
    return np.array(scipy.linalg.orth(a, rcond).shape[1])


# Compositions


def reduced(a: Array, calc_q: bool, *options: Any) -> Any:
    """Follow the vectors from the first unit vector on, each orthogonal to those before."""
    a = as_array(a)
    n = a.shape[-1]
    if n <= 2:
        return (a, np.eye(n)) if calc_q else a
    signs = subdiagonal_signs(a)
    if np.any(np.equal(signs, 0)):
        raise UnsupportedArgumentError(
            "tape_ad.scipy.linalg.hessenberg: a column of this matrix has zeros alone below its "
            "subdiagonal, where the reflections jump and have no derivative"
        )
    columns: list[Any] = [np.eye(n)[0]]
    for sign in signs:
        v, basis = a @ columns[-1], np.stack(columns, axis=-1)
        for _ in range(2):  # once more, for what rounding has left
            v = v - basis @ (adjoint(basis) @ v)
        columns.append(v / (sign * np.linalg.norm(v)))
    q = np.stack(columns, axis=-1)
    h = np.triu(adjoint(q) @ a @ q, -1)
    return (h, q) if calc_q else h


def block_factors(a: Array, lower: bool, hermitian: bool, *options: Any) -> Any:
    """Eliminate block by block, from the top down, or from the bottom up."""
    a = as_array(a)
    n = a.shape[-1]
    turned = adjoint if hermitian else np.matrix_transpose
    kind = "her" if hermitian and a.dtype.kind == "c" else "sym"
    order, begins = layout(a, bool(lower), bool(hermitian))
    rest = as_assumed(a, kind, lower)[order][:, order]
    way = slice(None, None, 1 if lower else -1)
    rest, begins = rest[way, way], begins if lower else np.roll(begins, 1)[way]
    columns: list[Any] = []
    rows: list[Any] = []
    i = 0
    while i < n:
        size = 2 if begins[i] else 1
        block, below = rest[:size, :size], rest[size:, :size]
        factor = turned(np.linalg.solve(turned(block), turned(below)))
        column = np.concatenate([np.eye(size, dtype=a.dtype), factor])
        columns.append(np.pad(column, ((i, 0), (0, 0))))
        rows.append(np.pad(block, ((0, 0), (i, n - i - size))))
        rest = rest[size:, size:] - factor @ block @ turned(factor)
        i += size
    triangle = np.concatenate(columns, axis=1)[way, way]
    return triangle[np.argsort(order)], np.concatenate(rows)[way, way], order


def balanced(a: Array, permute: bool, scale: bool, separate: bool, overwrite_a: bool) -> Any:
    """Put rows and columns in another order, and scale them, which SciPy does by powers of 2."""
    a = as_array(a)
    scales, where = balance(a, permute, scale)
    order = where.astype(int)
    out = a[order][:, order] * (scales / scales[:, None])
    if separate:
        return out, (scales, order)
    return out, np.take(np.diag(scales), np.argsort(order), axis=0)


def null_basis(a: Array, rcond: Any = None, **options: Any) -> Array:
    """Project the vector onto the null space."""
    a = as_array(a)
    found = null_vector(a, rcond)
    if found.ndim == 2:  # no vector at all, as beside the matrix
        return found
    v = found - np.linalg.pinv(a) @ (a @ found)
    return (v / np.linalg.norm(v))[:, None]


def range_basis(a: Array, rcond: Any) -> Array:
    """Take the singular vectors on the left."""
    a = as_array(a)
    return singular_vectors(a, False)[0][:, : int(rank(a, rcond))]


def multiplied(
    a: Array, c: Array, mode: str, pivoting: bool, conjugate: bool, *overwrite: bool
) -> Any:
    """Multiply by the orthogonal factor."""
    a, c = as_array(a), as_array(c)
    order: tuple[Any, ...] = ()
    if pivoting:
        order = (pivots(a),)
        a = a[:, order[0]]
    q, r = np.linalg.qr(a)
    q = np.conjugate(q) if conjugate else q
    return (q @ c if mode == "left" else c @ q, r, *order)


def complex_form(t: Array, z: Array, check_finite: bool) -> Any:
    """Rotate each block of two to a triangle, as SciPy does."""
    t, z = as_array(t) + 0j, as_array(z) + 0j
    n, eps = t.shape[0], float(np.finfo(t.dtype).eps)
    for m in range(n - 1, 0, -1):
        size = np.abs(t[m - 1, m - 1]) + np.abs(t[m, m])
        if np.abs(t[m, m - 1]) > eps * size:
            here = slice(m - 1, m + 1)
            mu = vectors(t[here, here])[0][0] - t[m, m]
            length = np.linalg.norm(np.stack([mu, t[m, m - 1]]))
            c, s = mu / length, t[m, m - 1] / length
            g = np.stack([np.stack([np.conjugate(c), s]), np.stack([-s, c])])
            t = placed(t, g @ t[here, m - 1 :], m - 1, m - 1)
            t = placed(t, t[: m + 1, here] @ adjoint(g), 0, m - 1)
            z = placed(z, z[:, here] @ adjoint(g), 0, m - 1)
        t = placed(t, np.zeros((1, 1)), m, m - 1)
    return t, z


def placed(a: Array, part: Array, i: int, j: int) -> Array:
    """Give a square matrix with another part from row i and column j on."""
    n, (rows, columns) = a.shape[0], part.shape
    around = (i, n - i - rows), (j, n - j - columns)
    return np.where(np.pad(np.ones(part.shape, bool), around), np.pad(part, around), a)


UNIQUE_FACTORS: dict[Any, Entry] = {
    hessenberg: with_scipy_value(hessenberg, reduced),
    ldl: with_scipy_value(ldl, block_factors),
    matrix_balance: with_scipy_value(matrix_balance, balanced),
    null_space: with_scipy_value(null_space, null_basis, axes={None: -2}),
    orth: with_scipy_value(orth, range_basis, axes={None: -2}),
    qr_multiply: with_scipy_value(qr_multiply, multiplied),
    rsf2csf: with_scipy_value(rsf2csf, complex_form),
    subdiagonal_signs: Constant(),
    layout: Constant(),
    balance: Constant(),
    null_vector: Constant(),
    rank: Constant(),
}

add_facts(UNIQUE_FACTORS, (null_space, orth), shape_by_values=True)
