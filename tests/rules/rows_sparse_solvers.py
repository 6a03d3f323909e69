"""Rows for what the sparse solvers of `tape_ad.scipy.linalg` are made of."""

from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import tape_ad.scipy.sparse  # noqa: F401 - which adds the rules
from tape_ad.scipy.sparse.arrays import pattern_of
from tape_ad.scipy.sparse.functions import function_of, maximal
from tape_ad.scipy.sparse.iterations import exponential_times, iterated
from tape_ad.scipy.sparse.systems import Dense, solved_by_factors, sparse_solved
from tests.rules.table import REAL, Domain, Row, fixed, signed

__all__ = ["CONSTANTS", "ROWS"]

MATRIX = np.array([[3.0, 0.0, -1.0], [0.5, 2.5, 0.0], [0.0, 0.8, -2.0]])
DATA, PATTERN = pattern_of(scipy.sparse.csr_array(MATRIX)) or (None, None)
LOWER, BELOW = pattern_of(scipy.sparse.csr_array(np.tril(MATRIX))) or (None, None)
FACTORS = scipy.sparse.linalg.splu(scipy.sparse.csc_array(MATRIX))
EXACT: dict[str, Any] = {"rtol": 1e-15, "atol": 1e-15}
OURS = "it is a function of ours"

near = signed(0.01, 0.1)
CLOSE = Domain(lambda rng, shape: MATRIX + near(rng, shape), near)

ROWS: list[Row] = [
    *(
        Row(
            sparse_solved,
            [fixed(DATA), REAL(*b)],
            options={"pattern": PATTERN},
            complex=True,
            no_jax=OURS,
        )
        for b in ((3,), (3, 2))
    ),
    *(
        Row(
            sparse_solved,
            [fixed(LOWER), REAL(3)],
            options={"pattern": BELOW, "triangular": (True, unit)},
            no_jax=OURS,
        )
        for unit in (False, True)
    ),
    *(
        Row(
            solved_by_factors,
            [REAL(*b)],
            options={"factors": FACTORS, "trans": trans},
            no_jax=OURS,
        )
        for b, trans in (((3,), "N"), ((3, 2), "T"), ((3,), "H"))
    ),
    *(
        Row(
            iterated,
            [a, REAL(3)],
            options={"pattern": pattern, "name": name, "options": EXACT},
            call=lambda f, data, b, **options: f(data, b, **options)[0],
            no_jax=OURS,
            single=2e-4,
        )
        for a, pattern, name in ((fixed(DATA), PATTERN, "gmres"), (CLOSE(3, 3), Dense(), "gmres"))
    ),
    *(
        Row(
            exponential_times,
            [REAL(*b)],
            options={"matrix": scipy.sparse.csr_array(MATRIX / 5), "options": options},
            no_jax=OURS,
        )
        for b, options in (
            ((3,), {}),
            ((3, 2), {}),
            ((3,), {"start": 0.0, "stop": 1.0, "num": 3, "endpoint": True}),
        )
    ),
    Row(function_of, [CLOSE(3, 3)], options={"f": lambda a: a @ a - 2 * a}, no_jax=OURS),
]

CONSTANTS: list[Row] = [Row(maximal, [CLOSE(3, 3)], call=lambda f, a: f(a, None, 3, 5))]
