"""What the steps of a Runge-Kutta method are made of, each a node of its own."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules.base import Call, Entry, jointly
from tape_ad.rules.maps import SAME, Array, Partial, adjoint
from tape_ad.rules.maps.patterns import dense, rows_of

__all__ = ["STEPS", "Functional", "advanced"]


@overridable
def advanced(weights: Array, h: Array, y: Array, *slopes: Array) -> Array:
    """Compute ``y + h * (weights[0] * slopes[0] + weights[1] * slopes[1] + ...)``.

    Parameters
    ----------
    weights : array or Tensor, shape (s,)
    h : number or Tensor
    y : array or Tensor, shape (n,)
    *slopes : array or Tensor, shape (n,)
        As many as there are weights.

    Returns
    -------
    array or Tensor, shape (n,)
    """
    return y + sloped(weights, slopes) * h


def sloped(weights: Array, slopes: Sequence[Array]) -> Array:
    """Add up slopes with weights, in the way in which SciPy does."""
    return np.dot(np.stack(slopes).T, weights)


@define(eq=False, repr=False)
class Rows:
    """The product of a vector with a matrix."""

    broadcasts: ClassVar[bool] = False
    pattern = rows_of
    matrix: Array

    def push(self, t: Array) -> Array:
        return np.matmul(t, self.matrix)

    def pull(self, ct: Array) -> Array:
        return np.matmul(ct, adjoint(self.matrix))


def partials(
    positions: Sequence[int], out: Array, weights: Array, h: Array, y: Array, *slopes: Array
) -> list[Partial | None]:
    """Make the partials of `advanced`."""
    first: dict[int, Any] = {
        0: lambda: Rows(np.stack(slopes) * h),
        1: lambda: sloped(weights, slopes),
        2: lambda: SAME,
    }
    return [
        first[position]() if position < 3 else weights[position - 3] * h for position in positions
    ]


def advanced_signature(weights: Array, h: Array, y: Array, *slopes: Array) -> Call:
    """Sort the arguments of `advanced`."""
    return (weights, h, y, *slopes), {}


@define(eq=False, repr=False)
class Functional:
    """The product with a matrix of numbers, for each element of the node a row.

    Parameters
    ----------
    matrix : array, shape (node.size, parent.size)
        The gradients of the node's elements, under the real inner product.
    shape, parent : tuple of int
        The shapes of the node and of the parent.
    """

    broadcasts: ClassVar[bool] = False
    pattern = dense
    matrix: Array
    shape: tuple[int, ...]
    parent: tuple[int, ...]

    def push(self, t: Array) -> Array:
        """Take a tangent of the parent to that of the node."""
        stack = t.shape[: t.ndim - len(self.parent)]
        pushed = np.matmul(t.reshape((*stack, -1)), adjoint(self.matrix))
        return np.real(pushed).reshape((*stack, *self.shape))

    def pull(self, ct: Array) -> Array:
        """Take a cotangent of the node to that of the parent."""
        stack = ct.shape[: ct.ndim - len(self.shape)]
        return np.matmul(ct.reshape((*stack, -1)), self.matrix).reshape((*stack, *self.parent))


STEPS: dict[Any, Entry] = {
    advanced: jointly(partials, signature=advanced_signature),
}
