"""Comparing what is replayed with what the function gives, call by call."""

import functools
from collections.abc import Sequence
from typing import Any

import tape_ad as ta
from tape_ad.programs.replay.verifying import check_alike
from tests.programs.natively import assert_native_agrees


def counting(function: Any, **options: Any) -> tuple[Any, list[int]]:
    """Compile a function, to the bit, and note in a list each time that it runs itself."""
    runs: list[int] = []

    @functools.wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        runs.append(1)
        return function(*args, **kwargs)

    return ta.compile(counted, **{"engine": "numpy"} | options), runs


def outcome(function: Any, args: tuple[Any, ...]) -> Any:
    """Call a function, and give its result or the type and text of its error."""
    try:
        return function(*args)
    except (ValueError, ArithmeticError, IndexError, TypeError) as error:
        return type(error).__name__, str(error)


def assert_like_eager(function: Any, calls: Sequence[tuple[Any, ...]], runs: int) -> Any:
    """Check, to the bit, that each call gives what the function gives.

    Native replays of what it has been captured as are as close as rounding allows.

    Parameters
    ----------
    function : callable
    calls : sequence of tuple
        The arguments of each call.
    runs : int
        How often the function itself may run.

    Returns
    -------
    Compiled
    """
    fast, ran = counting(function)
    for args in calls:
        check_alike("it", outcome(fast, args), outcome(function, args))
    assert len(ran) == runs
    assert_native_agrees(fast, *calls)
    return fast
