"""HTML as text: elements that escape what they hold, and a table for a notebook."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, TypeVar

__all__ = ["Markup", "fragment", "shown_by_repr", "table", "tag"]

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
