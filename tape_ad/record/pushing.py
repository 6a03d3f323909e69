"""One step of a forward sweep: a tangent goes along an edge, in memory that nobody else has.

A large array that is written over stays in the cache, where a new one has to be fetched. Whose an
array is, its count of references tells: arrays are handed on in lists of one, as an expression
would count while it runs.
"""

from sys import getrefcount

import numpy as np

from tape_ad.record.arena import Arena, unheld_count
from tape_ad.record.traits import NUMBERS
from tape_ad.record.unbroadcasting import LARGE, unbroadcast
from tape_ad.rules.maps import Array, Negate

__all__ = ["push_along"]

ndarray = np.ndarray


def push_along(
    arena: Arena, node: int, edge: int, held: list[Array], total: list[Array], stack: int
) -> None:
    """Push a tangent along an edge, and add it to what its node has.

    Parameters
    ----------
    arena : Arena
    node, edge : int
    held : list of array
        The tangent of the edge's parent, alone. Where the list has the only reference to it, it may
        be written over.
    total : list of array
        The node's tangent so far, or nothing; it is replaced.
    stack : int
        The number of leading axes that are not part of the node's shape.
    """
    partial = arena.partials[edge]
    kind = type(partial)
    shape, dtype, observer = arena.shapes[node], arena.dtypes[node], arena.observer
    same = held[0].shape[stack:] == shape and held[0].dtype == dtype
    if same and kind is Negate and total and observer is None:
        combine(np.subtract, total, held)
        return
    if same and (kind is ndarray or kind in NUMBERS):
        multiply(held, partial)
    else:
        missing = len(shape) - len(arena.shapes[arena.parents[edge]])
        linear = arena.map_at(node, edge)
        if stack and missing > 0 and linear.broadcasts:
            own = held[0].shape
            held[0] = held[0].reshape(own[:stack] + (1,) * missing + own[stack:])
        held[0] = linear.push(held[0])
    if held[0].shape[stack:] != shape or held[0].dtype is not dtype:
        held[0] = unbroadcast(held[0], shape, dtype, stack)
    if observer is not None:
        observer.pushed(arena, node, held[0])
        total[:] = [total[0] + held[0]] if total else held
    elif total:
        combine(np.add, total, held)
    else:
        total.append(held.pop())


def multiply(held: list[Array], factor: Array) -> None:
    """Multiply a tangent, of its node's shape, with the array that stands for a map."""
    if may_be_written(held) and is_within(factor, held[0]):
        np.multiply(held[0], factor, out=held[0])
    else:
        held[0] = held[0] * factor


def is_within(factor: Array, t: Array) -> bool:
    """Tell whether a product with an array or a number has the shape and dtype of a tangent."""
    own = np.shape(factor)
    fits: bool = t.shape[t.ndim - len(own) :] == own and np.result_type(t, factor) == t.dtype
    return fits


def combine(ufunc: np.ufunc, total: list[Array], held: list[Array]) -> None:
    """Put the sum or difference of two tangents of one node into `total`."""
    if type(total[0]) is type(held[0]) is ndarray and total[0].dtype == held[0].dtype:
        for own in (total, held):
            if may_be_written(own) and own[0].shape == total[0].shape:
                total[0] = ufunc(total[0], held[0], out=own[0])
                return
    total[0] = total[0] + held[0] if ufunc is np.add else total[0] - held[0]


def may_be_written(held: list[Array]) -> bool:
    """Tell whether a list has the only reference to a large plain array with memory of its own."""
    return (
        type(held[0]) is ndarray
        and held[0].size > LARGE
        and held[0].base is None
        and held[0].flags.writeable
        and getrefcount(held[0]) <= unheld_count()
    )
