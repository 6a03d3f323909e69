"""What is in an array, as bytes: the same for the same numbers, wherever and however they lie."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["contents", "fingerprint"]

BLOCK = 2**20
"""How many bytes of an array that is not contiguous are copied at once."""

PADDED = frozenset("gG")
"""The dtypes whose bytes are not all theirs, by their characters: the extended precisions."""


def contents(array: Any) -> bytes:
    """Give the contents of a small array."""
    if array.dtype.char in PADDED:
        return b"".join([each.tobytes() for each in unpadded(array)])
    return bytes(array.tobytes())


def fingerprint(array: Any) -> bytes:
    """Sum up the contents of an array, without a copy of a large one.

    Examples
    --------
    >>> x = np.arange(6.0).reshape(2, 3)
    >>> fingerprint(x) == fingerprint(x.copy()), fingerprint(x) == fingerprint(x + 1)
    (True, False)
    """
    digest = hashlib.sha1(usedforsecurity=False)  # the quickest of those that depend on order
    for piece in pieces(np.asarray(array)):
        digest.update(piece)
    return digest.digest()


def pieces(array: Any) -> Iterator[Any]:
    """Give the bytes of an array, in an order that depends on its layout only."""
    if array.dtype.hasobject:
        yield array.tobytes()  # the addresses of the objects
    elif array.dtype.char in PADDED:
        for part in unpadded(array):
            yield from pieces(part)
    elif array.flags.c_contiguous:
        yield array.reshape(-1).view(np.uint8)
    elif array.flags.f_contiguous:
        yield from pieces(array.T)
    else:
        rows = max(1, BLOCK * len(array) // array.nbytes)
        for start in range(0, len(array), rows):
            yield from pieces(np.ascontiguousarray(array[start : start + rows]))


def unpadded(array: Any) -> Iterator[Any]:
    """Give the numbers of an extended precision, whose bytes hold what has been left in memory.

    Each is written as a sum of two numbers in double precision, which hold 106 bits of it.
    """
    for part in (array.real, array.imag) if array.dtype.char == "G" else (array,):
        with np.errstate(all="ignore"):
            high = part.astype(np.float64)
            low = (part - high).astype(np.float64)
        yield from (high, low)
