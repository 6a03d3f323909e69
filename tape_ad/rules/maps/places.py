"""Where in memory the elements lie that a key picks from an array."""

from typing import Any

import numpy as np

__all__ = ["names_each_once", "places"]

Integers = np.ndarray[Any, np.dtype[np.intp]]


def places(key: tuple[Any, ...], shape: tuple[int, ...], front: bool) -> Integers:
    """Number the elements that a key picks from an array, in C order.

    `numpy.add.at` is several times faster with such numbers than with a key for several axes.

    Parameters
    ----------
    key : tuple
        With one entry for each axis, as `linear_maps.Index` has it, and at least one array.
    shape : tuple of int
        Of the array.
    front : bool
        Whether NumPy puts the axes of the arrays first.

    Returns
    -------
    array of integers, shape of ``array[key]``

    Examples
    --------
    >>> places((slice(None), np.array([0, 0, 2])), (2, 3), front=False)
    array([[0, 0, 2],
           [3, 3, 5]])
    """
    strides = np.cumprod((1, *shape[:0:-1]), dtype=np.intp)[::-1]
    sizes = iter(zip(shape, strides, strict=True))
    of_arrays: Any = np.zeros((), np.intp)
    of_slices: list[Integers] = []
    before: int | None = 0 if front else None
    for entry in in_integers(key):
        if entry is Ellipsis:  # one that stands for no axis
            continue
        if entry is None:
            of_slices.append(np.zeros(1, np.intp))
            continue
        length, stride = next(sizes)
        if isinstance(entry, slice):
            of_slices.append(np.arange(length)[entry] * stride)
        else:
            of_arrays = of_arrays + counted(entry, length) * stride
            before = len(of_slices) if before is None else before
    after = len(of_slices) - (before or 0)
    numbers: Integers = of_arrays.reshape(of_arrays.shape + (1,) * after)
    for position, along in enumerate(of_slices):
        behind = len(of_slices) - 1 - position
        if position < len(of_slices) - after:
            behind += of_arrays.ndim
        numbers = numbers + along.reshape((-1,) + (1,) * behind)
    return numbers


def counted(entry: Any, length: int) -> Any:
    """Count all indices from the start of their axis, the negative ones too."""
    array = np.asarray(entry, dtype=np.intp)
    if array.size == 0 or np.minimum.reduce(array, axis=None) >= 0:
        return array
    return np.where(np.less(array, 0), array + length, array)


def names_each_once(key: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Tell whether a key with one array of integers names no place twice; False if it has more.

    The places are marked, which takes a byte for each place of the array's axis.
    """
    arrays = [entry for entry in key if isinstance(entry, np.ndarray)]
    if len(arrays) != 1 or arrays[0].dtype == bool:
        return False
    before = key[: next(i for i, entry in enumerate(key) if entry is arrays[0])]
    axis = sum(entry is not None and entry is not Ellipsis for entry in before)
    if arrays[0].size > shape[axis]:
        return False
    marks = np.zeros(shape[axis], bool)
    marks[arrays[0]] = True
    return bool(np.count_nonzero(marks) == arrays[0].size)


def in_integers(key: tuple[Any, ...]) -> list[Any]:
    """Write the masks of a key as the indices of their elements, one array for each axis."""
    entries: list[Any] = []
    for entry in key:
        mask = isinstance(entry, np.ndarray) and entry.dtype == bool
        entries.extend(entry.nonzero() if mask else [entry])
    return entries
