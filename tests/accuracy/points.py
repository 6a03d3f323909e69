"""Where functions are measured: at numbers of all sizes, and close to the delicate ones."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.accuracy.functions import Row

__all__ = ["RANGES", "points"]

Array = np.ndarray[Any, Any]

RANGES: Mapping[str, str] = {
    "ordinary": "between -10 and 10, spread evenly",
    "large": "from 10 to the largest number, or to where the function has overflowed",
    "small": "from the least number, a denormal one, to 1",
    "delicate": "close to zeros, poles and bounds, and to where the function overflows",
}
"""What the numbers are like, by the name that the page has for it."""


def points(row: Row, dtype: np.dtype[Any], count: int, seed: int = 0) -> dict[str, list[Array]]:
    """Draw operands, of each range about as many.

    Parameters
    ----------
    row : Row
    dtype : dtype
        float32 or float64.
    count : int
    seed : int

    Returns
    -------
    dict of str to list of ndarray
        By the names of those of `RANGES` in which the function is defined; the operands, one array
        each.
    """
    rng = np.random.default_rng(seed)
    form = np.finfo(dtype)
    least, most = np.log2(float(form.smallest_subnormal)), np.log2(float(form.max))

    def sized(low: float, high: float) -> list[Array]:
        return [
            np.exp2(rng.uniform(low, high, count)) * rng.choice([-1, 1], count)
            for _ in range(row.operands)
        ]

    drawn = {
        "ordinary": [rng.uniform(-10, 10, count) for _ in range(row.operands)],
        "large": sized(np.log2(10), min(most, np.log2(row.largest))),
        "small": sized(least, 0),
        "delicate": beside(row, count, rng),
    }
    within = {name: inside(row, [x.astype(dtype) for x in each]) for name, each in drawn.items()}
    return {name: operands for name, operands in within.items() if len(operands[0]) >= count / 4}


def beside(row: Row, count: int, rng: np.random.Generator) -> list[Array]:
    """Go from the delicate points away by less and less."""
    chosen = np.array(row.near)[rng.integers(0, len(row.near), count)].T
    return [
        point * (1 + np.exp2(rng.uniform(-55, -1, count)) * rng.choice([-1, 1], count))
        for point in chosen
    ]


def inside(row: Row, operands: list[Array]) -> list[Array]:
    """Leave out what is not in the domain, and what is too large for the dtype."""
    if row.low == 0:
        operands[0] = np.abs(operands[0])
    there = (operands[0] > row.low) & (operands[0] < row.high)
    for operand in operands:
        there &= np.isfinite(operand) & (operand != 0)
    return [operand[there] for operand in operands]
