"""Errors of sums, against those that are rounded once."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.accuracy.computing import Array, Function, native

__all__ = ["COUNTS", "DRAWS", "errors"]

DRAWS: Mapping[str, Callable[[np.random.Generator, int], Array]] = {
    "between 0 and 1": lambda rng, count: rng.uniform(size=count),
    "normal": lambda rng, count: rng.normal(size=count),
    "of all sizes": lambda rng, count: rng.normal(size=count) * 2.0 ** rng.integers(-30, 30, count),
}
"""What numbers are added, by the name that the page has for it."""
COUNTS = (10, 100, 1000, 100_000)
TIMES = 20


def errors(draw: str, dtype: np.dtype[Any], count: int) -> tuple[float, float]:
    """Give the largest errors of native code and of NumPy.

    Parameters
    ----------
    draw : str
        One of `DRAWS`.
    dtype : dtype
    count : int
        How many numbers are added.

    Returns
    -------
    tuple of float
        Divided by eps times the sum of the absolute values.
    """
    rng = np.random.default_rng(count)
    arrays = [DRAWS[draw](rng, count).astype(dtype) for _ in range(TIMES)]
    return error(native(np.sum, arrays[0]), arrays), error(np.sum, arrays)


def error(add: Function, arrays: list[Array]) -> float:
    """Give the largest error of some sums."""
    found = 0.0
    for x in arrays:
        numbers = x.tolist()
        scale = 2.0 ** -np.finfo(x.dtype).nmant * math.fsum(map(abs, numbers))
        found = max(found, abs(float(add(x)) - math.fsum(numbers)) / scale)
    return found
