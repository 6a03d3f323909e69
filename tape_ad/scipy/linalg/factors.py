"""Factors that are unique, and updates of QR factors.

Those of Hessenberg, of L D L^H, of balancing, of bases are composed of what leads
to them step by step, for given signs, orders and blocks, which are those that SciPy finds; beside
the matrix they stay as they are. Updates follow SciPy's rotations and reflections (Golub & Van
Loan, *Matrix Computations*, section 6.5) one by one, so that they are right for any arrays, and for
the further columns of a full Q too. A rotation may differ from LAPACK's by signs, which those of
the result put right.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, primal
from tape_ad.extend.maps import adjoint
from tape_ad.extend.rules import Constant, Entry, constants, overridable
from tape_ad.scipy.counterparts import composition_of
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.basics import as_assumed, pivots, together
from tape_ad.scipy.linalg.spectral import singular_vectors
from tape_ad.scipy.linalg.systems import lu_factor, solve_triangular

FACTORS: dict[Any, Entry] = {}

BOTH: dict[int | None, int] = {0: -2, 1: -1}
"""The axes that the columns of Q and the rows of R lie along."""

SEVERAL: dict[str, Any] = {"shape_by_values": True, "signature": "(m,n)->..."}
"""What is known of functions that give as many vectors as the matrix's rank says."""


def over_stacks(composition: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of one matrix take a stack of them, as SciPy does, one by one."""

    @functools.wraps(composition)
    def each(a: Array, *args: Any, **options: Any) -> Any:
        a = as_array(a)
        if a.ndim <= 2:
            return composition(a, *args, **options)
        if not len(a):
            raise ValueError(f"a stack of no matrices (shape {a.shape}) has no factors to stack")
        return together([each(part, *args, **options) for part in a])

    return each


# What SciPy finds, and what is constant around it


@overridable
@over_stacks
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
@over_stacks
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
@over_stacks
def balance(a: Array, permute: bool, scale: bool) -> Any:
    """Find the scales and the order of `matrix_balance`, shape (2, n)."""
    _, (scales, order) = scipy.linalg.matrix_balance(a, permute, scale, separate=True)
    return np.stack([scales, order.astype(float)])


@overridable
@over_stacks
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
            "vectors span the null space; there is a derivative of one alone, of n - 1 "
            "independent rows, as several may be turned, and dependent rows have another null "
            "space beside them; write np.eye(n) - np.linalg.pinv(a) @ a for the projection onto it"
        )
    return found[:, 0] if found.shape[1] else found


@overridable
@over_stacks
def rank(a: Array, rcond: Any) -> Any:
    """Count the vectors of `orth`."""
    return np.array(scipy.linalg.orth(a, rcond).shape[1])


# Compositions


@composition_of(FACTORS, scipy.linalg.hessenberg, "a")
@over_stacks
def reduced(a: Array, calc_q: bool, *options: Any) -> Any:
    """Follow the vectors from the first unit vector on, each orthogonal to those before."""
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


@composition_of(FACTORS, scipy.linalg.ldl, "A")
@over_stacks
def block_factors(a: Array, lower: bool, hermitian: bool, *options: Any) -> Any:
    """Eliminate block by block, from the top down, or from the bottom up."""
    n = a.shape[-1]
    if not n:
        return a, a, np.zeros(0, int)
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


@composition_of(FACTORS, scipy.linalg.matrix_balance, "A")
@over_stacks
def balanced(a: Array, permute: bool, scale: bool, separate: bool, overwrite_a: bool) -> Any:
    """Put rows and columns in another order, and scale them, which SciPy does by powers of 2."""
    scales, where = balance(a, permute, scale)
    order = where.astype(int)
    out = a[order][:, order] * (scales / scales[:, None])
    if separate:
        return out, (scales, order)
    return out, np.take(np.diag(scales), np.argsort(order), axis=0)


@composition_of(FACTORS, scipy.linalg.null_space, "A", axes={None: -2}, **SEVERAL)
@over_stacks
def null_basis(a: Array, rcond: Any = None, **options: Any) -> Array:
    """Project the vector onto the null space."""
    found = null_vector(a, rcond)
    if found.ndim == 2:  # no vector at all, as beside the matrix
        return found
    v = found - np.linalg.pinv(a) @ (a @ found)
    return (v / np.linalg.norm(v))[:, None]


@composition_of(FACTORS, scipy.linalg.orth, "A", axes={None: -2}, **SEVERAL)
@over_stacks
def range_basis(a: Array, rcond: Any) -> Array:
    """Take the singular vectors on the left."""
    return singular_vectors(a, False)[0][:, : int(rank(a, rcond))]


@composition_of(FACTORS, scipy.linalg.qr_multiply, "a c")
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


FACTORS |= constants(
    *(subdiagonal_signs, layout, balance, null_vector, rank), facts=facts.cores("(m,n)->...")
)


@composition_of(FACTORS, scipy.linalg.lu, "a")
def triangular(
    a: Array, permute_l: bool, overwrite_a: bool, check_finite: bool, p_indices: bool
) -> Any:
    """Factorise matrices; how their rows are ordered is constant."""
    a = as_array(a)
    if a.size == 0:
        return scipy.linalg.lu(np.zeros(a.shape, a.dtype), permute_l, p_indices=p_indices)
    rows, lower, upper = in_order(a)
    if permute_l:
        return np.take_along_axis(lower, rows[..., None], axis=-2), upper
    if not p_indices:
        rows = np.take(np.eye(a.shape[-2], dtype=a.real.dtype), rows, axis=0)
    return rows, lower, upper


@over_stacks
def in_order(a: Array) -> tuple[Any, Array, Array]:
    """Factorise a matrix by its first square, once its rows are in order."""
    rows = row_order(a)
    a = a[np.argsort(rows)]
    k = min(a.shape)
    packed, _ = lu_factor(a[:k, :k])
    lower, upper = np.tril(packed, -1) + np.eye(k, dtype=packed.dtype), np.triu(packed)
    if a.shape[0] > k:
        below = solve_triangular(upper, np.matrix_transpose(a[k:]), trans="T")
        lower = np.concatenate([lower, np.matrix_transpose(below)])
    if a.shape[1] > k:
        beside = solve_triangular(lower, a[:, k:], lower=True, unit_diagonal=True)
        upper = np.concatenate([upper, beside], axis=1)
    return rows, lower, upper


@overridable
def row_order(a: Array) -> Array:
    """Find which row of the lower factor each row of the matrix is made by.

    Parameters
    ----------
    a : array, shape (m, n)

    Returns
    -------
    array of int, shape (m,)
    """
    return scipy.linalg.lu(a, p_indices=True)[0]


FACTORS |= {row_order: Constant(facts.cores("(m,n)->(m)"))}


# Steps


def refused(name: str, what: str) -> UnsupportedArgumentError:
    """Make the error for an argument that has no derivative in an update."""
    return UnsupportedArgumentError(
        f"tape_ad.scipy.linalg.{name} of handles: {what} has no derivative here; write "
        "tape_ad.scipy.linalg.qr of the matrix that is meant"
    )


def taken_apart(name: str, *arrays: Any) -> list[Array]:
    """Convert arguments to arrays, and refuse complex ones."""
    made = [as_array(each) for each in arrays]
    if any(each.dtype.kind == "c" for each in made):
        raise refused(name, "an update of complex factors")
    return made


def rotation(name: str, f: Any, g: Any) -> tuple[Any, Any, Any]:
    """Find the cosine and sine that turn (f, g) to (r, 0), and r."""
    if primal(f) == 0 and primal(g) == 0:
        raise refused(name, "a step that meets two zeros")
    r = np.sqrt(f * f + g * g) * (-1.0 if f < 0 else 1.0)  # as LAPACK has it
    return f / r, g / r, r


def turned(name: str, s: Array, j: int, at: int, columns: Sequence[int]) -> None:
    """Turn row j and the one below, which gets a zero in column `at`, in some of the columns."""
    c, d, _ = rotation(name, s[j, at], s[j + 1, at])
    key = np.ix_([j, j + 1], columns)
    s[key] = np.stack([np.stack([c, d]), np.stack([-d, c])]) @ s[key]


def reflected(name: str, s: Array, rows: Sequence[int], j: int) -> None:
    """Reflect rows from column j on, where all of them but the first get a zero."""
    key = np.ix_(rows, range(j, s.shape[1]))
    x = s[rows, j]
    if not np.any(primal(x[1:]) != 0):
        raise refused(name, "a step that meets zeros")
    beta = -np.sqrt(np.sum(x * x)) * (1.0 if x[0] >= 0 else -1.0)
    v = np.concatenate([np.ones(1), x[1:] / (x[0] - beta)])
    s[key] = s[key] - (beta - x[0]) / beta * np.multiply.outer(v, v @ s[key])


def taken_out(s: Array, n: int, count: int) -> tuple[Array, Array]:
    """Give Q and R of rows of R, which have n columns, with the columns of Q behind them."""
    return s[:count, n:].T, s[:count, :n]


def beside(name: str, q: Array, u: Array) -> tuple[Array, Array]:
    """Split a vector into what the columns of Q give, and a unit vector apart, with its length."""
    length = np.sqrt(np.sum(u * u))
    u = u / length
    inside = u @ q
    rest = u - q @ inside
    size = np.sqrt(np.sum(rest * rest))
    if not size > np.sqrt(0.5):  # once more, as SciPy does, for what rounding has left
        more = rest @ q
        rest, inside, before = rest - q @ more, inside + more, size
        size = np.sqrt(np.sum(rest * rest))
        if not size > np.sqrt(0.5) * before:
            raise refused(name, "a vector in the space of the columns of an economic Q")
    return np.concatenate([inside, np.reshape(size, (1,))]) * length, rest / size


def with_vector(name: str, q: Array, r: Array, u: Array) -> tuple[Array, Array, Array]:
    """Give a vector's products with the columns of Q; an economic Q gets one column more for it."""
    if q.shape[0] == q.shape[1]:
        return u @ q, q, r
    w, rest = beside(name, q, u)
    return (
        w,
        np.concatenate([q, rest[:, None]], axis=1),
        np.concatenate([r, np.zeros((1, r.shape[1]))]),
    )


# Updates, of rows of R with the columns of Q behind them


@composition_of(FACTORS, scipy.linalg.qr_update, "Q R u v", axes=BOTH)
def updated(q: Array, r: Array, u: Array, v: Array, *options: bool) -> tuple[Array, Array]:
    """Add the product of two vectors."""
    name = "qr_update"
    q, r, u, v = taken_apart(name, q, r, u, v)
    if u.ndim == 2 and u.shape[1] == 1:
        u, v = u[:, 0], v.reshape(-1)
    if u.ndim != 1:
        raise refused(name, "an update by several vectors at once")
    count, n = q.shape[1], r.shape[1]
    w, q, r = with_vector(name, q, r, u)
    s = np.concatenate([w[:, None], r, q.T], axis=1)
    for j in range(s.shape[0] - 2, -1, -1):
        turned(name, s, j, 0, [0, *range(j + 1, s.shape[1])])
    first = np.concatenate([s[:1, 1 : n + 1] + s[0, 0] * v, s[:1, n + 1 :]], axis=1)
    s = np.concatenate([first, s[1:, 1:]])
    for j in range(min(s.shape[0] - 1, n)):
        turned(name, s, j, j, range(j, s.shape[1]))
    return taken_out(s, n, count)


@composition_of(FACTORS, scipy.linalg.qr_insert, "Q R u", axes=BOTH)
def inserted(
    q: Array, r: Array, u: Array, k: int, which: str, rcond: Any, *options: bool
) -> tuple[Array, Array]:
    """Insert rows, or a column."""
    name = "qr_insert"
    q, r, u = taken_apart(name, q, r, u)
    (m, count), n = q.shape, r.shape[1]
    if which == "col":
        k = k + n if k < 0 else k
        if u.ndim == 2 and u.shape[1] == 1:
            u = u[:, 0]
        if u.ndim != 1:
            raise refused(name, "an insertion of several columns at once")
        w, q, r = with_vector(name, q, r, u)
        s = np.concatenate([r[:, :k], w[:, None], r[:, k:], q.T], axis=1)
        for j in range(s.shape[0] - 2, k - 1, -1):
            turned(name, s, j, k, [k, *range(j + 1, s.shape[1])])
        return taken_out(s, n + 1, s.shape[0])
    u = u if u.ndim == 2 else u[None]
    p = u.shape[0]
    k = k + m if k < 0 else k
    if count < n:
        raise refused(name, "an insertion of rows into a wide matrix")
    top = np.concatenate([q[:k], np.zeros((p, count)), q[k:]])
    q = np.concatenate([top, np.eye(m + p, p, -k)], axis=1)
    s = np.concatenate([np.concatenate([r, u]), q.T], axis=1)
    for j in range(n):
        reflected(name, s, [*range(j, count + p)] if p > 1 else [j, count], j)
    return taken_out(s, n, count + p if m == count else count)


@composition_of(FACTORS, scipy.linalg.qr_delete, "Q R", axes=BOTH, signature="(m,k),(k,n)->...")
def deleted(q: Array, r: Array, k: int, p: int, which: str, *options: bool) -> tuple[Array, Array]:
    """Delete rows or columns of a factored matrix."""
    name = "qr_delete"
    q, r = taken_apart(name, q, r)
    (m, count), n = q.shape, r.shape[1]
    if which == "col":
        k = k + n if k < 0 else k
        s = np.concatenate([r[:, :k], r[:, k + p :], q.T], axis=1)
        for j in range(k, min(count - 1, n - p)):
            if p == 1:
                turned(name, s, j, j, range(j, s.shape[1]))
            else:
                reflected(name, s, [*range(j, min(j + p + 1, count))], j)
        return taken_out(s, n - p, count if m == count else count - p)
    if m != count:
        raise refused(name, "a deletion of rows of economic factors")
    k = k + m if k < 0 else k
    s = np.concatenate([q[k : k + p].T, r, q[:k].T, q[k + p :].T], axis=1)
    for i in range(p):
        for j in range(m - 2, i - 1, -1):
            turned(name, s, j, i, [*range(p), *range(p + j - i, s.shape[1])])
    return taken_out(s[p:, p:], n, m - p)
