"""Other shapes for the same elements, and arrays joined from several."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.rules.maps.base import Array, Shape
from tape_ad.rules.maps.patterns import permutation


@define(eq=False, repr=False)
class Reshape:
    """The same elements, in the same order, in another shape.

    Parameters
    ----------
    parent, node : tuple of int
        The shapes.

    Examples
    --------
    >>> Reshape((2, 3), (6,)).push(np.zeros((4, 2, 3))).shape  # of a stack of four
    (4, 6)
    """

    rearranges: ClassVar[bool] = True
    kept: ClassVar[None] = None
    pattern = permutation
    parent: Shape
    node: Shape

    def push(self, t: Array) -> Array:
        return t.reshape(t.shape[: t.ndim - len(self.parent)] + self.node)

    def pull(self, ct: Array) -> Array:
        return ct.reshape(ct.shape[: ct.ndim - len(self.node)] + self.parent)


@define(eq=False, repr=False)
class Transpose:
    """A permutation: axis i of the node is axis ``axes[i]`` of the parent, a negative number.

    Examples
    --------
    >>> Transpose((-1, -2)).push(np.zeros((4, 2, 3))).shape  # of a stack of four
    (4, 3, 2)
    """

    rearranges: ClassVar[bool] = True
    kept: ClassVar[None] = None
    pattern = permutation
    axes: tuple[int, ...]

    def push(self, t: Array) -> Array:
        return t.transpose(behind_stack(self.axes, t.ndim))

    def pull(self, ct: Array) -> Array:
        return ct.transpose(behind_stack(inverse(self.axes), ct.ndim))


@functools.lru_cache(maxsize=256)
def behind_stack(axes: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """Permute the last axes of an array, which has `ndim`."""
    return (*range(ndim - len(axes)), *(ndim + axis for axis in axes))


@functools.lru_cache(maxsize=256)
def inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    """Turn a permutation, in negative numbers, around.

    Examples
    --------
    >>> inverse((-1, -3, -2))
    (-2, -1, -3)
    """
    count = len(axes)
    return tuple(i - count for i in sorted(range(count), key=lambda i: axes[i]))


@define(eq=False, repr=False)
class Stretch:
    """Broadcasting to another shape, as a map of its own; elementwise maps broadcast unasked.

    As in an assignment, the parent may have more axes than the node if they have length one.
    """

    rearranges: ClassVar[bool] = True
    kept: ClassVar[None] = None
    pattern = permutation
    parent: Shape
    node: Shape

    @property
    def lengths(self) -> Shape:
        """The parent's shape, with as many axes as the node."""
        missing = len(self.node) - len(self.parent)
        return (1,) * missing + self.parent[max(-missing, 0) :]

    def push(self, t: Array) -> Array:
        stack = t.shape[: t.ndim - len(self.parent)]
        return np.broadcast_to(t.reshape(stack + self.lengths), stack + self.node)

    def pull(self, ct: Array) -> Array:
        axes = tuple(
            axis - len(self.node)
            for axis, (have, want) in enumerate(zip(self.node, self.lengths, strict=True))
            if want == 1 and have != 1
        )
        ct = np.add.reduce(ct, axis=axes, keepdims=True)
        return ct.reshape(ct.shape[: ct.ndim - len(self.node)] + self.parent)


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

    kept: ClassVar[None] = None
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
