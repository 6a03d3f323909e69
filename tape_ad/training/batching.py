"""Mini-batches of data that is in memory."""

import math
from collections.abc import Iterator
from typing import Any, Generic, Never, TypeVar, overload

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from tape_ad.base.errors import ShapeError
from tape_ad.record.messages.migration_hints import unexpected

Plain = np.ndarray[Any, Any]
Batch = TypeVar("Batch")
Rng = np.random.Generator | None


@frozen(eq=False)
class Batches(Generic[Batch]):
    """What `batches` gives: to be iterated over, once for every epoch; it has a length.

    Attributes
    ----------
    arrays : tuple of array, shape (n, ...)
    size : int
    rng : numpy.random.Generator or None
    """

    arrays: tuple[Plain, ...] = field(repr=False)
    size: int
    rng: Rng = field(repr=False)

    def __iter__(self) -> Iterator[Batch]:
        """Draw an order when asked for the first batch, and go through the data in it."""
        n = len(self.arrays[0])
        order = None if self.rng is None else self.rng.permutation(n)
        for start in range(0, n, self.size):
            key = slice(start, start + self.size)
            chosen = key if order is None else order[key]
            parts: Any = tuple(each[chosen] for each in self.arrays)
            yield parts if len(parts) > 1 else parts[0]

    def __len__(self) -> int:
        """Count the batches of an epoch."""
        return math.ceil(len(self.arrays[0]) / self.size)


Data = npt.ArrayLike


@overload
def batches(data: Data, /, *, size: int, rng: Rng = None) -> Batches[Plain]: ...
@overload
def batches(x: Data, y: Data, /, *, size: int, rng: Rng = None) -> Batches[tuple[Plain, Plain]]: ...
@overload
def batches(*arrays: Data, size: int, rng: Rng = None) -> Batches[tuple[Plain, ...]]: ...
def batches(*arrays: Data, size: Any = None, rng: Rng = None, **unknown: Never) -> Batches[Any]:
    """Cut data into mini-batches, in a fresh random order for every epoch.

    Parameters
    ----------
    *arrays : array, shape (n, ...)
        One or more; what belongs together has the same index.
    size : int
        The number of samples in a batch; the last one may have fewer.
    rng : numpy.random.Generator, optional
        Draws the order, once an epoch: when the iteration begins. Without it the samples come in
        the order that they have, as views.

    Returns
    -------
    Batches
        Each iteration over it gives a part of the array, or a tuple of a part of each where there
        are more; ``len`` of it is the number of batches.

    Raises
    ------
    ShapeError
        When the arrays have different lengths.
    TypeError, ValueError
        When there is no array, or `size` is no whole number, or below 1.

    Examples
    --------
    >>> for x, y in batches(np.arange(5.0), np.arange(5), size=2):
    ...     print(x, y)
    [0. 1.] [0 1]
    [2. 3.] [2 3]
    [4.] [4]
    """
    if unknown:
        raise unexpected("batches", unknown)
    if not arrays or not isinstance(size, int | np.integer):
        raise TypeError("batches takes arrays, and size= by its name: batches(x, y, size=64)")
    if size < 1:
        raise ValueError(f"batches: size must be at least 1, got {size}")
    data = tuple(map(np.asarray, arrays))
    if any(each.ndim == 0 or len(each) != len(data[0]) for each in data):
        shapes = ", ".join(str(each.shape) for each in data)
        raise ShapeError(
            f"batches: arrays of shapes {shapes} do not have the same number of samples, which is "
            "the length of their first axis"
        )
    return Batches(data, int(size), rng)
