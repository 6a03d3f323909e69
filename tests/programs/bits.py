"""Comparing results bit for bit, and telling a replay from a run."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import define, field

import tape_ad as ta
from tape_ad.base.trees import with_paths
from tests.programs.natively import assert_native_agrees

__all__ = ["Counted", "all_same", "nearly_same", "replayed"]

Function = Callable[..., Any]
PATIENCE = 4
"""How many calls it takes at most until a path is replayed: two captures, and one that diverges."""


@define(eq=False)
class Counted:
    """A function that counts how often it has run, which it does not do in a replay."""

    function: Function
    __name__: str = "counted"
    runs: int = field(default=0, init=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.runs += 1
        return self.function(*args, **kwargs)


def same_bits(one: Any, other: Any, path: str = "") -> None:
    """Assert that two leaves are of one kind, dtype and shape, with the same bits."""
    assert type(one) is type(other), f"{type(one)} in place of {type(other)} {path}"
    if not isinstance(one, (np.ndarray, np.generic)):
        assert one == other or (one != one and other != other), path
        return
    assert (one.dtype, one.shape) == (other.dtype, other.shape), path
    if isinstance(one, np.ndarray):
        assert one.flags.writeable == other.flags.writeable, f"writeable {path}"
    if one.tobytes() != other.tobytes():
        np.testing.assert_array_equal(one, other, err_msg=path)
        for part in (np.real, np.imag):
            signs = np.signbit(part(one)), np.signbit(part(other))
            numbers = ~np.isnan(part(one))
            assert np.array_equal(*(each & numbers for each in signs)), f"signed zero {path}"


def all_same(one: Any, other: Any) -> None:
    """Assert that two trees hold the same bits."""
    ours, theirs = with_paths(one), with_paths(other)
    assert [path for path, _ in ours] == [path for path, _ in theirs]
    for (path, mine), (_, yours) in zip(ours, theirs, strict=True):
        same_bits(mine, yours, path)


def nearly_same(one: Any, other: Any) -> None:
    """Assert that two trees hold the same numbers up to rounding."""
    ours, theirs = with_paths(one), with_paths(other)
    for (path, mine), (_, yours) in zip(ours, theirs, strict=True):
        if yours is not None:
            np.testing.assert_allclose(mine, yours, rtol=1e-11, atol=1e-13, err_msg=path)


def replayed(
    function: Function,
    *points: Sequence[Any],
    same: Callable[[Any, Any], None] = all_same,
    natively: bool = True,
    **options: Any,
) -> Any:
    """Capture a function at the first point, and assert that replays at all give what it gives.

    Those of NumPy's engine give the same bits, and native ones, where they are asked for, are as
    close as rounding allows.

    Returns
    -------
    Compiled
    """
    counted = Counted(function)
    fast = ta.compile(counted, **{"engine": "numpy"} | options)
    for point in points:
        expected = function(*point)
        for _ in range(PATIENCE):
            before = counted.runs
            same(fast(*point), expected)
            if counted.runs == before:
                break
        assert counted.runs == before, "it is captured again and again, and never replayed"
    if natively:
        assert_native_agrees(fast, *points)
    return fast
