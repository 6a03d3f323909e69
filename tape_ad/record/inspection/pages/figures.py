"""Numbers, ranges, arrays and tables of parameters as text and HTML."""

import math
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from attrs import frozen

# HTML as text: elements that escape what they hold, and a table for a notebook

EMPTY = frozenset(["br", "circle", "col", "input", "line", "link", "meta", "path", "rect"])
"""Elements without content."""

CELL = "padding:.15em .9em .15em 0;text-align:{align};vertical-align:top;white-space:pre"
"""What a cell looks like in a notebook, where a style sheet would leak into the rest of it."""


class Markup(str):
    """Text that is HTML already; any other text is escaped where it is put into HTML."""

    __slots__ = ()


def tag(element: str, *content: str, **attributes: str | int | float | bool | None) -> Markup:
    """Write an element.

    Parameters
    ----------
    element : str
        Its name.
    *content : str or Markup
        What it holds: text, which is escaped, and other elements.
    **attributes : str, number, bool or None
        An underscore behind a name is dropped (``class_``), one within is a hyphen
        (``aria_label``). True is an attribute without value; None and False are left out.

    Returns
    -------
    Markup

    Examples
    --------
    >>> tag("td", "a < b", tag("b", "!"), class_="name", data_row=3)
    '<td class="name" data-row="3">a &lt; b<b>!</b></td>'
    """
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{escape(str(value))}"')
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    if element in EMPTY:
        return Markup(f"<{element}{written}/>")  # as XML wants it, for SVG
    return Markup(f"<{element}{written}>{fragment(*content)}</{element}>")


def fragment(*content: str) -> Markup:
    """Put text and elements one behind the other.

    Examples
    --------
    >>> fragment("<script>", tag("br"))
    '&lt;script&gt;<br/>'
    """
    return Markup("".join(each if type(each) is Markup else escape(each) for each in content))


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Iterable[int] = (),
    caption: str = "",
) -> Markup:
    """Write a table that looks well in a notebook of any colour, without a style sheet.

    Parameters
    ----------
    heads : sequence of str
    rows : iterable of sequences of str or Markup
        As many cells in each as there are heads.
    right : iterable of int
        The columns that are aligned on the right: numbers.
    caption : str or Markup
        What stands above.

    Returns
    -------
    Markup

    Examples
    --------
    >>> table(["name", "bytes"], [["w", "48"]], right=[1]).count("<td")
    2
    """
    right = frozenset(right)
    styles = [CELL.format(align="right" if i in right else "left") for i in range(len(heads))]
    above = caption and tag(
        "caption", caption, style="text-align:left;padding:.3em 0;caption-side:top"
    )
    head = fragment(
        *(
            tag("th", name, scope="col", style=f"{style};font-weight:normal;opacity:.65")
            for name, style in zip(heads, styles, strict=True)
        )
    )
    body = fragment(
        *(
            tag("tr", *(tag("td", cell, style=s) for cell, s in zip(row, styles, strict=True)))
            for row in rows
        )
    )
    return tag(
        "table",
        above,
        tag("thead", tag("tr", head)),
        tag("tbody", body),
        style="border-collapse:collapse;font-family:ui-monospace,monospace;font-size:.9em;"
        "font-variant-numeric:tabular-nums",
    )


def document(title: str, *body: str, program: str = "") -> str:
    """Write a page, which needs no other file, and of which a browser is told to fetch nothing.

    Parameters
    ----------
    title : str
    *body : str or Markup
    program : str
        A script to be run at the end of it.
    """
    style = (Path(__file__).parent / "page.css").read_text("utf-8")
    allowed = "default-src 'none'; style-src 'unsafe-inline'"
    if program:
        allowed += "; script-src 'unsafe-inline'"
        body = (*body, Markup(f"<script>{program}</script>"))
    head = fragment(
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", http_equiv="Content-Security-Policy", content=allowed),
        tag("title", title),
        Markup(f"<style>{style}</style>"),
    )
    return "<!doctype html>\n" + tag("html", tag("head", head), tag("body", *body), lang="en")


Class = TypeVar("Class", bound=type)


class Written(str):
    """Text whose repr is the text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def shown_by_repr(cls: Class) -> Class:
    """Let rich show an object as its repr does; it is a decorator.

    rich, and Python and IPython where it is installed in them, write out all fields of an attrs
    class, of what they hold, and so on: of a handle, the whole of its record.
    """

    def __rich_repr__(self: Any) -> Iterator[Any]:  # noqa: N807 - it becomes one
        text = repr(self)
        yield Written(re.sub(r"^<?[\w.]+[ :(]+|[)>]$", "", text))

    setattr(__rich_repr__, "angular", True)  # noqa: B010 - it is how rich wants to be told
    setattr(cls, "__rich_repr__", __rich_repr__)  # noqa: B010 - no class in general may be assigned to
    return cls


# Numbers, ranges, arrays and tables of parameters as text and HTML

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


def aligned(
    rows: Sequence[Sequence[str]], right: Container[int] = (), gap: str = "  "
) -> list[str]:
    """Write rows of words in columns, some of which are aligned on the right.

    Examples
    --------
    >>> aligned([["a", "1"], ["long", ""]])
    ['a     1', 'long']
    """
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    sides = [str.rjust if i in right else str.ljust for i in range(len(widths))]
    columns = list(zip(sides, widths, strict=True))
    return [
        gap.join(side(word, n) for word, (side, n) in zip(row, columns, strict=False)).rstrip()
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
        -2 to 1, 1 of 3 is nan
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
        return ", ".join(
            f"{many:,} of {self.size:,} {'is' if many == 1 else 'are'} {what}"
            for many, what in found
            if many
        )

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


EDGE = 3
"""How many elements are shown at both ends of an axis that has more than can be read."""


def array_html(head: str, array: Any) -> Markup:
    """Write what an array is of, the range of its values, and the values, abbreviated.

    Parameters
    ----------
    head : str
        What stands above.
    array : array
        One that is not NumPy's is shown by its repr, for its values may not be at hand.

    Examples
    --------
    >>> array_html("%0: float64[2] = leaf", np.array([1.0, -2.0]))
    '<div><code>%0: float64[2] = leaf</code>&ensp;-2 to 1</div><pre ...>[ 1. -2.]</pre>'
    """
    if not isinstance(array, (np.ndarray, np.generic)):
        return tag("div", tag("code", f"{head}, {array!r}"))
    array = np.asarray(array)
    value = np.array2string(array, precision=6, threshold=60, edgeitems=EDGE)
    if array.ndim == 0:
        return tag("div", tag("code", head), Markup("&ensp;"), value)
    return fragment(
        tag("div", tag("code", head), Markup("&ensp;"), str(Range.of(array))),
        tag("pre", value, style="margin:.3em 0 0 1em"),
    )


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
        """Collect the rows of a summary of named arrays.

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
        written = aligned([HEADS, *self.rows, self.total], RIGHT, "   ")
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
