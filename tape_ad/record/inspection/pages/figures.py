"""Numbers as people read them: bytes, counts, shapes, and the range of an array."""

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from attrs import frozen

__all__ = ["Range", "aligned", "bytes_as_text", "count", "number", "shape_as_text"]

UNITS = ("bytes", "kB", "MB", "GB", "TB")


def bytes_as_text(size: float) -> str:
    """Write a number of bytes, in thousands of them.

    Examples
    --------
    >>> bytes_as_text(1), bytes_as_text(999), bytes_as_text(1234), bytes_as_text(25_000_000)
    ('1 byte', '999 bytes', '1.23 kB', '25 MB')
    """
    if size == 1:
        return "1 byte"
    unit = 0
    while size >= 999.5 and unit < len(UNITS) - 1:
        size /= 1000
        unit += 1
    return f"{size:.3g} {UNITS[unit]}"


def count(how_many: int, thing: str, things: str = "") -> str:
    """Write how many things there are.

    Examples
    --------
    >>> count(1, "node"), count(20000, "node"), count(2, "leaf", "leaves")
    ('1 node', '20,000 nodes', '2 leaves')
    """
    return f"{how_many:,} {thing if how_many == 1 else things or thing + 's'}"


def shape_as_text(shape: tuple[int, ...]) -> str:
    """Write a shape as a record prints it.

    Examples
    --------
    >>> shape_as_text((64, 10)), shape_as_text(())
    ('[64,10]', '[]')
    """
    return f"[{','.join(map(str, shape))}]"


def number(value: float) -> str:
    """Write a number in four figures.

    Examples
    --------
    >>> number(0.0), number(-1234567.0), number(0.25)
    ('0', '-1.235e+06', '0.25')
    """
    return f"{value + 0.0:.4g}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows of words in columns.

    Examples
    --------
    >>> aligned([["a", "1"], ["long", ""]])
    ['a     1', 'long']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


@frozen
class Range:
    """What is known of the elements of an array.

    Attributes
    ----------
    low, high : float
        The least and the greatest of the finite ones; nan where there are none.
    nans, infinities : int
        How many are not finite.
    size : int
        How many there are.
    modulus : bool
        Whether the elements are complex, so that `low` and `high` are of their moduli.
    """

    low: float
    high: float
    nans: int
    infinities: int
    size: int
    modulus: bool = False

    @classmethod
    def of(cls, array: np.ndarray[Any, Any]) -> Self:
        """Look through an array of NumPy's.

        Examples
        --------
        >>> print(Range.of(np.array([1.0, np.nan, -2.0])))
        -2 to 1, 1 nan
        >>> print(Range.of(np.array([3 + 4j])))
        modulus 5
        """
        array = np.asarray(array)
        modulus = array.dtype.kind == "c"
        low, high = extremes(array)
        nans = infinities = 0
        if array.size and not math.isfinite(low + high):
            finite = np.isfinite(array)
            nans = int(np.count_nonzero(np.isnan(array)))
            infinities = array.size - int(np.count_nonzero(finite)) - nans
            low, high = extremes(array[finite])
        return cls(low, high, nans, infinities, array.size, modulus)

    @property
    def doubts(self) -> str:
        """How many elements are not finite, in words; empty where all are."""
        found = [(self.nans, "nan"), (self.infinities, "inf")]
        return ", ".join(f"{many:,} {what}" for many, what in found if many)

    def __str__(self) -> str:
        if math.isnan(self.low):
            return self.doubts or "empty"
        low, high = number(self.low), number(self.high)
        shown = low if low == high else f"{low} to {high}"
        return ", ".join(filter(None, ["modulus " * self.modulus + shown, self.doubts]))


def extremes(array: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Find the least and the greatest element, or modulus of one; nan where there is none."""
    if not array.size:
        return math.nan, math.nan
    with np.errstate(all="ignore"):  # a modulus may be too large for its dtype
        array = np.abs(array) if array.dtype.kind == "c" else array
        return float(array.min()), float(array.max())
