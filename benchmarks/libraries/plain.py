"""What the libraries that work on NumPy's arrays have in common."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Data", "Formula", "Outcome", "Program", "linear", "peak", "seed_like", "to_numpy"]

Data = dict[str, Any]
"""Arrays by name, and a few numbers."""

Outcome = tuple[Any, Data]
"""The value, and its derivatives by the names of what they are taken with respect to."""

Program = Callable[[], Outcome]

Formula = Callable[[Any, Any], Any]
"""``formula(p, data)``: what is differentiated with respect to `p`."""


def to_numpy(array: Any) -> np.ndarray[Any, Any]:
    return np.asarray(array)


def linear(x: Any, weight: Any, bias: Any) -> Any:
    return x @ weight + bias


def seed_like(value: Any) -> np.ndarray[Any, Any]:
    """Make a seed of a value's shape and dtype: not of ones, which would hide what sums to zero."""
    return np.linspace(0.5, 1.5, value.size, dtype=value.dtype).reshape(value.shape)


def peak(program: Program) -> int:
    """Give the largest number of bytes that a call holds beyond what was there before.

    NumPy reports its arrays to `tracemalloc`, and Python its objects.
    """
    program()  # so that what is made once and kept is there before
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        program()
        _, highest = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return highest - before
