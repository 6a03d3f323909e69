"""Mini-batches of data that is in memory."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.base.errors import ShapeError

Plain = np.ndarray[Any, Any]


@frozen(eq=False)
class Batches:
    """What `batches` gives: to be iterated over, once for every epoch; it has a length.

    Attributes
    ----------
    x, y : array, shape (n, ...)
    size : int
    rng : numpy.random.Generator or None
    """

    x: Plain = field(repr=False)
    y: Plain = field(repr=False)
    size: int
    rng: np.random.Generator | None = field(repr=False)

    def __iter__(self) -> Iterator[tuple[Plain, Plain]]:
        """Draw an order when asked for the first batch, and go through the data in it."""
        order = None if self.rng is None else self.rng.permutation(len(self.x))
        for start in range(0, len(self.x), self.size):
            key = slice(start, start + self.size)
            chosen = key if order is None else order[key]
            yield self.x[chosen], self.y[chosen]

    def __len__(self) -> int:
        """Count the batches of an epoch."""
        return math.ceil(len(self.x) / self.size)


def batches(x: Plain, y: Plain, size: int, rng: np.random.Generator | None = None) -> Batches:
    """Cut data into mini-batches, in a fresh random order for every epoch.

    Parameters
    ----------
    x, y : array, shape (n, ...)
        What belongs together has the same index.
    size : int
        The number of samples in a batch; the last one may have fewer.
    rng : numpy.random.Generator, optional
        Draws the order, once an epoch: when the iteration begins. Without it the samples come in
        the order that they have, as views.

    Returns
    -------
    Batches
        Each iteration over it gives pairs of a part of `x` and a part of `y`; ``len`` of it is
        the number of batches.

    Raises
    ------
    ShapeError
        When `x` and `y` have different lengths.
    ValueError
        When `size` is below 1.

    Examples
    --------
    >>> for x, y in batches(np.arange(5.0), np.arange(5), size=2):
    ...     print(x, y)
    [0. 1.] [0 1]
    [2. 3.] [2 3]
    [4.] [4]
    """
    x, y = np.asarray(x), np.asarray(y)
    if x.ndim == 0 or x.shape[:1] != y.shape[:1]:
        raise ShapeError(
            f"batches: x of shape {x.shape} and y of shape {y.shape} do not have the same number "
            "of samples, which is the length of their first axis"
        )
    if size < 1:
        raise ValueError(f"batches: size must be at least 1, got {size}")
    return Batches(x, y, size, rng)
