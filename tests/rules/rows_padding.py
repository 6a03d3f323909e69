"""Rows for padding, in every mode."""

from typing import Any

import numpy as np

from tape_ad.rules.numpy.padding import pad
from tests.rules.table import DISTINCT, REAL, Row

__all__ = ["ROWS"]

WIDTHS: Any = ((1, 2), (0, 3))
LONG: Any = ((5, 4), (11, 0))  # several times as long as what is padded
JOINED = 30
"""How many nodes there are at most where margins are joined to two axes."""

COPYING = ("edge", "wrap", "reflect", "symmetric")
STATISTICS = ("mean", "median", "maximum", "minimum")


def padded(mode: str, widths: Any, **options: Any) -> dict[str, Any]:
    """List the options of a row."""
    return {"pad_width": widths, "mode": mode, **options}


ROWS: list[Row] = [
    *(
        Row(np.pad, [REAL(3, 4)], options=padded(mode, WIDTHS), complex=True, nodes=nodes)
        for mode, nodes in (
            *((mode, 1) for mode in ("constant", *COPYING)),
            *((mode, JOINED) for mode in ("linear_ramp", "mean")),
        )
    ),
    *(Row(np.pad, [REAL(2, 3)], options=padded(mode, LONG)) for mode in COPYING),
    *(
        Row(
            np.pad,
            [REAL(*shape)],
            options=padded(mode, widths, reflect_type="odd"),
            complex=True,
            nodes=100 if widths == LONG else JOINED,
        )
        for mode in ("reflect", "symmetric")
        for shape, widths in (((3, 4), WIDTHS), ((2, 3), LONG), ((1, 2), 3))
    ),
    *(Row(np.pad, [REAL(1, 2)], options=padded(mode, 3)) for mode in COPYING),
    *(
        Row(np.pad, [REAL(1, 3)], options=padded(mode, (2, 1)), nodes=JOINED)
        for mode in STATISTICS[:2]
    ),
    *(
        Row(
            np.pad,
            [DISTINCT(3, 4)],
            options=padded(mode, widths, stat_length=length),
            nodes=JOINED,
        )
        for mode in STATISTICS
        for widths, length in ((WIDTHS, None), (2, 2), ((0, 2), ((1, 3), (2, 9))), ((2, 0), 3))
    ),
    Row(np.pad, [REAL(3)], options=padded("constant", 2, constant_values=(1.5, -2))),
    Row(np.pad, [REAL(2, 3)], options=padded("constant", 1, constant_values=((1, 2), (3, 4)))),
    *(
        Row(np.pad, [REAL(2, 3)], options=padded("linear_ramp", widths, end_values=ends), nodes=18)
        for widths, ends in ((2, ((1, 2), (3, 4))), ((0, 1), 2.5))
    ),
    *(
        Row(
            np.pad,
            [REAL(2, 2, 3)],
            options=padded(mode, widths),
            call=lambda f, x, v=0, *, mode, name=name, **o: f(x, mode=mode, **{name: v}, **o),
            prepare=lambda x, key=key: [x[1], x[key]],
            note=f"values {note}",
            complex=True,
            nodes=40,
            no_jax="JAX does not trace the values" if mode == "linear_ramp" else "",
        )
        for mode, name in (("constant", "constant_values"), ("linear_ramp", "end_values"))
        for key, widths, note in (
            ((0, 0, 0), 2, "()"),
            ((0, 0, slice(2)), ((1, 2), (0, 3)), "(2,)"),
            ((0, slice(None), slice(2)), ((1, 2), (3, 1)), "(2, 2)"),
            ((0, slice(None), slice(1)), ((0, 2), (3, 0)), "(2, 1)"),
            ((0, slice(None), slice(1)), 0, "none"),
        )
    ),
    Row(
        np.pad,
        [REAL(2, 3)],
        options=padded("empty", ((1, 2), (2, 0))),
        call=lambda f, x, **options: f(x, **options)[1:3, 2:],
        complex=True,
        nodes=2,
    ),
    *(Row(np.pad, [REAL(2, 3)], options=padded(mode, 0)) for mode in ("constant", "edge", "mean")),
    Row(np.pad, [REAL(0, 3)], options=padded("constant", 1)),
    Row(np.pad, [REAL(0, 3)], options=padded("wrap", ((0, 0), (1, 2)))),
    Row(np.pad, [REAL()], options=padded("constant", 0)),
    *(
        Row(pad, [REAL(2, 3)], options=padded(mode, WIDTHS), jax="numpy.pad")
        for mode in ("constant", "reflect")
    ),
]
