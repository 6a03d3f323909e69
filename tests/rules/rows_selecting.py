"""Rows for functions that pick elements, by index or by condition."""

from typing import Any

import numpy as np

from tests.rules.table import REAL, Operand, Row, plain

__all__ = ["CONSTANTS", "ROWS"]

MASK = np.array([[True, False, True], [False, False, True]])
OTHER = np.array([[True, True, False], [False, True, False]])
CHOICE = np.array([[0, 2, 1], [1, 1, 0]])
BEYOND = np.array([[0, -2, 4], [7, 1, -1]])
SIZE = "JAX has to be told the size of the result"
NO_RAISE = "JAX does not raise for an index out of range"


def masked(torch: Any) -> Any:
    """Make PyTorch's function of a condition, which takes the condition last."""
    return lambda condition, x: torch.masked_select(x, condition.bool())


def take(indices: Any, *shape: int, note: str = "", **options: Any) -> Row:
    """Make the row of `take` for some indices."""
    picked = f"{np.asarray(indices).tolist()}".replace(" ", "")
    return Row(
        np.take,
        [REAL(*shape)],
        options=options,
        call=lambda f, x, **options: f(x, np.asarray(indices), **options),
        note=picked + note,
        complex=True,
    )


def along(indices: Any, *shape: int, axis: int | None) -> Row:
    """Make the row of `take_along_axis` for some indices."""
    return Row(
        np.take_along_axis,
        [REAL(*shape)],
        call=lambda f, x: f(x, np.asarray(indices), axis),
        note=f"{axis} {np.shape(indices)}",
        complex=True,
    )


def choose(index: Any, *operands: Operand, no_jax: str = "", **options: Any) -> Row:
    """Make the row of `choose` for some numbers of choices."""
    return Row(
        np.choose,
        [plain(index), *operands],
        options=options,
        call=lambda f, a, *choices, **options: f(a, list(choices), **options),
        complex=True,
        nodes=len(operands),
        no_jax=no_jax,
    )


def weighted_power(v: Any, a: float, b: int) -> Any:
    """Compute a polynomial with one term."""
    return a * v**b


PICKED = [
    take([2, 0, 2], 4),
    take([2, 0, 5, 0], 2, 3),
    take([1, 0, 1], 2, 3, axis=0),
    take([1, 0, -1], 2, 3, axis=1),
    take([[2, 0], [2, 2]], 2, 3, axis=-1),
    take([[2, 0], [2, 2]], 2, 3, 2, axis=1),
    take(1, 2, 3, axis=1),
    take(4, 2, 3),
    take([-1, 5, 3], 3, mode="wrap"),
    take([-1, 5, 1], 2, 3, axis=1, mode="clip"),
    take(np.zeros(0, int), 2, 3, axis=1),
    take([0, 0], 0, 3, axis=1),
    take([0, 0]),
    along([[2, 0], [1, 1]], 2, 3, axis=1),
    along([[1, 0, 1]], 2, 3, axis=0),
    along([[1], [2]], 2, 3, axis=-1),
    along([[2, 0, 2], [1, 1, 1]], 1, 3, axis=1),
    along([5, 0, 0], 2, 3, axis=None),
    along(CHOICE[:, None] % 2, 2, 2, 3, axis=1),
    *(
        Row(np.compress, [plain(condition), REAL(*shape)], options=options, no_jax=SIZE)
        for condition, shape, options in (
            ([True, False], (2, 3), {"axis": 1}),
            ([1, 0, 2], (2, 3, 2), {"axis": -2}),
            ([False, False], (2, 3), {"axis": 0}),
        )
    ),
    Row(np.compress, [plain([True, False, True, True]), REAL(2, 3)], complex=True, no_jax=SIZE),
    Row(np.extract, [plain(MASK), REAL(2, 3)], complex=True, no_jax=SIZE, torch=masked),
    Row(np.extract, [plain([1, 0, 0, 1]), REAL(2, 2)], no_jax=SIZE),
    choose(CHOICE, REAL(2, 3), REAL(2, 3), REAL(2, 3), no_jax=NO_RAISE),
    choose([[1], [0]], REAL(3), REAL(), no_jax=NO_RAISE),
    choose(1, REAL(2), REAL(2), no_jax=NO_RAISE),
    choose(BEYOND, REAL(2, 3), REAL(3), REAL(2, 1), mode="wrap"),
    choose(BEYOND, REAL(2, 3), REAL(3), REAL(2, 1), mode="clip"),
]

CHOSEN = [
    Row(
        np.select,
        [REAL(2, 3), REAL(3)],
        call=lambda f, x, y: f([MASK, OTHER], [x, y]),
        note="default 0",
        complex=True,
        nodes=3,
    ),
    Row(
        np.select,
        [REAL(2, 3), REAL(2, 1), REAL()],
        call=lambda f, x, y, z: f([MASK, OTHER], [x, y], z),
        noticed=(0, 1),
        complex=True,
        nodes=3,
    ),
    Row(
        np.select,
        [REAL(3)],
        call=lambda f, x: f([MASK, OTHER], [2.0, x], 1.5),
        note="beside numbers",
        nodes=3,
    ),
    Row(
        np.select,
        [REAL(3)],
        call=lambda f, x: f([[True, False, False], [True, True, False]], [2.0, x], 1.5),
        note="conditions in lists",
        no_jax="JAX takes arrays as conditions",
        nodes=3,
    ),
    Row(np.select, [REAL(0)], call=lambda f, x: f([np.zeros(0, bool)], [x])),
    Row(
        np.piecewise,
        [REAL(2, 3)],
        call=lambda f, x: f(x, [MASK, OTHER], [lambda v: v * v, lambda v: v[::-1] / 2]),
        note="overlapping",
        nodes=9,
        complex=True,
        no_jax="JAX takes the first of the conditions that hold",
    ),
    Row(
        np.piecewise,
        [REAL(2, 3)],
        call=lambda f, x: f(
            x, [MASK, ~MASK & OTHER], [lambda v, a, b: a * v**b, 3.0, -1.0], 2, b=3
        ),
        note="otherwise",
        nodes=7,
    ),
    Row(
        np.piecewise,
        [REAL()],
        call=lambda f, x: f(x, [True], [lambda v: v * v, lambda v: v]),
        nodes=5,
        no_jax="JAX takes arrays only",
    ),
]

APPLIED = [
    *(
        Row(
            np.apply_along_axis,
            [REAL(2, 3, 2)],
            call=lambda f, x, axis=axis, g=g: f(g, axis, x),
            note=f"{axis} {note}",
            nodes=40,
            complex=True,
        )
        for axis in (0, 1, -1)
        for note, g in (
            ("number", lambda v: (v * v).sum()),
            ("vector", lambda v: v[::-1] * v[:1]),
            ("matrix", lambda v: v[:, None] * v[:2]),
        )
    ),
    Row(
        np.apply_over_axes,
        [REAL(2, 3, 2)],
        call=lambda f, x: f(lambda a, axis: (a * a).sum(axis), x, (0, -1)),
        nodes=6,
        complex=True,
    ),
    Row(
        np.apply_over_axes,
        [REAL(2, 3)],
        call=lambda f, x: f(lambda a, axis: a.sum(axis, keepdims=True), x, (1,)),
        note="keepdims",
    ),
]

ROWS: list[Row] = [*PICKED, *CHOSEN, *APPLIED]

CONSTANTS: list[Row] = [
    *(
        Row(function, [REAL(3, 3)])
        for function in (
            *(np.nonzero, np.flatnonzero, np.argwhere, np.nanargmax, np.nanargmin),
            *(np.diag_indices_from, np.tril_indices_from, np.triu_indices_from),
        )
    ),
    Row(np.nanargmax, [REAL(2, 3)], options={"axis": 0, "keepdims": True}),
]
