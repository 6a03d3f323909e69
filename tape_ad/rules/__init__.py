"""The rule tables: which NumPy function has which partials."""

from collections.abc import Callable
from typing import Any

from tape_ad.rules.activations import ACTIVATIONS
from tape_ad.rules.base import Entry
from tape_ad.rules.einsum import EINSUM
from tape_ad.rules.elementwise import ELEMENTWISE
from tape_ad.rules.indexing import INDEXING
from tape_ad.rules.joining import JOINING
from tape_ad.rules.products import PRODUCTS
from tape_ad.rules.reductions import REDUCTIONS
from tape_ad.rules.shaping import SHAPING

__all__ = ["RULES", "merged"]


def merged(*tables: dict[Callable[..., Any], Entry]) -> dict[Callable[..., Any], Entry]:
    """Merge rule tables into one.

    Raises
    ------
    ValueError
        When a function stands in two tables.
    """
    together: dict[Callable[..., Any], Entry] = {}
    for table in tables:
        for function, entry in table.items():
            if function in together:
                raise ValueError(f"{function!r} has two rules")
            together[function] = entry
    return together


RULES = merged(ELEMENTWISE, REDUCTIONS, SHAPING, INDEXING, JOINING, PRODUCTS, EINSUM, ACTIVATIONS)
