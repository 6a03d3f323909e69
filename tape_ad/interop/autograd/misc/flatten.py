"""Nested dicts, lists and tuples of arrays as one vector."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tape_ad.extend.trees import map_leaves
from tape_ad.interop.autograd.numpy.numpy_vjps import match_complex
from tape_ad.interop.autograd.spaces import ArrayVSpace
from tape_ad.interop.autograd.values import given_back, plain

__all__ = ["flatten", "flatten_func"]

Function = Callable[..., Any]


def raveled(value: Any) -> Iterator[Any]:
    """Yield the arrays in a structure, dicts in the order of their keys, as vectors."""
    for each in entries(value):
        if each is value:
            yield np.ravel(value)
        else:
            yield from raveled(each)


def entries(value: Any) -> Iterable[Any]:
    """List what is in a structure; an array is a structure of its own."""
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    return value if isinstance(value, (list, tuple)) else [value]


def cut(space: Any, parts: Iterator[Any]) -> Any:
    """Put vectors in the places of a structure's spaces, in the order of `raveled`."""
    if isinstance(space, dict):
        filled = {key: cut(space[key], parts) for key in sorted(space)}
        return {key: filled[key] for key in space}
    if isinstance(space, (list, tuple)):
        return type(space)([cut(each, parts) for each in space])
    part = match_complex(space.zeros(), np.reshape(next(parts), space.shape))
    return given_back(part)


def flatten(value: Any) -> tuple[Any, Function]:
    """Join all arrays in a structure to one vector, and give the way back.

    Parameters
    ----------
    value : nested dicts, lists and tuples of arrays and numbers
        Keys that can be sorted.

    Returns
    -------
    vector : array, one axis
    unflatten : callable
        It takes such a vector to such a structure.

    Examples
    --------
    >>> vector, unflatten = flatten({"b": 1.0, "a": np.zeros(2)})
    >>> vector
    array([0., 0., 1.])
    >>> unflatten(vector + 1)
    {'b': np.float64(2.0), 'a': array([1., 1.])}
    """
    vectors = list(raveled(value))
    spaces = map_leaves(lambda leaf, path: ArrayVSpace(plain(leaf)), value)
    ends = np.cumsum([vector.size for vector in vectors])[:-1]

    def unflatten(vector: Any) -> Any:
        return cut(spaces, iter(np.split(vector, ends)))

    return np.concatenate(vectors) if vectors else np.zeros(0), unflatten


def flatten_func(func: Function, example: Any) -> tuple[Function, Function, Any]:
    """Make a function of a vector, from one of a structure to a structure.

    Returns
    -------
    func : callable
    unflatten : callable
    vector : array
        The example's.
    """
    vector, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, vector
