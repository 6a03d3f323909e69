"""Functions run natively and by NumPy, with nothing left to NumPy where that is said."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import tape_ad as ta
from tape_ad.base.trees import flatten
from tape_ad.programs.engines.native.native_engine import assembled

__all__ = ["agree", "agree_to_the_bit", "leaves", "natively", "same_bits"]

Array = Any


def natively(function: Callable[..., Any], *args: Any) -> tuple[list[Array], list[Array]]:
    """Give what native code returns, which runs all of it, and what the function returns."""
    fast = ta.compile(function, engine="native")
    for _ in range(3):
        found = fast(*args)
    assert [reason for _, reason in assembled(fast.programs[0]).left] == []
    return leaves(found), leaves(function(*args))


def leaves(tree: Any) -> list[Array]:
    """List what a function returns."""
    return list(flatten(tree))


def same_bits(found: Array, expected: Array) -> bool:
    """Compare arrays: any nan is like another."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if found.dtype.kind not in "fc":
        return np.array_equal(found, expected)
    signs = all(
        np.array_equal(np.signbit(part(found)), np.signbit(part(expected)))
        for part in (np.real, np.imag)
    )
    nans = np.isnan(found)
    return (signs or bool(nans.any())) and np.array_equal(found, expected, equal_nan=True)


def agree_to_the_bit(function: Callable[..., Any], *args: Any) -> None:
    """Assert that native code runs all of a function, and gives the same bits."""
    for place, (found, expected) in enumerate(zip(*natively(function, *args), strict=True)):
        assert same_bits(found, expected), (place, found, expected)


def agree(function: Callable[..., Any], *args: Any, units: float = 4.0, scale: Any = None) -> None:
    """Assert that native code runs all of a function, and gives the same but for rounding.

    Parameters
    ----------
    function : callable
    *args
    units : float
        How many units in the last place, of the result or of `scale`, they may differ.
    scale : array, optional
        What the rounding is in proportion to, where that is more than the result.
    """
    for found, expected in zip(*natively(function, *args), strict=True):
        assert np.shape(found) == np.shape(expected)
        dtype = np.asarray(expected).dtype
        assert np.asarray(found).dtype == dtype
        if dtype.kind not in "fc":
            assert np.array_equal(found, expected)
            continue
        size = np.abs(expected) if scale is None else scale
        allowed = units * np.finfo(dtype).eps * np.asarray(size)
        with np.errstate(invalid="ignore"):
            near = np.abs(np.asarray(found) - expected) <= allowed
        equal = (found == expected) | (np.isnan(found) & np.isnan(expected))
        assert np.all(near | equal), (found, expected)
