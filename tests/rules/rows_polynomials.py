"""Rows for polynomials given by their coefficients."""

from typing import Any

import numpy as np

from tests.rules.table import REAL, Row, fixed, plain

__all__ = ["ROWS"]

NOT_IN_JAX = "JAX's takes neither numbers nor empty arrays"
X = plain([-1.1, -0.4, 0.3, 0.9, 1.6])
SPREAD = fixed([-1.1, -0.4, 0.3, 0.9, 1.6])


def weighted(function: Any, x: Any, y: Any, w: Any, **options: Any) -> Any:
    """Call `numpy.polyfit` with weights as the last operand."""
    return function(x, y, 2, w=w, **options)


def in_full(function: Any, x: Any, y: Any) -> Any:
    """Call `numpy.polyfit` for all that it computes."""
    return function(x, y, 2, full=True)[:2]


ROWS: list[Row] = [
    *(
        Row(
            np.roots,
            [fixed(p)],
            complex=len(p) == 2,
            nodes=1 + len(p),  # NumPy's dispatch goes through the coefficients
            no_jax="JAX's are complex, in an order of their own",
        )
        for p in (
            *([1.0, -1.5, -2.0, 0.7], [0.8, 0.3, 2.0, -0.5, 1.1], [2.0, -3.0]),
            *([1.0, -3.0, 0.0], [1.5]),
        )
    ),
    *(
        Row(
            np.poly,
            [fixed(zeros)],
            complex=True,
            nodes=2 + len(zeros),  # NumPy's dispatch goes through the zeros
            no_jax="JAX's are always complex, and of a matrix by its eigenvalues",
        )
        for zeros in ([0.4, -0.7, 1.3], [0.5, 0.5], [1.5], [[0.3, 0.8], [-0.4, 0.6]])
    ),
    Row(
        np.poly,
        [fixed([0.5, 0.2, 0.3, -0.7])],
        prepare=lambda x: [np.concatenate((x[:2] + 1j * x[2:], x[:2] - 1j * x[2:]))],
        nodes=20,
        note="conjugate",
        no_jax="JAX's are complex",
    ),
    Row(
        np.poly,
        [fixed([[0.5, 1.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.2]])],
        nodes=5,
        note="coinciding eigenvalues",
        no_jax="they have no derivative",
    ),
    *(
        Row(np.polyval, [REAL(n), REAL(*shape)], complex=True)
        for n, shape in ((3, (4,)), (1, (2,)), (4, (2, 3)), (3, ()), (3, (0,)))
    ),
    Row(
        np.polyval, [REAL(0), REAL(3)], no_jax="JAX's has no value where there are no coefficients"
    ),
    *(
        Row(function, [REAL(*a), REAL(*b)], nodes=2, complex=True)
        for function in (np.polyadd, np.polysub)
        for a, b in (((3,), (3,)), ((2,), (4,)), ((3,), (1,)))
    ),
    *(
        Row(function, [REAL(*a), REAL(*b)], nodes=4, no_jax=NOT_IN_JAX)
        for function in (np.polyadd, np.polysub, np.polymul)
        for a, b in (((), (3,)), ((3,), ()), ((), ()), ((0,), (2,)))
    ),
    *(
        Row(np.polymul, [REAL(n), REAL(m)], complex=True)
        for n, m in ((3, 3), (2, 4), (3, 1), (1, 1))
    ),
    *(
        Row(np.polyder, [REAL(n)], options=options, nodes=4, complex=True)
        for n, options in ((4, {}), (4, {"m": 2}), (4, {"m": 0}), (2, {"m": 1}))
    ),
    *(
        Row(
            np.polyder,
            [REAL(n)],
            options={"m": m},
            nodes=6,
            no_jax="JAX says otherwise what is left",
        )
        for n, m in ((2, 2), (2, 3), (1, 1))
    ),
    *(
        Row(np.polyint, [REAL(n)], options=options, nodes=6, complex=True)
        for n, options in ((3, {}), (3, {"m": 2}), (1, {"m": 3}), (2, {"m": 0}), (0, {}))
    ),
    *(
        Row(
            np.polyint,
            [REAL(n)],
            options={"m": m},
            call=lambda f, p, m: f(p, m, p),
            nodes=17,
            complex=True,
            note="constants",
            no_jax="JAX wants as many constants as it uses" if m < n else "",
        )
        for n, m in ((1, 1), (2, 2), (1, 3), (3, 2), (2, 0))
    ),
    *(
        Row(np.polyfit, [x, REAL(*y)], options={"deg": deg}, nodes=16, note=note)
        for x, note in ((SPREAD, ""), (X, "x a constant"))
        for y, deg in (((5,), 2), ((5, 2), 1), ((5,), 0))
    ),
    *(
        Row(np.polyfit, [x, REAL(*y), REAL(5)], call=weighted, nodes=26, note=note)
        for x, note in ((SPREAD, "weights"), (X, "weights, x a constant"))
        for y in ((5,), (5, 2))
    ),
    Row(np.polyfit, [SPREAD, REAL(5)], call=in_full, nodes=16, note="full"),
    *(
        Row(
            np.polyfit,
            [SPREAD, REAL(*y), REAL(5)],
            options={"cov": cov},
            call=weighted,
            nodes=36,
            note="weights",
        )
        for y in ((5,), (5, 2))
        for cov in (True, "unscaled")
    ),
    Row(np.polyfit, [X, REAL(5)], options={"deg": 1, "rcond": 1e-10}, nodes=16),
]
