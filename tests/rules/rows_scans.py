"""Rows for cumulative sums and products, and for what they are made of."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.rules.numpy.scans import recurrence
from tests.rules.table import DISTINCT, REAL, Row, fixed

__all__ = ["ROWS"]

CUMULATIVE: tuple[dict[str, Any], ...] = ({}, {"axis": 0}, {"axis": -1}, {"axis": 1})


def scan(name: str) -> Callable[..., Any]:
    """Get PyTorch's scan of a name, which may give places beside the values."""

    def counterpart(torch: Any) -> Any:
        def function(x: Any, axis: int = 0, dtype: Any = None) -> Any:
            result = getattr(torch, name)(x, axis)
            return getattr(result, "values", result) if isinstance(result, tuple) else result

        return function

    return counterpart


ROWS: list[Row] = [
    *(
        Row(function, [REAL(2, 3, 4)], options=options, complex=True)
        for function in (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod)
        for options in CUMULATIVE
    ),
    *(
        Row(function, [operand], note=note)
        for function in (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod)
        for note, operand in (("", REAL()), ("", REAL(0)), ("", REAL(1)), ("", REAL(17)))
    ),
    *(
        Row(function, [REAL(2, 3)], options={"axis": 0, "dtype": "complex128"})
        for function in (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod)
    ),
    *(
        Row(np.cumprod, [fixed(values)], options={"axis": -1}, note=note, complex=True)
        for note, values in (
            ("one zero", [[1.5, 0.0, 2.0, -0.7], [0.7, 1.1, -0.9, 0.0]]),
            ("two zeros", [[1.5, 0.0, 2.0, 0.0], [0.0, 0.0, -0.9, 1.3]]),
        )
    ),
    *(
        Row(ufunc.accumulate, [domain(3, 4)], options=options, no_jax=no_jax, torch=torch)
        for ufunc, domain, no_jax, torch in (
            (np.add, REAL, "", ""),
            (np.subtract, REAL, "", ""),
            (np.multiply, REAL, "", ""),
            (np.divide, REAL, "JAX's divide is no ufunc", ""),
            (np.maximum, DISTINCT, "", ""),
            (np.minimum, DISTINCT, "", ""),
            (np.fmax, DISTINCT, "JAX's fmax is no ufunc", scan("cummax")),
            (np.fmin, DISTINCT, "JAX's fmin is no ufunc", scan("cummin")),
            (np.logaddexp, REAL, "", ""),
            (np.logaddexp2, REAL, "", ""),
        )
        for options in ({"axis": 0}, {"axis": 1}, {"axis": -2, "dtype": "float64"})
    ),
    *(
        Row(ufunc.accumulate, [REAL(0)], no_jax="JAX has no scan of nothing", torch=torch)
        for ufunc, torch in (
            (np.add, scan("cumsum")),
            (np.multiply, scan("cumprod")),
            (np.maximum, ""),
        )
    ),
    *(
        Row(
            recurrence,
            [REAL(*shape[:-1], max(shape[-1] - 1, 0)), REAL(*shape)],
            options={"axis": -1},
            note="last",
            complex=True,
            no_jax="JAX has no such function",
        )
        for shape in ((6,), (2, 5), (2, 1), (0,), (3, 17))
    ),
    Row(
        recurrence,
        [REAL(3, 2), REAL(2, 4, 2)],
        options={"axis": -2},
        note="fewer axes",
        no_jax="JAX has no such function",
    ),
]
if hasattr(np, "cumulative_sum"):  # since NumPy 2.1
    ROWS += [
        Row(function, [REAL(2, 3)], options=options, nodes=3, complex=True)
        for function in (np.cumulative_sum, np.cumulative_prod)
        for options in ({"axis": 0}, {"axis": 1, "include_initial": True})
    ]
    ROWS += [
        Row(function, [REAL(4)], nodes=2) for function in (np.cumulative_sum, np.cumulative_prod)
    ]
