"""Linear maps that hold plain arrays only, so that a sweep of handles can record them whole."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import batch_in, overridable, whole
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, along, arguments_of, rule
from tape_ad.rules.maps import Adjoint, Array
from tape_ad.rules.maps.patterns import permutation


class PlainMap:
    """A map written for plain arrays, in-place writes included, as `forward` and `backward`.

    On handles its push and its pull are one node each, and that node's partial is the map.

    Examples
    --------
    >>> class Backwards(PlainMap):
    ...     def forward(self, t):
    ...         return t[..., ::-1].copy()
    ...
    ...     backward = forward
    >>> Backwards().pull(np.arange(3.0))
    array([2., 1., 0.])
    """

    __slots__ = ()

    def forward(self, t: Array) -> Array:
        """Push a tangent that is a plain array."""
        raise NotImplementedError

    def backward(self, ct: Array) -> Array:
        """Pull a cotangent that is a plain array."""
        raise NotImplementedError

    def push(self, t: Array) -> Array:
        """Take a tangent of the parent to the tangent of the node."""
        return pushed_as_one(t, self)

    def pull(self, ct: Array) -> Array:
        """Take a cotangent of the node to its contribution to the parent's cotangent."""
        return pulled_as_one(ct, self)


@overridable
def pushed(t: Array, linear: PlainMap) -> Array:
    """Push a tangent through a map.

    Parameters
    ----------
    t : array, shape stack + parent.shape
    linear : PlainMap

    Returns
    -------
    array, shape stack + node.shape
    """
    return linear.forward(t)


pushed_as_one = whole(pushed)


@overridable
def pulled(ct: Array, linear: PlainMap) -> Array:
    """Pull a cotangent through a map.

    Parameters
    ----------
    ct : array, shape stack + node.shape
    linear : PlainMap

    Returns
    -------
    array, shape stack + parent.shape
    """
    return linear.backward(ct)


pulled_as_one = whole(pulled)


def summed_by_index(ct: Array, index: Array, axis: int) -> tuple[Array, Array]:
    """Add up, along one axis, all the elements that have the same index.

    Parameters
    ----------
    ct : array
    index : array of integers, shape (ct.shape[axis],)
        Not empty.
    axis : int
        Negative.

    Returns
    -------
    tuple of array
        The different indices, in order, and the sums, one for each of them along the axis.

    Examples
    --------
    >>> summed_by_index(np.ones(3), np.array([5, 2, 5]), -1)
    (array([2, 5]), array([1., 2.]))
    """
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    if not np.array_equal(ordered, index):
        ct = np.take(ct, order, axis=axis)
    return ordered[starts], np.add.reduceat(ct, starts, axis=axis)


@define(eq=False, repr=False)
class Gather(PlainMap):
    """Elements picked along one axis, some several times and some not at all.

    Parameters
    ----------
    axis : int
        Negative.
    index : array of integers, shape (node.shape[axis],)
    length : int
        That of the parent along the axis.

    Examples
    --------
    >>> Gather(-1, np.array([0, 0, 2]), 3).pull(np.ones(3))
    array([2., 0., 1.])
    """

    pattern = permutation
    axis: int
    index: Array
    length: int

    def forward(self, t: Array) -> Array:
        """Pick the elements that the indices name."""
        return np.take(t, self.index, axis=self.axis)

    def backward(self, ct: Array) -> Array:
        """Add up what was picked from the same place."""
        shape = list(ct.shape)
        shape[self.axis] = self.length
        total = np.zeros(shape, ct.dtype)
        if ct.size:  # NumPy picks anything of an array without elements
            places, sums = summed_by_index(ct, self.index, self.axis)
            total[along(self.axis, places)] = sums
        return total


def by_lines(name: str) -> Callable[..., Array]:
    """Make the body of a call of a map that holds what is another for each of a batch."""

    def body(array: Array, linear: PlainMap) -> Array:
        fields = getattr(type(linear), "__attrs_attrs__", ())
        if batch_in([getattr(linear, field.name) for field in fields]) is None:
            raise UnsupportedArgumentError("the map is one call")
        found: Array = getattr(linear, name)(array)
        return found

    return body


PLAIN_MAPS: dict[Any, Entry] = {
    pushed: rule(
        lambda out, t, linear: linear,
        signature=arguments_of(pushed, "t"),
        facts=facts.leading("t").also(body=by_lines("forward")),
    ),
    pulled: rule(
        lambda out, ct, linear: Adjoint(linear),
        signature=arguments_of(pulled, "ct"),
        facts=facts.leading("ct").also(body=by_lines("backward")),
    ),
}
