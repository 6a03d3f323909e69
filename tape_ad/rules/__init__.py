"""The rule tables: which NumPy function has which partials.

Importing all of them takes half as long as importing NumPy. So those that most programs need are
imported here, and the others when a function is met that is not in these.
"""

import importlib
import sys
from collections.abc import Callable
from typing import Any

from tape_ad.rules.activations import ACTIVATIONS
from tape_ad.rules.affine import AFFINE
from tape_ad.rules.base import Entry, Maker, Rule, merged
from tape_ad.rules.building import BUILDING
from tape_ad.rules.einsum import EINSUM
from tape_ad.rules.elementwise import ELEMENTWISE
from tape_ad.rules.indexing import INDEXING
from tape_ad.rules.joining import JOINING
from tape_ad.rules.plain_maps import PLAIN_MAPS
from tape_ad.rules.products import PRODUCTS
from tape_ad.rules.reductions import REDUCTIONS
from tape_ad.rules.scans import SCANS
from tape_ad.rules.shaping import SHAPING
from tape_ad.rules.sorting import SORTING
from tape_ad.rules.sparse import SPARSE
from tape_ad.rules.spreads import SPREADS
from tape_ad.rules.updates import UPDATES

__all__ = ["RULES", "STRAIGHT", "add_rules", "load_further_rules", "load_scipy_rules"]

RULES: dict[Callable[..., Any], Entry] = {}
"""What is known of each function; see `load_further_rules` and `load_scipy_rules`."""

STRAIGHT: dict[Callable[..., Any], tuple[Maker, ...]] = {}
"""The makers of those functions that the dispatch records in straight lines."""


def add_rules(table: dict[Callable[..., Any], Entry]) -> None:
    """Add a table to the rules. Adding it again, from another thread too, changes nothing.

    Raises
    ------
    ValueError
        When a function has other rules already.
    """
    for function, entry in table.items():
        if RULES.setdefault(function, entry) is not entry:
            raise ValueError(f"{function!r} has two rules")
        if isinstance(entry, Rule) and entry.straight:
            STRAIGHT[function] = entry.makers


def load_further_rules() -> None:
    """Add the rules for the functions that a program may well do without."""
    add_rules(importlib.import_module("tape_ad.rules.further").FURTHER)


def load_scipy_rules() -> None:
    """Add the rules for SciPy's functions, once somebody has imported SciPy's module.

    Importing SciPy takes several times as long as importing this library, so nobody pays for it
    who does not use it.
    """
    if "scipy.special" in sys.modules:
        add_rules(importlib.import_module("tape_ad.rules.special").SPECIAL)


add_rules(
    merged(
        ELEMENTWISE,
        REDUCTIONS,
        SHAPING,
        BUILDING,
        PLAIN_MAPS,
        INDEXING,
        JOINING,
        PRODUCTS,
        SPARSE,
        ACTIVATIONS,
        AFFINE,
        SPREADS,
        SCANS,
        SORTING,
        EINSUM,
        UPDATES,
    )
)
