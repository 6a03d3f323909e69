"""Rows of a matrix, taken by number: what embeddings are made of."""

import math
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.linear_maps import Adjoint, Array
from tape_ad.overrides import overridable
from tape_ad.rules.base import Entry, rule

__all__ = ["EMBEDDING", "sum_rows", "take_rows"]


@overridable
def take_rows(table: Array, /, numbers: Array) -> Array:
    """Take rows of a matrix by number.

    Parameters
    ----------
    table : array or Tensor, shape (..., rows, width)
    numbers : array of int, any shape

    Returns
    -------
    array or Tensor, shape (..., *numbers.shape, width)

    Examples
    --------
    >>> take_rows(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 1, 0]))
    array([[3., 4.],
           [3., 4.],
           [1., 2.]])
    """
    return table[..., numbers, :]


@overridable
def sum_rows(ct: Array, /, numbers: Array, rows: int) -> Array:
    """Add up rows of the same number: `take_rows` turned around.

    Only the rows that have a number are worked on, so the others cost no more than their memory.

    Parameters
    ----------
    ct : array or Tensor, shape (..., *numbers.shape, width)
    numbers : array of int, any shape
    rows : int
        How many rows to give.

    Returns
    -------
    array or Tensor, shape (..., rows, width)

    Examples
    --------
    >>> sum_rows(np.array([[3.0], [4.0], [5.0]]), np.array([1, 1, 0]), 3)
    array([[5.],
           [7.],
           [0.]])
    """
    stack, width = ct.shape[: ct.ndim - numbers.ndim - 1], ct.shape[-1]
    out = np.zeros((*stack, rows, width), ct.dtype)
    # One number for each element, for np.add.at is several times as fast on one axis as on rows
    places = (numbers[..., None] * width + np.arange(width)).reshape(-1)
    for total, each in zip(
        out.reshape((math.prod(stack), rows * width)),
        ct.reshape((math.prod(stack), numbers.size * width)),
        strict=True,
    ):
        np.add.at(total, places, each)
    return out


@define(eq=False, repr=False)
class Rows:
    """`take_rows`, as a map."""

    broadcasts: ClassVar[bool] = False
    numbers: Array
    rows: int

    def push(self, t: Array) -> Array:
        return take_rows(t, self.numbers)

    def pull(self, ct: Array) -> Array:
        return sum_rows(ct, self.numbers, self.rows)


EMBEDDING: dict[Any, Entry] = {
    take_rows: rule(
        lambda out, table, numbers: Rows(numbers, table.shape[-2]),
        signature=lambda table, numbers: ((table,), {"numbers": numbers}),
    ),
    sum_rows: rule(
        lambda out, ct, numbers, rows: Adjoint(Rows(numbers, rows)),
        signature=lambda ct, numbers, rows: ((ct,), {"numbers": numbers, "rows": rows}),
    ),
}
