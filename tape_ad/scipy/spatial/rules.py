"""The rules for `scipy.spatial`, which `tape_ad.scipy.spatial` imports and publishes."""

from typing import Any

from tape_ad.rules.base import Entry
from tape_ad.scipy.spatial.angles import ANGLES
from tape_ad.scipy.spatial.metrics import ROOTS
from tape_ad.scipy.spatial.neighbours import NEIGHBOURS
from tape_ad.scipy.spatial.pairs import PAIRS
from tape_ad.scipy.spatial.vectors import VECTORS

__all__ = ["SPATIAL"]

SPATIAL: dict[Any, Entry] = {**ROOTS, **PAIRS, **VECTORS, **ANGLES, **NEIGHBOURS}
