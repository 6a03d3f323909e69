"""Other shapes for the same elements."""

from typing import ClassVar

import numpy as np
from attrs import define

from tape_ad.linear_maps.base import Array, Shape

__all__ = ["Reshape", "Stretch", "Transpose"]


@define(eq=False, repr=False)
class Reshape:
    """The same elements, in the same order, in another shape."""

    broadcasts: ClassVar[bool] = False
    rearranges: ClassVar[bool] = True
    parent: Shape
    node: Shape

    def push(self, t: Array) -> Array:
        return t.reshape(t.shape[: t.ndim - len(self.parent)] + self.node)

    def pull(self, ct: Array) -> Array:
        return ct.reshape(ct.shape[: ct.ndim - len(self.node)] + self.parent)


@define(eq=False, repr=False)
class Transpose:
    """A permutation: axis i of the node is axis ``axes[i]`` of the parent, a negative number."""

    broadcasts: ClassVar[bool] = False
    rearranges: ClassVar[bool] = True
    axes: tuple[int, ...]

    def push(self, t: Array) -> Array:
        stack = t.ndim - len(self.axes)
        return np.transpose(t, (*range(stack), *(t.ndim + axis for axis in self.axes)))

    def pull(self, ct: Array) -> Array:
        ndim = len(self.axes)
        stack = ct.ndim - ndim
        inverse = sorted(range(ndim), key=lambda i: self.axes[i])
        return np.transpose(ct, (*range(stack), *(stack + i for i in inverse)))


@define(eq=False, repr=False)
class Stretch:
    """Broadcasting to another shape, as a map of its own; elementwise maps broadcast unasked.

    As in an assignment, the parent may have more axes than the node if they have length one.
    """

    broadcasts: ClassVar[bool] = False
    rearranges: ClassVar[bool] = True
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
