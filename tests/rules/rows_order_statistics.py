"""Rows for medians, percentiles and quantiles."""

from typing import Any

import numpy as np

from tests.rules.table import DISTINCT, Row, fixed, uniform

__all__ = ["ROWS"]

AXES: tuple[dict[str, Any], ...] = (
    {"axis": None},
    {"axis": 1},
    {"axis": -1, "keepdims": True},
    {"axis": (0, -1)},
    {"axis": (2, 0), "keepdims": True},
)
CONTINUOUS = (
    "linear",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
    "interpolated_inverted_cdf",
)
JUMPING = (
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "lower",
    "higher",
    "midpoint",
    "nearest",
)
NO_METHOD = "JAX has other methods"
HOLES = [
    [[1.5, -0.5, np.nan, 0.3], [np.nan, 0.7, -0.6, -0.9], [0.4, -1.9, 0.8, 1.7]],
    [[0.6, np.nan, 1.2, -0.8], [-1.1, 0.9, 2.0, -0.2], [np.nan, -0.7, 1.1, -1.4]],
]
WEIGHTS = np.array([0.5, 2.0, 0.7, 1.1])


def at(q: Any) -> Any:
    """Make the call with constant probabilities."""

    def call(function: Any, a: Any, **options: Any) -> Any:
        return function(a, np.asarray(q), **options)

    return call


ROWS: list[Row] = [
    *(
        Row(function, [operand], options=options, note=note)
        for function in (np.median, np.nanmedian)
        for note, operand in (
            ("", DISTINCT(2, 3, 4)),
            *([("nan", fixed(HOLES))] if function is np.nanmedian else []),
        )
        for options in AXES
    ),
    *(Row(function, [DISTINCT()]) for function in (np.median, np.nanmedian)),
    *(Row(function, [DISTINCT(5)]) for function in (np.median, np.nanmedian)),
    *(
        Row(function, [DISTINCT(0, 3)], options={"axis": 1}, no_jax="JAX has none of nothing")
        for function in (np.median, np.nanmedian)
    ),
    *(
        Row(function, [operand], options=options, call=at(q), note=f"{q} {note}")
        for function, scale in (
            (np.quantile, 1),
            (np.nanquantile, 1),
            (np.percentile, 100),
            (np.nanpercentile, 100),
        )
        for q in (0.3 * scale, [0.0 * scale, 0.45 * scale, 1.0 * scale])
        for note, operand in (
            ("", DISTINCT(2, 3, 4)),
            *([("nan", fixed(HOLES))] if function.__name__.startswith("nan") else []),
        )
        for options in AXES
    ),
    *(
        Row(
            function,
            [DISTINCT(3, 6)],
            options={"method": method, "axis": axis},
            call=at([[0.15, 0.4], [0.5, 0.85]]),
            no_jax=NO_METHOD,
        )
        for function in (np.quantile, np.nanquantile)
        for method in (*CONTINUOUS, *JUMPING)
        for axis in (None, 1)
    ),
    *(
        Row(
            function,
            [DISTINCT(2, 3, 4), uniform(0.27 * scale, 0.31 * scale)(2, 3)],
            options={"axis": axis, "keepdims": kept},
            no_jax="NumPy mixes the axes of the probabilities with the array's",
        )
        for function, scale in ((np.nanquantile, 1), (np.nanpercentile, 100))
        for axis in ((0, 2), (1,), ())
        for kept in (False, True)
    ),
    *(
        Row(
            function,
            [DISTINCT(3, 4), uniform(0.27 * scale, 0.31 * scale)(*shape)],
            options={"axis": 0, "method": method},
            note="q",
            no_jax="" if method == "linear" else NO_METHOD,
        )
        for function, scale in (
            (np.quantile, 1),
            (np.nanquantile, 1),
            (np.percentile, 100),
            (np.nanpercentile, 100),
        )
        for method in CONTINUOUS
        for shape in ((), (2,))
    ),
    Row(
        np.nanquantile,
        [fixed(HOLES), fixed([0.2, 0.7])],
        options={"axis": -1, "keepdims": True},
        note="q nan",
    ),
    *(
        Row(
            function,
            [DISTINCT(3, 4)],
            options={"method": "inverted_cdf", "weights": weights, "axis": axis},
            call=at([0.2, 0.6]),
            note=f"weights {axis}",
            no_jax="JAX takes no weights",
        )
        for function in (np.quantile, np.nanquantile)
        for weights, axis in (
            *([(WEIGHTS, 1)] if function is np.quantile else []),  # NumPy has an error there
            (np.add.outer(WEIGHTS[:3], WEIGHTS), 1),
            (np.add.outer(WEIGHTS[:3], WEIGHTS), None),
            (np.add.outer(WEIGHTS, WEIGHTS[:3]), (1, 0)),
        )
    ),
]
