"""Linear maps: what a partial derivative is, and the maps that the rules are built from.

A map acts on the trailing axes of what it is given; any leading axes are a stack of tangents or
cotangents, all mapped at once. `pull` is the adjoint of `push` under the real inner product
``<u, v> = Re(sum(conj(u) * v))``, so one statement of a derivative serves both modes.

The maps are written in plain NumPy calls on whatever they hold, since that may be a handle of an
enclosing record, or any other array that speaks NEP 13 and NEP 18.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np
from attrs import define

from tape_ad.overrides import overridable
from tape_ad.places import places

__all__ = [
    "Adjoint",
    "Array",
    "Chain",
    "Conjugate",
    "Divide",
    "ImaginaryPart",
    "Index",
    "LinearMap",
    "Mask",
    "Negate",
    "RealPart",
    "Reshape",
    "Same",
    "Scale",
    "Stretch",
    "Sum",
    "Transpose",
    "WeightedSum",
    "scatter",
]

Array = Any
"""An ndarray, a NumPy scalar, or anything that speaks NEP 13 and NEP 18 (handles do)."""

Shape = tuple[int, ...]

FEW = 1000
"""How many elements `scatter` adds in the plain way, for what is faster for many is not for few."""

add_reduce: Callable[..., Array] = np.add.reduce  # its own type has no overload for a bool variable


class LinearMap(Protocol):
    """The local partial of a node with respect to one parent."""

    @property
    def broadcasts(self) -> bool:
        """Whether the parent broadcasts against the node from the right, as elementwise ones do.

        A forward sweep then inserts the axes that a stacked tangent lacks.
        """

    def push(self, t: Array) -> Array:
        """Take a tangent of the parent to the tangent of the node.

        Parameters
        ----------
        t : array, shape stack + parent.shape

        Returns
        -------
        array, shape stack + node.shape, or one that broadcasts to it
        """

    def pull(self, ct: Array) -> Array:
        """Take a cotangent of the node to its contribution to the parent's cotangent.

        Parameters
        ----------
        ct : array, shape stack + node.shape

        Returns
        -------
        array, shape stack + parent.shape, or one that `conform` sums to it
        """


# Elementwise maps


@define(eq=False)
class Same:
    """The identity: the node is its parent, up to broadcasting and dtype."""

    broadcasts: ClassVar[bool] = True

    def push(self, t: Array) -> Array:
        return t

    def pull(self, ct: Array) -> Array:
        return ct


@define(eq=False)
class Negate:
    """Multiplication by -1."""

    broadcasts: ClassVar[bool] = True

    def push(self, t: Array) -> Array:
        return -t

    def pull(self, ct: Array) -> Array:
        return -ct


@define(eq=False)
class Scale:
    """Multiplication by `factor`, which broadcasts to the node's shape."""

    broadcasts: ClassVar[bool] = True
    factor: Array

    def push(self, t: Array) -> Array:
        return t * self.factor

    def pull(self, ct: Array) -> Array:
        return ct * self.factor.conjugate()


@define(eq=False)
class Divide:
    """Division by `divisor`, which broadcasts to the node's shape."""

    broadcasts: ClassVar[bool] = True
    divisor: Array

    def push(self, t: Array) -> Array:
        return t / self.divisor

    def pull(self, ct: Array) -> Array:
        return ct / self.divisor.conjugate()


@define(eq=False)
class Mask:
    """Selection: what `mask` leaves out contributes exactly 0, even where it is nan or inf."""

    broadcasts: ClassVar[bool] = True
    mask: Array

    def push(self, t: Array) -> Array:
        return np.where(self.mask, t, 0)

    def pull(self, ct: Array) -> Array:
        return np.where(self.mask, ct, 0)


@define(eq=False)
class Conjugate:
    """Complex conjugation, which is linear over the reals."""

    broadcasts: ClassVar[bool] = True

    def push(self, t: Array) -> Array:
        return t.conjugate()

    def pull(self, ct: Array) -> Array:
        return ct.conjugate()


@define(eq=False)
class RealPart:
    """The real part of a complex parent."""

    broadcasts: ClassVar[bool] = True

    def push(self, t: Array) -> Array:
        return t.real

    def pull(self, ct: Array) -> Array:
        return ct


@define(eq=False)
class ImaginaryPart:
    """The imaginary part of a complex parent."""

    broadcasts: ClassVar[bool] = True

    def push(self, t: Array) -> Array:
        return t.imag

    def pull(self, ct: Array) -> Array:
        return ct * 1j


# Reductions


@define(eq=False)
class WeightedSum:
    """The sum of ``weights * parent`` over `axes`; the weights broadcast to the parent.

    Parameters
    ----------
    weights : array or scalar
    ndim : int
        The parent's number of axes.
    axes : tuple of int
        The axes to sum over, negative.
    keepdims : bool
        Whether the node keeps those axes, with length one.
    """

    broadcasts: ClassVar[bool] = False
    weights: Array
    ndim: int
    axes: tuple[int, ...]
    keepdims: bool

    def push(self, t: Array) -> Array:
        return add_reduce(t * self.weights, axis=self.axes, keepdims=self.keepdims)

    def pull(self, ct: Array) -> Array:
        spread = ct if self.keepdims else ct[expanding_key(self.ndim, self.axes)]
        return spread * self.weights.conjugate()


@define(eq=False)
class Sum:
    """The sum over `axes`, times a number; its pull broadcasts and copies nothing."""

    broadcasts: ClassVar[bool] = False
    shape: Shape
    axes: tuple[int, ...]
    keepdims: bool
    scale: float = 1.0

    def push(self, t: Array) -> Array:
        total = add_reduce(t, axis=self.axes, keepdims=self.keepdims)
        return total if self.scale == 1.0 else total * self.scale

    def pull(self, ct: Array) -> Array:
        ndim = len(self.shape)
        if self.scale != 1.0:
            ct = ct * self.scale
        spread = ct if self.keepdims else ct[expanding_key(ndim, self.axes)]
        return np.broadcast_to(spread, spread.shape[: spread.ndim - ndim] + self.shape)


def expanding_key(ndim: int, axes: tuple[int, ...]) -> tuple[Any, ...]:
    """Make the index that puts reduced axes back, with length one, behind any stack.

    Examples
    --------
    >>> np.zeros((5, 2))[expanding_key(2, (-1,))].shape
    (5, 2, 1)
    """
    kept = (None if axis in axes else slice(None) for axis in range(-ndim, 0))
    return (Ellipsis, *kept)


# Rearrangements


@define(eq=False)
class Reshape:
    """The same elements, in the same order, in another shape."""

    broadcasts: ClassVar[bool] = False
    parent: Shape
    node: Shape

    def push(self, t: Array) -> Array:
        return t.reshape(t.shape[: t.ndim - len(self.parent)] + self.node)

    def pull(self, ct: Array) -> Array:
        return ct.reshape(ct.shape[: ct.ndim - len(self.node)] + self.parent)


@define(eq=False)
class Transpose:
    """A permutation: axis i of the node is axis ``axes[i]`` of the parent, a negative number."""

    broadcasts: ClassVar[bool] = False
    axes: tuple[int, ...]

    def push(self, t: Array) -> Array:
        stack = t.ndim - len(self.axes)
        return np.transpose(t, (*range(stack), *(t.ndim + axis for axis in self.axes)))

    def pull(self, ct: Array) -> Array:
        ndim = len(self.axes)
        stack = ct.ndim - ndim
        inverse = sorted(range(ndim), key=lambda i: self.axes[i])
        return np.transpose(ct, (*range(stack), *(stack + i for i in inverse)))


@define(eq=False)
class Index:
    """``parent[key]``, for a key of any NumPy kind.

    Parameters
    ----------
    key : tuple
        Slices, integers, None, integer arrays and boolean arrays; no ellipsis, and one entry for
        each axis of the parent (`rules.indexing` expands keys to this form).
    parent, node : tuple of int
        The shapes on both sides.
    repeats : bool
        Whether `key` may name an element more than once.
    front : int
        How many axes NumPy puts first because advanced indices stand apart (``x[0, :, [1, 2]]``);
        0 where they stay in place.
    """

    broadcasts: ClassVar[bool] = False
    key: tuple[Any, ...]
    parent: Shape
    node: Shape
    repeats: bool = False
    front: int = 0

    def push(self, t: Array) -> Array:
        stack = t.ndim - len(self.parent)
        if stack == 0:
            return t[self.key]
        picked = t[(slice(None),) * stack + self.key]
        if self.front == 0:
            return picked
        return np.moveaxis(picked, range(self.front), range(stack, stack + self.front))

    def pull(self, ct: Array) -> Array:
        return scatter(ct, self)


@overridable
def scatter(ct: Array, index: Index) -> Array:
    """Add the elements of `ct` into zeros of the shape that `index` picks from.

    Parameters
    ----------
    ct : array, shape stack + index.node
    index : Index

    Returns
    -------
    array, shape stack + index.parent
    """
    stack = ct.ndim - len(index.node)
    zeros = np.zeros(ct.shape[:stack] + index.parent, ct.dtype)
    key = (slice(None),) * stack + index.key
    if stack and index.front:
        ct = np.moveaxis(ct, range(stack, stack + index.front), range(index.front))
    if not index.repeats:
        zeros[key] = ct
    elif ct.size < FEW or zeros.ndim == 1 or any(is_truth(entry) for entry in key):
        np.add.at(zeros, key, ct)
    else:
        where = places(key, zeros.shape, index.front > 0)
        np.add.at(zeros.reshape(-1), where.reshape(-1), ct.reshape(-1))
    return zeros


def is_truth(entry: Any) -> bool:
    """Tell whether an entry of a key is a mask without axes, which adds one to the result."""
    return isinstance(entry, np.ndarray) and entry.ndim == 0 and entry.dtype == bool


@define(eq=False)
class Stretch:
    """Broadcasting to another shape, as a map of its own; elementwise maps broadcast unasked."""

    broadcasts: ClassVar[bool] = False
    parent: Shape
    node: Shape

    def push(self, t: Array) -> Array:
        stack = t.shape[: t.ndim - len(self.parent)]
        added = (1,) * (len(self.node) - len(self.parent))
        return np.broadcast_to(t.reshape(stack + added + self.parent), stack + self.node)

    def pull(self, ct: Array) -> Array:
        added = len(self.node) - len(self.parent)
        lengths = (1,) * added + self.parent
        axes = tuple(
            axis - len(self.node)
            for axis, (have, want) in enumerate(zip(self.node, lengths, strict=True))
            if want == 1 and have != 1
        )
        ct = np.add.reduce(ct, axis=axes, keepdims=True)
        return ct.reshape(ct.shape[: ct.ndim - len(self.node)] + self.parent)


# Maps made of maps


@define(eq=False)
class Chain:
    """One map after another: the first is applied to the parent's tangent."""

    maps: tuple[LinearMap, ...]

    @property
    def broadcasts(self) -> bool:
        return all(each.broadcasts for each in self.maps)

    def push(self, t: Array) -> Array:
        for each in self.maps:
            t = each.push(t)
        return t

    def pull(self, ct: Array) -> Array:
        for each in reversed(self.maps):
            ct = each.pull(ct)
        return ct


@define(eq=False)
class Adjoint:
    """A map turned around: its push is the other's pull."""

    broadcasts: ClassVar[bool] = False
    map: LinearMap

    def push(self, t: Array) -> Array:
        return self.map.pull(t)

    def pull(self, ct: Array) -> Array:
        return self.map.push(ct)
