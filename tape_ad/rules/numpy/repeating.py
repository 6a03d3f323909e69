"""Functions that repeat what they are given: elements, or the whole array."""

import operator
from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import relies_on_shape, whole
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, as_array, axes_of, rule
from tape_ad.rules.maps import Adjoint, Array, Chain, Index, LinearMap, Reshape, Shape, Stretch
from tape_ad.rules.maps.patterns import permutation
from tape_ad.rules.plain_maps import Gather, PlainMap
from tape_ad.rules.signatures import arguments_of

__all__ = ["REPEATING"]


@define(eq=False, repr=False)
class Repeat(PlainMap):
    """The same number of repetitions, not 0, of all elements of the last axis.

    A product with a vector sums them much faster than a reduction does.
    """

    pattern = permutation
    times: int

    def forward(self, t: Array) -> Array:
        return np.repeat(t, self.times, axis=-1)

    def backward(self, ct: Array) -> Array:
        length = ct.shape[-1] // self.times
        apart = ct.reshape((*ct.shape[:-1], length, self.times))
        return np.matmul(apart, np.ones(self.times, ct.dtype))


def repeated(out: Array, a: Array, repeats: Any, axis: Any) -> LinearMap:
    """Make the partial of `repeat`: one number for all elements stretches a new axis."""
    flat = axis is None or a.ndim == 0
    shape = (a.size,) if flat else a.shape
    number = 0 if flat else axes_of(a.ndim, axis)[0] + a.ndim
    counts = as_array(repeats)
    along: LinearMap
    if counts.size != 1:
        index = copied(shape[number], counts)
        relies_on_shape(index)
        along = Gather(number - len(shape), index, shape[number])
    elif number == len(shape) - 1 and counts.item():
        along = Repeat(operator.index(counts.item()))
    else:
        before, after, times = (
            shape[: number + 1],
            shape[number + 1 :],
            operator.index(counts.item()),
        )
        return stretched(a.shape, (*before, 1, *after), (*before, times, *after), out.shape)
    return along if a.shape == shape else Chain((Reshape(a.shape, shape), along))


@whole
def copied(length: int, counts: Array) -> Array:
    """Number the elements that a repetition gives by what they are copies of."""
    return np.repeat(np.arange(length), counts)


def stretched(parent: Shape, apart: Shape, repeats: Shape, node: Shape) -> LinearMap:
    """Make the map that reshapes, broadcasts the axes of length one, and reshapes again."""
    return Chain((Reshape(parent, apart), Stretch(apart, repeats), Reshape(repeats, node)))


def tiled(out: Array, a: Array, reps: Any) -> LinearMap:
    """Make the partial of `tile`: each axis is repeated as a whole."""
    counts = np.atleast_1d(reps).tolist()
    counts = [1] * (a.ndim - len(counts)) + counts
    lengths = (1,) * (len(counts) - a.ndim) + a.shape
    pairs = list(zip(counts, lengths, strict=True))
    apart = [n for count, length in pairs for n in ((length,) if count == 1 else (1, length))]
    repeats = [n for count, length in pairs for n in ((length,) if count == 1 else (count, length))]
    return stretched(a.shape, tuple(apart), tuple(repeats), out.shape)


def resized(out: Array, a: Array, new_shape: Any) -> LinearMap:
    """Make the partial of `resize`: the flattened array, repeated and cut to the new size."""
    copies = -(-out.size // a.size) if a.size else 0
    total = copies * a.size
    maps: list[LinearMap] = [stretched(a.shape, (1, a.size), (copies, a.size), (total,))]
    if total > out.size:
        maps.append(Index((slice(0, out.size),), (total,), (out.size,)))
    elif total < out.size:  # there was nothing to repeat
        maps.append(Adjoint(Index((slice(0, total),), (out.size,), (total,))))
    return Chain((*maps, Reshape((out.size,), out.shape)))


REPEATING: dict[Any, Entry] = {
    np.repeat: rule(
        repeated,
        signature=arguments_of(np.repeat, "a", "repeats axis"),
        facts=facts.along().also(shape_by_values=True),
    ),
    np.tile: rule(tiled, signature=arguments_of(np.tile, "A", "reps")),
    np.resize: rule(resized, signature=arguments_of(np.resize, "a", "new_shape")),
}
