"""Which part of long tables a run of all tests tries.

With TAPE_AD_EVERY_ROW=1 in the environment that is all of them, and with TAPE_AD_SHARE=1 or 2 it is
other parts than without.
"""

import os
from collections.abc import Iterable
from typing import TypeVar

import pytest

__all__ = ["EVERY_ROW", "SHARE", "falls", "one_share_in_three", "some"]

Row = TypeVar("Row")

EVERY_ROW = os.environ.get("TAPE_AD_EVERY_ROW") == "1"
SHARE = int(os.environ.get("TAPE_AD_SHARE", "0"))


def falls(number: int, step: int) -> bool:
    """Tell whether this run tries what has a number: one in as many as `step`, or everything."""
    return EVERY_ROW or (number + SHARE) % step == 0


def one_share_in_three(number: int) -> pytest.MarkDecorator:
    """Leave a test that takes long to one of three runs, the one with that share."""
    return pytest.mark.skipif(
        not (EVERY_ROW or number == SHARE), reason=f"TAPE_AD_SHARE={number} runs it"
    )


def some(rows: Iterable[Row], step: int, first: int = 0) -> list[Row]:
    """Take one row in as many as `step`, or every row where that is asked for.

    Parameters
    ----------
    rows : iterable
    step : int
    first : int
        The place of the first that is taken in the run with no share named.

    Examples
    --------
    >>> len(some(range(10), 5)) in {2, 10}
    True
    """
    every = list(rows)
    return every if EVERY_ROW else every[(first + SHARE) % step :: step]
