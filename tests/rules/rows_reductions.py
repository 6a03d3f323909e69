"""Rows for functions that reduce axes."""

from collections.abc import Callable
from typing import Any

import numpy as np

import tape_ad as ta
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
JAX_WHERE = "JAX's derivative of var and std is not NumPy's where some elements are left out"
JAX_STD = "JAX's derivative of std is nan where all elements are equal"

SOME = np.array(
    [
        [True, False, True, True],
        [True, True, True, False],
        [True, True, False, True],
        [False, True, True, True],
    ]
)
WHERE: tuple[dict[str, Any], ...] = (
    {"axis": 1},
    {"axis": -1, "keepdims": True},
    {"axis": (0, 2)},
)

SELECTING = [
    *(
        Row(
            function,
            [REAL(2, 4, 4)],
            options={**options, "where": SOME, **({"initial": 1.5} if initial else {})},
            note="where",
            complex=True,
            no_jax=no_jax,
        )
        for function, initial, no_jax in (
            (np.sum, False, ""),
            (np.sum, True, ""),
            (np.add.reduce, True, ""),
            (np.prod, False, ""),
            (np.prod, True, ""),
            (np.multiply.reduce, True, ""),
            (np.mean, False, ""),
            (np.var, False, JAX_WHERE),
            (np.std, False, JAX_WHERE),
        )
        for options in WHERE
    ),
    *(
        Row(
            function,
            [DISTINCT(2, 4, 4)],
            options={**options, "where": SOME, "initial": initial},
            note="where",
        )
        for function, initial in ((np.max, -0.5), (np.min, 0.5))
        for options in WHERE
    ),
    *(
        Row(function, [REAL(2, 3)], options={"axis": 1, "initial": 0.7}, complex=True, note="start")
        for function in (np.sum, np.prod)
    ),
]

HOLES = [
    [[1.5, -0.5, np.nan, 0.3], [np.nan, 0.7, -0.6, -0.9], [0.4, -1.9, 0.8, 1.7]],
    [[0.6, np.nan, 1.2, -0.8], [-1.1, 0.9, 2.0, -0.2], [np.nan, -0.7, 1.1, -1.4]],
]

WITHOUT_NAN = [
    *(
        Row(function, [fixed(HOLES)], options={**options, **each}, note="nan", complex=True)
        for function in (np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd)
        for options in (
            {"axis": None},
            {"axis": 1},
            {"axis": -1, "keepdims": True},
            {"axis": (0, -1)},
        )
        for each in (({}, {"ddof": 1}) if function in (np.nanvar, np.nanstd) else ({},))
    ),
    *(
        Row(function, [fixed(HOLES)], options=options, note="nan")
        for function in (np.nanmax, np.nanmin)
        for options in ({"axis": None}, {"axis": 1}, {"axis": (0, -1), "keepdims": True})
    ),
    *(
        Row(
            function,
            [fixed(HOLES)],
            options={
                "axis": -1,
                "where": SOME[:3],
                **({} if initial is None else {"initial": initial}),
            },
            note="nan where",
        )
        for function, initial in (
            (np.nansum, 0.7),
            (np.nanprod, 0.7),
            (np.nanmean, None),
            (np.nanmax, -5.0),
            (np.nanmin, 5.0),
            (np.nanvar, None),
            (np.nanstd, None),
        )
    ),
]


def with_mean(function: Any, a: Any, mean: Any, **options: Any) -> Any:
    """Call a variance with the mean that it is to take; NumPy asks nobody but `a` about handles."""
    if isinstance(mean, ta.Tensor) and not isinstance(a, ta.Tensor):
        a = a + 0 * mean
    return function(a, mean=mean, **options)


ROWS: list[Row] = [
    *reduction(np.sum, REAL, {"dtype": "float64"}),
    *reduction(np.add.reduce, REAL, {"axis": 0, "dtype": "float64"}, jax="numpy.sum"),
    *reduction(np.mean, REAL, {"dtype": "float64"}),
    *reduction(np.prod, REAL, {"dtype": "float64"}),
    *reduction(np.multiply.reduce, REAL, jax="numpy.prod"),
    *reduction(np.max, DISTINCT),
    *reduction(np.min, DISTINCT),
    *reduction(np.amax, DISTINCT, jax="numpy.max"),
    *reduction(np.amin, DISTINCT, jax="numpy.min"),
    *reduction(np.ptp, DISTINCT),
    *reduction(np.maximum.reduce, DISTINCT, jax="numpy.max"),
    *reduction(np.minimum.reduce, DISTINCT, jax="numpy.min"),
    *reduction(np.fmax.reduce, DISTINCT, jax="numpy.max"),
    *reduction(np.fmin.reduce, DISTINCT, jax="numpy.min"),
    *reduction(np.var, REAL, *SPREADS, {"correction": 1}),
    *reduction(np.std, REAL, *SPREADS, {"correction": 1}),
    *(
        Row(function, [REAL()], options={"axis": axis}, no_jax="JAX has no such axis")
        for function, axis in (
            *((np.max, 0), (np.min, -1), (np.ptp, 0), (np.sum, 0), (np.prod, -1)),
            *((np.nanmax, 0), (np.nanmin, -1), (np.nansum, 0)),
        )
    ),
    *of_single_elements(np.sum, REAL),
    *of_single_elements(np.mean, REAL),
    *of_single_elements(np.prod, REAL),
    *of_single_elements(np.max, REAL),
    *of_single_elements(np.min, REAL),
    *of_single_elements(np.var, REAL),
    *of_single_elements(np.std, REAL, no_jax=JAX_STD),
    *(
        Row(function, [REAL(2, 3)], options=options, complex=True, note="c")
        for function in (np.sum, np.mean, np.prod, np.var, np.std)
        for options in ({}, {"axis": -1}, {"axis": 0, "keepdims": True})
    ),
    *(
        Row(function, [REAL(2, 3)], options={"dtype": "complex128"})
        for function in (np.sum, np.mean, np.prod)
    ),
    *PRODUCTS,
    *SELECTING,
    *WITHOUT_NAN,
    *(
        Row(
            function,
            [REAL(2, 3, 4) if function in (np.var, np.std) else fixed(HOLES), REAL(*mean)],
            options={"axis": axis},
            call=with_mean,
            note="mean",
            complex=True,
            mixed=False,  # NumPy's variance of real elements about a complex mean is no variance
            noticed=None if function in (np.var, np.std) else [0],
            no_jax="JAX's function takes no mean",
        )
        for function in (np.var, np.std, np.nanvar, np.nanstd)
        for mean, axis in (((2, 3, 1), -1), ((1, 3, 1), (0, 2)), ((), 1))
    ),
]

CONSTANTS: list[Row] = [
    *(
        Row(function, [REAL(2, 3)], options=options)
        for function in (np.argmax, np.argmin, np.any, np.all, np.count_nonzero)
        for options in ({}, {"axis": 1})
    ),
    Row(np.logical_and.reduce, [REAL(2, 3)]),
    Row(np.logical_or.reduce, [REAL(2, 3)]),
    Row(np.logical_xor.reduce, [REAL(2, 3)]),
    Row(np.array_equiv, [REAL(2, 3), REAL(3)]),
    Row(np.array_equal, [REAL(2, 3), REAL(2, 3)]),
    Row(np.allclose, [REAL(2, 3), REAL(2, 3)]),
]
