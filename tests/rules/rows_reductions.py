"""Rows for functions that reduce axes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.rules.table import DISTINCT, REAL, Domain, Row, fixed

__all__ = ["CONSTANTS", "ROWS"]


def reduction(
    function: Callable[..., Any], domain: Domain, *options: dict[str, Any], **fields: Any
) -> list[Row]:
    """Make the rows of a reduction: every way to write the axis, then further options."""
    axes: tuple[dict[str, Any], ...] = (
        {"axis": None},
        {"axis": 1},
        {"axis": -1, "keepdims": True},
        {"axis": (0, -1)},
        {"axis": (-2, 0), "keepdims": True},
    )
    return [
        *(Row(function, [domain(2, 3, 4)], options=each, **fields) for each in (*axes, *options)),
        Row(function, [domain(0, 3)], options={"axis": 1}, **fields),
        Row(function, [domain(4)], **fields),
    ]


def of_single_elements(
    function: Callable[..., Any], domain: Domain, **fields: Any
) -> tuple[Row, Row]:
    """Make the rows of a reduction that has nothing to reduce."""
    return (
        Row(function, [domain()], options={"axis": None}, **fields),
        Row(function, [domain(2, 3)], options={"axis": ()}, **fields),
    )


PRODUCTS = [
    *(
        Row(
            function,
            [operand],
            options={"axis": axis},
            note=note,
            complex=True,
            nodes=16,
            jax="numpy.prod",
        )
        for function in (np.prod, np.multiply.reduce)
        for axis in (None, -1)
        for note, operand in (
            ("no zero", fixed([[1.5, -0.5, 2.0], [0.7, 1.1, -0.9]])),
            ("one zero", fixed([[1.5, 0.0, 2.0], [0.7, 1.1, -0.9]])),
            ("two zeros", fixed([[1.5, 0.0, 2.0], [0.0, 0.0, -0.9]])),
        )
    )
]

SPREADS = ({"ddof": 1}, {"axis": 0, "ddof": 1.5}, {"axis": 0, "dtype": "float64"})
JAX_STD = "JAX's derivative of std is nan where all elements are equal"

ROWS: list[Row] = [
    *reduction(np.sum, REAL, {"dtype": "float64"}),
    *reduction(np.add.reduce, REAL, {"axis": 0, "dtype": "float64"}, jax="numpy.sum"),
    *reduction(np.mean, REAL, {"dtype": "float64"}),
    *reduction(np.prod, REAL, {"dtype": "float64"}, nodes=30),
    *reduction(np.multiply.reduce, REAL, nodes=30, jax="numpy.prod"),
    *reduction(np.max, DISTINCT),
    *reduction(np.min, DISTINCT),
    *reduction(np.maximum.reduce, DISTINCT, jax="numpy.max"),
    *reduction(np.minimum.reduce, DISTINCT, jax="numpy.min"),
    *reduction(np.var, REAL, *SPREADS, {"correction": 1}),
    *reduction(np.std, REAL, *SPREADS, {"correction": 1}),
    *of_single_elements(np.sum, REAL),
    *of_single_elements(np.mean, REAL),
    *of_single_elements(np.prod, REAL, nodes=3),
    *of_single_elements(np.max, REAL),
    *of_single_elements(np.min, REAL),
    *of_single_elements(np.var, REAL),
    *of_single_elements(np.std, REAL, no_jax=JAX_STD),
    *(
        Row(function, [REAL(2, 3)], options=options, nodes=16, complex=True, note="c")
        for function in (np.sum, np.mean, np.prod, np.var, np.std)
        for options in ({}, {"axis": -1}, {"axis": 0, "keepdims": True})
    ),
    *(
        Row(function, [REAL(2, 3)], options={"dtype": "complex128"}, nodes=16)
        for function in (np.sum, np.mean, np.prod)
    ),
    *PRODUCTS,
]

CONSTANTS: list[Row] = [
    *(
        Row(function, [REAL(2, 3)], options=options)
        for function in (np.argmax, np.argmin, np.any, np.all, np.count_nonzero)
        for options in ({}, {"axis": 1})
    ),
    Row(np.logical_and.reduce, [REAL(2, 3)]),
    Row(np.logical_or.reduce, [REAL(2, 3)]),
    Row(np.array_equal, [REAL(2, 3), REAL(2, 3)]),
    Row(np.allclose, [REAL(2, 3), REAL(2, 3)]),
]
