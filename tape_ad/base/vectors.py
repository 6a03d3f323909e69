"""Arrays of any shapes as one vector of float64, which is what optimizers work on."""

import importlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import is_dask
from tape_ad.base.trees import flatten, unflatten

Array = Any


def vector_of(arrays: Iterable[Any]) -> Array:
    """Put the elements of all arrays in a row, a complex one as two.

    Examples
    --------
    >>> vector_of([np.ones((1, 2)), np.array(3 + 4j)])
    array([1., 1., 3., 4.])
    """
    parts = list(map(row_of, arrays))
    return np.concatenate(parts) if parts else np.zeros(0)


def row_of(array: Any) -> Any:
    """Give the elements of an array in a row, without converting one that is captured."""
    if isinstance(array, np.ndarray) or not hasattr(array, "__array_function__"):
        array = np.asarray(array)
    if array.dtype.kind == "c":
        return np.asarray(array, np.complex128, order="C").reshape(-1).view(np.float64)
    return array.reshape(-1).astype(np.float64, copy=False)


def arrays_of(x: Array, like: Iterable[Any]) -> list[Array]:
    """Undo `vector_of`: give arrays with the shapes and dtypes of others, as views if possible.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    like : iterable of array
    """
    arrays, start = [], 0
    for array in like:
        is_complex = array.dtype.kind == "c"
        stop = start + array.size * (2 if is_complex else 1)
        part = x[start:stop].view(np.complex128) if is_complex else x[start:stop]
        part = part.reshape(array.shape)
        arrays.append(part if part.dtype == array.dtype else part.astype(array.dtype))
        start = stop
    return arrays


def computed(tree: Any) -> Any:
    """Compute the arrays of Dask's in a tree, all of them in one graph; leave everything else."""
    leaves = flatten(tree)
    if not any(is_dask(type(leaf)) for leaf in leaves):
        return tree
    dask = importlib.import_module("dask")  # which is here if there are arrays of it
    return unflatten(tree, list(dask.compute(*leaves)))
