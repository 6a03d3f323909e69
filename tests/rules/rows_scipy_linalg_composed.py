"""Rows for the functions of `tape_ad.scipy.linalg` that are composed of others."""

from typing import Any

import numpy as np

from tape_ad.scipy import linalg
from tape_ad.scipy.counterparts import with_value
from tape_ad.scipy.linalg.basics import columns_kept, pivots, reflections
from tape_ad.scipy.linalg.factors import (
    balance,
    layout,
    null_vector,
    rank,
    row_order,
    subdiagonal_signs,
)
from tape_ad.scipy.linalg.functions import FUNCTIONS
from tape_ad.scipy.linalg.spectral import (
    as_generalised,
    hermitian_vectors,
    singular_vectors,
    vectors,
)
from tests.rules.rows_scipy_linalg import WELL
from tests.rules.table import DISTINCT, POSITIVE, REAL, Row, fixed

__all__ = ["CONSTANTS", "REFUSED", "ROWS"]

Array = Any

NO_JAX = "JAX differentiates no such function, or has it with other conventions"
SPREAD = fixed([[4.0, 0.3, -0.2], [0.1, 2.0, 0.4], [-0.3, 0.2, 1.0]])
TALL = fixed([[1.0, 0.2], [-0.4, 1.5], [0.3, 0.6]])
STABLE = fixed([[0.4, 0.1], [-0.2, 0.3]])
SQUARE = fixed([[1.0, 0.3, -2.0], [0.7, 2.0, 0.4], [-1.3, 0.2, 0.5]])
WIDE = fixed([[1.0, 0.4, -0.3], [0.5, -1.2, 0.8]])
WEAK = fixed([[0.1, 2.0, 0.3], [1.6, -0.2, 0.5], [0.5, 0.1, 3.0]])
UNBALANCED = fixed([[1.0, 90.0, 0.0], [0.01, 2.0, 0.5], [0.0, 0.0, 3.0]])
BAND = fixed([[0.1, 0.3, -0.2], [2.0, 2.5, 3.0]])


def symmetric(a: Array) -> list[Array]:
    """Make a symmetric matrix, positive definite for those that have large diagonals."""
    return [(a + np.swapaxes(a, -1, -2).conjugate()) / 2]


def both_symmetric(a: Array, b: Array) -> list[Array]:
    """Make two of them."""
    return [*symmetric(a), *symmetric(b)]


def numbers(function: Any, *arguments: Any, **options: Any) -> list[Any]:
    """List the outputs that are numbers, and no ranks or orders of columns."""
    found = function(*arguments, **options)
    found = found if isinstance(found, tuple) else (found,)
    return [each for each in found if hasattr(each, "dtype") and each.dtype.kind in "fc"]


def steady(function: Any, *arguments: Any, **options: Any) -> Any:
    """Give values and vectors, each of which begins with a positive number: signs are LAPACK's."""
    found = function(*arguments, **options)
    if len(found) == 2:
        w, v = found
        return w, v * np.sign(v[..., :1, :].real)
    u, w, vh = found
    signs = np.sign(u[..., :1, :])
    return u * signs, w, vh * np.swapaxes(signs, -1, -2)


def outside(basis: Array) -> Array:
    """Make the projection onto the space of a basis, whose signs are LAPACK's."""
    return basis @ np.swapaxes(basis, -1, -2).conjugate()


def of_one_dtype(*arrays: Any) -> list[Array]:
    """Take arrays, or lists, to the dtype of all, which SciPy wants here."""
    made = [each if hasattr(each, "dtype") else np.array(each) for each in arrays]
    return [each.astype(np.result_type(*made)) for each in made]


def factors(*arrays: Any) -> list[Array]:
    """Factorise the first."""
    a, *more = of_one_dtype(*arrays)
    return [*linalg.qr(a), *more]


def economic_factors(*arrays: Any) -> list[Array]:
    """Factorise the first, without further columns."""
    a, *more = of_one_dtype(*arrays)
    return [*linalg.qr(a, mode="economic"), *more]


def row(function: Any, *operands: Any, **fields: Any) -> Row:
    """Make a row of a function that records its composition, and one node more."""
    given = {"nodes": 60, "no_jax": NO_JAX, "note": "of SciPy", **fields}
    return Row(function, list(operands), **given)


ROWS: list[Row] = [
    row(linalg.inv, WELL(3, 3), complex=True),
    row(linalg.det, WELL(3, 3), complex=True),
    row(linalg.solve, WELL(3, 3), REAL(3, 2), complex=True),
    row(linalg.solve, WELL(3, 3), REAL(3), options={"transposed": True}),
    *(
        row(
            linalg.solve,
            *(WELL(3, 3), REAL(3)),
            options={"assume_a": kind, "lower": lower},
            prepare=lambda a, b: [*symmetric(a), b],
        )
        for kind, lower in (("sym", False), ("pos", True))
    ),
    *(
        row(linalg.lstsq, a, REAL(*b), call=numbers)
        for a, b in ((TALL, (3,)), (TALL, (3, 2)), (SPREAD, (3,)))
    ),
    row(linalg.pinv, TALL, complex=True),
    row(linalg.pinvh, WELL(3, 3), prepare=symmetric),
    row(linalg.norm, REAL(2, 3), complex=True),
    row(linalg.norm, REAL(2, 3), options={"ord": 3, "axis": 1, "keepdims": True}),
    *(
        row(linalg.cholesky, WELL(3, 3), prepare=symmetric, options={"lower": lower})
        for lower in (False, True)
    ),
    row(linalg.qr, SPREAD, call=numbers),
    row(linalg.qr, TALL, options={"mode": "economic", "pivoting": True}, call=numbers),
    row(linalg.qr, TALL, call=numbers, complex=True, note="with further columns"),
    row(linalg.qr, TALL, options={"mode": "r"}, call=numbers),
    row(linalg.rq, SPREAD),
    row(linalg.rq, SPREAD, options={"mode": "r"}),
    row(linalg.rq, WIDE, complex=True, note="with further rows"),
    row(
        linalg.lu,
        fixed([[0.3, 1.0], [2.0, 0.4], [-0.5, 1.5]]),
        call=lambda f, a: f(a)[1:],
        note="tall",
    ),
    row(linalg.lu, REAL(2, 2, 3), options={"permute_l": True}, note="stack of wide ones"),
    row(
        linalg.qr_multiply, TALL, REAL(2), options={"mode": "left", "pivoting": True}, call=numbers
    ),
    row(
        linalg.qr_multiply, TALL, REAL(2, 3), options={"conjugate": True}, complex=True, mixed=False
    ),
    *(
        row(function, TALL, *more, options=options, prepare=of, nodes=300, note=of.__name__)
        for function, more, options, of in (
            (linalg.qr_update, (REAL(3), REAL(2)), {}, factors),
            (linalg.qr_update, (REAL(3), REAL(2)), {}, economic_factors),
            (linalg.qr_insert, (REAL(2),), {"k": 1}, factors),
            (linalg.qr_insert, (REAL(2, 2),), {"k": 0}, economic_factors),
            (linalg.qr_insert, (REAL(3),), {"k": 1, "which": "col"}, factors),
            (linalg.qr_delete, (), {"k": 1}, factors),
            (linalg.qr_delete, (), {"k": 0, "which": "col"}, economic_factors),
        )
    ),
    row(
        linalg.qr_delete,
        SPREAD,
        options={"k": 0, "p": 2, "which": "col"},
        prepare=factors,
        nodes=300,
    ),
    row(linalg.hessenberg, SQUARE, options={"calc_q": True}, complex=True),
    row(linalg.hessenberg, REAL(2, 2), note="as it is"),
    *(
        row(
            linalg.ldl,
            WEAK,
            options={"lower": lower, "hermitian": hermitian},
            prepare=symmetric if hermitian else None,
            call=numbers,
            complex=True,
        )
        for lower, hermitian in ((True, True), (False, False))
    ),
    row(linalg.matrix_balance, UNBALANCED, call=lambda f, a: f(a)[0]),
    row(linalg.matrix_balance, UNBALANCED, call=lambda f, a: f(a, separate=True)[0], note="parts"),
    row(linalg.null_space, WIDE, complex=True, call=lambda f, a: outside(f(a))),
    row(linalg.orth, TALL),
    row(
        linalg.rsf2csf,
        fixed([[1.0, 0.4, 2.0], [0.3, 0.5, -1.2], [0.3, 0.9, 0.5]]),
        WELL(3, 3),
        prepare=lambda t, z: [t * np.array([[1, 1, 1], [0, 1, 1], [0, 1, 1]]), z],
    ),
    row(linalg.polar, TALL),
    row(linalg.polar, SPREAD, options={"side": "left"}),
    row(linalg.orthogonal_procrustes, SPREAD, WELL(3, 3)),
    row(linalg.subspace_angles, TALL, fixed([[0.5], [1.0], [-0.7]])),
    # Spectra
    row(hermitian_vectors, SPREAD, call=steady),
    row(hermitian_vectors, SPREAD, options={"lower": False}, call=steady),
    row(vectors, SPREAD, call=steady),
    row(singular_vectors, TALL, call=lambda f, a: steady(f, a, False)),
    row(linalg.eigh, SPREAD, call=steady),
    row(linalg.eigh, SPREAD, options={"subset_by_index": (1, 2)}, call=steady),
    row(
        linalg.eigh,
        *(SPREAD, WELL(3, 3)),
        prepare=both_symmetric,
        options={"type": 2},
        call=steady,
    ),
    row(linalg.eigvalsh, SPREAD, WELL(3, 3), prepare=both_symmetric),
    row(linalg.eig, SPREAD, call=steady),
    row(linalg.eigvals, SPREAD),
    row(linalg.eigvals, SPREAD, options={"homogeneous_eigvals": True}),
    row(linalg.eigvals, SPREAD, WELL(3, 3)),
    row(linalg.eig, SPREAD, WELL(3, 3), call=steady, note="of two"),
    row(linalg.eig, SPREAD, options={"left": True, "right": False}, call=steady),
    row(linalg.svd, TALL, options={"full_matrices": False}, call=steady),
    row(linalg.svdvals, TALL, complex=True),
    # Functions of matrices
    *(
        row(function, WELL(3, 3), complex=True)
        for function in (linalg.cosm, linalg.sinm, linalg.coshm, linalg.sinhm)
    ),
    row(linalg.tanm, REAL(2, 2)),
    row(linalg.tanhm, REAL(2, 2)),
    row(linalg.signm, fixed([[2.0, 0.5], [0.3, -1.5]])),
    row(linalg.fractional_matrix_power, WELL(2, 2), POSITIVE()),
    row(linalg.fractional_matrix_power, WELL(2, 2), options={"t": -2}),
    row(linalg.expm_cond, WELL(2, 2)),
    row(linalg.funm, fixed([[1.0, 0.3], [0.4, 2.0]]), options={"func": np.exp}),
    row(linalg.funm, fixed([[1.0, 3.0], [-2.0, 1.0]]), options={"func": np.sin}, note="turning"),
    row(linalg.expm_frechet, WELL(2, 2), REAL(2, 2)),
    # Structure
    row(linalg.circulant, REAL(3), complex=True),
    row(linalg.companion, POSITIVE(4)),
    *(
        row(linalg.convolution_matrix, REAL(3), options={"n": 2, "mode": mode})
        for mode in ("full", "valid", "same")
    ),
    row(linalg.fiedler, DISTINCT(4)),
    row(linalg.fiedler_companion, POSITIVE(5)),
    row(linalg.fiedler_companion, POSITIVE(2), note="one root"),
    row(linalg.hankel, REAL(3), REAL(2)),
    row(linalg.hankel, REAL(3)),
    row(linalg.khatri_rao, REAL(2, 3), REAL(1, 3), complex=True),
    row(linalg.leslie, REAL(3), REAL(2)),
    row(linalg.solve_circulant, fixed([3.0, 0.5, -0.4]), REAL(3), complex=True),
    row(
        linalg.solve_toeplitz,
        fixed([3.0, 0.5]),
        fixed([3.0, -0.4]),
        REAL(2),
        prepare=lambda c, r, b: [c, r, np.copy(b)],  # SciPy 1.14 takes no read-only array
        call=lambda f, c, r, b: f((c, r), b),
    ),
    row(linalg.matmul_toeplitz, REAL(2), REAL(3), REAL(3), call=lambda f, c, r, x: f((c, r), x)),
    row(linalg.solveh_banded, BAND, REAL(3)),
    row(
        linalg.solveh_banded,
        BAND,
        REAL(3),
        prepare=lambda a, b: [a[::-1], b],
        options={"lower": True},
    ),
    row(linalg.cholesky_banded, BAND),
    row(linalg.cho_solve_banded, BAND, REAL(3), call=lambda f, cb, b: f((cb, False), b)),
    row(linalg.eig_banded, BAND, call=steady),
    row(linalg.eigvals_banded, BAND, options={"select": "i", "select_range": (0, 1)}),
    row(linalg.eigh_tridiagonal, fixed([1.0, 2.0, 3.5]), REAL(2), call=steady),
    row(linalg.eigvalsh_tridiagonal, fixed([1.0, 2.0, 3.5]), REAL(2)),
    # Control
    row(
        linalg.solve_continuous_lyapunov,
        *(WELL(2, 2), REAL(2, 2)),
        complex=True,
    ),
    row(
        linalg.solve_discrete_lyapunov,
        *(STABLE, REAL(2, 2)),
        complex=True,
    ),
    *(
        row(
            function,
            *(STABLE, REAL(2, 1), WELL(2, 2), POSITIVE(1, 1)),
            prepare=lambda a, b, q, r: [a, b, *symmetric(q), r],
        )
        for function in (linalg.solve_continuous_are, linalg.solve_discrete_are)
    ),
    row(with_value, POSITIVE(2, 2), call=lambda f, a: f(a, None, np.abs, (a,), {})),
]

CONSTANTS: list[Row] = [
    Row(pivots, [DISTINCT(3, 3)]),
    Row(columns_kept, [DISTINCT(3, 3)], options={"rcond": 0.5}),
    Row(reflections, [DISTINCT(4, 2)]),
    Row(row_order, [DISTINCT(3, 3)]),
    Row(as_generalised, [SPREAD, WELL(3, 3)]),
    Row(subdiagonal_signs, [SQUARE]),
    Row(layout, [WEAK], call=lambda f, a: f(a, True, True)),
    Row(balance, [UNBALANCED], call=lambda f, a: f(a, True, True)),
    Row(null_vector, [WIDE], call=lambda f, a: f(a, None)),
    Row(rank, [TALL], call=lambda f, a: f(a, None)),
]

REFUSED: dict[Row, str] = {
    Row(function, [REAL(2, 2)]): entry.instead
    for function, entry in FUNCTIONS.items()
    if hasattr(entry, "instead")
}
