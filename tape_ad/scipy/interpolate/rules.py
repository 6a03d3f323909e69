"""The rules for `scipy.interpolate`, which `tape_ad.scipy.interpolate` imports and publishes."""

from typing import Any

from tape_ad.rules.base import Entry
from tape_ad.scipy.interpolate.cubics import CUBICS
from tape_ad.scipy.interpolate.fitpack import FITPACK
from tape_ad.scipy.interpolate.further import FURTHER
from tape_ad.scipy.interpolate.grids import GRIDS
from tape_ad.scipy.interpolate.pieces import PIECES
from tape_ad.scipy.interpolate.radial import RADIAL
from tape_ad.scipy.interpolate.rational import RATIONAL
from tape_ad.scipy.interpolate.roots import ROOTS_OF_PIECES
from tape_ad.scipy.interpolate.scattered import SCATTERED
from tape_ad.scipy.interpolate.splines import SPLINES

__all__ = ["INTERPOLATE"]

INTERPOLATE: dict[Any, Entry] = {
    **PIECES,
    **CUBICS,
    **SPLINES,
    **FITPACK,
    **FURTHER,
    **GRIDS,
    **RADIAL,
    **RATIONAL,
    **SCATTERED,
    **ROOTS_OF_PIECES,
}
