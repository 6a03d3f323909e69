"""Joining arrays: each operand lands in a box of the node."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.rules.maps.base import Array, Shape
from tape_ad.rules.maps.patterns import permutation

__all__ = ["Join", "Part"]

WHOLE = slice(None)


@define(eq=False, repr=False)
class Join:
    """How arrays are joined: what all the partials of one call share.

    Parameters
    ----------
    shapes : sequence of tuple of int
        Of the operands.
    boxes : sequence of tuple of int
        The shapes that they are brought to first.
    ndim : int
        The number of the node's axes.
    together : callable
        Joins a list of arrays with the shapes `boxes`, behind a stack that all of them have.
    """

    shapes: Sequence[Shape]
    boxes: Sequence[Shape]
    ndim: int
    together: Callable[[list[Array]], Array]


@define(eq=False, repr=False)
class Part:
    """The partial of a function that joins arrays with respect to one of them.

    Parameters
    ----------
    join : Join
    position : int
        Which operand it is.
    key : tuple of slice and int
        Its box in the node.
    """

    broadcasts: ClassVar[bool] = False
    pattern = permutation
    join: Join
    position: int
    key: tuple[Any, ...]

    def push(self, t: Array) -> Array:
        return self.push_together([(self, t)])

    @staticmethod
    def push_together(pairs: Sequence[tuple["Part", Array]]) -> Array:
        """Add up what the parts of one node push, by joining their tangents."""
        part, t = pairs[0]
        join = part.join
        stack = t.shape[: t.ndim - len(join.shapes[part.position])]
        tangents: list[Any] = [None] * len(join.boxes)
        for part, t in pairs:
            tangents[part.position] = t
        for position, box in enumerate(join.boxes):
            t = tangents[position]
            if t is None:
                tangents[position] = np.zeros(stack + box, pairs[0][1].dtype)
            elif join.shapes[position] != box:
                tangents[position] = t.reshape(stack + box)
        return join.together(tangents)

    def pull(self, ct: Array) -> Array:
        join, stack = self.join, ct.ndim - self.join.ndim
        part = ct[(WHOLE,) * stack + self.key if stack else self.key]
        shape = join.shapes[self.position]
        return (
            part if shape == join.boxes[self.position] else part.reshape(ct.shape[:stack] + shape)
        )
