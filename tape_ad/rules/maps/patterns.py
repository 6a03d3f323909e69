"""Which elements of a node depend on which of a parent's, whatever the numbers are.

Every class of maps has a ``pattern(parent, node)``. Most are one of the functions here, or made by
one: a function of the map and the two shapes, which stands in the class as a method does. A pattern
may say more than is true (a product with a matrix counts the zeros in it), and never less.

As maps act on trailing axes, the shapes may have further ones in front, of a stack.

What a pattern reads of its map, besides the two shapes, stands in `READS`: two maps of one class
that agree in that have one pattern, whatever their numbers are.
"""

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from attrs import frozen

from tape_ad.rules.maps.base import Array, Shape

Axis = int | tuple[int, ...]


@frozen(eq=False)
class Pattern:
    """Pairs of elements: the node's at ``rows[i]`` depends on the parent's at ``columns[i]``.

    Attributes
    ----------
    rows, columns : array of int, shape (pairs,)
        Places in the flattened arrays, in C's order. A pair may come more than once.
    one_each : bool
        Whether `rows` counts up: each of the node's elements depends on just one.
    """

    rows: Array
    columns: Array
    one_each: bool = False

    @property
    def transposed(self) -> "Pattern":
        """The pattern of the adjoint."""
        return Pattern(self.columns, self.rows)


Maker = Callable[[Any, Shape, Shape], Pattern]
Marked = TypeVar("Marked", bound=Callable[..., Pattern])

ALL = "*"
"""Stands for all attributes of a map."""

READS: dict[Callable[..., Pattern], tuple[str, ...]] = {}
"""The attributes of a map that a function which gives its pattern reads.

Of arrays of real or complex numbers it reads the shape alone; of others, and of whatever else there
is, everything. A function that is not here may read anything.
"""


def reads(*names: str) -> Callable[[Marked], Marked]:
    """Say which attributes of a map the decorated function reads to give its pattern.

    Examples
    --------
    >>> class Outer:  # of whose factor each element of the node needs one
    ...     @reads("factor")
    ...     def pattern(self, parent, node):
    ...         return dense(self, parent, node)
    """

    def mark(pattern: Marked) -> Marked:
        READS[pattern] = names
        return pattern

    return mark


def numbered(shape: Shape) -> Array:
    """Number the elements of an array."""
    return np.arange(math.prod(shape)).reshape(shape)


def pairs(columns: Array) -> Pattern:
    """Make the pattern of a node whose elements each depend on the one named there."""
    flat = columns.reshape(-1)
    return Pattern(np.arange(flat.size), flat, one_each=True)


def picked(columns: Array) -> Pattern:
    """Make the pattern of elements that depend on one element each, or none, which -1 means."""
    flat = columns.reshape(-1)
    rows = np.flatnonzero(flat >= 0)
    return pairs(flat) if len(rows) == len(flat) else Pattern(rows, flat[rows])


@reads()
def elementwise(linear: Any, parent: Shape, node: Shape) -> Pattern:
    """Tell that each element depends on that at its own place, after broadcasting."""
    numbers, shape = numbered(parent), np.broadcast_shapes(parent, node)
    columns = np.broadcast_to(numbers, shape)
    if shape == node:
        return pairs(columns)
    rows = np.broadcast_to(numbered(node), shape)  # `unbroadcast` sums what is longer than the node
    return Pattern(rows.reshape(-1), columns.reshape(-1))


@reads(ALL)
def permutation(linear: Any, parent: Shape, node: Shape) -> Pattern:
    """Tell that a map picks elements, or zeros, by pushing their numbers."""
    pushed = linear.push(numbered(parent) + 1)
    return picked(np.broadcast_to(pushed, node) - 1)


@reads()
def dense(linear: Any, parent: Shape, node: Shape) -> Pattern:
    """Tell that each element depends on all."""
    return dense_blocks(parent, node, ())


def dense_blocks(parent: Shape, node: Shape, axes: Sequence[tuple[int, int]]) -> Pattern:
    """Tell that each element depends on all those with the same indices on some axes.

    Parameters
    ----------
    parent, node : tuple of int
    axes : sequence of tuple of int
        An axis of the parent and one of the node each, counted from the end. If the parent's has
        length one, it broadcasts. On all other axes every index depends on every other.
    """
    of_parent, of_node = numbered(parent), numbered(node)
    own = [len(parent) + p for p, _ in axes]
    others = [len(node) + n for _, n in axes]
    of_parent = np.moveaxis(of_parent, own, range(len(own)))
    of_node = np.moveaxis(of_node, others, range(len(others)))
    common = np.broadcast_shapes(of_parent.shape[: len(own)], of_node.shape[: len(own)])
    rest = math.prod(of_parent.shape[len(own) :]), math.prod(of_node.shape[len(own) :])
    columns = of_parent.reshape((*of_parent.shape[: len(own)], 1, rest[0]))
    rows = of_node.reshape((*of_node.shape[: len(own)], rest[1], 1))
    whole = (*common, rows.shape[-2], columns.shape[-1])
    rows, columns = (np.broadcast_to(each, whole).reshape(-1) for each in (rows, columns))
    return Pattern(rows, columns)


@functools.cache  # for what `reads` notes lasts
def batched(of_parent: int, of_node: int) -> Maker:
    """Make a pattern of trailing axes on which all depends on all, as of a matrix's inverse.

    Parameters
    ----------
    of_parent, of_node : int
        How many axes those are; the ones before them go together, after broadcasting.
    """

    @reads()
    def pattern(linear: Any, parent: Shape, node: Shape) -> Pattern:
        return by_batch(parent, node, of_parent, of_node)

    return pattern


def by_batch(parent: Shape, node: Shape, of_parent: int, of_node: int) -> Pattern:
    """Make the pattern of a map that acts on each matrix of a stack by itself."""
    common = min(len(parent) - of_parent, len(node) - of_node)
    axes = [(-of_parent - i, -of_node - i) for i in range(1, common + 1)]
    return dense_blocks(parent, node, axes)


@reads()
def rows_of(linear: Any, parent: Shape, node: Shape) -> Pattern:
    """Tell that the last axes depend on each other, and the ones before them go together."""
    return by_batch(parent, node, 1, 1)


def by_columns(parent: Shape, node: Shape, *, vector: bool) -> Pattern:
    """Tell that each column depends on the one in its place, or a vector on a vector."""
    if vector:
        return by_batch(parent, node, 1, 1)
    common = range(3, min(len(parent), len(node)) + 1)
    return dense_blocks(parent, node, [(-1, -1), *((-axis, -axis) for axis in common)])


def axes_of(axis: Axis) -> tuple[int, ...]:
    """Give one axis or several as several."""
    return axis if isinstance(axis, tuple) else (axis,)


def along(name: str) -> Maker:
    """Make the pattern of maps that mix the elements along the axes in an attribute of theirs."""

    @reads(name)
    def pattern(linear: Any, parent: Shape, node: Shape) -> Pattern:
        mixed = axes_of(getattr(linear, name))
        common = min(len(parent), len(node))
        return dense_blocks(
            parent, node, [(-i, -i) for i in range(1, common + 1) if -i not in mixed]
        )

    return pattern


@reads("axes", "keepdims")
def reduced(linear: Any, parent: Shape, node: Shape) -> Pattern:
    """Tell that a map sums over its ``axes``, which are negative, and has ``keepdims``."""
    kept = [axis for axis in range(-len(parent), 0) if axis not in linear.axes]
    if linear.keepdims:
        return dense_blocks(parent, node, [(axis, axis) for axis in kept])
    return dense_blocks(parent, node, [(axis, i - len(kept)) for i, axis in enumerate(kept)])


@reads("axis")
def in_order(linear: Any, parent: Shape, node: Shape) -> Pattern:
    """Tell that along the map's ``axis`` each element depends on those up to it."""
    pattern = along("axis")(linear, parent, node)
    below = math.prod(node[len(node) + linear.axis + 1 :])
    late = below and pattern.rows // below % node[linear.axis]
    early = below and pattern.columns // below % parent[linear.axis]
    kept = np.less_equal(early, late) if below else slice(None)
    return Pattern(pattern.rows[kept], pattern.columns[kept])


def stacked(pattern: Pattern, own: tuple[Shape, Shape], parent: Shape, node: Shape) -> Pattern:
    """Repeat a pattern for each member of a stack.

    Parameters
    ----------
    pattern : Pattern
    own : tuple of tuple of int
        The shapes of the parent and of the node that it is of.
    parent, node : tuple of int
        The same behind a stack.
    """
    count = math.prod(parent[: len(parent) - len(own[0])])
    if count == 1:
        return pattern
    parent_size, node_size = map(math.prod, own)
    members = np.arange(count)[:, None]
    rows = (pattern.rows + members * node_size).reshape(-1)
    return Pattern(rows, (pattern.columns + members * parent_size).reshape(-1))


def separable(parent: Shape, node: Shape, relations: Mapping[int, Pattern]) -> Pattern:
    """Combine patterns of single axes; on all other axes, each index goes with itself.

    Parameters
    ----------
    parent, node : tuple of int
        Axes that the parent lacks broadcast.
    relations : mapping of int to Pattern
        For some axes, negative ones, which of the node's indices depend on which of the parent's.
    """
    rows: Any = np.zeros(1, int)
    columns: Any = np.zeros(1, int)
    parent = (1,) * (len(node) - len(parent)) + parent
    for axis in range(-len(node), 0):
        own = relations.get(axis) or elementwise(None, (parent[axis],), (node[axis],))
        rows = (rows[:, None] * node[axis] + own.rows).reshape(-1)
        columns = (columns[:, None] * parent[axis] + own.columns).reshape(-1)
    return Pattern(rows, columns)


def banded(length: int, size: int, offsets: Iterable[int]) -> Pattern:
    """Tell that element i depends on those at i + offset.

    Parameters
    ----------
    length, size : int
        Of the parent and of the node.
    offsets : iterable of int
    """
    rows, offset = (each.reshape(-1) for each in np.meshgrid(np.arange(size), list(offsets)))
    columns = rows + offset.astype(int)
    inside = np.logical_and(columns >= 0, columns < length)
    return Pattern(rows[inside], columns[inside])


def joined(patterns: Iterable[Pattern]) -> Pattern:
    """Put together what a map's terms depend on."""
    every = list(patterns)
    empty = np.zeros(0, int)
    return Pattern(
        np.concatenate([empty, *(each.rows for each in every)]),
        np.concatenate([empty, *(each.columns for each in every)]),
    )


def composed(first: Pattern, second: Pattern) -> Pattern:
    """Give the pattern of one map after another."""
    order = np.argsort(first.rows, kind="stable")
    rows, columns = first.rows[order], first.columns[order]
    begins = np.searchsorted(rows, second.columns, "left")
    counts = np.searchsorted(rows, second.columns, "right") - begins
    ends = np.cumsum(counts)
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(begins - ends + counts, counts)
    return Pattern(np.repeat(second.rows, counts), columns[places])


def pattern_of(linear: Any, parent: Shape, node: Shape) -> Pattern:
    """Ask a map for its pattern; one that does not know has all depend on all."""
    own = getattr(linear, "pattern", None)
    pattern: Pattern = dense(linear, parent, node) if own is None else own(parent, node)
    return pattern
