"""A table of arrays by name, as text and as HTML: what is in a store of parameters."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from attrs import frozen

from tape_ad.record.inspection.pages.figures import Range
from tape_ad.record.inspection.pages.markup import table

__all__ = ["Summary"]

HEADS = ("name", "shape", "dtype", "count", "values")
RIGHT = frozenset([HEADS.index("count")])


@frozen(repr=False)
class Summary:
    """Arrays by name: shape, dtype, number of elements, and what the values lie between.

    It shows as a table, in an interactive session and in a notebook; `print` writes it elsewhere.

    Attributes
    ----------
    rows : tuple of tuples of str
        The cells, a row for each array.
    total : tuple of str
        The cells of the last row, which adds up.
    """

    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...]

    @classmethod
    def of(cls, arrays: Iterable[tuple[str, Any]], what: str, count: int) -> Self:
        """Look through arrays.

        Parameters
        ----------
        arrays : iterable of pairs of str and array
            The names and the plain arrays. The values of arrays that are not NumPy's stay unread.
        what : str
            The name of the last row.
        count : int
            Its number of elements.

        Examples
        --------
        >>> Summary.of([("w", np.eye(2)), ("steps", np.array(3))], "all", 5)
        name    shape    dtype     count   values
        ─────────────────────────────────────────
        w       (2, 2)   float64       4   0 to 1
        steps   ()       int64         1   3
        ─────────────────────────────────────────
        all                            5
        """
        rows = tuple(row_of(name, array) for name, array in arrays)
        return cls(rows, (what, "", "", f"{count:,}"))

    def __str__(self) -> str:
        lines = [HEADS, *self.rows, self.total]
        widths = [max(len(line[i]) for line in lines if i < len(line)) for i in range(len(HEADS))]
        written = [as_line(line, widths) for line in lines]
        rule = "─" * max(map(len, written))
        return "\n".join([written[0], rule, *written[1:-1], rule, written[-1]])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        total = self.total + ("",) * (len(HEADS) - len(self.total))
        return table(HEADS, [*self.rows, total], right=RIGHT)


def row_of(name: str, array: Any) -> tuple[str, ...]:
    """Write the cells for an array."""
    values = str(Range.of(array)) if is_plain(array) and array.size else ""
    return name, str(tuple(array.shape)), str(array.dtype), f"{array.size:,}", values


def is_plain(array: Any) -> bool:
    """Tell whether the values are at hand, and are numbers."""
    return isinstance(array, (np.ndarray, np.generic)) and array.dtype.kind in "biufc"


def as_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Set cells one beside the other."""
    padded = (
        cell.rjust(width) if i in RIGHT else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=False))
    )
    return "   ".join(padded).rstrip()
