"""Rows for `tape_ad.scipy.integrate`."""

from typing import Any

import numpy as np

from tape_ad.scipy import integrate
from tape_ad.scipy.integrate.runge_kutta import advanced
from tests.rules.table import POSITIVE, REAL, Operand, Row, fixed

__all__ = ["ROWS"]

Array = Any

NO_JAX = "JAX has no such function"


def places(count: int) -> Operand:
    """Make places in order, at different distances."""
    return fixed(np.cumsum([0.5, 0.3, 0.7, 0.4, 0.6, 0.2][:count]))


def with_x(f: Any, y: Array, x: Array, **options: Any) -> Array:
    return f(y, x=x, **options)


def with_dx(f: Any, y: Array, dx: Array, **options: Any) -> Array:
    return f(y, dx=dx, **options)


def with_initial(f: Any, y: Array, dx: Array, initial: Array, **options: Any) -> Array:
    return f(y, dx=dx, initial=initial, **options)


def sampled(function: Any, shape: tuple[int, ...], *, axis: int = -1, **fields: Any) -> list[Row]:
    """Make the rows of a function of samples: with their places, and with the distance."""
    others: dict[str, Any] = {"nodes": 150, "no_jax": NO_JAX} | fields
    extra = others.pop("options", {})
    options = {"axis": axis, **extra} if axis != -1 else extra
    return [
        Row(function, [REAL(*shape), places(shape[axis])], options=options, call=with_x, **others),
        Row(function, [REAL(*shape), POSITIVE()], options=options, call=with_dx, **others),
    ]


ROWS: list[Row] = [
    *sampled(integrate.trapezoid, (4,), no_jax="", jax="scipy.integrate.trapezoid"),
    *sampled(integrate.trapezoid, (3, 2), axis=0, no_jax="", jax="scipy.integrate.trapezoid"),
    Row(integrate.trapezoid, [REAL(4)], complex=True, nodes=9, jax="scipy.integrate.trapezoid"),
    *sampled(integrate.cumulative_trapezoid, (4,)),
    *sampled(integrate.cumulative_trapezoid, (3, 2), axis=0, options={"initial": 0}),
    *(row for n in (2, 3, 4, 5, 6) for row in sampled(integrate.simpson, (n,))),
    *sampled(integrate.simpson, (4, 2), axis=0),
    Row(integrate.simpson, [REAL(2, 4)], complex=True, nodes=80, no_jax=NO_JAX),
    *(row for n in (2, 3, 4, 5) for row in sampled(integrate.cumulative_simpson, (2, n))),
    *sampled(integrate.cumulative_simpson, (4, 2), axis=0),
    Row(
        integrate.cumulative_simpson,
        [REAL(2, 4), POSITIVE(2, 1), REAL(2, 1)],
        call=with_initial,
        nodes=80,
        no_jax=NO_JAX,
    ),
    *(
        Row(
            integrate.romb,
            [REAL(*shape), POSITIVE()],
            call=with_dx,
            options=options,
            nodes=60,
            no_jax=NO_JAX,
        )
        for shape, options in (((5,), {}), ((3, 2), {"axis": 0}), ((2, 2), {}))
    ),
    Row(
        advanced,
        [REAL(), REAL(3), REAL(3), REAL(3)],
        options={"weights": np.array([0.4, -1.3])},
        complex=True,
        no_jax="it is a function of ours",
    ),
]
