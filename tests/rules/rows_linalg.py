"""Rows for inverses, equations and determinants."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.rules.linalg.norms import borders
from tests.rules.table import REAL, Domain, Row, fixed, signed

__all__ = ["CONSTANTS", "REGULAR", "ROWS", "of_lower", "of_upper"]

Array = Any


def around_a_diagonal(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Draw matrices near diag(1.5, 2.5, 3.5, ...)."""
    diagonal = np.eye(shape[-2], shape[-1]) * (np.arange(shape[-1]) + 1.5)
    return diagonal + rng.uniform(-0.3, 0.3, shape)


REGULAR = Domain(around_a_diagonal, signed(0.1, 0.3))
"""Matrices of full rank, with eigenvalues and singular values that are well apart."""


def as_tensor(seed: int) -> Array:
    """Draw a regular matrix with its six rows and its six columns as two axes each."""
    return REGULAR(6, 6).sample(np.random.default_rng(seed), float).reshape(2, 3, 3, 2)


def of_lower(name: str) -> Callable[[Any], Any]:
    """Make JAX's function of the lower triangle, mirrored: by itself it reads the whole matrix."""

    def of(jax: Any) -> Any:
        jnp = jax.numpy

        def function(a: Any, **options: Any) -> Any:
            lower = jnp.tril(a, -1)
            whole = lower + lower.conj().mT + jnp.eye(a.shape[-1]) * a.real
            return getattr(jnp.linalg, name)(whole, **options)

        return function

    return of


def of_upper(name: str, **others: Any) -> Callable[[Any], Any]:
    """Make JAX's function of the upper triangle, which is the lower one of the adjoint."""

    def of(jax: Any) -> Any:
        function = of_lower(name)(jax)
        return lambda a, **options: function(a.conj().mT, **others)

    return of


def least_squares(jax: Any) -> Any:
    """Make JAX's function, which has residuals also where no equation is left over."""

    def function(a: Any, b: Any, **options: Any) -> Any:
        x, residuals, rank, s = jax.numpy.linalg.lstsq(a, b, **options)
        if (
            a.shape[0] <= a.shape[1]
        ):  # JAX's residuals have nan as their derivative where they are 0
            residuals = jax.lax.stop_gradient(residuals)[:0]
        return x, residuals, rank, s

    return function


def but_for_the_rank(function: Any, *arguments: Array, **options: Any) -> list[Array]:
    """Call `numpy.linalg.lstsq` for its outputs that have a derivative."""
    x, residuals, _, s = function(*arguments, **options)
    return [x, residuals, s]


OWN = "it is of our own"

ROWS: list[Row] = [
    *(Row(np.linalg.inv, [REGULAR(*shape)], complex=True) for shape in ((3, 3), (2, 4, 4))),
    Row(np.linalg.inv, [REGULAR(0, 0)]),
    Row(np.linalg.inv, [REGULAR(0, 2, 2)]),
    *(
        Row(np.linalg.pinv, [REGULAR(*shape)], complex=True)
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2))
    ),
    Row(np.linalg.pinv, [REGULAR(3, 0)]),
    Row(np.linalg.pinv, [REGULAR(3, 2)], options={"rcond": 1e-10}),
    Row(np.linalg.pinv, [REGULAR(3, 2)], options={"rtol": 1e-10}),
    Row(
        np.linalg.pinv,
        [REGULAR(3, 3)],
        options={"hermitian": True},
        complex=True,
        jax=of_lower("pinv"),
    ),
    Row(np.linalg.tensorinv, [REGULAR(6, 6)], options={"ind": 1}, nodes=3, complex=True),
    Row(
        np.linalg.tensorinv,
        [fixed(as_tensor(0))],
        nodes=3,
        complex=True,
    ),
    *(
        Row(np.linalg.solve, [REGULAR(*a), REAL(*b)], complex=True)
        for a, b in (
            ((3, 3), (3,)),
            ((3, 3), (3, 2)),
            ((2, 3, 3), (3,)),
            ((2, 3, 3), (3, 2)),
            ((3, 3), (2, 3, 2)),
            ((2, 1, 3, 3), (4, 3, 1)),
        )
    ),
    *(
        Row(np.linalg.solve, [REGULAR(*a), REAL(*b)])
        for a, b in (((0, 0), (0,)), ((2, 2), (2, 0)), ((0, 2, 2), (2, 3)))
    ),
    Row(np.linalg.tensorsolve, [REGULAR(6, 6), REAL(6)], nodes=4, complex=True),
    Row(
        np.linalg.tensorsolve,
        [fixed(as_tensor(1)), REAL(2, 3)],
        nodes=4,
        complex=True,
    ),
    Row(
        np.linalg.tensorsolve,
        [fixed(np.moveaxis(as_tensor(2), -1, 1)), REAL(2, 3)],
        options={"axes": (1,)},
        nodes=5,
    ),
    *(
        Row(
            np.linalg.lstsq,
            [REGULAR(*a), REAL(*b)],
            options=options,
            complex=True,
            nodes=3,
            jax=least_squares,
            call=but_for_the_rank,
        )
        for a, b, options in (
            ((4, 2), (4,), {}),
            ((4, 2), (4, 3), {}),
            ((3, 3), (3, 2), {"rcond": 1e-10}),
            ((2, 4), (2,), {"rcond": -1}),
            ((2, 4), (2, 3), {}),
        )
    ),
    *(
        Row(np.linalg.det, [REGULAR(*shape)], complex=True)
        for shape in ((1, 1), (3, 3), (2, 4, 4), (0, 2, 2))
    ),
    Row(np.linalg.det, [REGULAR(0, 0)], no_jax="JAX refuses empty matrices", torch="linalg.det"),
    *(
        Row(np.linalg.slogdet, [REGULAR(*shape)], complex=True, nodes=2)
        for shape in ((1, 1), (3, 3), (2, 4, 4), (0, 0))
    ),
]

CONSTANTS: list[Row] = [
    Row(borders, [REGULAR(3, 3)]),
    Row(np.linalg.matrix_rank, [REGULAR(2, 3, 2)]),
    Row(np.linalg.matrix_rank, [REGULAR(3, 3)], options={"tol": 0.1, "hermitian": True}),
    Row(np.linalg.matrix_rank, [REGULAR(3, 3)], options={"rtol": 0.1}),
]
