"""Sums over partitions, in an order that depends on nothing but how many there are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import field, frozen


@frozen(eq=False)
class Failure:
    """An exception on a partition.

    Attributes
    ----------
    partition : int
    doing : str
        What was done then: reading or computing.
    error : Exception or None
        None where it cannot be sent.
    text : str
        Its traceback.
    """

    partition: int
    doing: str
    error: Exception | None
    text: str


@frozen(eq=False)
class Sum:
    """The sum over the partitions from `first` to before `stop`.

    Attributes
    ----------
    first, stop : int
    rows : int
        How many rows those have.
    weight : float
        The sum of the weights: the number of rows for a mean, and 1 for each partition for a sum.
    value : float
        The sum of the losses, each times its weight.
    dtype : dtype, optional
        Of the losses.
    slopes : list, optional
        The sum of the gradients, each times its weight, as the leaves of their structure; None
        where no partition has rows.
    aux : dict of int to any
        What else the loss gave, by partition.
    nan : tuple of (int, str)
        The partitions where the loss or its gradient is nan, and which of them.
    failure : Failure, optional
        The first one. There are no numbers then.
    """

    first: int
    stop: int
    rows: int = 0
    weight: float = 0.0
    value: float = 0.0
    dtype: Any = None
    slopes: list[Any] | None = None
    aux: dict[int, Any] = field(factory=dict)
    nan: tuple[tuple[int, str], ...] = ()
    failure: Failure | None = None

    def __add__(self, other: "Sum") -> "Sum":
        """Add the sum over the partitions that follow.

        Raises
        ------
        RuntimeError
            When one was left out or counted twice.
        """
        if self.stop != other.first:
            raise RuntimeError(
                f"partitions {self.first} to {self.stop} do not go before {other.first} to "
                f"{other.stop}: one was lost or counted twice, which is a fault of tape_ad"
            )
        if self.failure is not None or other.failure is not None:
            failure = self.failure if self.failure is not None else other.failure
            return Sum(self.first, other.stop, failure=failure)
        slopes: list[Any] | None
        if self.slopes is None or other.slopes is None:
            slopes = other.slopes if self.slopes is None else self.slopes
        else:
            slopes = [sum_of(*pair) for pair in zip(self.slopes, other.slopes, strict=True)]
        return Sum(
            self.first,
            other.stop,
            self.rows + other.rows,
            self.weight + other.weight,
            self.value + other.value,
            other.dtype if self.dtype is None else self.dtype,
            slopes,
            self.aux | other.aux,
            self.nan + other.nan,
        )


def sum_of(one: Any, other: Any) -> Any:
    """Add two arrays; what is no array is the same in all gradients."""
    return one + other if isinstance(one, (np.ndarray, np.generic)) else one


class Summing:
    """Adds what comes one after the other, as `added` does, with few sums in memory.

    It counts in binary: two sums over as many partitions become one.
    """

    def __init__(self) -> None:
        self.sums: list[tuple[int, Sum]] = []

    def add(self, one: Sum) -> None:
        """Add one sum; sums of equally many items are added in pairs."""
        size = 1
        while self.sums and self.sums[-1][0] == size:
            one = self.sums.pop()[1] + one
            size *= 2
        self.sums.append((size, one))

    def total(self) -> Sum:
        """Add what there is, the last first, for it is of the fewest."""
        _, total = self.sums[-1]
        for _, one in reversed(self.sums[:-1]):
            total = one + total
        return total


def added(sums: Sequence[Sum]) -> Sum:
    """Add sums in a binary tree, whose shape depends on their number alone.

    The left part of a tree holds the largest power of two below the number of leaves. So a tree of
    64 leaves is also the tree of 8 that are sums of 8, and as many may be added on one worker.
    """
    summing = Summing()
    for one in sums:
        summing.add(one)
    return summing.total()
