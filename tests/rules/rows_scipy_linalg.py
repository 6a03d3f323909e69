"""Rows for the functions of `tape_ad.scipy.linalg`, and for those that they are made of."""

from typing import Any

import numpy as np
import scipy

from tape_ad.scipy import linalg
from tape_ad.scipy.linalg.functions import expm_derivative, logm_derivative
from tape_ad.scipy.linalg.systems import cholesky_solve, lu_factors_solve
from tests.rules.table import REAL, Domain, Operand, Row, Shape, fixed, plain, signed

__all__ = ["ROWS"]

Array = Any

small = signed(0.1, 0.5)
WELL = Domain(lambda rng, shape: small(rng, shape) + 2 * np.eye(shape[-1]), signed(0.1, 0.3))
SHUFFLED = Domain(lambda rng, shape: WELL.draw(rng, shape)[[1, 2, 0]], signed(0.1, 0.3))

BRANCH_CUT = [
    [-2.0, 0.3, -0.1, 0.2],
    [0.4, 1.0, 0.2, -0.3],
    [0.1, -0.2, -1.0, 0.5],
    [0, 0.2, 0.3, 3],
]

SIDES: tuple[Shape, ...] = ((3,), (3, 2))


def diagonals(upper: int, *shape: int) -> Operand:
    """Make the diagonals of a matrix in which the main one dominates."""
    main = np.arange(shape[-2]) == upper
    domain = Domain(lambda rng, shape: small(rng, shape) + 3 * main[:, None], signed(0.1, 0.3))
    return domain(*shape)


def with_tuple(name: str) -> Any:
    """Write JAX's function of some factors in a tuple as ours, with an argument for each."""

    def of(jax: Any) -> Any:
        function = getattr(jax.scipy.linalg, name)
        if name == "cho_solve":
            return lambda c, b, lower: function((c, lower), b)
        return lambda lu, piv, b, trans: function((lu, piv), b, trans)

    return of


ROWS: list[Row] = [
    *(
        Row(
            linalg.solve_triangular,
            [WELL(3, 3), REAL(*b)],
            options={"trans": trans, "lower": lower, "unit_diagonal": unit},
            complex=True,
            jax="scipy.linalg.solve_triangular",
        )
        for b in SIDES
        for trans, lower, unit in (
            (0, False, False),
            (0, True, True),
            (1, False, True),
            (1, True, False),
            ("T", False, False),
            (2, False, False),
            ("C", True, True),
        )
    ),
    Row(linalg.solve_triangular, [WELL(1, 1), REAL(1)], jax="scipy.linalg.solve_triangular"),
    *(
        Row(
            linalg.cho_factor,
            [WELL(3, 3)],
            options={"lower": lower},
            call=lambda f, a, **options: f(a, **options)[0],
            nodes=4,
            complex=True,
            no_jax="JAX gives both triangles half of the gradient",
        )
        for lower in (False, True)
    ),
    *(
        Row(
            cholesky_solve,
            [WELL(3, 3), REAL(*b)],
            options={"lower": lower},
            complex=True,
            jax=with_tuple("cho_solve"),
        )
        for b in SIDES
        for lower in (False, True)
    ),
    *(
        Row(
            linalg.lu_factor,
            [domain(3, 3)],
            call=lambda f, a: f(a)[0],
            complex=True,
            note=note,
            jax="scipy.linalg.lu_factor",
        )
        for domain, note in ((WELL, "in order"), (SHUFFLED, "shuffled"))
    ),
    *(
        Row(
            lu_factors_solve,
            [WELL(3, 3), plain(np.array([1, 2, 2], np.int32)), REAL(*b)],
            options={"trans": trans},
            nodes=3,
            complex=True,
            jax=with_tuple("lu_solve"),
        )
        for b in SIDES
        for trans in (0, 1, 2)
    ),
    *(
        Row(
            linalg.solve_banded,
            [diagonals(upper, lower + upper + 1, n), REAL(*b)],
            call=lambda f, ab, b, l_and_u=(lower, upper): f(l_and_u, ab, b),
            note=f"{lower} below, {upper} above",
            complex=True,
            no_jax="JAX has no such function",
        )
        for lower, upper, n, b in (
            (1, 1, 4, (4,)),
            (0, 0, 3, (3,)),
            (2, 1, 5, (5, 2)),
            (0, 2, 4, (4,)),
            (1, 0, 4, (4, 1)),
            (2, 2, 3, (3,)),
        )
    ),
    *(
        Row(
            linalg.solve_sylvester,
            [WELL(m, m), WELL(n, n), REAL(m, n)],
            complex=True,
            no_jax="JAX does not differentiate it",
        )
        for m, n in ((3, 2), (1, 2), (2, 2))
    ),
    *(
        Row(linalg.expm, [REAL(*shape)], complex=True, jax="scipy.linalg.expm")
        for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0))
    ),
    *(
        Row(expm_derivative, [REAL(*a), REAL(*e)], complex=True, no_jax="it is a function of ours")
        for a, e in (((2, 2), (2, 2)), ((2, 2), (3, 2, 2)), ((3, 2, 2), (2, 2)))
    ),
    *(
        Row(linalg.sqrtm, [WELL(n, n)], complex=True, no_jax="JAX does not differentiate it")
        for n in (3, 2, 1)
    ),
    *(
        Row(linalg.logm, [WELL(n, n)], complex=True, no_jax="JAX has no such function")
        for n in (3, 2, 1)
    ),
    *(
        Row(function, [fixed(BRANCH_CUT)], note="branch cut", no_jax="JAX has no such function")
        for function in (linalg.logm, linalg.sqrtm)
    ),
    Row(logm_derivative, [WELL(2, 2), REAL(2, 2)], complex=True, no_jax="it is a function of ours"),
    Row(
        linalg.block_diag,
        [REAL(2, 3), REAL(2), REAL(), REAL(0, 2), REAL(1, 1)],
        complex=True,
        nodes=20,
        jax="scipy.linalg.block_diag",
    ),
    Row(linalg.block_diag, [REAL(2, 2)], complex=True, nodes=4, jax="scipy.linalg.block_diag"),
    *(
        Row(
            linalg.toeplitz,
            [REAL(n) for n in lengths],
            complex=True,
            nodes=5,
            jax="scipy.linalg.toeplitz",
        )
        for lengths in ((3, 4), (4, 2), (1, 3), (3, 1), (3,), (1,))
    ),
]

# SciPy takes stacks of matrices in all of these since 1.16
if tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 16):
    ROWS += [
        *(
            Row(
                function,
                [WELL(*a), REAL(*b)],
                options=options,
                complex=True,
                no_jax="JAX takes single matrices",
                torch=by_torch if len(b) > 1 else "",
            )
            for function, options, by_torch in (
                (
                    linalg.solve_triangular,
                    {"trans": "T"},
                    lambda torch: (
                        lambda m, y, trans: torch.linalg.solve_triangular(m.mT, y, upper=False)
                    ),
                ),
                (
                    cholesky_solve,
                    {"lower": True},
                    lambda torch: lambda m, y, lower: torch.cholesky_solve(y, m.tril()),
                ),
            )
            for a, b in (
                ((2, 3, 3), (2, 3, 1)),
                ((2, 3, 3), (3,)),
                ((3, 3), (2, 3, 2)),
                ((2, 1, 3, 3), (4, 3, 2)),
            )
        ),
        *(
            Row(
                linalg.solve_banded,
                [diagonals(1, *ab), REAL(*b)],
                call=lambda f, ab, b: f((1, 1), ab, b),
                complex=True,
                no_jax="JAX has no such function",
            )
            for ab, b in (((2, 3, 4), (2, 4, 1)), ((3, 4), (2, 4, 1)), ((2, 3, 4), (4,)))
        ),
        *(
            Row(
                linalg.solve_sylvester,
                [WELL(*a), WELL(*b), REAL(*q)],
                complex=True,
                no_jax="JAX does not differentiate it",
            )
            for a, b, q in (
                ((3, 3), (2, 2), (2, 3, 2)),
                ((2, 3, 3), (2, 2), (2, 3, 2)),
                ((3, 3), (2, 2, 2), (3, 2)),
            )
        ),
        *(
            Row(function, [WELL(2, 2, 2)], complex=True, no_jax="JAX does not differentiate it")
            for function in (linalg.sqrtm, linalg.logm)
        ),
    ]
