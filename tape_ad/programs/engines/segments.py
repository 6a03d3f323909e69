"""Segments: native code in a row as the function of one call, and numbers where it finds them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import define

from tape_ad.programs.program import Value


@define(eq=False)
class Segment:
    """All that is native in a row, as the function of one call.

    Its results are arrays that it is given: the first two are memory that it needs.

    Attributes
    ----------
    run : callable
        ``run(table, *results, *operands) -> int``: 0, or the number of the guard that has failed,
        from 1, or -1 where NumPy has to do all.
    table : array of int64
    answers : dict of int to bool
        What each guard in it expects, by its number.
    checks : int
        In how many places it may end with another number than 0.
    loops : sequence
        What its addresses belong to: the different loops that it calls.
    fits, layouts
        ``fits(layouts, *foreign) -> int`` tells by 0 that operands which native code has not made
        lie as the table was made for.
    rows : sequence of array
        What else its addresses belong to.
    foreign : sequence of Value
        Those operands.
    """

    run: Callable[..., int]
    table: Any
    answers: dict[int, bool]
    checks: int
    loops: Sequence[Any]
    fits: Callable[..., int] | None = None
    layouts: Any = None
    rows: Sequence[Any] = ()
    foreign: Sequence[Value] = ()
    __name__: str = "native"

    def __call__(self, *arrays: Any) -> int:
        """Do it: with the results, and then the operands."""
        return self.run(self.table, *arrays)


def placed_number(number: Any) -> Any:
    """Put a number where native code finds it: an array of one element."""
    return np.array(number)


def element(array: Any) -> Any:
    """Take a number from where native code has put it."""
    return array[()]


def python_number(array: Any) -> Any:
    """Take a Python number from where native code has put it."""
    return array.item()
