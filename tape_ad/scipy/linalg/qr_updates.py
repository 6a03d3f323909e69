"""Updates of QR factors, in the rotations and reflections that SciPy takes.

They follow SciPy's (Golub & Van Loan, *Matrix Computations*, section 6.5) one by one, so that they
are right for any arrays, and for the further columns of a full Q too. A rotation may differ from
LAPACK's by signs, which those of the result put right.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, primal
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import scipy_function, with_scipy_value
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.basics import MODULE

__all__ = ["QR_UPDATES", "qr_delete", "qr_insert", "qr_update"]

Rows = list[Any]


qr_update = scipy_function(scipy.linalg.qr_update, MODULE, "Q R u v")
qr_insert = scipy_function(scipy.linalg.qr_insert, MODULE, "Q R u")
qr_delete = scipy_function(scipy.linalg.qr_delete, MODULE, "Q R")


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


def turned(vectors: Rows, i: int, k: int, c: Any, s: Any, start: int = 0) -> None:
    """Turn two vectors in the plane that they span, from an element on."""
    x, y = vectors[i], vectors[k]
    if start >= x.shape[0]:
        return
    vectors[i] = np.concatenate([x[:start], c * x[start:] + s * y[start:]])
    vectors[k] = np.concatenate([y[:start], c * y[start:] - s * x[start:]])


def with_element(vectors: Rows, i: int, j: int, value: Any) -> None:
    """Put another element into a vector."""
    x = vectors[i]
    vectors[i] = np.concatenate([x[:j], np.reshape(value, (1,)), x[j + 1 :]])


def eliminated(name: str, rows: Rows, columns: Rows, i: int, k: int, j: int) -> None:
    """Turn two rows, the second of which gets a zero in column j, and the columns of Q too."""
    c, s, r = rotation(name, rows[i][j], rows[k][j])
    turned(rows, i, k, c, s, j + 1)
    with_element(rows, i, j, r)
    with_element(rows, k, j, 0.0)
    turned(columns, i, k, c, s)


def reflected(name: str, rows: Rows, columns: Rows, places: Sequence[int], j: int) -> None:
    """Reflect rows, all of which but the first get a zero in column j, and the columns of Q."""
    x = np.stack([rows[place][j] for place in places])
    if not np.any(primal(x[1:]) != 0):
        raise refused(name, "a step that meets zeros")
    beta = -np.sqrt(np.sum(x * x)) * (1.0 if x[0] >= 0 else -1.0)
    v = np.concatenate([np.ones(1), x[1:] / (x[0] - beta)])
    tau = (beta - x[0]) / beta
    for vectors, start in ((rows, j + 1), (columns, 0)):
        total = tau * sum(v[n] * vectors[place][start:] for n, place in enumerate(places))
        for n, place in enumerate(places):
            old = vectors[place]
            vectors[place] = np.concatenate([old[:start], old[start:] - v[n] * total])
    for n, place in enumerate(places):
        with_element(rows, place, j, 0.0 if n else beta)


def split(q: Array, r: Array) -> tuple[Rows, Rows]:
    """Take the columns of Q and the rows of R."""
    return [q[:, i] for i in range(q.shape[1])], [r[i] for i in range(r.shape[0])]


def joined_up(columns: Rows, rows: Rows) -> tuple[Array, Array]:
    """Stack the columns of Q and the rows of R."""
    return np.stack(columns, axis=1), np.stack(rows)


def outside(name: str, q: Array, u: Array) -> tuple[Array, Array]:
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


# Updates


def updated(q: Array, r: Array, u: Array, v: Array, *options: bool) -> tuple[Array, Array]:
    """Add the product of two vectors."""
    name = "qr_update"
    q, r, u, v = taken_apart(name, q, r, u, v)
    if u.ndim == 2 and u.shape[1] == 1:
        u, v = u[:, 0], v.reshape(-1)
    if u.ndim != 1:
        raise refused(name, "an update by several vectors at once")
    economic = q.shape[0] != q.shape[1]
    columns, rows = split(q, r)
    if economic:
        w, rest = outside(name, q, u)
        columns, rows = [*columns, rest], [*rows, np.zeros(r.shape[1])]
    else:
        w = u @ q
    parts = [w[i] for i in range(w.shape[0])]
    for j in range(len(rows) - 2, -1, -1):
        c, s, parts[j] = rotation(name, parts[j], parts[j + 1])
        turned(rows, j, j + 1, c, s, j)
        turned(columns, j, j + 1, c, s)
    rows[0] = rows[0] + parts[0] * v
    for j in range(min(len(rows) - 1, r.shape[1])):
        eliminated(name, rows, columns, j, j + 1, j)
    count = r.shape[0]
    return joined_up(columns[: q.shape[1]], rows[:count])


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
        columns, rows = split(q, r)
        w = u @ q
        if m != count:
            w, rest = outside(name, q, u)
            columns, rows = [*columns, rest], [*rows, np.zeros(n)]
        rows = [np.concatenate([x[:k], w[i : i + 1], x[k:]]) for i, x in enumerate(rows)]
        for j in range(len(rows) - 2, k - 1, -1):
            c, s, length = rotation(name, rows[j][k], rows[j + 1][k])
            with_element(rows, j, k, length)
            with_element(rows, j + 1, k, 0.0)
            turned(rows, j, j + 1, c, s, j + 1)
            turned(columns, j, j + 1, c, s)
        return joined_up(columns, rows)
    u = u if u.ndim == 2 else u[None]
    p = u.shape[0]
    k = k + m if k < 0 else k
    if count < n:
        raise refused(name, "an insertion of rows into a wide matrix")
    top = np.concatenate([q[:k], np.zeros((p, count)), q[k:]])
    new = np.zeros((m + p, p))
    new[k : k + p] = np.eye(p)
    columns, rows = split(np.concatenate([top, new], axis=1), np.concatenate([r, u]))
    for j in range(n):
        reflected(name, rows, columns, range(j, count + p) if p > 1 else [j, count], j)
    kept = count + p if m == count else count
    return joined_up(columns[:kept], rows[:kept])


def deleted(q: Array, r: Array, k: int, p: int, which: str, *options: bool) -> tuple[Array, Array]:
    """Delete rows or columns of a factored matrix."""
    name = "qr_delete"
    q, r = taken_apart(name, q, r)
    (m, count), n = q.shape, r.shape[1]
    if which == "col":
        k = k + n if k < 0 else k
        columns, rows = split(q, np.concatenate([r[:, :k], r[:, k + p :]], axis=1))
        for j in range(k, min(count - 1, n - p)):
            if p == 1:
                eliminated(name, rows, columns, j, j + 1, j)
            else:
                reflected(name, rows, columns, range(j, min(j + p + 1, count)), j)
        kept = count if m == count else count - p
        return joined_up(columns[:kept], rows[:kept])
    if m != count:
        raise refused(name, "a deletion of rows of economic factors")
    k = k + m if k < 0 else k
    above = q[k : k + p]
    columns, rows = split(np.concatenate([q[:k], q[k + p :]]), r)
    heads = [above[:, i] for i in range(m)]
    for i in range(p):
        for j in range(m - 2, i - 1, -1):
            c, s, _ = rotation(name, heads[j][i], heads[j + 1][i])
            turned(heads, j, j + 1, c, s)
            turned(rows, j, j + 1, c, s, j - i)
            turned(columns, j, j + 1, c, s)
    return joined_up(columns[p:], rows[p:])


QR_UPDATES: dict[Any, Entry] = {
    function: with_scipy_value(function, composition, axes={0: -2, 1: -1})
    for function, composition in (
        (qr_update, updated),
        (qr_insert, inserted),
        (qr_delete, deleted),
    )
}
