"""What a kind of map tells a sweep about itself, looked up once for each kind."""

import numpy as np
from attrs import frozen

from tape_ad.base.arrays.overridable import TRACERS

__all__ = ["KNOWN", "NUMBERS", "OPEN", "Traits", "traits_of"]

NUMBERS = frozenset({float, int, np.float64, np.float32})
"""The partials that are real numbers; those of other kinds take a longer way to the same."""


@frozen
class Traits:
    """The optional members of a map that `tape_ad.LinearMap` lists.

    Attributes
    ----------
    is_map : bool
        False for an array that stands for a map, and for a partial that was released.
    identity, fresh, uniform : bool
        As the map's members say.
    may_hide, adds_into, pulls_into, has_factors, pushes_together : bool
        Whether it has `hides`, `add_into`, `pull_into`, `pull_factors` and `push_together`.
    """

    is_map: bool
    identity: bool
    fresh: bool
    uniform: bool
    may_hide: bool
    adds_into: bool
    pulls_into: bool
    has_factors: bool
    pushes_together: bool


def traits_of(kind: type) -> Traits:
    """Give the traits of a kind of partial."""
    found = KNOWN.get(kind)
    if found is None:
        found = KNOWN[kind] = Traits(
            is_map=hasattr(kind, "pull"),
            identity=getattr(kind, "identity", None) is True,  # and no field of that name
            fresh=getattr(kind, "fresh", None) is True or kind in TRACERS,  # as plain arrays are
            uniform=getattr(kind, "uniform", None) is True,
            may_hide=isinstance(hides := getattr(kind, "hides", None), property) or hides is True,
            adds_into=callable(getattr(kind, "add_into", None)),
            pulls_into=callable(getattr(kind, "pull_into", None)),
            has_factors=callable(getattr(kind, "pull_factors", None)),
            pushes_together=callable(getattr(kind, "push_together", None)),
        )
        if not found.may_hide:
            OPEN.add(kind)
    return found


KNOWN: dict[type, Traits] = {}
"""Kept for good: there are few kinds of maps."""

OPEN: set[type] = set()
"""Those of them that leave nothing out."""
