"""Rows for the multivariate distributions of `tape_ad.scipy.stats`."""

from typing import Any

import numpy as np

from tape_ad.scipy import stats
from tests.rules.table import REAL, Operand, Row, plain, uniform

__all__ = ["ROWS"]

UNIT, SMALL, MIDDLE = uniform(0.2, 0.8), uniform(0.15, 0.5), uniform(1.3, 2.6)
LARGE = uniform(6.0, 8.0)
PAIRS, PAIR, SQUARE = REAL(3, 2), REAL(2), REAL(2, 2)
COUNTS = plain([[1, 2, 2], [5, 0, 0]])
DIRECTIONS, DIRECTION = plain([[0.6, 0.8], [0.0, 1.0]]), plain([0.8, 0.6])


def positive(a: Any) -> Any:
    """Make a matrix that is positive definite."""
    a = np.array(a) if isinstance(a, list) else a
    return 0.3 * (a @ a.T) + np.array([[1.5, 0.2], [0.2, 1.0]])


def multivariate(name: str, method: str, operands: list[Operand], **fields: Any) -> list[Row]:
    """Make the row of a method of a multivariate distribution, if SciPy has it."""
    if not fields.get("jax"):
        fields["no_jax"] = "JAX has no such function"
    if not hasattr(stats, name):
        return []
    function = getattr(getattr(stats, name), method)
    return [Row(function, operands, note=f"{name}{fields.pop('note', '')}", nodes=99, **fields)]


VECTORS: list[Row] = [
    *multivariate(
        "multivariate_normal",
        "logpdf",
        [PAIRS, PAIR, SQUARE],
        prepare=lambda x, mean, a: [x, mean, positive(a)],
        jax="scipy.stats.multivariate_normal.logpdf",
    ),
    *multivariate("multivariate_normal", "logpdf", [PAIR, PAIR, MIDDLE()], note="one variance"),
    *multivariate(
        "multivariate_normal",
        "entropy",
        [SQUARE],
        prepare=lambda a: [positive(a)],
        call=lambda f, cov: f(None, cov),
    ),
    *multivariate(
        "multivariate_t",
        "logpdf",
        [PAIRS, PAIR, SQUARE, LARGE()],
        prepare=lambda x, loc, a, df: [x, loc, positive(a), df],
    ),
    *multivariate(
        "multivariate_t",
        "entropy",
        [SQUARE, LARGE()],
        prepare=lambda a, df: [positive(a), df],
        call=lambda f, a, df: f(None, a, df),
    ),
    *multivariate("vonmises_fisher", "logpdf", [DIRECTIONS, DIRECTION, MIDDLE()]),
    *multivariate("vonmises_fisher", "entropy", [DIRECTION, MIDDLE()]),
    *multivariate("normal_inverse_gamma", "logpdf", [MIDDLE(2), MIDDLE(2), *[MIDDLE()] * 4]),
    *multivariate(
        "normal_inverse_gamma",
        "mean",
        [*[MIDDLE()] * 2, *[LARGE()] * 2],
        call=lambda f, *operands: f(*operands)[1],
    ),
    *multivariate(
        "normal_inverse_gamma",
        "var",
        [*[MIDDLE()] * 2, *[LARGE()] * 2],
        call=lambda f, *operands: f(*operands)[1],
    ),
]

SHARES: list[Row] = [
    *multivariate("dirichlet", "logpdf", [SMALL(2), MIDDLE(3)]),
    *[
        row
        for method in ("entropy", "mean", "var", "cov")
        for row in multivariate("dirichlet", method, [MIDDLE(3)])
    ],
    *multivariate(
        "multinomial",
        "logpmf",
        [COUNTS, plain(5), UNIT(3)],
        prepare=lambda x, n, p: [x, n, p / p.sum()],
    ),
    *[
        row
        for method in ("mean", "cov")
        for row in multivariate(
            "multinomial",
            method,
            [plain(5), UNIT(3)],
            prepare=lambda n, p: [n, p / p.sum()],
        )
    ],
    *multivariate("dirichlet_multinomial", "logpmf", [COUNTS, MIDDLE(3), plain(5)]),
    *[
        row
        for method in ("mean", "var", "cov")
        for row in multivariate("dirichlet_multinomial", method, [MIDDLE(3), plain(5)])
    ],
]

MATRICES: list[Row] = [
    *[
        row
        for name in ("wishart", "invwishart")
        for row in multivariate(
            name,
            "logpdf",
            [SQUARE, LARGE(), SQUARE],
            prepare=lambda x, df, a: [positive(x), df, positive(a)],
        )
    ],
    *[
        row
        for name in ("wishart", "invwishart")
        for method in ("entropy", "mean", "var", "mode")
        for row in multivariate(
            name, method, [LARGE(), SQUARE], prepare=lambda df, a: [df, positive(a)]
        )
    ],
    *multivariate(
        "matrix_normal",
        "logpdf",
        [PAIRS, SQUARE],
        prepare=lambda x, a: [x, positive(a)],
        call=lambda f, x, a: f(x, None, np.eye(3), a),
    ),
    *multivariate(
        "matrix_normal",
        "entropy",
        [SQUARE],
        prepare=lambda a: [positive(a)],
        call=lambda f, a: f(a, np.eye(3)),
    ),
    *multivariate(
        "matrix_t",
        "logpdf",
        [PAIRS, SQUARE, LARGE()],
        prepare=lambda x, a, df: [x, positive(a), df],
        call=lambda f, x, a, df: f(x, None, np.eye(3), a, df),
    ),
]

ROWS: list[Row] = [*VECTORS, *SHARES, *MATRICES]
