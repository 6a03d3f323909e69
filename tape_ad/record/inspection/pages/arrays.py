"""An array as a notebook shows it."""

from typing import Any

import numpy as np

from tape_ad.record.inspection.pages.figures import Range
from tape_ad.record.inspection.pages.markup import Markup, fragment, tag

__all__ = ["array_html"]

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
